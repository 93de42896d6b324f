"""What a comparison of finalists counts for its judges: its calls, and which verdicts on pairs survived the swap."""

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Final

from touchstone.oracle.compared import PURPOSE, OrderRead, pairs_by_judge
from touchstone.oracle.comparison import DimensionComparison
from touchstone.oracle.model import TIER
from touchstone.statistics.tallies import CardTally, JudgeKey, order_tally

KIND: Final = "comparison"
CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = MappingProxyType({PURPOSE: (KIND, TIER)})
"""The calls of a comparison that bring verdicts. Maps the purpose of the call to the kind of the verdict and the tier
of the judge."""
_ALIKE = "alike"
"""The verdict on two entries with the same score. It cannot be mistaken for a label, because labels are single
letters."""


def orders_of(comparison: DimensionComparison) -> dict[JudgeKey, CardTally]:
    """What the two orders of a dimension add to the card of each judge, pair by pair of its finalists.

    The verdict on a pair is the label of the entry with the higher score, or that both are alike. A pair has no verdict
    if one of its entries could not be scored. The result is empty if nothing was compared. If the two orders come from
    two different models or prompt versions, they count nothing.
    """
    found: dict[JudgeKey, CardTally] = {}
    for first, second in pairs_by_judge(comparison.orders):
        if (first.model, first.prompt_version) != (second.model, second.prompt_version):
            continue
        key = JudgeKey(model=first.model, tier=TIER, prompt_version=first.prompt_version, kind=KIND)
        for one, other in combinations(sorted(comparison.labels), 2):
            tally = order_tally(_better(first, one, other), _better(second, one, other))
            found[key] = found.get(key, CardTally()) + tally
    return found


def _better(order: OrderRead, one: str, other: str) -> str | None:
    """The label of the better one of two entries in one order, or `_ALIKE`; None if one of them has no score."""
    scores = {said.label: said.score for said in order.scores}
    if one not in scores or other not in scores:
        return None
    if scores[one] == scores[other]:
        return _ALIKE
    return one if scores[one] > scores[other] else other
