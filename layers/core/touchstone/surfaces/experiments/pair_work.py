"""The pairs of an experiment as a deployment measures them, and how far each is.

Each pair has tries of its own. What was answered at one try is found in the cache by the next. Steps are pure
functions. If a step finds its work done, it returns the same record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from touchstone.attempts import BATCHED, Attempts, TryEnd
from touchstone.judges.spends import Spend, single_replier
from touchstone.material import Source
from touchstone.material.parts import PartId
from touchstone.parts import Part
from touchstone.references import Reference
from touchstone.statistics.tallies import CardTally, JudgeKey, order_tally
from touchstone.strict import Strict
from touchstone.surfaces.experiments.model import AnyMaterial, ExperimentTerms, Pair
from touchstone.surfaces.experiments.pairs import PairResult
from touchstone.surfaces.experiments.preference import PURPOSE, BothOrders, Preference
from touchstone.surfaces.labelling import CARDS_OF_CALLS as CARDS_OF_METRICS
from touchstone.surfaces.measurement import Unmeasured
from touchstone.surfaces.model import TIER

CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = {**CARDS_OF_METRICS, PURPOSE: (PURPOSE, TIER)}
"""The calls of a pair that bring verdicts: those of the metrics, as in a measurement, and those of the preference."""


class JudgeCount(Strict):
    """The tally of a pair for one judge (see `JudgeKey`): `sums` by their names, without sums of zero."""

    model: str
    tier: str | None
    prompt_version: str | None
    kind: str
    sums: dict[str, int]


class PairCounts(Strict):
    """The tallies of a pair's tries so far.

    `calls` are the sums over its calls, and `sent` is the number of calls that were paid for. `orders` tells whether
    the judge preferred the same variant in both orders; None if nobody was asked, or if not all replies came from one
    judge and one prompt. `others` are the same for the further judges of several.
    """

    calls: tuple[JudgeCount, ...] = ()
    sent: int = 0
    orders: JudgeCount | None = None
    others: tuple[JudgeCount, ...] = ()

    def followed_by(self, later: "PairCounts | None") -> "PairCounts":
        """The counts after a try that brought `later`; None: it brought nothing.

        A try brings everything that was paid for so far. So counts with fewer calls are of a try that was overtaken,
        and are dropped.
        """
        return self if later is None or later.sent < self.sent else later


def orders_of(preference: Preference) -> dict[JudgeKey, CardTally]:
    """The tally of a preference for each judge that gave it. A judge that is not known for certain is left out.

    If several judges were asked about one pair, how often they agree counts for the card of each as well. Of judges
    asked in turn only the first counts: the others are asked about pairs that the first was torn on.
    """
    if not preference.votes:
        replier = single_replier(preference.spends, PURPOSE)
        return {} if replier is None else {_key(replier.model, replier.prompt_version): _swapped(preference.orders)}
    votes = [one for one in preference.votes[: 1 if preference.in_turn else None] if one.model is not None]
    found = {_key(vote.model or "", vote.prompt_version): _swapped(vote.orders) for vote in votes}
    said = [(_key(vote.model or "", vote.prompt_version), vote.verdict) for vote in votes]
    together = tuple(sorted(verdict for _, verdict in said if verdict is not None))
    if len(together) > 1:
        for key, verdict in said:
            if verdict is not None:
                found[key] += CardTally(panels={together: 1})
    return found


def _key(model: str, prompt_version: str | None) -> JudgeKey:
    return JudgeKey(model=model, tier=TIER, prompt_version=prompt_version, kind=PURPOSE)


def _swapped(orders: BothOrders) -> CardTally:
    return order_tally(orders[0].verdict, orders[1].verdict)


class PairWork(Part):
    """One pair of an experiment and its progress.

    `failure` is why the last try left something unscored; None if it left nothing. `counts` are the tallies of its
    tries for its judges. It has waited for a provider's batch to answer its questions `rounds` times so far.
    `brought_by` are our own ids of the batches that brought something for it.
    """

    experiment_id: str
    failure: Unmeasured | None = None
    counts: PairCounts = PairCounts()
    rounds: int = 0
    brought_by: tuple[str, ...] = ()

    @property
    def whole(self) -> Reference:
        """The reference to the experiment."""
        return Reference(self.tenant, "experiment", self.experiment_id)

    @property
    def because(self) -> str | None:
        """Why the last try left something unscored; `batched` while the pair waits for a batch."""
        if self.batched and not self.over:
            return BATCHED
        return None if self.failure is None else self.failure.reason


class PairTask(Strict):
    """What is needed to measure one pair. `a` or `b` None: that variant's material is to be made.

    `passages_a` or `passages_b` None: that variant's material is made from the source itself.
    """

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
        """The task of a pair. Passages that are the source itself are left out."""
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
        """The pair that this task was made of."""
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
    """The result of a pair's tries so far, and every call that was paid for it, each once."""

    result: PairResult
    paid: tuple[Spend, ...]

    @classmethod
    def of(cls, result: PairResult, before: "PairKept | None", *, brought: Sequence[Spend] = ()) -> "PairKept":
        """The record after a try.

        Calls that the try found in the cache are left out, since an earlier try has them. Each line of a batch is added
        once. `brought` are calls of batches, also calls that are not in the result.
        """
        paid, spends = (() if before is None else before.paid), tuple(result.all_spends())
        told = {one.line_id for one in paid}
        at_once = [one for one in spends if one.line_id is None and not (one.cached and before is not None)]
        lines = {one.line_id: one for one in (*spends, *brought) if one.line_id is not None and one.line_id not in told}
        return cls(result=result, paid=(*paid, *at_once, *lines.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSums:
    """What all tries of a pair cost so far, and their tallies; `counts` is None if the latest try brought nothing.

    `cost_usd` is without the `unpriced_calls`. A pair stores its sums and not its calls, since all pairs of an
    experiment are read at once to see which are over. The sums are few, one for each judge, prompt and kind of verdict,
    so that the transaction of a pair stays small.
    """

    cost_usd: float = 0.0
    unpriced_calls: int = 0
    counts: PairCounts | None = None

    @classmethod
    def before(cls, pair: PairWork) -> "PairSums":
        """The sums of a pair whose latest try brought nothing."""
        return cls(cost_usd=pair.cost_usd, unpriced_calls=pair.unpriced_calls)

    def added_to(self, pair: PairWork) -> dict[str, object]:
        """The sums as the pair stores them. They never fall: a try that ends late may know of fewer calls."""
        return {
            "cost_usd": max(pair.cost_usd, self.cost_usd),
            "unpriced_calls": max(pair.unpriced_calls, self.unpriced_calls),
            "counts": pair.counts.followed_by(self.counts),
        }


def pair_awaiting(pair: PairWork, sums: PairSums, *, now: datetime) -> PairWork:
    """The pair whose questions a provider's batch will answer. No try is counted."""
    if pair.over:
        return pair_over(pair, None, sums, now=now)
    waits = {"attempts": Attempts(), "failure": None, "batched": True, "rounds": pair.rounds + 1}
    return pair.model_copy(update={**waits, **sums.added_to(pair), "at": now})


def pair_brought(pair: PairWork, batch_id: str, *, again: bool, now: datetime) -> PairWork:
    """The pair for which a batch brought something. `again`: its questions are asked at once from now on."""
    brought_by = pair.brought_by if batch_id in pair.brought_by else (*pair.brought_by, batch_id)
    hastened = pair.hastened or again
    if (brought_by, hastened) == (pair.brought_by, pair.hastened):
        return pair
    return pair.model_copy(update={"brought_by": brought_by, "hastened": hastened, "at": now})


def pair_put_back(
    pair: PairWork, why: Unmeasured, sums: PairSums, *, until: datetime, ended: TryEnd, now: datetime
) -> PairWork:
    """The pair after a try that left something unscored. The next try is not before `until`."""
    if pair.over:
        return pair_over(pair, None, sums, now=now)
    attempts = pair.attempts.put_back(until=until, ended=ended)
    return pair.model_copy(update={"attempts": attempts, "failure": why, **sums.added_to(pair), "at": now})


def pair_over(pair: PairWork, why: Unmeasured | None, sums: PairSums, *, now: datetime) -> PairWork:
    """The pair that is over: everything is scored, or `why` says why not.

    A later try only adds its cost and its tallies.
    """
    more_calls = sums.counts is not None and sums.counts.sent > pair.counts.sent
    if pair.over and sums.cost_usd <= pair.cost_usd and not more_calls:
        return pair
    failure = pair.failure if pair.over else why
    return pair.model_copy(update={"over": True, "failure": failure, **sums.added_to(pair), "at": now})
