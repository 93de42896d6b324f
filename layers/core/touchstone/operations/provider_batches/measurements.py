"""Measurements in batches: done again, metric by metric, with the replies that were brought so far.

    a line ── tried ─┬─ each metric whole, by checks or the cache ──> measured
                     ├─ wants what no batch takes ──────────────────> asked at once
                     └─ wants questions ── in a batch ──> settled ─┬─ whole ────────────────────> measured
                                  ^                                ├─ wants further questions ──┐
                                  │                                └─ brought nothing for one ──┼─> asked at once
                                  └─────────────────────────────────────────────────────────────┘

All questions of a measurement in a batch are settled together. The brought replies are in the cache from then on, so
that the next try finds them, and their calls are in the measurement, each once. If a batch brought nothing usable for a
measurement, the whole measurement is asked at once from then on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.spends import Spend
from touchstone.operations.jobs.waiting import WantedQuestion
from touchstone.operations.provider_batches import own_batch
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import (
    ListedQuestion,
    RepliedQuestion,
    SettledQuestion,
    all_wanted,
    passing_over,
    settled_by,
    without_latency,
)
from touchstone.operations.provider_batches.replaying import ReplayJudges, WaitingQuestion, replayed_line
from touchstone.operations.surfaces.measuring import MEASURE_SECONDS, missing, result_of, thresholds_of
from touchstone.references import Reference
from touchstone.surfaces import measurement as steps
from touchstone.surfaces.catalogue import CATALOGUE
from touchstone.surfaces.measurement import Measurement
from touchstone.surfaces.model import FINAL, TIER, MetricResult
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.panel import apply_thresholds
from touchstone.workflows import Workflows


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricByBatch:
    """The result of a metric from the replies brought so far; if it is `whole`, it has no question left.

    `unsure`: the judge is less sure of something than its labels require, so another judge is to be asked at once.
    """

    result: MetricResult
    wanted: tuple[WaitingQuestion, ...]
    unsure: bool = False

    @property
    def whole(self) -> bool:
        """Whether the metric is over, with the same result as if the judge had answered at once."""
        return not self.wanted and not missing(self.result) and not self.unsure


async def replayed(
    context: BatchingContext,
    measurement: Measurement,
    metrics: Sequence[MetricName],
    *,
    brought: Mapping[str, Sequence[BatchReply]],
    by: str | None = None,
) -> tuple[MetricByBatch, ...]:
    """Measure metrics with the replies that a provider (`by`) brought now and with earlier ones.

    Nothing is sent or stored. A metric for which no judge can be asked is left out.
    """
    registry = context.apis.registry
    cache = context.cache if measurement.request.use_cache else context.scoped_cache(measurement.id)
    left, found = dict(brought), list[MetricByBatch]()
    for metric in metrics:
        async with replayed_line(context.apis, left, cache=cache, brought_by=by, began=measurement.created_at) as (
            judges,
            work,
        ):
            judge = None
            if CATALOGUE[metric].judged and (judge := _asked(judges, by)) is None:
                continue
            result = await result_of(measurement, metric, judge, Deadline.after(MEASURE_SECONDS))
        result = result.model_copy(update={"spends": without_latency(result.spends, registry)})
        held = apply_thresholds(result, thresholds_of(context.measuring(), metric), measurement.language)
        unsure = len(held.items) < len(result.items)
        found.append(MetricByBatch(result=held, wanted=tuple(work.wanted), unsure=unsure))
        # If another metric asks the same question, it has the reply from the cache: the reply is paid for once.
        left = {address: replies for address, replies in left.items() if not work.used[address]}
    return tuple(found)


async def measure_by_batch(
    context: BatchingContext, workflows: Callable[[], Workflows], measurement: Measurement, metric: MetricName
) -> datetime | None:
    """Carry a metric of a measurement that no file carries. Return until when it waits for a batch of its own.

    None: the metric is over, or no batch takes its questions, so that they are to be asked at once.
    """
    until = own_batch.next_look_at(context, measurement.work(metric).batch)
    if until is not None or measurement.when == "now":
        return until
    found = await replayed(context, measurement, (metric,), brought={})
    measurement = _kept(context, measurement, found)
    if measurement.work(metric).over:
        return None
    return await own_batch.begin_own_batch(
        *(context, workflows, _open_questions(found).values()),
        of="measurement",
        answer_id=measurement.id,
        made_at=measurement.created_at,
        name_parts=(measurement.id, metric),
        store_id=lambda batch_id: context.measuring().measurements.change(
            measurement.ref, lambda one: steps.in_batch(one, metric, batch_id)
        ),
    )


async def tried(context: BatchingContext, measurement: Measurement) -> Measurement | tuple[WantedQuestion, ...]:
    """Try a line without asking anybody. Return its questions for batches, or its record if there are none.

    The record is over if checks and the cache suffice; otherwise its questions are to be asked at once, since no batch
    takes them.
    """
    found = await replayed(context, measurement, measurement.open, brought={})
    measurement = _kept(context, measurement, found)
    shared = measurement.request.use_cache
    if not measurement.open or measurement.when == "now":
        return measurement
    return await all_wanted(context, _open_questions(found).values(), shared=shared) or measurement


async def still_wanted(
    context: BatchingContext,
    batch: ProviderBatch,  # noqa: ARG001 - a question of a file is in its batch by the file's own word
    group: Sequence[ListedQuestion],
) -> Mapping[str, WaitingQuestion]:
    """The questions that a measurement still wants answered, as they are to be sent."""
    measurement = _read(context, group[0].answer_id)
    if measurement.when == "now":
        return {}
    found = await replayed(context, measurement, measurement.open, brought={})
    _kept(context, measurement, found)
    return _open_questions(found)


async def settled(
    context: BatchingContext, batch: ProviderBatch, group: Sequence[RepliedQuestion]
) -> list[SettledQuestion]:
    """Store what a batch brought for one measurement. Questions that are still open are asked at once."""
    brought = {question.address: [reply] for question, reply in group if question.address and reply is not None}
    paid: Sequence[Spend] = ()
    with passing_over(group[0][0].answer_id):
        measurement = _read(context, group[0][0].answer_id)
        # All metrics, also ended ones: somebody may have asked meanwhile, and the late replies were paid for.
        metrics = tuple(one.metric for one in measurement.metrics) if brought else ()
        found = await replayed(context, measurement, metrics, brought=brought, by=batch.provider)
        paid = [spend for one in found for spend in one.result.spends]
        wanted = {one.address for each in found if each.result.metric in measurement.open for one in each.wanted}
        again = any(reply is None or question.address in wanted for question, reply in group)
        _kept(context, measurement, found, again=again)
    return [settled_by(reply, paid) for _, reply in group]


def _asked(judges: ReplayJudges, by: str | None) -> Judge | None:
    """The judge that measures: that of the provider `by`, else the one that `Judges.default` gives."""
    return judges.default(TIER) if by is None else judges.get(by, TIER)


def _open_questions(found: Sequence[MetricByBatch]) -> dict[str, WaitingQuestion]:
    """The open questions of the metrics, each once, keyed by their addresses."""
    return {one.address: one for each in found for one in each.wanted}


def _kept(
    context: BatchingContext, measurement: Measurement, found: Sequence[MetricByBatch], *, again: bool = False
) -> Measurement:
    """The measurement with the results stored in one change; `again`: its questions are asked at once from now on."""
    now = context.clock()

    def step(one: Measurement) -> Measurement:
        for each in found:
            one = steps.brought(one, _without_awaited(each), whole=each.whole, now=now)
        return steps.set_to_now(one) if again else one

    if step(measurement) is measurement:
        return measurement
    return context.measuring().measurements.change(measurement.ref, step)


def _without_awaited(found: MetricByBatch) -> MetricResult:
    """A metric's result so far. Items that wait for a batch do not count as unscored."""
    unscored = tuple(one for one in found.result.unscored if one.reason in FINAL)
    return found.result if found.whole else found.result.model_copy(update={"unscored": unscored})


def _read(context: BatchingContext, measurement_id: str) -> Measurement:
    return context.measuring().measurements.get(Reference(context.tenant, "measurement", measurement_id))
