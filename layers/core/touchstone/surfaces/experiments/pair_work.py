"""The pairs of an experiment as a deployment measures them, and how far each is.

A pair has tries of its own; what was answered at one is found in the cache by the next. Steps are pure; one that finds
its work done returns the very same record.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from touchstone.attempts import Attempts, TryEnd
from touchstone.judges.spends import Spend
from touchstone.material import Source
from touchstone.material.parts import PartId
from touchstone.parts import Part
from touchstone.references import Reference
from touchstone.strict import Strict
from touchstone.surfaces.experiments.counting import PairCounts
from touchstone.surfaces.experiments.model import AnyMaterial, ExperimentTerms, Pair
from touchstone.surfaces.experiments.pairs import PairResult
from touchstone.surfaces.measurement import Unmeasured

BATCHED = "batched"
"""Why a pair is open that waits for a provider's batch."""


class PairWork(Part):
    """One pair of an experiment and how far it is.

    `failure` is why the last try left something unscored, None where it left nothing. `counts` is what its tries count
    for judges. `batched`: it waits for what a provider's batch is to answer, as `rounds` times so far. `brought_by` are
    the batches that brought something for it, by our own ids. `hastened`: it is asked about at once from now on.
    """

    experiment_id: str
    failure: Unmeasured | None = None
    counts: PairCounts = PairCounts()
    batched: bool = False
    rounds: int = 0
    brought_by: tuple[str, ...] = ()
    hastened: bool = False

    @property
    def whole(self) -> Reference:
        """The experiment."""
        return Reference(self.tenant, "experiment", self.experiment_id)

    @property
    def because(self) -> str | None:
        """Why its last try left something unscored."""
        if self.batched and not self.over:
            return BATCHED
        return None if self.failure is None else self.failure.reason

    def begun(self, *, now: datetime) -> Self:
        """The pair with one more try; the very same where none is to be made now, as while it waits for a batch."""
        return self if self.batched else super().begun(now=now)


class PairTask(Strict):
    """What one pair needs to be measured; `a` and `b` None: that variant's material is to be generated."""

    number: int
    item: PartId
    terms: ExperimentTerms
    source: Source
    a: AnyMaterial | None
    b: AnyMaterial | None
    passages_a: Source | None = None
    passages_b: Source | None = None

    @classmethod
    def of(cls, pair: Pair, terms: ExperimentTerms) -> "PairTask":
        """The task of a pair; passages that are the source itself are not said again."""
        return cls(
            number=pair.number,
            item=pair.item,
            terms=terms,
            source=pair.source,
            a=pair.a,
            b=pair.b,
            passages_a=None if pair.passages_a is pair.source else pair.passages_a,
            passages_b=None if pair.passages_b is pair.source else pair.passages_b,
        )

    @property
    def pair(self) -> Pair:
        """The pair."""
        return Pair(
            number=self.number,
            item=self.item,
            source=self.source,
            a=self.a,
            b=self.b,
            passages_a=self.passages_a or self.source,
            passages_b=self.passages_b or self.source,
        )


class PairKept(Strict):
    """What the tries of a pair brought so far, and every call that was paid for it, each once."""

    result: PairResult
    paid: tuple[Spend, ...]

    @classmethod
    def of(cls, result: PairResult, before: "PairKept | None", *, brought: Sequence[Spend] = ()) -> "PairKept":
        """What a try adds: what it found in the cache, another try has told, and each line of a batch is told once.

        `brought` are calls of batches, also such as are not in the result.
        """
        paid, spends = (() if before is None else before.paid), tuple(result.all_spends())
        told = {one.line_id for one in paid}
        at_once = [one for one in spends if one.line_id is None and not (one.cached and before is not None)]
        lines = {one.line_id: one for one in (*spends, *brought) if one.line_id is not None and one.line_id not in told}
        return cls(result=result, paid=(*paid, *at_once, *lines.values()))


def pair_awaiting(
    pair: PairWork, *, cost_usd: float, now: datetime, counts: PairCounts | None, unpriced_calls: int
) -> PairWork:
    """The pair whose questions a provider's batch is to answer; no try is counted. The rest as in `pair_put_back`."""
    if pair.over:
        return pair_over(pair, None, cost_usd=cost_usd, now=now, counts=counts, unpriced_calls=unpriced_calls)
    outlay = _outlay(pair, cost_usd, counts, unpriced_calls)
    return pair.model_copy(
        update={
            "attempts": Attempts(),
            "failure": None,
            "batched": True,
            "rounds": pair.rounds + 1,
            **outlay,
            "at": now,
        }
    )


def pair_due(pair: PairWork, *, now: datetime, again: bool) -> PairWork:
    """The pair whose batches are over, to be tried again; `again`: by asking at once."""
    if pair.over or not pair.batched:
        return pair
    return pair.model_copy(update={"batched": False, "hastened": pair.hastened or again, "at": now})


def pair_brought(pair: PairWork, batch_id: str, *, again: bool, now: datetime) -> PairWork:
    """The pair for which a batch brought something, or `again`: something is to be asked about at once."""
    brought_by = pair.brought_by if batch_id in pair.brought_by else (*pair.brought_by, batch_id)
    hastened = pair.hastened or again
    if (brought_by, hastened) == (pair.brought_by, pair.hastened):
        return pair
    return pair.model_copy(update={"brought_by": brought_by, "hastened": hastened, "at": now})


def pair_put_back(
    pair: PairWork,
    why: Unmeasured,
    *,
    until: datetime,
    ended: TryEnd,
    cost_usd: float,
    now: datetime,
    counts: PairCounts | None = None,
    unpriced_calls: int = 0,
) -> PairWork:
    """The pair after a try that left something unscored, to be tried again not before `until`.

    `cost_usd` is what all its tries cost so far, all but `unpriced_calls`, and `counts` what they count, None where
    this one brought nothing.
    """
    if pair.over:
        return pair_over(pair, None, cost_usd=cost_usd, now=now, counts=counts, unpriced_calls=unpriced_calls)
    attempts = pair.attempts.put_back(until=until, ended=ended)
    return pair.model_copy(
        update={"attempts": attempts, "failure": why, **_outlay(pair, cost_usd, counts, unpriced_calls), "at": now},
    )


def pair_over(
    pair: PairWork,
    why: Unmeasured | None,
    *,
    cost_usd: float,
    now: datetime,
    counts: PairCounts | None = None,
    unpriced_calls: int = 0,
) -> PairWork:
    """The pair that is over: with everything scored, or with the reason why not; a later try is only paid.

    `cost_usd` is what all its tries cost so far, all but `unpriced_calls`, and `counts` what they count, None where
    this one brought nothing.
    """
    more_calls = counts is not None and counts.sent > pair.counts.sent
    if pair.over and cost_usd <= pair.cost_usd and not more_calls:
        return pair
    failure = pair.failure if pair.over else why
    outlay = _outlay(pair, cost_usd, counts, unpriced_calls)
    return pair.model_copy(update={"over": True, "failure": failure, **outlay, "at": now})


def _outlay(pair: PairWork, cost_usd: float, counts: PairCounts | None, unpriced_calls: int) -> dict[str, object]:
    return {
        "cost_usd": max(pair.cost_usd, cost_usd),
        "unpriced_calls": max(pair.unpriced_calls, unpriced_calls),
        "counts": pair.counts.followed_by(counts),
    }
