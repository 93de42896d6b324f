"""What a pair counts for its judges: the calls that brought verdicts, and whether its preference survived the swap."""

from collections.abc import Mapping
from types import MappingProxyType

from touchstone.judges.spends import sole_replier
from touchstone.statistics.tallies import CardTally, JudgeKey, order_tally
from touchstone.strict import Strict
from touchstone.surfaces.experiments.preference import PURPOSE, Preference
from touchstone.surfaces.labelling import CARDS_OF_CALLS as CARDS_OF_METRICS
from touchstone.surfaces.model import TIER

CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = MappingProxyType({**CARDS_OF_METRICS, PURPOSE: (PURPOSE, TIER)})
"""The calls of a pair that bring verdicts: those of the metrics as in a measurement, and those of the preference."""


class JudgeCount(Strict):
    """What a pair counts for one judge (see `JudgeKey`): `sums` by their names, without those that are zero."""

    model: str
    tier: str | None
    prompt_version: str | None
    kind: str
    sums: dict[str, int]


class PairCounts(Strict):
    """What the tries of a pair count so far.

    `calls` are the sums of its calls, `sent` how many of them were paid for. `orders` is whether the judge preferred
    the same variant in both orders; None where nobody was asked, or not all replies came from one judge by one prompt.
    """

    calls: tuple[JudgeCount, ...] = ()
    sent: int = 0
    orders: JudgeCount | None = None

    def followed_by(self, later: "PairCounts | None") -> "PairCounts":
        """What counts once a try brought `later`, None: nothing.

        All that was paid for is in what a try brings, so what holds fewer calls is of a try that was overtaken.
        """
        return self if later is None or later.sent < self.sent else later


def orders_of(preference: Preference) -> dict[JudgeKey, CardTally]:
    """What a preference counts for the judge that gave it; empty where it is not certain which one did."""
    replier = sole_replier(preference.spends, PURPOSE)
    if replier is None:
        return {}
    first, second = (order.verdict for order in preference.orders)
    key = JudgeKey(model=replier.model, tier=TIER, prompt_version=replier.prompt_version, kind=PURPOSE)
    return {key: order_tally(first, second)}
