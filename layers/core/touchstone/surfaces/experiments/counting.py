"""What a pair counts for its judges: the calls that brought verdicts, and whether its preference survived the swap."""

from collections.abc import Mapping
from types import MappingProxyType

from touchstone.judges.spends import sole_replier
from touchstone.statistics.tallies import CardTally, JudgeKey, order_tally
from touchstone.strict import Strict
from touchstone.surfaces.experiments.preference import PURPOSE, BothOrders, Preference
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
    `others` is the same of the further ones of several judges.
    """

    calls: tuple[JudgeCount, ...] = ()
    sent: int = 0
    orders: JudgeCount | None = None
    others: tuple[JudgeCount, ...] = ()

    def followed_by(self, later: "PairCounts | None") -> "PairCounts":
        """What counts once a try brought `later`, None: nothing.

        All that was paid for is in what a try brings, so what holds fewer calls is of a try that was overtaken.
        """
        return self if later is None or later.sent < self.sent else later


def orders_of(preference: Preference) -> dict[JudgeKey, CardTally]:
    """What a preference counts for each judge that gave it; without those of whom it is not certain who they are.

    Beside the order, what several judges say of one pair: how often they agree is on the card of each.
    """
    if not preference.votes:
        replier = sole_replier(preference.spends, PURPOSE)
        return {} if replier is None else {_key(replier.model, replier.prompt_version): _swapped(preference.orders)}
    found = {
        _key(vote.model, vote.prompt_version): _swapped(vote.orders)
        for vote in preference.votes
        if vote.model is not None
    }
    said = [
        (_key(vote.model, vote.prompt_version), vote.verdict) for vote in preference.votes if vote.model is not None
    ]
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
