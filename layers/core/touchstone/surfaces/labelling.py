"""Items of measurements as things that a person may label: is the class right that a judge gave to this question?"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.spends import sole_replier
from touchstone.statistics.tallies import CHECKS, Judged, JudgeKey
from touchstone.surfaces.model import TIER, MetricName

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
    classes, judge = CLASSES[metric], None if work.result is None else _judge(work.result)
    labels = () if work.result is None else work.result.items
    given = next((one.label for one in labels if one.item == item), None)
    if given is not None:
        if given not in classes:
            raise ConflictError(f"This item is {given}, which is no class of this metric; there is nothing to label.")
        if _by_checks(measurement, metric, item):
            judge = JudgeKey(model=CHECKS, tier=None, prompt_version=None, kind=metric)
        return Judged(classes=classes, verdict=given, confidence=None, judge=judge)
    if work.result is not None and any(one.item == item for one in work.result.unscored):
        return Judged(classes=classes, verdict=None, confidence=None, judge=judge)
    raise NotFoundError("There is no such item in this measurement.")


def _judge(result: "MetricResult") -> JudgeKey | None:
    """Who labelled the items of a result, where they were all labelled by one model, asked by one prompt."""
    found = sole_replier(result.spends, result.metric)
    if found is None:
        return None
    model, version = found
    return JudgeKey(model=model, tier=TIER, prompt_version=version, kind=result.metric)


def _by_checks(measurement: "Measurement", metric: MetricName, item: str) -> bool:
    """Whether the label of an item needed no judge."""
    from touchstone.material import Quiz
    from touchstone.surfaces.metrics.quiz_answer_correctness import decided

    material = measurement.request.material
    if metric != "quiz_answer_correctness" or not isinstance(material, Quiz):
        return False
    questions = (question for question in material.questions if question.id == item)
    return any(decided(question, measurement.language) is not None for question in questions)
