"""The comparison of a contest's finalists on one dimension: what is stored of it, and the steps by which it changes.

    waiting ─┬─ compared      what both orders said; entries that nobody could compare are named
             └─ given up      nobody compared anything: every finalist is without a score on this dimension

A contest's dimensions are compared side by side, each by itself and each with tries of its own. Steps are pure; one
that finds its work done returns the very same record.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from touchstone.attempts import Attempts, TryEnd
from touchstone.judges.spends import Spend
from touchstone.oracle.bands import band_of
from touchstone.oracle.compared import Compared, ComparedEntry, OrderRead, by_judge
from touchstone.oracle.model import DimensionVote
from touchstone.oracle.submission import FinalistComparison
from touchstone.oracle.unjudged import Unjudged
from touchstone.strict import Strict

AT_DEADLINE = "DEADLINE"
"""The round of comparisons that makes a contest's ranking; those of a challenge are called by its id."""
COMPARISON_TRIES = 3
"""Tries of one dimension whose replies break the rules, each with its repair round; the last keeps what it can."""

type ComparisonState = Literal["waiting", "compared", "unscored"]


class DimensionComparison(Strict):
    """One dimension of one round. `finalists` are the submissions that are compared, best first by themselves.

    `labels` says which submission had which label; `orders` are both replies, two of each where several judges were
    asked, from which `entries` follow; `silent` are those of them that said nothing, and why. `unscored`
    names finalists that nobody could compare here, and why. `unstable`: the order in which entries were shown mattered.
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
        """The dimension within its round."""
        return f"{self.round_id}-{self.dimension}"

    @property
    def over(self) -> bool:
        """Whether nothing is left to compare here."""
        return self.state != "waiting"

    def of(self, submission_id: str) -> FinalistComparison | None:
        """What was said of a finalist on this dimension; None where nobody could compare it."""
        entry = next((one for one in self.entries if one.submission_id == submission_id), None)
        if entry is None:
            return None
        said = [(pair[0], _scores(entry.label, pair)) for pair in by_judge(self.orders)]
        scored = sorted((scores for _, scores in said if scores is not None), key=sum)
        return FinalistComparison(
            dimension=self.dimension,
            label=entry.label,
            scores=scored[(len(scored) - 1) // 2],
            evidence=entry.evidence,
            feedback=entry.feedback,
            unstable=self.unstable,
            votes=(*(_vote(*one) for one in said), *self.silent) if len(said) > 1 or self.silent else (),
        )


def _scores(label: str, orders: tuple[OrderRead, OrderRead]) -> tuple[int, int] | None:
    """What one judge gave an entry in both orders; None where it could not score it."""
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
    """The comparison with one more try; the very same where none is to be made now."""
    if comparison.over:
        return comparison
    attempts = comparison.attempts.begun(now=now)
    return comparison if attempts is None else comparison.model_copy(update={"attempts": attempts})


def put_back(
    comparison: DimensionComparison, why: Unjudged, *, until: datetime, ended: TryEnd, spends: Sequence[Spend] = ()
) -> DimensionComparison:
    """The comparison after a try that brought nothing, to be tried again not before `until`."""
    if comparison.over:
        return comparison
    return comparison.model_copy(
        update={
            "attempts": comparison.attempts.put_back(until=until, ended=ended),
            "failure": why,
            "spends": (*comparison.spends, *spends),
        }
    )


def kept(comparison: DimensionComparison, found: Compared) -> DimensionComparison:
    """The comparison with what judges said; the first result counts."""
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


def given_up(comparison: DimensionComparison, why: Unjudged, *, spends: Sequence[Spend] = ()) -> DimensionComparison:
    """The comparison that nobody could make, and why."""
    if comparison.over:
        return comparison
    return comparison.model_copy(update={"state": "unscored", "failure": why, "spends": (*comparison.spends, *spends)})
