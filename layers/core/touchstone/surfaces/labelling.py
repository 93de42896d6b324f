"""Items of measurements that a person may label: is the class right that a judge gave to this question?"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.spends import BY_CHECKS, JudgedBy, single_replier
from touchstone.statistics.tallies import CardTally, Judged, JudgedVote, JudgeKey
from touchstone.surfaces.model import TIER, ItemLabel, ItemVote, UnscoredItem
from touchstone.surfaces.names import MetricName

if TYPE_CHECKING:
    from touchstone.surfaces.measurement import Measurement
    from touchstone.surfaces.model import MetricResult

CLASSES: Mapping[MetricName, tuple[str, ...]] = {
    "quiz_answer_correctness": ("CORRECT", "INCORRECT_ANSWER", "INCORRECT_DISTRACTOR", "ERROR"),
    "quiz_clarity": ("CLEAR", "AMBIGUOUS", "CONTEXT_DEPENDENT", "ERROR"),
    "quiz_distractor_quality": ("PLAUSIBLE", "WEAK", "ABSURD"),
    "summary_faithfulness": ("SUPPORTED", "CONTRADICTED", "UNSUPPORTED"),
    "summary_coverage": ("COVERED", "MENTIONED", "MISSING"),
    "summary_information_density": ("INFORMATIVE", "FILLER", "REPETITION"),
    "flashcard_answer_correctness": ("CORRECT", "INCORRECT_ANSWER", "ERROR", "UNSUPPORTED"),
    "flashcard_atomicity": ("ATOMIC", "COMPOUND", "ERROR"),
    "flashcard_clarity": ("CLEAR", "AMBIGUOUS", "CONTEXT_DEPENDENT", "ERROR"),
}
"""The metrics whose items get one of a few classes from a judge, with these classes."""
REPLIED = frozenset({"invalid_reply", "unreadable"})
"""The reasons for which an item is unscored although a judge replied. For any other reason no judge was asked about the
item, or none was heard."""
CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = {metric: (metric, TIER) for metric in CLASSES}
"""The calls that bring these classes. The purpose of a call is the metric's name, and so is the kind of its card."""


def judged_item(measurement: "Measurement", metric: MetricName, item: str) -> Judged:
    """What was said of an item of a metric, for a person to label.

    Raises `NotFoundError` if there is no such item or metric. Raises `ConflictError` while the metric is not over, and
    for an item whose label is no class of the metric (a trivial claim).
    """
    work = measurement.work(metric)
    if not work.over:
        raise ConflictError("This metric is still being measured; label its items when it is over.")
    classes, result = CLASSES[metric], work.result
    judged = next((one for one in work.all_items if one.item == item), None)
    if result is None or judged is None:
        raise NotFoundError("There is no such item in this measurement.")
    if judged.votes:
        given = judged.label if isinstance(judged, ItemLabel) and judged.label in classes else None
        votes = tuple(votes_on(judged.votes, metric))
        return Judged(classes=classes, verdict=given, confidence=None, judge=None, votes=votes)
    if isinstance(judged, UnscoredItem):
        asked = judged.judge or (_of_all(result) if judged.reason in REPLIED else None)
        return Judged(classes=classes, verdict=None, confidence=None, judge=_key(asked, metric))
    if judged.label not in classes:
        raise ConflictError(
            f"This item is {judged.label}, which is no class of this metric; there is nothing to label."
        )
    by_checks = BY_CHECKS if judged.judge is None and _by_checks(measurement, metric, item) else None
    judge = judged.judge or by_checks or _of_all(result)
    return Judged(classes=classes, verdict=judged.label, confidence=judged.confidence, judge=_key(judge, metric))


def votes_on(votes: Iterable[ItemVote], metric: MetricName, *, counted: bool = False) -> Iterator[JudgedVote]:
    """The class that each of several judges gave an item. A vote is left out if it is not known who answered.

    `counted`: only the votes of judges that were sure enough.
    """
    for vote in votes:
        key = _key(vote.judge, metric)
        if vote.label is not None and key is not None and not (counted and vote.unsure):
            yield JudgedVote(verdict=vote.label, confidence=vote.confidence, judge=key)


def agreement_of(measurement: "Measurement") -> Iterator[tuple[JudgeKey, CardTally]]:
    """The tallies of the votes of several judges, for the card of each judge, from metrics that are over.

    They count how often the judges give an item the same class. Judges that were not sure enough do not count: a judge
    that is asked after such a one is asked about hard items only.
    """
    for work in measurement.metrics:
        for item in work.all_items if work.over and work.metric in CLASSES else ():
            votes = tuple(votes_on(item.votes, work.metric, counted=True))
            if len(votes) > 1:
                together = tuple(sorted(vote.verdict for vote in votes))
                for judge in dict.fromkeys(vote.judge for vote in votes):
                    yield judge, CardTally(panels={together: 1})


def _of_all(result: "MetricResult") -> JudgedBy | None:
    """The judge of all items of a result that name none, if all replies came from one judge; else None."""
    return single_replier(result.spends, result.metric)


def _key(judge: JudgedBy | None, metric: MetricName) -> JudgeKey | None:
    """The key of the card that a label counts for. Checks have no tier."""
    if judge is None:
        return None
    tier = None if judge == BY_CHECKS else TIER
    return JudgeKey(model=judge.model, tier=tier, prompt_version=judge.prompt_version, kind=metric)


def _by_checks(measurement: "Measurement", metric: MetricName, item: str) -> bool:
    """Whether checks decided the label of an item, without a judge."""
    from touchstone.material import Quiz
    from touchstone.surfaces.metrics.quiz_answer_correctness import decided

    material = measurement.request.material
    if metric != "quiz_answer_correctness" or not isinstance(material, Quiz):
        return False
    questions = (question for question in material.questions if question.id == item)
    return any(decided(question, measurement.language) is not None for question in questions)
