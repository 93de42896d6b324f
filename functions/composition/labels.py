"""The parts that keep people's labels of verdicts, and draw the verdicts to label next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import judging, stores

if TYPE_CHECKING:
    from touchstone.judges.sureness import JudgeThresholds
    from touchstone.operations.labels.drawing import Draw, Drawn, DrawnVerdict, Labeller, LabelTasks
    from touchstone.operations.labels.labelling import Labelling
    from touchstone.records import Labels


def labels() -> Labels:
    """The store of the labels of all tenants."""
    from touchstone.records.labels import Labels

    return Labels(stores.table())


def labelling(tenant: str) -> Labelling:
    """The part with which a tenant labels the verdicts on its records. Each label updates the judges' thresholds."""
    from touchstone.clock import system_clock
    from touchstone.operations.labels.labelling import Labelling, keep_thresholds, readings_of

    readings = readings_of(
        answers=stores.answers, measurements=stores.measurements, tasks=stores.tasks, submissions=stores.submissions
    )
    return Labelling(
        labels(),
        readings,
        tenant=tenant,
        clock=system_clock,
        counted=lambda: keep_thresholds(stores.thresholds(), stores.statistics(), tenant=tenant),
    )


def label_tasks(tenant: str, *, sample: Drawn, count: int) -> LabelTasks:
    """The answers of a tenant to label next: at most `count`, drawn for the sample."""
    from touchstone.operations.labels.drawing import label_tasks

    return label_tasks(
        stores.answers(), labels(), tenant=tenant, sample=sample, count=count, thresholds=_sure(tenant, sample)
    )


def next_to_label(tenant: str, *, sample: Drawn, asks: Labeller) -> tuple[DrawnVerdict | None, Draw]:
    """The next verdict for a person to label, None if there is none, and the draw that it comes from."""
    from touchstone.operations.labels.drawing import SHARED_AMONG, draw, next_for

    found = draw(
        stores.answers(),
        labels(),
        tenant=tenant,
        sample=sample,
        count=SHARED_AMONG,
        thresholds=_sure(tenant, sample),
        asks=asks,
    )
    return next_for(found.found, asks.by or ""), found


def _sure(tenant: str, sample: Drawn) -> JudgeThresholds:
    return judging.sure_judges(tenant) if sample == "unsure" else {}
