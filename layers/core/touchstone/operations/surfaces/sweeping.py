"""How measurements and experiments are taken up again."""

from touchstone.operations.jobs.parts import PartedJob
from touchstone.operations.jobs.sweep import STALLED_AFTER, SweptJob
from touchstone.records import Experiments, Measurements, Pairs
from touchstone.references import Reference
from touchstone.surfaces.experiments.record import failed


def swept(*, measurements: Measurements, experiments: Experiments, pairs: Pairs) -> tuple[SweptJob, ...]:
    """The two jobs, as the sweep takes them up."""

    def open_metrics(which: Reference) -> dict[str, object] | None:
        metrics = measurements.get(which).open
        return {"metrics": list(metrics)} if metrics else None

    return (
        SweptJob(machine="measure", unfinished=measurements.unfinished, ahead=open_metrics),
        PartedJob(store=experiments, parts=pairs, failed=failed, stalled_after=STALLED_AFTER).swept("experiment"),
    )
