"""The comparison of a contest's finalists on one dimension: the stored record, and the steps that change it.

    waiting ─┬─ compared      what both orders said; entries that nobody could compare are named
             └─ given up      nobody compared anything: every finalist is without a score on this dimension

Each dimension of a contest is compared by itself and has its own tries. Steps are pure. A step that finds its work done
returns the very same record.
"""

from collections.abc import Mapping
from datetime import datetime
from itertools import combinations
from typing import Final, Literal

from touchstone.attempts import Attempts, TryEnd
from touchstone.judges.spends import Spend
from touchstone.oracle.bands import band_of
from touchstone.oracle.compared import PURPOSE, ComparedEntry, ComparisonResult, OrderRead, pairs_by_judge
from touchstone.oracle.model import TIER, DimensionVote, Unjudged
from touchstone.oracle.submission import FinalistComparison
from touchstone.statistics.tallies import CardTally, JudgeKey, order_tally
from touchstone.strict import Strict

RANKING_ROUND_ID = "DEADLINE"
"""The id of the round of comparisons that makes a contest's ranking. The round of a challenge has the challenge's
id."""
COMPARISON_TRIES = 3
"""How often a dimension is tried if the replies break the rules. Each try includes a repair round. The last try keeps
the entries that can be used."""

type ComparisonState = Literal["waiting", "compared", "unscored"]

KIND: Final = "comparison"
CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = {PURPOSE: (KIND, TIER)}
"""The calls of a comparison that bring verdicts. Maps the purpose of the call to the kind of the verdict and the tier
of the judge."""
_ALIKE = "alike"
"""The verdict on two entries with the same score. It cannot be mistaken for a label, because labels are single
letters."""


class DimensionComparison(Strict):
    """One dimension of one round.

    `finalists` are the submissions that are compared, in their individual order, best first. `labels` maps each label
    to its submission's id. `orders` are the two replies of a judge, or of each judge if several were asked; `entries`
    are computed from them. `silent` are the judges that did not answer, with the reason. `unscored` maps finalists that
    nobody could compare on this dimension to the reason. `unstable`: the order in which entries were shown mattered.
    """

    tenant: str
    task_id: str
    round_id: str
    dimension: str
    finalists: tuple[str, ...]
    created_at: datetime
    state: ComparisonState = "waiting"
    attempts: Attempts = Attempts()
    failure: Unjudged | None = None
    labels: Mapping[str, str] = {}
    orders: tuple[OrderRead, ...] = ()
    entries: tuple[ComparedEntry, ...] = ()
    unscored: Mapping[str, tuple[str, ...]] = {}
    unstable: bool = False
    silent: tuple[DimensionVote, ...] = ()
    spends: tuple[Spend, ...] = ()

    @property
    def id(self) -> str:
        """The id of the comparison within the task: its round and its dimension."""
        return f"{self.round_id}-{self.dimension}"

    @property
    def over(self) -> bool:
        """Whether nothing is left to compare on this dimension."""
        return self.state != "waiting"

    def of(self, submission_id: str) -> FinalistComparison | None:
        """What was said of a finalist on this dimension; None if nobody could compare it."""
        entry = next((one for one in self.entries if one.submission_id == submission_id), None)
        if entry is None:
            return None
        given = [(pair[0], _scores(entry.label, pair)) for pair in pairs_by_judge(self.orders)]
        scored = sorted((scores for _, scores in given if scores is not None), key=sum)
        return FinalistComparison(
            dimension=self.dimension,
            label=entry.label,
            scores=scored[(len(scored) - 1) // 2],
            evidence=entry.evidence,
            feedback=entry.feedback,
            unstable=self.unstable,
            votes=(*(_vote(*one) for one in given), *self.silent) if len(given) > 1 or self.silent else (),
        )


def _scores(label: str, orders: tuple[OrderRead, OrderRead]) -> tuple[int, int] | None:
    """The scores that one judge gave an entry in its two orders; None if the judge could not score it."""
    given = [one.score for order in orders for one in order.scores if one.label == label]
    return (given[0], given[1]) if len(given) == len(orders) else None


def _vote(by: OrderRead, scores: tuple[int, int] | None) -> DimensionVote:
    mean = None if scores is None else sum(scores) / len(scores)
    return DimensionVote(
        provider=by.provider,
        model=by.model,
        prompt_version=by.prompt_version,
        score=mean,
        band=None if mean is None else band_of(mean),
        unscored="invalid_reply" if mean is None else None,
    )


def begun(comparison: DimensionComparison, *, now: datetime) -> DimensionComparison:
    """The comparison with one more try. The very same record if no try may begin now."""
    if comparison.over:
        return comparison
    attempts = comparison.attempts.begun(now=now)
    return comparison if attempts is None else comparison.model_copy(update={"attempts": attempts})


def put_back(comparison: DimensionComparison, why: Unjudged, *, until: datetime, ended: TryEnd) -> DimensionComparison:
    """The comparison after a try that brought no result. The next try begins at `until` or later."""
    if comparison.over:
        return comparison
    attempts = comparison.attempts.put_back(until=until, ended=ended)
    return comparison.model_copy(update={"attempts": attempts, "failure": why})


def with_result(comparison: DimensionComparison, found: ComparisonResult) -> DimensionComparison:
    """The comparison with the result that the judges gave. The first result counts."""
    if comparison.over:
        return comparison
    return comparison.model_copy(
        update={
            "state": "compared",
            "labels": dict(found.labels),
            "orders": found.orders,
            "entries": found.entries,
            "unscored": dict(found.unscored),
            "unstable": found.unstable,
            "silent": found.silent,
            "failure": None,
            "spends": (*comparison.spends, *found.spends),
        }
    )


def given_up(comparison: DimensionComparison, why: Unjudged) -> DimensionComparison:
    """The comparison that nobody could make, with the reason."""
    if comparison.over:
        return comparison
    return comparison.model_copy(update={"state": "unscored", "failure": why})


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
