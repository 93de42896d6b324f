"""Measurements as batches have them: done again metric by metric by what was brought so far.

    a line ── tried ─┬─ each metric whole, by checks or the cache ──> measured
                     ├─ wants what no batch takes ──────────────────> asked at once
                     └─ wants questions ── in a batch ──> settled ─┬─ whole ────────────────────> measured
                                  ^                                ├─ wants further questions ──┐
                                  │                                └─ brought nothing for one ──┼─> asked at once
                                  └─────────────────────────────────────────────────────────────┘

All questions of a measurement in a batch are settled together. What was brought is in the cache from then on, so that
the next try finds it, and its calls are in the measurement, each once. A measurement for which a batch brought nothing
that can be used is asked at once from then on, as a whole.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.spends import Spend
from touchstone.operations.batches.lines import WantedQuestion
from touchstone.operations.provider_batches import alone
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import (
    OUT_OF_REACH,
    ListedQuestion,
    RepliedQuestion,
    SettledQuestion,
    as_wanted,
    passed_over,
    settled_by,
    timeless,
)
from touchstone.operations.replaying import CheapLine, ReplayJudges, WaitingQuestion, prices_of_batches
from touchstone.operations.surfaces.measuring import FINAL, MEASURE_SECONDS, missing, result_of
from touchstone.references import Reference
from touchstone.surfaces import measurement as steps
from touchstone.surfaces.catalogue import CATALOGUE
from touchstone.surfaces.measurement import Measurement
from touchstone.surfaces.model import TIER, MetricName, MetricResult
from touchstone.workflows import Workflows


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricByBatch:
    """What came of a metric by what batches brought; it wants nothing more where it is `whole`."""

    result: MetricResult
    wanted: tuple[WaitingQuestion, ...]

    @property
    def whole(self) -> bool:
        """Whether this is its end, as it would be had the judge answered at once."""
        return not self.wanted and not missing(self.result)


async def replayed(
    context: BatchingContext,
    measurement: Measurement,
    metrics: Sequence[MetricName],
    *,
    brought: Mapping[str, Sequence[BatchReply]],
    by: str | None = None,
) -> tuple[MetricByBatch, ...]:
    """Measure by what a provider brought (`by`), and what was brought before; nothing is asked and nothing stored.

    A metric that nobody can be asked about is left out.
    """
    registry = context.apis.registry
    cache = context.cache if measurement.request.use_cache else context.apart(measurement.id)
    left, found = dict(brought), list[MetricByBatch]()
    for metric in metrics:
        work = CheapLine(left)
        judges = ReplayJudges(context.apis, work, prices=prices_of_batches(registry), cache=cache, brought_by=by)
        try:
            judge = None
            if CATALOGUE[metric].judged and (judge := _asked(judges, by)) is None:
                continue
            result = await result_of(measurement, metric, judge, Deadline.after(MEASURE_SECONDS))
        finally:
            await judges.aclose()
        result = result.model_copy(update={"spends": timeless(result.spends, registry)})
        found.append(MetricByBatch(result=result, wanted=tuple(work.wanted)))
        # Another metric with the same question has its reply from the cache: it was paid for once.
        left = {address: replies for address, replies in left.items() if not work.used[address]}
    return tuple(found)


async def carried(
    context: BatchingContext, workflows: Callable[[], Workflows], measurement: Measurement, metric: MetricName
) -> datetime | None:
    """Carry a metric of a measurement that no file carries: until when it waits for a batch of its own.

    None: it is over, or its questions cannot be in a batch, so that it is to be asked about at once.
    """
    until = alone.under_way(context, measurement.work(metric).batch)
    if until is not None or measurement.when == "now":
        return until
    found = await replayed(context, measurement, (metric,), brought={})
    measurement = _kept(context, measurement, found)
    if measurement.work(metric).over:
        return None
    return await alone.begun_alone(
        *(context, workflows, _all_wanted(found).values()),
        of="measurement",
        answer_id=measurement.id,
        made_at=measurement.created_at,
        named=(measurement.id, metric),
        noted=lambda batch_id: context.measuring().measurements.change(
            measurement.ref, lambda one: steps.in_batch(one, metric, batch_id)
        ),
    )


async def tried(context: BatchingContext, measurement: Measurement) -> Measurement | tuple[WantedQuestion, ...]:
    """Try a line without asking anybody: what it wants of batches, or its record.

    That is over where checks and the cache say all; else it is to be asked about at once, since no batch takes it.
    """
    found = await replayed(context, measurement, measurement.open, brought={})
    measurement = _kept(context, measurement, found)
    shared = measurement.request.use_cache
    if not measurement.open or measurement.when == "now":
        return measurement
    wanted = [await as_wanted(context, one, shared=shared) for one in _all_wanted(found).values()]
    return tuple(one for one in wanted if one is not None) if wanted and None not in wanted else measurement


async def still_wanted(
    context: BatchingContext,
    batch: ProviderBatch,  # noqa: ARG001 - a question of a file is in its batch by the file's own word
    group: Sequence[ListedQuestion],
) -> list[WaitingQuestion | None]:
    """The questions of one measurement as they are to be sent; None for each that it does not want any more."""
    try:
        measurement = _read(context, group[0].answer_id)
        if measurement.when == "now":
            return [None] * len(group)
        found = await replayed(context, measurement, measurement.open, brought={})
        _kept(context, measurement, found)
    except OUT_OF_REACH as error:
        passed_over(group[0].answer_id, error)
        return [None] * len(group)
    wanted = _all_wanted(found)
    return [wanted.get(question.address or "") for question in group]


async def settled(
    context: BatchingContext, batch: ProviderBatch, group: Sequence[RepliedQuestion]
) -> list[SettledQuestion]:
    """Put what a batch brought for one measurement where it belongs; what it wants all the same is asked at once."""
    brought = {question.address: [reply] for question, reply in group if question.address and reply is not None}
    paid: Sequence[Spend] = ()
    try:
        measurement = _read(context, group[0][0].answer_id)
        # Those that are over, too: somebody may have asked meanwhile, and what was brought late is paid for.
        metrics = tuple(one.metric for one in measurement.metrics) if brought else ()
        found = await replayed(context, measurement, metrics, brought=brought, by=batch.provider)
        paid = [spend for one in found for spend in one.result.spends]
        wanted = {one.address for each in found if each.result.metric in measurement.open for one in each.wanted}
        again = any(reply is None or question.address in wanted for question, reply in group)
        _kept(context, measurement, found, again=again)
    except OUT_OF_REACH as error:
        passed_over(group[0][0].answer_id, error)
    return [settled_by(reply, paid) for _, reply in group]


def _asked(judges: ReplayJudges, by: str | None) -> Judge | None:
    """Who measures: the provider whose replies are read, else as `Judges.prefer` has it."""
    return judges.prefer(TIER) if by is None else judges.get(by, TIER)


def _all_wanted(found: Sequence[MetricByBatch]) -> dict[str, WaitingQuestion]:
    """What the metrics want, each question once, by their addresses."""
    return {one.address: one for each in found for one in each.wanted}


def _kept(
    context: BatchingContext, measurement: Measurement, found: Sequence[MetricByBatch], *, again: bool = False
) -> Measurement:
    """The measurement with what was found, in one change; `again`: it is asked about at once from now on."""
    now = context.clock()

    def step(one: Measurement) -> Measurement:
        for each in found:
            one = steps.brought(one, _without_awaited(each), whole=each.whole, now=now)
        return steps.hastened(one) if again else one

    if step(measurement) is measurement:
        return measurement
    return context.measuring().measurements.change(measurement.ref, step)


def _without_awaited(found: MetricByBatch) -> MetricResult:
    """A metric's result so far: what waits for a batch is not unscored."""
    unscored = tuple(one for one in found.result.unscored if one.reason in FINAL)
    return found.result if found.whole else found.result.model_copy(update={"unscored": unscored})


def _read(context: BatchingContext, measurement_id: str) -> Measurement:
    return context.measuring().measurements.get(Reference(context.tenant, "measurement", measurement_id))
