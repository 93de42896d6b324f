"""How several judges agree on a figure, and how much it varies between several runs."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, variance

from touchstone.judges.base import JudgeCount, asks_in_turn, most_judges
from touchstone.statistics import interval_alpha, nominal_alpha
from touchstone.surfaces.experiments.conclusion import PanelAgreement, Replication
from touchstone.surfaces.experiments.pairs import PairResult
from touchstone.surfaces.experiments.preference import Choice, Preference
from touchstone.surfaces.model import ItemVote, MetricResult
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.panel import SCORES

WHOLE = 100.0
WINS: Mapping[Choice, float] = {"a": 0.0, "tie": WHOLE / 2, "b": WHOLE}
"""B's score for a verdict. A's score is 100 less that."""

type RunScores = Sequence[tuple[float | None, float | None]]
"""The scores of A and of B in each run of one pair."""


def scores_of_metric(pair: PairResult, name: MetricName) -> RunScores:
    """The scores of a metric for both variants in each run."""
    return [(_score(run.a, name), _score(run.b, name)) for run in pair.runs]


def scores_of_preference(pair: PairResult) -> RunScores:
    """The scores of both variants from the preference in each run; None, None if a run has no verdict."""
    verdicts = [run.preference.verdict for run in pair.runs]
    return [(None, None) if one is None else (WHOLE - WINS[one], WINS[one]) for one in verdicts]


def preferred_in(pair: PairResult) -> Choice | None:
    """The variant that a pair's mean preference over all runs is for; None if no run has a verdict."""
    _, b = mean_scores(scores_of_preference(pair))
    return None if b is None else "tie" if b == WHOLE / 2 else "b" if b > WHOLE / 2 else "a"


def flipped_in(pair: PairResult) -> bool:
    """Whether the preference over all runs is a tie, and the verdict of some run did not survive the swap."""
    return preferred_in(pair) == "tie" and any(run.preference.flipped for run in pair.runs)


def shown_preference(pair: PairResult) -> Preference:
    """The preference of the run whose reasons are shown: the first with the verdict of all runs, or with any."""
    verdict, every = preferred_in(pair), [run.preference for run in pair.runs]
    return min(every, key=lambda one: (one.verdict is None, one.verdict != verdict))


def mean_of(scores: Sequence[float | None]) -> float | None:
    """The mean of the scores that are not None; None if there are none."""
    there = [one for one in scores if one is not None]
    return fmean(there) if there else None


def mean_scores(scores: RunScores) -> tuple[float | None, float | None]:
    """The means of A's and of B's scores over all runs."""
    return mean_of([a for a, _ in scores]), mean_of([b for _, b in scores])


def replication_of(pairs: Sequence[RunScores], *, runs: int) -> Replication | None:
    """How a difference varies between runs; None if the same was asked once."""
    if runs == 1:
        return None
    by_pair = [[None if a is None or b is None else b - a for a, b in pair] for pair in pairs]
    means = [mean_of([pair[run] for pair in by_pair if run < len(pair)]) for run in range(runs)]
    within = [found for pair in by_pair if (found := _variance(pair)) is not None]
    return Replication(
        runs=runs, differences=tuple(means), variance=_variance(means), item_variance=fmean(within) if within else None
    )


def agreement_on_metric(found: Sequence[PairResult], name: MetricName, *, judges: JudgeCount) -> PanelAgreement | None:
    """How several judges agree on the items of a metric, of both variants in every run; None if there is one judge.

    It is also None for judges asked in turn, since the second judge sees only items that the first was not sure of. A
    vote of a judge that is not sure enough does not count.
    """
    if asks_in_turn(judges):
        return None
    voted = [votes for pair in found for run in pair.runs for side in (run.a, run.b) for votes in _votes(side, name)]
    words = [[None if one.unsure else one.label for one in votes] for votes in voted]
    if name in SCORES:
        alpha = interval_alpha([[one.value for one in votes] for votes in voted])
    else:
        alpha = nominal_alpha(words)
    return _agreement(words, alpha=alpha.value, judges=judges)


def agreement_on_preference(found: Sequence[PairResult], *, judges: JudgeCount) -> PanelAgreement | None:
    """How several judges agree on which variant is better.

    None if there is one judge, or if judges are asked in turn.
    """
    if asks_in_turn(judges):
        return None
    words = [[vote.verdict for vote in run.preference.votes] for pair in found for run in pair.runs]
    return _agreement(words, alpha=nominal_alpha(words).value, judges=judges)


def _agreement(words: Sequence[Sequence[str | None]], *, alpha: float | None, judges: JudgeCount) -> PanelAgreement:
    said = [[one for one in unit if one is not None] for unit in words]
    voted = [unit for unit in said if len(unit) > 1]
    return PanelAgreement(
        judges=most_judges(judges), alpha=alpha, voted=len(voted), split=sum(len(set(unit)) > 1 for unit in voted)
    )


def _votes(results: Mapping[MetricName, MetricResult], name: MetricName) -> Iterator[Sequence[ItemVote]]:
    result = results.get(name)
    for item in () if result is None else result.all_items:
        if item.votes:
            yield item.votes


def _score(results: Mapping[MetricName, MetricResult], name: MetricName) -> float | None:
    result = results.get(name)
    return None if result is None else result.score


def _variance(values: Sequence[float | None]) -> float | None:
    there = [one for one in values if one is not None]
    return variance(there) if len(there) > 1 else None
