"""What a judge says of the questions, and that a judge that fails has said nothing."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.course_quizzes import QUESTION, evaluated, flaw, quiz
from tests.support.judges import Asked, Line, Script
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, RefusedError
from touchstone.judges.calls import NotScored
from touchstone.material import Quiz
from touchstone.quizzes.evaluation import TIER, EvaluatedQuiz, evaluate_content

TWO = quiz({}, {"question_text": "What is 「學習」 in English?"})


async def evaluate(*lines: Line, given: Quiz = TWO, **options: Any) -> tuple[EvaluatedQuiz | NotScored, Script]:
    script = Script({"evaluate": lines})
    judge = script.judges().get("openai", TIER)
    return await evaluate_content(given, judge=judge, deadline=Deadline.after(5.0), **options), script


async def test_questions_without_violations_are_told_so_with_one_call() -> None:
    found, script = await evaluate(evaluated())
    assert isinstance(found, EvaluatedQuiz)
    assert (found.violations, found.provider, found.model) == ((), "openai", "gpt-6-luna-answered")
    assert script.prompts() == ["openai/evaluate"]
    assert [spend.purpose for spend in found.spends] == ["quiz_evaluation"]


async def test_violations_carry_their_question_rule_detail_and_what_to_write_instead() -> None:
    found, _ = await evaluate(evaluated([], [flaw(), flaw("curriculum_alignment", detail=" It tests 「書」. ")]))
    assert isinstance(found, EvaluatedQuiz)
    told = [(one.question_id, one.rule, one.detail, one.decided_by) for one in found.violations]
    assert told == [
        ("q2", "pedagogical_quality", "All distractors are obviously wrong.", "judge"),
        ("q2", "curriculum_alignment", "It tests 「書」.", "judge"),
    ]
    assert found.violations[0].suggestion == "Offer 「練習」 as a choice."


async def test_the_judge_sees_the_questions_and_nothing_else() -> None:
    given = quiz({"chunk": "SECRET PASSAGE", "explanation": "It is so."})
    _, script = await evaluate(evaluated(questions=1), given=given)
    asked = script.asked[0]
    assert "SECRET" not in asked.user + asked.system
    [shown] = re.findall(r"⟦data \w+⟧\n(.*?)\n⟦end", asked.user, re.DOTALL)
    assert json.loads(shown) == {
        **{k: v for k, v in QUESTION.items() if k != "id"},
        "explanation": "It is so.",
        "readings": [],
    }


async def test_the_prompt_is_in_the_language_of_the_reasons() -> None:
    _, script = await evaluate(evaluated(), language="zh")
    assert "第 1 題" in script.asked[0].user
    _, script = await evaluate(evaluated(), language="en")
    assert "Question 1:" in script.asked[0].user


def _count(asked: Asked) -> int:
    return len(re.findall(r"^Question \d+:", asked.user, re.MULTILINE))


@pytest.mark.parametrize(("questions", "groups"), [(20, [20]), (21, [1, 20]), (45, [5, 20, 20])])
async def test_twenty_questions_share_a_call_and_the_ids_stay_theirs(questions: int, groups: list[int]) -> None:
    def reply(asked: Asked) -> Line:
        count = _count(asked)
        return evaluated(*([[]] * (count - 1)), [flaw()], questions=count)

    found, script = await evaluate(reply, given=quiz(*({} for _ in range(questions))))
    assert isinstance(found, EvaluatedQuiz)
    assert sorted(map(_count, script.asked)) == groups
    assert [one.question_id for one in found.violations] == [
        f"q{number}" for number in range(1, questions + 1) if number % 20 == 0 or number == questions
    ]


async def test_long_questions_share_fewer_calls() -> None:
    long = [{"explanation": "x" * 19_000}] * 4
    found, script = await evaluate(lambda asked: evaluated(questions=_count(asked)), given=quiz(*long))
    assert isinstance(found, EvaluatedQuiz)
    assert list(map(_count, script.asked)) == [2, 2]


async def test_one_group_that_fails_leaves_the_quiz_without_a_verdict_and_its_costs_told() -> None:
    def reply(asked: Asked) -> Line:
        return RefusedError("no") if _count(asked) == 1 else evaluated(questions=20)

    found, _ = await evaluate(reply, given=quiz(*({} for _ in range(21))))
    assert isinstance(found, NotScored)
    assert found.reason == "refused"
    assert [spend.failure for spend in found.spends] == [None]


BAD: dict[str, Any] = {
    "a question left out": evaluated(questions=1),
    "a question twice": {"questions": evaluated()["questions"] + evaluated(questions=1)["questions"]},
    "a question too many": evaluated(questions=3),
    "sound with a violation": {
        "questions": [{"number": n, "violations": [flaw()], "verdict": "SOUND"} for n in (1, 2)]
    },
    "flawed without": {"questions": [{"number": n, "violations": [], "verdict": "FLAWED"} for n in (1, 2)]},
    "a blank detail": evaluated([flaw(detail=" \u200b")]),
    "a blank suggestion": evaluated([flaw(suggestion="")]),
    "an endless detail": evaluated([flaw(detail="x" * 1_001)]),
    "four violations": evaluated([flaw()] * 4),
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD.keys())
async def test_a_reply_that_breaks_the_rules_is_asked_for_again_and_twice_is_no_verdict(reply: Any) -> None:
    mended, script = await evaluate(reply, evaluated())
    assert isinstance(mended, EvaluatedQuiz)
    assert len(script.asked) == len(mended.spends) == 2
    assert "refused it for the faults" in script.asked[1].user
    found, _ = await evaluate(reply)
    assert isinstance(found, NotScored)
    assert (found.reason, bool(found.faults), len(found.spends)) == ("invalid_reply", True, 2)


A5: dict[str, Any] = {
    "no JSON": "The quiz is fine.",
    "html": "<html>502</html>",
    "cut off": json.dumps(evaluated())[:-5],
    "null": "null",
    "another field": {**evaluated(), "score": 1e9},
    "a word for a number": {"questions": [{"number": "1", "violations": [], "verdict": "SOUND"}]},
    "true for a number": {"questions": [{"number": True, "violations": [], "verdict": "SOUND"}]},
    "another verdict": {"questions": [{"number": 1, "violations": [], "verdict": "PASS"}]},
    "another rule": evaluated([flaw("traditional_chinese")]),
    "null for a suggestion": evaluated([flaw(suggestion=None)]),
    "no list": {"questions": None},
}


@pytest.mark.parametrize("reply", A5.values(), ids=A5.keys())
async def test_a5_what_does_not_fit_the_schema_is_no_verdict(reply: Any) -> None:
    found, _ = await evaluate(reply)
    assert isinstance(found, NotScored)
    assert found.reason == "unreadable"


_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5))
_JSON = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["questions", "number", "violations", "verdict"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_JSON)
async def test_a5_no_reply_but_one_about_every_question_is_a_verdict(reply: Any) -> None:
    found, _ = await evaluate(json.dumps(reply))
    if isinstance(found, EvaluatedQuiz):
        assert sorted(one["number"] for one in reply["questions"]) == [1, 2]
        assert {one["verdict"] for one in reply["questions"]} <= {"SOUND", "FLAWED"}


async def test_a_judge_that_is_down_is_no_verdict() -> None:
    found, _ = await evaluate(OverloadedError("503"))
    assert isinstance(found, NotScored)
    assert found.reason == "overloaded"
