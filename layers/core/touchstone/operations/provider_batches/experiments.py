"""Pairs of experiments as batches have them: measured anew, from the beginning, by all that was brought so far.

    a pair ── tried ─┬─ whole, by checks or the cache ──────────> over
              ^      ├─ wants what no batch takes ──────────────> asked at once
              │      └─ wants questions ── gathered ── in a batch ── settled ─┬─ brought something ─┐
              │                                                               └─ nothing for one ───┼─> asked at once
              └─────────────────────────────────────────────────────────────────────────────────────┘

Which pairs wait is gathered by the experiment (`files`). Settling keeps what was brought beside the pair, and leaves
the pair to its own step: of several batches that bring something for one pair at once, none meets another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from touchstone.judges.base import Judge
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.registry import Registry
from touchstone.judges.spends import Spend, known_cost, unpriced
from touchstone.operations.batches.lines import OpenLine, WantedQuestion
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.files import FileBatches, WantingWork
from touchstone.operations.provider_batches.questions import (
    OUT_OF_REACH,
    ListedQuestion,
    RepliedQuestion,
    SettledQuestion,
    as_wanted,
    kept_by_address,
    passed_over,
    read_by_address,
    settled_by,
    timeless,
)
from touchstone.operations.replaying import CheapLine, ReplayJudges, WaitingQuestion, prices_of_batches
from touchstone.operations.surfaces.context import ExperimentContext, PairsStanding, PairTry
from touchstone.operations.surfaces.experimenting import PAIR_SECONDS
from touchstone.records.pair_counts import pair_counts
from touchstone.references import Reference
from touchstone.surfaces.experiments.making import Makers, model_of
from touchstone.surfaces.experiments.pair_work import PairKept, PairTask, PairWork, pair_brought, pair_over
from touchstone.surfaces.experiments.pairs import Measured, PairResult, Replicate, measure_pair
from touchstone.surfaces.experiments.preference import Preference
from touchstone.surfaces.experiments.record import ExperimentRecord
from touchstone.surfaces.model import TIER, MetricName, MetricResult

FIRST_LOOK = timedelta(minutes=1)
LONGEST_LOOK = timedelta(minutes=15)
"""The pause between two looks at the batches of an experiment."""
BATCHED_WITHIN = timedelta(days=4)
"""No batch is begun for an experiment later: what is open then is asked about at once, while there is time for it."""

type Brought = Mapping[str, Sequence[BatchReply]]
"""What batches brought for a pair, by the addresses of its questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPair:
    """A pair as it is by what was brought; `paid` are all the calls that took, those of no use among them."""

    result: PairResult
    wanted: Mapping[str, WaitingQuestion]
    paid: tuple[Spend, ...]

    @property
    def whole(self) -> bool:
        """Whether this is its end, as it would be had everybody answered at once."""
        return not self.wanted and not self.result.unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentBatches:
    """The batches at providers that one tenant's experiments come to."""

    files: FileBatches

    async def tried(self, record: ExperimentRecord, pair: PairWork, task: PairTask) -> PairTry:
        """What comes of a pair by what was brought so far; see `PairTry`. Nothing is asked."""
        context = self.files.context
        here = context.comparing()
        found = await replayed(context, record, task, _brought(here, pair))
        wanted: tuple[WantedQuestion, ...] = ()
        if self._begins(record) and not pair.hastened and not _wanted_again(here, pair, found):
            asked = [await as_wanted(context, one, shared=True) for one in found.wanted.values()]
            wanted = tuple(one for one in asked if one is not None) if None not in asked else ()
        return PairTry(result=found.result, paid=found.paid, wanted=wanted, whole=found.whole)

    def carried(self, record: ExperimentRecord, lines: Sequence[OpenLine]) -> PairsStanding:
        """Put what pairs want into batches, and where they stand then, by their numbers."""
        context = self.files.context
        asking = WantingWork(
            tenant=record.tenant,
            id=record.id,
            created_at=record.created_at,
            list_key=context.comparing().files(record.id).batches_key,
        )
        begins = self._begins(record)
        standing = self.files.carried(asking, lines, begin=begins)
        waiting = [line for line in lines if standing[line.line].standing != "due"]
        now = context.clock()
        until = None
        if waiting:
            passed = (now - max(line.until for line in waiting)) / 2
            no_later = [one.until for one in standing.values() if one.standing == "no money"]
            until = min([now + max(FIRST_LOOK, min(passed, LONGEST_LOOK)), *(one for one in no_later if one > now)])
        return PairsStanding(
            due=frozenset(standing) - {line.line for line in waiting},
            again=not begins,
            until=until,
            batches=tuple(batch.id for batch in self.files.made(asking)),
        )

    def _begins(self, record: ExperimentRecord) -> bool:
        """Whether further batches may be begun."""
        here = self.files
        return here.on and record.when == "cheap" and here.context.clock() - record.created_at < BATCHED_WITHIN


async def replayed(
    context: BatchingContext,
    record: ExperimentRecord,
    task: PairTask,
    brought: Brought,
    *,
    batch: ProviderBatch | None = None,
) -> ReplayedPair:
    """Measure a pair by what was brought; nothing is asked and nothing stored. `batch` None: it is none that ended."""
    first = await _once(context, record, task, brought, batch=batch)
    # Asked twice in one pair, as where both variants have the same question: the second has its reply from the cache.
    twice = first.wanted.keys() & brought.keys()
    if not twice:
        return first
    left = {address: replies for address, replies in brought.items() if address not in twice}
    second = await _once(context, record, task, left, batch=batch)
    told = {spend.line_id for spend in second.paid}
    paid = (*second.paid, *(one for one in first.paid if one.line_id is not None and one.line_id not in told))
    return ReplayedPair(result=second.result, wanted=second.wanted, paid=paid)


async def _once(
    context: BatchingContext,
    record: ExperimentRecord,
    task: PairTask,
    brought: Brought,
    *,
    batch: ProviderBatch | None,
) -> ReplayedPair:
    registry = context.apis.registry
    work = CheapLine(brought)
    judges = ReplayJudges(
        context.apis,
        work,
        prices=prices_of_batches(registry),
        cache=context.cache if record.use_cache else context.apart(record.id),
        brought_by=None if batch is None else batch.provider,
    )
    try:
        result = await measure_pair(
            task.pair,
            task.terms,
            judge=_judge(judges, registry, batch) if task.terms.judged else None,
            makers=Makers(model_of=lambda maker: model_of(judges, maker)),
            seconds=PAIR_SECONDS,
        )
    finally:
        await judges.aclose()
    result = _timeless(result, registry)
    return ReplayedPair(
        result=result, wanted={one.address: one for one in work.wanted}, paid=tuple(result.all_spends())
    )


def _judge(judges: ReplayJudges, registry: Registry, batch: ProviderBatch | None) -> Judge | None:
    """Who measures: the model whose replies are read where it is a judge's, else as `Judges.prefer` has it."""
    if batch is not None and registry.model(batch.provider, TIER).name == batch.model:
        return judges.get(batch.provider, TIER)
    return judges.prefer(TIER)


def _timeless(result: PairResult, registry: Registry) -> PairResult:
    """The result with calls as batches have them (see `timeless`)."""

    def of[T: (Measured, MetricResult, PairResult, Preference)](told: T, **more: object) -> T:
        return told.model_copy(update={"spends": timeless(told.spends, registry), **more})

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
) -> list[WaitingQuestion | None]:
    """The questions of one pair as they are to be sent; None for each that it does not want any more."""
    try:
        here, record, pair, task = _read(context, group[0].answer_id)
        if pair.over or pair.hastened or record.when == "now":
            return [None] * len(group)
        found = await replayed(context, record, task, _brought(here, pair))
    except OUT_OF_REACH as error:
        passed_over(group[0].answer_id, error)
        return [None] * len(group)
    return [found.wanted.get(question.address or "") for question in group]


async def settled(
    context: BatchingContext, batch: ProviderBatch, group: Sequence[RepliedQuestion]
) -> list[SettledQuestion]:
    """Keep what a batch brought for one pair beside it; what it did not bring is asked about at once."""
    came = {question.address: reply for question, reply in group if question.address and reply is not None}
    paid: Sequence[Spend] = ()
    try:
        here, record, pair, task = _read(context, group[0][0].answer_id)
        brought = {**_brought(here, pair), **{address: [reply] for address, reply in came.items()}}
        found = await replayed(context, record, task, brought, batch=batch)
        paid = found.paid
        again = any(reply is None or question.address in found.wanted for question, reply in group)
        here.files(record.id).put_brought(pair.number, batch.id, kept_by_address(came))
        now = context.clock()
        pair = here.pairs.change(pair, lambda one: pair_brought(one, batch.id, again=again, now=now))
        if pair.over:
            late = await replayed(context, record, task, _brought(here, pair), batch=batch)
            _paid_late(here, pair, late)
    except OUT_OF_REACH as error:
        passed_over(group[0][0].answer_id, error)
    return [settled_by(reply, paid) for _, reply in group]


def _paid_late(here: ExperimentContext, pair: PairWork, found: ReplayedPair) -> None:
    """Count what was brought for a pair that had its end meanwhile: it was paid for all the same."""
    files = here.files(pair.experiment_id)
    before = files.pair(pair.number)
    kept = PairKept.of(found.result, before, brought=found.paid)
    if before is not None:
        kept = kept.model_copy(update={"result": before.result})
    files.put_pair(kept)
    cost, unpriced_calls, counts = known_cost(kept.paid) or 0.0, unpriced(kept.paid), pair_counts(kept)
    here.pairs.change(
        pair,
        lambda one: pair_over(one, None, cost_usd=cost, now=here.clock(), counts=counts, unpriced_calls=unpriced_calls),
    )


def _wanted_again(here: ExperimentContext, pair: PairWork, found: ReplayedPair) -> bool:
    """Whether a pair wants what it wanted of a batch before, which therefore did not bring it."""
    before = here.files(pair.experiment_id).wanted(pair.number, pair.rounds)
    return before is not None and any(one.address in found.wanted for one in before.wanted)


def _brought(here: ExperimentContext, pair: PairWork) -> Brought:
    """All that batches brought for a pair so far."""
    files = here.files(pair.experiment_id)
    texts = (files.brought(pair.number, batch_id) for batch_id in pair.brought_by)
    return {address: [reply] for text in texts for address, reply in read_by_address(text).items()}


def _read(context: BatchingContext, name: str) -> tuple[ExperimentContext, ExperimentRecord, PairWork, PairTask]:
    """The pair of this name, and what it is measured by. Raises `NotFoundError` where any of it is gone."""
    here = context.comparing()
    experiment_id, _, number = name.rpartition("-")
    record = here.record(experiment_id)
    pair = here.pairs.get(Reference(context.tenant, "experiment", experiment_id), int(number))
    return here, record, pair, here.files(experiment_id).task(int(number))
