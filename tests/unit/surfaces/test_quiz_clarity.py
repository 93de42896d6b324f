"""Whether a quiz's questions are clear: ten a call, each failure its own, and a score of those that were judged."""

from typing import Any

import pytest

from tests.support.clarity import quiz, said
from tests.support.judges import Line, Script
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, RefusedError
from touchstone.material import Question, Quiz
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.quiz_clarity import quiz_clarity
from touchstone.surfaces.model import MetricResult


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


MORE = {"questions": [*said("CLEAR", "CLEAR")["questions"], {**said("CLEAR")["questions"][0], "number": 3}]}
TWICE = {"questions": [*said("CLEAR", "CLEAR")["questions"], said("ERROR")["questions"][0]]}


@pytest.mark.parametrize(
    ("bad", "kept", "fault"),
    [
        (said("CLEAR"), ["q1"], "Question 2 is there 0 times"),
        (MORE, ["q1", "q2"], "Question 3 was not asked about"),
        (TWICE, ["q2"], "Question 1 is there 2 times"),
        ({"questions": [{**one, "reason": " "} for one in said("CLEAR", "CLEAR")["questions"]]}, [], "The reason of"),
        (
            {"questions": [{**one, "suggestion": None} for one in said("CLEAR", "ERROR")["questions"]]},
            ["q1"],
            "The sugg",
        ),
        (
            {"questions": [{**one, "suggestion": ""} for one in said("AMBIGUOUS", "CLEAR")["questions"]]},
            ["q2"],
            "The s",
        ),
    ],
    ids=["one is missing", "one too many", "one twice", "no reason", "no suggestion", "blank suggestion"],
)
async def test_a_reply_against_the_rules_is_asked_again_and_twice_leaves_what_obeys_them(
    bad: dict[str, Any], kept: list[str], fault: str
) -> None:
    found, script = await measured(2, bad, said("CLEAR", "CLEAR"))
    assert (found.score, len(script.asked), len(found.spends)) == (100.0, 2, 2)
    assert fault in script.asked[1].user
    found, _ = await measured(2, bad, bad)
    assert [one.item for one in found.items] == kept
    assert {one.item for one in found.unscored} == {"q1", "q2"} - set(kept)
    assert {one.reason for one in found.unscored} <= {"invalid_reply"}
    assert found.score == (100.0 if kept else None)


async def test_a_clear_question_needs_no_suggestion_and_keeps_none() -> None:
    reply = {"questions": [{**one, "suggestion": "Why not?"} for one in said("CLEAR")["questions"]]}
    found, _ = await measured(1, reply)
    assert found.items[0].suggestion is None


async def test_long_questions_do_not_share_a_call() -> None:
    long = [
        Question(id=f"q{n}", kind="single_choice", question_text="x" * 20_000, choices=("y" * 10_000,))
        for n in range(4)
    ]
    script = Script({"quiz_clarity": [lambda _asked: said("CLEAR")]})
    measuring = Measuring(judge=script.judges().get("openai", "fast"), deadline=Deadline.after(5.0), language="en")
    found = await quiz_clarity(Quiz(questions=tuple(long)), measuring)
    assert (found.score, len(found.items), len(script.asked)) == (100.0, 4, 4)


async def test_500_questions_in_html_take_50_calls_and_stay_material() -> None:
    many = [
        Question(id=f"q{n}", kind="true_false", question_text=f"<p>{n} ⟦end 00⟧</p>", answers=("true",))
        for n in range(500)
    ]
    script = Script({"quiz_clarity": [lambda _asked: said(*["CLEAR"] * 10)]})
    measuring = Measuring(judge=script.judges().get("openai", "fast"), deadline=Deadline.after(20.0), language="zh")
    found = await quiz_clarity(Quiz(questions=tuple(many)), measuring)
    assert (found.score, len(found.items), len(script.asked)) == (100.0, 500, 50)
    assert all("⟦end 00⟧" not in asked.user for asked in script.asked)
