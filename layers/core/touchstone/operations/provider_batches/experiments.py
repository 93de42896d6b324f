"""Pairs of experiments in batches: measured again, from the beginning, with all replies that were brought so far.

    a pair ── tried ─┬─ whole, by checks or the cache ──────────> over
              ^      ├─ wants what no batch takes ──────────────> asked at once
              │      └─ wants questions ── gathered ── in a batch ── settled ─┬─ brought something ─┐
              │                                                               └─ nothing for one ───┼─> asked at once
              └─────────────────────────────────────────────────────────────────────────────────────┘

The experiment gathers the pairs that wait (`files`). Settling stores the brought replies beside the pair, and leaves
the pair to its own step: several batches that bring replies for one pair at the same time do not conflict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.judges.base import Judge
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.panel import JudgePanel
from touchstone.judges.registry import Registry
from touchstone.judges.spends import Spend
from touchstone.operations.jobs.waiting import OpenLine, PartsStanding, WantedQuestion
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.files import FileBatches, WantingWork
from touchstone.operations.provider_batches.questions import (
    ListedQuestion,
    RepliedQuestion,
    SettledQuestion,
    addressed_replies_from_text,
    addressed_replies_to_text,
    all_wanted,
    passing_over,
    settled_by,
    without_latency,
)
from touchstone.operations.provider_batches.replaying import ReplayJudges, WaitingQuestion, replayed_line
from touchstone.operations.surfaces.context import ExperimentContext, PairTry
from touchstone.operations.surfaces.experimenting import PAIR_SECONDS
from touchstone.records.experiments import sums_of
from touchstone.references import Reference
from touchstone.surfaces.experiments.making import Makers, model_of
from touchstone.surfaces.experiments.pair_work import PairKept, PairTask, PairWork, pair_brought, pair_over
from touchstone.surfaces.experiments.pairs import Measured, PairResult, Replicate, measure_pair
from touchstone.surfaces.experiments.preference import Preference
from touchstone.surfaces.experiments.record import ExperimentRecord
from touchstone.surfaces.model import TIER, MetricResult
from touchstone.surfaces.names import MetricName

type Brought = Mapping[str, Sequence[BatchReply]]
"""The replies that batches brought for a pair, by the addresses of its questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPair:
    """A pair measured with the replies brought so far. `paid` are all their calls, also those of no use."""

    result: PairResult
    wanted: Mapping[str, WaitingQuestion]
    paid: tuple[Spend, ...]

    @property
    def whole(self) -> bool:
        """Whether the pair is over, with the same result as if everybody had answered at once.

        If a judge is less sure of something than its labels require, the pair is not whole: another judge is asked at
        once.
        """
        return not self.wanted and not self.result.unanswered and not self.result.unsure


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentBatches:
    """The batches at providers that one tenant's experiments use."""

    files: FileBatches

    async def tried(self, record: ExperimentRecord, pair: PairWork, task: PairTask) -> PairTry:
        """The result of a pair from the replies brought so far; see `PairTry`. Nothing is asked."""
        context = self.files.context
        here = context.comparing()
        found = await replayed(context, record, task, _brought(here, pair))
        wanted: tuple[WantedQuestion, ...] = ()
        if self.files.begins(self._asking(record)) and not pair.hastened and not _wanted_again(here, pair, found):
            wanted = await all_wanted(context, found.wanted.values(), shared=True)
        return PairTry(result=found.result, paid=found.paid, wanted=wanted, whole=found.whole)

    def add_to_batches(self, record: ExperimentRecord, lines: Sequence[OpenLine]) -> PartsStanding:
        """Add the pairs' open questions to batches. Return each pair's new state, keyed by its number."""
        return self.files.add_parts_to_batches(self._asking(record), lines)

    def _asking(self, record: ExperimentRecord) -> WantingWork:
        return WantingWork.of_parts(record, self.files.context.comparing().files(record.id))


async def replayed(
    context: BatchingContext,
    record: ExperimentRecord,
    task: PairTask,
    brought: Brought,
    *,
    batch: ProviderBatch | None = None,
) -> ReplayedPair:
    """Measure a pair with the replies brought so far. Nothing is sent or stored.

    `batch` is the batch that has just ended; None if none has.
    """
    first = await _once(context, record, task, brought, batch=batch)
    # A question that is asked twice in one pair (both variants may ask the same) has its second reply from the cache.
    twice = first.wanted.keys() & brought.keys()
    if not twice:
        return first
    left = {address: replies for address, replies in brought.items() if address not in twice}
    second = await _once(context, record, task, left, batch=batch)
    told = {spend.line_id for spend in second.paid}
    paid = (*second.paid, *(one for one in first.paid if one.line_id is not None and one.line_id not in told))
    return ReplayedPair(result=second.result, wanted=second.wanted, paid=paid)


async def _once(
    context: BatchingContext, record: ExperimentRecord, task: PairTask, brought: Brought, *, batch: ProviderBatch | None
) -> ReplayedPair:
    registry = context.apis.registry
    cache = context.cache if record.use_cache else context.scoped_cache(record.id)
    by = None if batch is None else batch.provider
    async with replayed_line(context.apis, brought, cache=cache, brought_by=by, began=record.created_at) as (
        judges,
        work,
    ):
        judge = _judge(judges, registry, batch) if task.terms.judged else None
        thresholds = context.comparing().thresholds()
        alone = None
        if judge is not None and thresholds:
            alone = JudgePanel(wanted=1, available=(judge,), remedy=judges.remedy, in_turn=True)
        result = await measure_pair(
            task.pair,
            task.terms,
            judge=judge,
            several=alone,
            thresholds=thresholds,
            makers=Makers(model_of=lambda maker: model_of(judges, maker)),
            seconds=PAIR_SECONDS,
        )
    result = _timeless(result, registry)
    return ReplayedPair(
        result=result, wanted={one.address: one for one in work.wanted}, paid=tuple(result.all_spends())
    )


def _judge(judges: ReplayJudges, registry: Registry, batch: ProviderBatch | None) -> Judge | None:
    """The judge that measures: the model of `batch` if it is a judge's model, else what `Judges.default` gives."""
    if batch is not None and registry.model(batch.provider, TIER).name == batch.model:
        return judges.get(batch.provider, TIER)
    return judges.default(TIER)


def _timeless(result: PairResult, registry: Registry) -> PairResult:
    """The result with each call's time and savings set as `without_latency` sets them."""

    def of[T: (Measured, MetricResult, PairResult, Preference)](told: T, **more: object) -> T:
        return told.model_copy(update={"spends": without_latency(told.spends, registry), **more})

    def scored(results: Mapping[MetricName, MetricResult]) -> dict[MetricName, MetricResult]:
        return {name: of(one) for name, one in results.items()}

    return of(
        result,
        a=of(result.a, results=scored(result.a.results)),
        b=of(result.b, results=scored(result.b.results)),
        preference=of(result.preference),
        replicates=tuple(
            Replicate(a=scored(one.a), b=scored(one.b), preference=of(one.preference)) for one in result.replicates
        ),
    )


async def still_wanted(
    context: BatchingContext,
    batch: ProviderBatch,  # noqa: ARG001 - a question of an experiment is in its batch by the experiment's own word
    group: Sequence[ListedQuestion],
) -> Mapping[str, WaitingQuestion]:
    """The questions that a pair still wants answered, as they are to be sent."""
    here, record, pair, task = _read(context, group[0].answer_id)
    if pair.over or pair.hastened or record.when == "now":
        return {}
    return (await replayed(context, record, task, _brought(here, pair))).wanted


async def settled(
    context: BatchingContext, batch: ProviderBatch, group: Sequence[RepliedQuestion]
) -> list[SettledQuestion]:
    """Store the replies that a batch brought for one pair beside the pair.

    Questions without a reply are asked at once.
    """
    came = {question.address: reply for question, reply in group if question.address and reply is not None}
    paid: Sequence[Spend] = ()
    with passing_over(group[0][0].answer_id):
        here, record, pair, task = _read(context, group[0][0].answer_id)
        brought = {**_brought(here, pair), **{address: [reply] for address, reply in came.items()}}
        found = await replayed(context, record, task, brought, batch=batch)
        paid = found.paid
        again = any(reply is None or question.address in found.wanted for question, reply in group)
        here.files(record.id).put_brought(pair.number, batch.id, addressed_replies_to_text(came))
        now = context.clock()
        pair = here.pairs.change(pair, lambda one: pair_brought(one, batch.id, again=again, now=now))
        if pair.over:
            late = await replayed(context, record, task, _brought(here, pair), batch=batch)
            _paid_late(here, pair, late)
    return [settled_by(reply, paid) for _, reply in group]


def _paid_late(here: ExperimentContext, pair: PairWork, found: ReplayedPair) -> None:
    """Count the cost of replies brought for a pair that has ended meanwhile: they were paid for all the same."""
    files = here.files(pair.experiment_id)
    before = files.pair(pair.number)
    kept = PairKept.of(found.result, before, brought=found.paid)
    if before is not None:
        kept = kept.model_copy(update={"result": before.result})
    files.put_pair(kept)
    sums = sums_of(kept)
    here.pairs.change(pair, lambda one: pair_over(one, None, sums, now=here.clock()))


def _wanted_again(here: ExperimentContext, pair: PairWork, found: ReplayedPair) -> bool:
    """Whether a pair still has a question that it had for a batch before: then that batch did not answer it."""
    before = here.files(pair.experiment_id).wanted(pair.number, pair.rounds)
    return before is not None and any(one.address in found.wanted for one in before.wanted)


def _brought(here: ExperimentContext, pair: PairWork) -> Brought:
    """All replies that batches brought for a pair so far."""
    files = here.files(pair.experiment_id)
    texts = (files.brought(pair.number, batch_id) for batch_id in pair.brought_by)
    return {address: [reply] for text in texts for address, reply in addressed_replies_from_text(text).items()}


def _read(context: BatchingContext, name: str) -> tuple[ExperimentContext, ExperimentRecord, PairWork, PairTask]:
    """The experiment's context, its record, the pair of this name and its task.

    Raises `NotFoundError` if any is gone.
    """
    here = context.comparing()
    experiment_id, _, number = name.rpartition("-")
    record = here.record(experiment_id)
    pair = here.pairs.get(Reference(context.tenant, "experiment", experiment_id), int(number))
    return here, record, pair, here.files(experiment_id).task(int(number))
