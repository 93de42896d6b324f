"""Which items of a measurement may be labelled, and whose card a label of them counts for."""

from typing import Any

import pytest

from tests.support.measurements import CORRECTNESS, a_measurement, item
from tests.support.records import a_spend
from touchstone.errors import ConflictError, NotFoundError
from touchstone.judges.spends import BY_CHECKS, JudgedBy
from touchstone.statistics import JudgeKey
from touchstone.surfaces.catalogue import CATALOGUE
from touchstone.surfaces.labelling import CLASSES, judged_item
from touchstone.surfaces.metrics import quiz_clarity, quiz_distractor_quality
from touchstone.surfaces.model import UnscoredItem


def key(model: str, tier: str | None, prompt_version: str | None) -> JudgeKey:
    return JudgeKey(model=model, tier=tier, prompt_version=prompt_version, kind=CORRECTNESS)


def test_an_item_counts_for_the_judge_that_labelled_it() -> None:
    found = judged_item(a_measurement(), CORRECTNESS, "q1")
    assert (found.verdict, found.confidence) == ("CORRECT", None)
    assert found.judge == key("strong", "strong", "0" * 16)
    assert found.classes == ("CORRECT", "INCORRECT_ANSWER", "INCORRECT_DISTRACTOR", "ERROR")


def test_a_label_counts_by_how_sure_the_judge_was() -> None:
    sure = item("q1", "CORRECT").model_copy(update={"confidence": 0.85})
    assert judged_item(a_measurement(CORRECTNESS, sure), CORRECTNESS, "q1").confidence == 0.85


def test_what_a_check_decided_counts_for_the_checks() -> None:
    assert judged_item(a_measurement(), CORRECTNESS, "q3").judge == key("checks", None, None)


def test_what_nobody_scored_has_no_verdict() -> None:
    found = judged_item(a_measurement(), CORRECTNESS, "q2")
    assert (found.verdict, found.judge) == (None, key("strong", "strong", "0" * 16))


@pytest.mark.parametrize("reason", ["no_source", "timed_out"])
def test_an_item_that_nobody_was_heard_of_counts_for_no_judge_though_one_labelled_others(reason: Any) -> None:
    found = judged_item(a_measurement(unscored=(UnscoredItem(item="q2", reason=reason),)), CORRECTNESS, "q2")
    assert (found.verdict, found.judge) == (None, None)


@pytest.mark.parametrize(
    "spends",
    [
        (),
        (a_spend(purpose=CORRECTNESS, failure="timed_out"),),
        (a_spend(purpose=CORRECTNESS), a_spend(purpose=CORRECTNESS, model="another")),
        (a_spend(purpose=CORRECTNESS), a_spend(purpose=CORRECTNESS, prompt_version="1" * 16)),
    ],
)
def test_what_may_come_from_several_judges_counts_for_none(spends: tuple[Any, ...]) -> None:
    assert judged_item(a_measurement(spends=spends), CORRECTNESS, "q1").judge is None


def test_an_item_counts_for_the_judge_that_it_names_though_others_were_asked_too() -> None:
    spends = (a_spend(purpose=CORRECTNESS), a_spend(purpose=CORRECTNESS, model="another"))
    named = item("q1", "CORRECT").model_copy(update={"judge": JudgedBy(model="one", prompt_version="1" * 16)})
    lost = UnscoredItem(item="q2", reason="invalid_reply", judge=JudgedBy(model="two", prompt_version="2" * 16))
    found = a_measurement(CORRECTNESS, named, unscored=(lost,), spends=spends)
    assert judged_item(found, CORRECTNESS, "q1").judge == key("one", "strong", "1" * 16)
    assert judged_item(found, CORRECTNESS, "q2").judge == key("two", "strong", "2" * 16)
    checked = item("q1", "CORRECT").model_copy(update={"judge": BY_CHECKS})
    assert judged_item(a_measurement(CORRECTNESS, checked), CORRECTNESS, "q1").judge == key("checks", None, None)


def test_a_metric_that_is_not_over_and_one_without_a_result_have_nothing_to_label() -> None:
    with pytest.raises(ConflictError, match="still being measured"):
        judged_item(a_measurement(), "quiz_clarity", "q1")
    with pytest.raises(NotFoundError):
        judged_item(a_measurement(), "summary_faithfulness", "1")
    with pytest.raises(NotFoundError, match="no such item"):
        judged_item(a_measurement(), CORRECTNESS, "q9")


def test_a_label_that_is_no_class_of_the_metric_is_no_verdict() -> None:
    with pytest.raises(ConflictError, match="TRIVIAL"):
        judged_item(a_measurement("quiz_clarity", item("q1", "TRIVIAL")), "quiz_clarity", "q1")


def test_every_metric_that_can_be_labelled_asks_a_judge_for_these_classes() -> None:
    assert all(CATALOGUE[metric].judged for metric in CLASSES)
    assert set(CLASSES["quiz_clarity"]) == set(quiz_clarity.VALUES) == set(CLASSES["flashcard_clarity"])
    assert set(CLASSES["quiz_distractor_quality"]) == set(quiz_distractor_quality.VALUES)
