"""What a comparison of finalists counts for its judges: the calls, and whether each pair survived the swap."""

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Final

from touchstone.oracle.compared import PURPOSE, OrderRead, by_judge
from touchstone.oracle.comparison import DimensionComparison
from touchstone.oracle.model import TIER
from touchstone.statistics.tallies import CardTally, JudgeKey, order_tally

KIND: Final = "comparison"
CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = MappingProxyType({PURPOSE: (KIND, TIER)})
"""The calls of a comparison that bring verdicts: the kind of the verdict, and the tier asked."""
_ALIKE = "alike"
"""The verdict on two entries with one score; labels are single letters."""


def orders_of(comparison: DimensionComparison) -> dict[JudgeKey, CardTally]:
    """What both orders of a dimension count for each judge that gave them, pair by pair of its finalists.

    The verdict on a pair is which of the two has the higher score, or that they are alike. A pair of which one could
    not be scored lacks a verdict. Empty where nothing was compared; two judges who gave one order each count
    nothing.
    """
    found: dict[JudgeKey, CardTally] = {}
    for first, second in by_judge(comparison.orders):
        if (first.model, first.prompt_version) != (second.model, second.prompt_version):
            continue
        key = JudgeKey(model=first.model, tier=TIER, prompt_version=first.prompt_version, kind=KIND)
        for one, other in combinations(sorted(comparison.labels), 2):
            tally = order_tally(_better(first, one, other), _better(second, one, other))
            found[key] = found.get(key, CardTally()) + tally
    return found


def _better(order: OrderRead, one: str, other: str) -> str | None:
    """The label of the better one of two entries in one order; None where one of them has no score."""
    scores = {said.label: said.score for said in order.scores}
    if one not in scores or other not in scores:
        return None
    if scores[one] == scores[other]:
        return _ALIKE
    return one if scores[one] > scores[other] else other
