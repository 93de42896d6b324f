"""What the pairs of experiments add to their judges' counters.

A pair stores its sums and not its calls, since all pairs of an experiment are read at once to see which are over. The
sums are few, one for each judge, prompt and kind of verdict, so that the transaction of a pair stays small.
"""

from collections.abc import Iterator, Mapping

from touchstone.records.counters import Increment, counts_pk, shard_of
from touchstone.records.judge_counts import calls_of, counts_of, judge_sk
from touchstone.statistics.tallies import CardTally, JudgeKey
from touchstone.surfaces.experiments.counting import CARDS_OF_CALLS, JudgeCount, PairCounts, orders_of
from touchstone.surfaces.experiments.pair_work import PairKept, PairWork


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
