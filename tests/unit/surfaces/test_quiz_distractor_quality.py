"""Whether distractors would fool somebody: each judged by itself, a better one for each that would not."""

from typing import Any

import pytest

from tests.support.judges import Line, Script
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError
from touchstone.material import Question, Quiz
from touchstone.material.items import QuestionKind
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.quiz_distractor_quality import quiz_distractor_quality
from touchstone.surfaces.model import MetricResult

LABELS = {"P": "PLAUSIBLE", "W": "WEAK", "A": "ABSURD"}


def question(
    *choices: str, key: tuple[str, ...] | None = None, kind: QuestionKind = "single_choice", which: str = "q1"
) -> Question:
    """A question; the first choice is the key where none is given."""
    return Question(
        id=which,
        kind=kind,
        question_text=f"{which}: what is the capital of France?",
        choices=choices,
        answers=choices[:1] if key is None else key,
    )


def said(labels: str, suggestion: str | None = "Marseille") -> dict[str, Any]:
    """A reply on as many distractors as there are letters: P, W or A each."""
    return {
        "distractors": [
            {
                "number": number,
                "reason": f"Because {number}.",
                "label": LABELS[letter],
                "confidence": 0.9,
                "suggestion": None if letter == "P" else suggestion,
            }
            for number, letter in enumerate(labels, start=1)
        ]
    }


async def measured(questions: list[Question], *lines: Line) -> tuple[MetricResult, Script]:
    script = Script({"quiz_distractor_quality": lines})
    judge = script.judges().get("openai", "fast")
    measuring = Measuring(judge=judge, deadline=Deadline.after(5.0), language="en")
    return await quiz_distractor_quality(Quiz(questions=tuple(questions)), measuring), script


FRANCE = question("Lyon", "Paris", "Nice", "a banana", key=("Paris",))


async def test_the_score_is_the_share_of_plausible_distractors() -> None:
    found, script = await measured([FRANCE], said("PPA"))
    assert found.score == pytest.approx(200 / 3, abs=1e-6)
    assert [(item.item, item.label, item.text, item.suggestion) for item in found.items] == [
        ("q1#1", "PLAUSIBLE", "Lyon", None),
        ("q1#3", "PLAUSIBLE", "Nice", None),
        ("q1#4", "ABSURD", "a banana", "Marseille"),
    ]
    assert [(spend.purpose, spend.prompt_version) for spend in found.spends] == [
        ("quiz_distractor_quality", found.spends[0].prompt_version)
    ]
    assert "Its key:" in script.asked[0].user


async def test_distractors_count_alike_whatever_question_they_belong_to() -> None:
    found, _ = await measured(
        [FRANCE, question("Paris", "Rome", which="q2")],
        lambda asked: said("PPP") if "q1:" in asked.user else said("W"),
    )
    assert (found.score, len(found.items)) == (75.0, 4)


async def test_a_multiple_choice_question_shows_all_its_keys() -> None:
    found, script = await measured(
        [question("Paris", "Lyon", "Nice", key=("Paris", "Nice"), kind="multiple_choice")], said("P")
    )
    assert [item.item for item in found.items] == ["q1#2"]
    assert script.asked[0].user.count("Its key:") == 2


@pytest.mark.parametrize(
    "without",
    [
        question(key=("true",), kind="true_false"),
        question(key=("Paris",), kind="fill_in_the_blank"),
        question("Paris", "Lyon", key=()),
        question("Paris", "Lyon", key=("Rome",)),
        question("Paris"),
        question("Paris", "paris", " "),
    ],
    ids=["statement", "blank", "no key", "key outside", "key alone", "key again"],
)
async def test_a_question_without_distractors_is_not_asked_about(without: Question) -> None:
    found, script = await measured([without])
    assert (found.score, found.items, found.unscored, script.asked) == (None, (), (), [])


async def test_distractors_whose_call_failed_are_unscored_each_with_its_text() -> None:
    def answered(asked: Any) -> Line:
        return OverloadedError("503") if "q1:" in asked.user else said("W")

    found, _ = await measured([FRANCE, question("Paris", "Rome", which="q2")], answered)
    assert found.score == 0.0
    assert [(one.item, one.text, one.reason) for one in found.unscored] == [
        ("q1#1", "Lyon", "overloaded"),
        ("q1#3", "Nice", "overloaded"),
        ("q1#4", "a banana", "overloaded"),
    ]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (said("PP"), "Distractor 3 is there 0 times"),
        (said("PPA", None), "The suggestion of distractor 3 is missing"),
        (said("PPA", " \u200b"), "The suggestion of distractor 3 is missing"),
        (said("PPA", "Paris"), "The suggestion of distractor 3 is a choice already"),
        (said("PPA", " nice."), "The suggestion of distractor 3 is a choice already"),
        ({"distractors": [{**one, "reason": ""} for one in said("PPA")["distractors"]]}, "The reason of distractor 1"),
    ],
)
async def test_a_reply_against_the_rules_is_asked_again_with_the_fault_named(bad: dict[str, Any], fault: str) -> None:
    found, script = await measured([FRANCE], bad, said("PPP"))
    assert (found.score, len(script.asked)) == (100.0, 2)
    assert fault in script.asked[1].user


async def test_after_a_second_such_reply_the_distractors_without_a_fault_are_kept() -> None:
    found, _ = await measured([FRANCE], said("PWA", "Paris"), said("PPA", "Paris"))
    assert [item.item for item in found.items] == ["q1#1", "q1#3"]
    assert [(one.item, one.reason, one.text) for one in found.unscored] == [("q1#4", "invalid_reply", "a banana")]
    assert found.score == 100.0
