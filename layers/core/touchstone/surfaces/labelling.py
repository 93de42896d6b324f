"""Items of measurements as things that a person may label: is the class right that a judge gave to this question?"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.spends import BY_CHECKS, JudgedBy, sole_replier
from touchstone.statistics.tallies import CardTally, Judged, JudgedVote, JudgeKey
from touchstone.surfaces.model import TIER, ItemLabel, ItemVote, MetricName, UnscoredItem

if TYPE_CHECKING:
    from touchstone.surfaces.measurement import Measurement
    from touchstone.surfaces.model import MetricResult

CLASSES: Mapping[MetricName, tuple[str, ...]] = MappingProxyType(
    {
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
)
"""The metrics whose items a judge gives one of a few classes, and these."""
REPLIED = frozenset({"invalid_reply", "unreadable"})
"""The reasons that leave an item unscored although a judge replied; for any other, nobody was asked of it or heard."""
CARDS_OF_CALLS: Mapping[str, tuple[str, str]] = MappingProxyType({metric: (metric, TIER) for metric in CLASSES})
"""The calls that bring these classes: a call's purpose is the metric's name, and the cards are called so too."""


def judged_item(measurement: "Measurement", metric: MetricName, item: str) -> Judged:
    """What was said of an item of a metric.

    Raises `NotFoundError` where there is no such item or metric, `ConflictError` while the metric is not over, and for
    an item that got its label by no judge's decision (a claim that says nothing).
    """
    work = measurement.work(metric)
    if not work.over:
        raise ConflictError("This metric is still being measured; label its items when it is over.")
    classes, result = CLASSES[metric], work.result
    items = () if result is None else result.all_items
    said = next((one for one in items if one.item == item), None)
    if result is None or said is None:
        raise NotFoundError("There is no such item in this measurement.")
    if said.votes:
        given = said.label if isinstance(said, ItemLabel) and said.label in classes else None
        votes = tuple(votes_on(said.votes, metric))
        return Judged(classes=classes, verdict=given, confidence=None, judge=None, votes=votes)
    if isinstance(said, UnscoredItem):
        asked = said.judge or (_of_all(result) if said.reason in REPLIED else None)
        return Judged(classes=classes, verdict=None, confidence=None, judge=_key(asked, metric))
    if said.label not in classes:
        raise ConflictError(f"This item is {said.label}, which is no class of this metric; there is nothing to label.")
    by_checks = BY_CHECKS if said.judge is None and _by_checks(measurement, metric, item) else None
    judge = said.judge or by_checks or _of_all(result)
    return Judged(classes=classes, verdict=said.label, confidence=None, judge=_key(judge, metric))


def votes_on(votes: Iterable[ItemVote], metric: MetricName) -> Iterator[JudgedVote]:
    """What each of several judges called an item; those of whom nobody knows who answered are left out."""
    for vote in votes:
        key = _key(vote.judge, metric)
        if vote.label is not None and key is not None:
            yield JudgedVote(verdict=vote.label, confidence=None, judge=key)


def agreement_of(measurement: "Measurement") -> Iterator[tuple[JudgeKey, CardTally]]:
    """What the votes of several judges count for the card of each, of metrics that are over.

    That is how often they give an item of classes the same one.
    """
    for work in measurement.metrics:
        result = work.result if work.over and work.metric in CLASSES else None
        for item in () if result is None else result.all_items:
            votes = tuple(votes_on(item.votes, work.metric))
            if len(votes) > 1:
                together = tuple(sorted(vote.verdict for vote in votes))
                for judge in dict.fromkeys(vote.judge for vote in votes):
                    yield judge, CardTally(panels={together: 1})


def _of_all(result: "MetricResult") -> JudgedBy | None:
    """Who labelled the items of a result that do not say so themselves, where all replies were of one judge."""
    return sole_replier(result.spends, result.metric)


def _key(judge: JudgedBy | None, metric: MetricName) -> JudgeKey | None:
    """Whose card a label counts for. What needed no judge has no tier."""
    if judge is None:
        return None
    tier = None if judge == BY_CHECKS else TIER
    return JudgeKey(model=judge.model, tier=tier, prompt_version=judge.prompt_version, kind=metric)


def _by_checks(measurement: "Measurement", metric: MetricName, item: str) -> bool:
    """Whether the label of an item needed no judge."""
    from touchstone.material import Quiz
    from touchstone.surfaces.metrics.quiz_answer_correctness import decided

    material = measurement.request.material
    if metric != "quiz_answer_correctness" or not isinstance(material, Quiz):
        return False
    questions = (question for question in material.questions if question.id == item)
    return any(decided(question, measurement.language) is not None for question in questions)
