"""Whether a quiz's questions are clear: ten a call, each failure its own, and a score of those that were judged."""

from typing import Any

import pytest

from tests.support.judges import Line, Script
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, RefusedError
from touchstone.material import Question, Quiz
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.quiz_clarity import quiz_clarity
from touchstone.surfaces.model import MetricResult


def quiz(questions: int) -> Quiz:
    return Quiz(
        questions=tuple(
            Question(id=f"q{number}", kind="true_false", question_text=f"Is {number} even?", answers=("true",))
            for number in range(1, questions + 1)
        )
    )


def said(*labels: str) -> dict[str, Any]:
    return {
        "questions": [
            {
                "number": number,
                "reason": "It reads so.",
                "label": label,
                "suggestion": None if label == "CLEAR" else "Say which.",
            }
            for number, label in enumerate(labels, start=1)
        ]
    }


async def measured(questions: int, *lines: Line) -> tuple[MetricResult, Script]:
    script = Script({"quiz_clarity": lines})
    judge = script.judges().get("openai", "fast")
    measuring = Measuring(judge=judge, deadline=Deadline.after(5.0), language="en")
    return await quiz_clarity(quiz(questions), measuring), script


async def test_the_score_is_the_share_of_clear_questions() -> None:
    found, _ = await measured(4, said("CLEAR", "AMBIGUOUS", "CLEAR", "CONTEXT_DEPENDENT"))
    assert (found.score, found.unit, found.unscored) == (50.0, "percent", ())
    assert [(one.item, one.label, one.suggestion) for one in found.items] == [
        ("q1", "CLEAR", None),
        ("q2", "AMBIGUOUS", "Say which."),
        ("q3", "CLEAR", None),
        ("q4", "CONTEXT_DEPENDENT", "Say which."),
    ]
    assert [spend.purpose for spend in found.spends] == ["quiz_clarity"]
    assert found.tokens > 0


async def test_ten_questions_share_a_call() -> None:
    found, script = await measured(20, said(*["CLEAR"] * 10), said(*["CLEAR"] * 9, "ERROR"))
    assert len(script.asked) == 2
    assert found.score == 95.0


async def test_questions_whose_call_failed_are_unscored_and_lower_nothing_but_the_number() -> None:
    found, _ = await measured(20, RefusedError("no"), said(*["CLEAR", "AMBIGUOUS"] * 5))
    assert (len(found.items), len(found.unscored), found.score) == (10, 10, 50.0)
    assert {one.reason for one in found.unscored} == {"refused"}


async def test_where_nobody_judged_there_is_no_score() -> None:
    found, _ = await measured(3, OverloadedError("503"))
    assert (found.score, found.items) == (None, ())
    assert [one.item for one in found.unscored] == ["q1", "q2", "q3"]


@pytest.mark.parametrize(
    "bad",
    [
        said("CLEAR"),
        {"questions": [*said("CLEAR", "CLEAR")["questions"], {**said("CLEAR")["questions"][0], "number": 3}]},
        {"questions": [{**one, "reason": " "} for one in said("CLEAR", "CLEAR")["questions"]]},
        {"questions": [{**one, "suggestion": None} for one in said("AMBIGUOUS", "CLEAR")["questions"]]},
    ],
    ids=["one is missing", "one too many", "no reason", "no suggestion"],
)
async def test_a_reply_against_the_rules_is_asked_again_and_twice_is_no_verdict(bad: dict[str, Any]) -> None:
    found, script = await measured(2, bad, said("CLEAR", "CLEAR"))
    assert (found.score, len(script.asked)) == (100.0, 2)
    found, _ = await measured(2, bad, bad)
    assert found.score is None
    assert {one.reason for one in found.unscored} == {"invalid_reply"}
