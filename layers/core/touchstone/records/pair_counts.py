"""What the pairs of experiments add to their judges' counters.

A pair stores its sums and not its calls, since all pairs of an experiment are read at once to see which are over. The
sums are few, one for each judge, prompt and kind of verdict, so that the transaction of a pair stays small.
"""

from collections.abc import Iterator, Mapping
from typing import TypedDict

from touchstone.judges.spends import count_unpriced, known_cost
from touchstone.records.counters import Increment, counts_pk, shard_of
from touchstone.records.judge_counts import calls_of, counts_of, judge_sk
from touchstone.statistics.tallies import CardTally, JudgeKey
from touchstone.surfaces.experiments.counting import CARDS_OF_CALLS, JudgeCount, PairCounts, orders_of
from touchstone.surfaces.experiments.pair_work import PairKept, PairWork


class PairSums(TypedDict):
    """What all tries of a pair cost so far, and their tallies, as the steps of `pair_work` take them."""

    cost_usd: float
    unpriced_calls: int
    counts: PairCounts | None


def sums_of(kept: PairKept) -> PairSums:
    """The sums of all tries of a pair, from everything that they brought."""
    return PairSums(
        cost_usd=known_cost(kept.paid) or 0.0, unpriced_calls=count_unpriced(kept.paid), counts=pair_counts(kept)
    )


def sums_before(pair: PairWork) -> PairSums:
    """The sums of a pair whose latest try brought nothing."""
    return PairSums(cost_usd=pair.cost_usd, unpriced_calls=pair.unpriced_calls, counts=None)


def pair_counts(kept: PairKept) -> PairCounts:
    """The counts of all tries of a pair, from everything that they brought."""
    calls = calls_of(kept.paid, CARDS_OF_CALLS)
    orders: dict[JudgeKey, CardTally] = {}
    for run in kept.result.runs:
        for key, tally in orders_of(run.preference).items():
            orders[key] = orders.get(key, CardTally()) + tally
    swapped = _judge_counts(orders)
    return PairCounts(
        calls=_judge_counts(calls),
        sent=sum(tally.answered + tally.unreadable + tally.failed for tally in calls.values()),
        orders=next(iter(swapped), None),
        others=swapped[1:],
    )


def counted_pair(pair: PairWork) -> Iterator[Increment]:
    """What a pair adds to the counters now: its calls, and once it is over whether its preference survived the swap."""
    counts = pair.counts
    orders = (counts.orders, *counts.others) if pair.over and counts.orders is not None else ()
    sums: dict[JudgeKey, dict[str, int]] = {}
    for one in (*counts.calls, *orders):
        key = JudgeKey(model=one.model, tier=one.tier, prompt_version=one.prompt_version, kind=one.kind)
        # Calls and orders of one judge have no sum in common.
        sums[key] = sums.get(key, {}) | one.sums
    pk = counts_pk(pair.tenant, shard_of(pair.id))
    for key, add in sums.items():
        yield Increment(pk=pk, sk=judge_sk(key), add=add)


def _judge_counts(tallies: Mapping[JudgeKey, CardTally]) -> tuple[JudgeCount, ...]:
    return tuple(
        JudgeCount(
            model=key.model, tier=key.tier, prompt_version=key.prompt_version, kind=key.kind, sums=counts_of(tally)
        )
        for key, tally in tallies.items()
    )
