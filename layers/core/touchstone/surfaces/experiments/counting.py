"""What a pair adds to its judges' tallies: the calls that brought verdicts, and the swap of its preference."""

from collections.abc import Mapping
from types import MappingProxyType

from touchstone.judges.spends import single_replier
from touchstone.statistics.tallies import CardTally, JudgeKey, order_tally
from touchstone.strict import Strict
from touchstone.surfaces.experiments.preference import PURPOSE, BothOrders, Preference
from touchstone.surfaces.labelling import CARDS_OF_CALLS as CARDS_OF_METRICS
from touchstone.surfaces.model import TIER

CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = MappingProxyType({**CARDS_OF_METRICS, PURPOSE: (PURPOSE, TIER)})
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
