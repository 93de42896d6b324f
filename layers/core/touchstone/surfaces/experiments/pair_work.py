"""The pairs of an experiment as a deployment measures them, and how far each is.

A pair has tries of its own; what was answered at one is found in the cache by the next. Steps are pure; one that finds
its work done returns the very same record.
"""

from datetime import datetime

from touchstone.attempts import TryEnd
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


class PairWork(Part):
    """One pair of an experiment and how far it is.

    `failure` is why the last try left something unscored, None where it left nothing. `counts` is what its tries count
    for judges.
    """

    experiment_id: str
    failure: Unmeasured | None = None
    counts: PairCounts = PairCounts()

    @property
    def whole(self) -> Reference:
        """The experiment."""
        return Reference(self.tenant, "experiment", self.experiment_id)

    @property
    def because(self) -> str | None:
        """Why its last try left something unscored."""
        return None if self.failure is None else self.failure.reason


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
    def of(cls, result: PairResult, before: "PairKept | None") -> "PairKept":
        """What a try adds: what it found in the cache, another try has told."""
        spends = tuple(result.all_spends())
        if before is None:
            return cls(result=result, paid=spends)
        return cls(result=result, paid=(*before.paid, *(one for one in spends if not one.cached)))


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
