"""How each kind of job but answers is taken up again: a new job is one more of these."""

from datetime import timedelta

from touchstone.operations.jobs.parts import PartedJob
from touchstone.operations.jobs.sweep import STALLED_AFTER, SweptJob
from touchstone.records import (
    Audits,
    Cases,
    Challenges,
    Experiments,
    Measurements,
    Pairs,
    ProviderBatchStore,
    Quizzes,
    Submissions,
    Tasks,
)
from touchstone.references import Reference

QUIZ_STALLED_AFTER = timedelta(minutes=2)
"""Past its time by so much, a quiz has lost whoever carried it: no step of it takes as long."""
AUDIT_STALLED_AFTER = timedelta(minutes=20)
"""To install a large target takes a quarter hour."""


def tasks_swept(tasks: Tasks, submissions: Submissions, challenges: Challenges) -> tuple[SweptJob, ...]:
    """Tasks, submissions and challenges."""
    return (
        SweptJob(machine="task", unfinished=tasks.unfinished),
        SweptJob(machine="submission", unfinished=submissions.unfinished),
        SweptJob(machine="challenge", unfinished=challenges.unfinished),
    )


def measurements_swept(measurements: Measurements) -> SweptJob:
    """Measurements, whose machine is told the metrics that are not over."""

    def open_metrics(which: Reference) -> dict[str, object] | None:
        metrics = measurements.get(which).open
        return {"metrics": list(metrics)} if metrics else None

    return SweptJob(machine="measure", unfinished=measurements.unfinished, ahead=open_metrics)


def quizzes_swept(quizzes: Quizzes) -> SweptJob:
    """Quizzes: they begin, or end with what there is."""
    return SweptJob(machine="quiz", unfinished=quizzes.unfinished, stalled_after=QUIZ_STALLED_AFTER)


def experiments_swept(experiments: Experiments, pairs: Pairs) -> SweptJob:
    """Experiments."""
    from touchstone.surfaces.experiments.record import failed

    return PartedJob(store=experiments, parts=pairs, failed=failed, stalled_after=STALLED_AFTER).swept("experiment")


def audits_swept(audits: Audits, cases: Cases) -> SweptJob:
    """Audits."""
    from touchstone.audits.record import failed

    return PartedJob(store=audits, parts=cases, failed=failed, stalled_after=AUDIT_STALLED_AFTER).swept("audit")


def provider_batches_swept(batches: ProviderBatchStore) -> SweptJob:
    """Batches at providers, which go on by their records."""
    return SweptJob(machine="provider_batch", unfinished=batches.unfinished)
