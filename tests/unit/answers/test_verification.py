"""Quick verify: what decides, what a judge may and may not do to a verdict, and that nobody waits for it."""

import asyncio
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support import replies
from tests.support.judges import MOMENT, Line, Script
from touchstone import checks, errors
from touchstone.answers.progress import status_of
from touchstone.answers.verification import Verified, VerifyReply, quick_verify
from touchstone.clock import Deadline
from touchstone.judges import MemoryCache
from touchstone.judges.base import Call, Permit

PROBLEM = "Name the capital of Australia."


async def _verify(
    *lines: Line, problem: str = PROBLEM, answer: str = "Canberra", steps: str = "", seconds: float = 5.0
) -> tuple[Verified, Script]:
    script = Script({"verify": lines})
    judge = script.judges().default("verify")
    return await quick_verify(problem, answer, steps, judge=judge, deadline=Deadline.after(seconds)), script


async def test_a_judge_that_agrees_passes_the_answer_and_is_named() -> None:
    verified, script = await _verify(replies.verify())
    found = verified.verification
    assert (found.passed, found.confidence, found.method) == (True, 0.95, "judge")
    assert (found.provider, found.model) == ("gemini", "gemini-3.5-flash-lite-answered")
    assert found.independent_answer == "Canberra"
    assert found.error is None
    assert len(script.asked) == 1
    spend = verified.spends[0]
    assert (spend.purpose, spend.provider, spend.input_tokens, spend.output_tokens) == ("verify", "gemini", 1000, 100)
    assert spend.cost_usd is not None
    assert len(spend.prompt_version) == 16


@pytest.mark.parametrize(
    ("named", "confidence"),
    [
        ("The second step divides by zero.", 0.7),
        ("第二步除以了零。", 0.7),
        ("No error in the result, but the unit is missing.", 0.7),
        ("None", 0.95),
        ("No errors found.", 0.95),
        ("No errors detected.", 0.95),
        ("There are no errors in the answer.", 0.95),
        ("The answer is correct.", 0.95),
        ("(none)", 0.95),
        ("没有错误。", 0.95),
        ("没有发现错误。", 0.95),
        ("答案正确。", 0.95),
        ("  ", 0.95),
    ],
)
async def test_a_judge_that_passes_an_answer_and_names_a_mistake_is_no_surer_than_its_prompt_allows(
    named: str, confidence: float
) -> None:
    verified, _ = await _verify(replies.verify(error_description=named), steps="It is the seat of its parliament.")
    found = verified.verification
    assert (found.passed, found.confidence, found.contradicted) == (True, confidence, False)
    assert status_of(found) == ("caution" if confidence < 0.8 else "verified")
    assert found.error == (named if confidence < 0.8 else None)


async def test_where_there_are_no_steps_and_its_own_answer_is_the_same_nothing_is_left_for_a_mistake() -> None:
    verified, _ = await _verify(replies.verify(error_description="The second step divides by zero."))
    assert (verified.verification.passed, verified.verification.confidence) == (True, 0.95)


async def test_a_judge_that_disagrees_fails_it_and_says_why() -> None:
    verified, _ = await _verify(replies.failed(), answer="Sydney")
    found = verified.verification
    assert (found.passed, found.confidence) == (False, 0.9)
    assert found.error == "Sydney is the largest city, not the capital."


@pytest.mark.parametrize(
    ("problem", "answer", "passed"),
    [("Solve x^2 - 5x + 6 = 0.", "x = 2 or x = 3", True), ("Solve x^2 - 5x + 6 = 0.", "x = 1 or x = 6", False)],
)
async def test_a_proof_ends_the_matter_without_a_judge(problem: str, answer: str, passed: bool) -> None:
    verified, script = await _verify(problem=problem, answer=answer)
    found = verified.verification
    assert (found.passed, found.confidence, found.method) == (passed, 1.0, "proof")
    assert found.derivation
    assert (found.error is None) is passed
    assert script.asked == []
    assert verified.spends == ()


async def test_without_a_key_a_proof_still_decides_and_the_rest_is_skipped_with_advice() -> None:
    deadline = Deadline.after(5.0)
    proved = await quick_verify("Solve 2x + 7 = 15.", "x = 4", judge=None, deadline=deadline)
    assert proved.verification.passed is True
    skipped = (await quick_verify(PROBLEM, "Canberra", judge=None, deadline=deadline)).verification
    assert (skipped.passed, skipped.confidence, skipped.method) == (None, 0.0, "none")
    assert skipped.skip_reason == "misconfigured"
    assert skipped.error is not None
    assert "GEMINI_API_KEY" in skipped.error


@pytest.mark.parametrize(
    ("said", "answer", "contradicted", "confidence"),
    [
        (replies.verify(independent_answer="13", is_correct=True), "12", True, 0.5),
        (replies.verify(independent_answer="12", is_correct=False), "12", True, 0.5),
        (replies.verify(independent_answer="12", is_correct=False, confidence=0.3), "12", True, 0.3),
        (replies.verify(independent_answer="12.0", is_correct=True), "12", False, 0.95),
        (replies.verify(independent_answer="13", is_correct=False), "12", False, 0.95),
        (replies.verify(independent_answer=None, is_correct=True), "12", False, 0.95),
        (replies.verify(independent_answer="  ", is_correct=True), "12", False, 0.95),
    ],
)
async def test_a_judge_that_contradicts_itself_is_capped(
    said: dict[str, Any], answer: str, contradicted: bool, confidence: float
) -> None:
    verified, _ = await _verify(said, problem="How many eggs are in the basket of the story?", answer=answer)
    found = verified.verification
    assert (found.contradicted, found.confidence) == (contradicted, confidence)
    assert found.passed is said["is_correct"]
    if contradicted:
        assert found.error is not None
        assert found.error.startswith("The judge calls the answer")
        assert status_of(found) == "caution"


async def test_what_is_said_of_a_chinese_problem_is_said_in_chinese() -> None:
    said = replies.verify(independent_answer="13", is_correct=True)
    contradicted, _ = await _verify(said, problem="篮子里有几个鸡蛋？", answer="12")
    assert contradicted.verification.error == "评判模型认为答案正确，但它自己算出的结果不同。"
    refuted, _ = await _verify(problem="解方程：2x + 7 = 15", answer="x = 5")
    assert refuted.verification.error is not None
    assert refuted.verification.error.startswith("计算表明这个答案不对。")
    empty, _ = await _verify(problem="篮子里有几个鸡蛋？", answer="答：")
    assert empty.verification.error is not None
    assert empty.verification.error.startswith("这个答案没有内容")


async def test_a_contradiction_keeps_what_the_judge_objected_to() -> None:
    said = replies.verify(independent_answer="12", is_correct=False, error_description="Step 2 divides by zero.")
    verified, _ = await _verify(said, problem="How many eggs are in the basket?", answer="12")
    assert verified.verification.error is not None
    assert verified.verification.error.endswith("same value itself. Step 2 divides by zero.")


FAILURES: list[tuple[errors.JudgeError, str]] = [
    (errors.DayQuotaError("The day is spent."), "day_quota"),
    (errors.MinuteQuotaError("Too fast.", retry_after=60.0), "minute_quota"),
    (errors.OverloadedError("Overloaded."), "overloaded"),
    (errors.TimedOutError("Too slow."), "timed_out"),
    (errors.RefusedError("Declined."), "refused"),
    (errors.UnreadableError("Garbled."), "unreadable"),
    (errors.MisconfiguredError("Wrong key."), "misconfigured"),
]


@pytest.mark.parametrize(("failure", "reason"), FAILURES)
async def test_a_judge_that_failed_is_a_skip_with_its_reason_and_never_a_verdict(
    failure: errors.JudgeError, reason: str
) -> None:
    verified, _ = await _verify(failure)
    found = verified.verification
    assert (found.passed, found.confidence, found.skip_reason) == (None, 0.0, reason)
    assert found.error == f"Not verified: {failure}"
    assert status_of(found) == "unverified"
    assert verified.spends == ()


class _Refusing:
    def __init__(self, error: errors.LimitError) -> None:
        self._error = error

    async def admit(self, _call: Call) -> Permit:
        raise self._error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (errors.SpendingCeilingError("The day's money is spent.", until=None), "spending_ceiling"),
        (errors.LimitError("No more.", until=None), "quota"),
        (errors.TenantShareError("The share is used up.", window="day", until=MOMENT), "tenant_share"),
    ],
)
async def test_a_limit_of_our_own_is_a_skip_too(error: errors.LimitError, reason: str) -> None:
    script = Script({"verify": [replies.verify()]})
    judge = script.judges(admission=_Refusing(error)).default("verify")
    found = (await quick_verify(PROBLEM, "Canberra", judge=judge, deadline=Deadline.after(5.0))).verification
    assert (found.passed, found.confidence, found.skip_reason) == (None, 0.0, reason)
    assert script.asked == []


async def test_nobody_waits_for_a_slow_judge() -> None:
    started = time.perf_counter()
    verified, _ = await _verify(30.0, seconds=0.2)
    assert time.perf_counter() - started < 15.0
    assert (verified.verification.passed, verified.verification.skip_reason) == (None, "timed_out")


@pytest.mark.parametrize("seconds", [0.0, -1.0])
async def test_a_deadline_that_has_passed_asks_nobody(seconds: float) -> None:
    verified, script = await _verify(replies.verify(), seconds=seconds)
    assert (verified.verification.passed, verified.verification.skip_reason) == (None, "timed_out")
    assert script.asked == []


async def test_a_check_that_hangs_does_not_keep_the_judge_from_deciding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("touchstone.answers.verification.CHECK_SECONDS", 0.01)
    monkeypatch.setattr(checks, "prove_answer", lambda *_: time.sleep(0.05))
    verified, _ = await _verify(replies.verify())
    assert (verified.verification.passed, verified.verification.method) == (True, "judge")


async def test_checks_that_are_short_take_no_thread_once_they_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Script({"verify": [replies.verify(independent_answer="12 eggs")]}).judges().default("verify")

    async def verified(steps: str) -> Verified:
        problem = "How many eggs are in the basket of the story?"
        return await quick_verify(problem, "12", steps, judge=judge, deadline=Deadline.after(5.0))

    async def refused(*_: object) -> None:
        raise RuntimeError("A thread was asked for.")

    steps = "3 nests with 4 eggs each, so 3 × 4 = 12."
    before = await verified(steps)
    monkeypatch.setattr(asyncio, "to_thread", refused)
    assert (await verified(steps)).verification == before.verification
    with pytest.raises(RuntimeError):
        await verified(50 * steps)


async def test_a_reply_that_was_paid_is_accounted_for_even_when_time_ran_out_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def too_long(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("touchstone.answers.verification.same_value", too_long)
    verified, _ = await _verify(replies.verify())
    assert (verified.verification.passed, verified.verification.skip_reason) == (None, "timed_out")
    assert [spend.purpose for spend in verified.spends] == ["verify"]


async def test_an_arithmetic_error_in_the_steps_is_shown_to_the_judge_and_kept() -> None:
    problem = "小明买书和文具一共花了多少元？"
    steps = "书：3×12=38元。\n文具：8元。\n一共：38+8=46元。"
    verified, script = await _verify(
        replies.verify(independent_answer="44元", is_correct=False), problem=problem, answer="46元", steps=steps
    )
    assert verified.verification.arithmetic_error
    assert verified.verification.arithmetic_error in script.asked[0].user
    assert "3×12=38" in script.asked[0].user
    skipped = await quick_verify(problem, "46元", steps, judge=None, deadline=Deadline.after(5.0))
    assert skipped.verification.arithmetic_error == verified.verification.arithmetic_error
    assert skipped.verification.passed is None


async def test_steps_are_not_called_wrong_in_the_arithmetic_that_the_problem_asks_for() -> None:
    steps = "The remainders wrap: 3 + 4 = 2."
    for problem, accused in (("Work in $\\mathbb{Z}_5$. What comes to 3 and 4?", False), ("What comes to both?", True)):
        verified, _ = await _verify(replies.verify(independent_answer="2"), problem=problem, answer="2", steps=steps)
        assert (verified.verification.arithmetic_error is not None) is accused


@pytest.mark.parametrize(
    ("problem", "words"), [("澳大利亚的首都是哪座城市？", "需要核对的答案"), (PROBLEM, "The answer to check")]
)
async def test_the_prompt_is_in_the_language_of_the_problem(problem: str, words: str) -> None:
    _, script = await _verify(replies.verify(), problem=problem)
    assert words in script.asked[0].user


async def test_an_identical_question_is_answered_from_the_cache_unless_told_not_to() -> None:
    script = Script({"verify": [replies.verify()]})
    judge = script.judges(cache=MemoryCache()).default("verify")
    deadline = Deadline.after(5.0)
    first = await quick_verify(PROBLEM, "Canberra", judge=judge, deadline=deadline)
    second = await quick_verify(PROBLEM, "Canberra", judge=judge, deadline=deadline)
    assert (first.verification, len(script.asked)) == (second.verification, 1)
    assert (second.spends[0].cached, second.spends[0].cost_usd) == (True, 0.0)
    await quick_verify(PROBLEM, "Canberra", judge=judge, deadline=deadline, use_cache=False)
    assert len(script.asked) == 2


ODD = [None, True, False, 1e9, -1, -0.001, 1.001, "0.9", "1", "high", "", [], [0.9], {}, {"value": 0.9}, 10**400]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("field", ["confidence", "is_correct", "independent_answer"])
async def test_a5_a_reply_of_the_wrong_type_is_unreadable_and_never_a_verdict(field: str, odd: object) -> None:
    said = replies.verify(**{field: odd})
    try:
        VerifyReply.model_validate_json(json.dumps(said))
    except ValidationError:
        verified, _ = await _verify(said)
        assert (verified.verification.passed, verified.verification.skip_reason) == (None, "unreadable")
    else:
        assert (field, type(odd)) in {
            ("is_correct", bool),
            ("independent_answer", str),
            ("independent_answer", type(None)),
        }


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "true", "[]", "{}", "is_correct: true", '{"is_correct": true}',
        '{"is_correct": true, "confidence": 1}',
        '{"independent_answer": "a", "is_correct": true, "confidence": NaN}',
        '{"independent_answer": "a", "is_correct": true, "confidence": Infinity}',
        '{"independent_answer": "a", "is_correct": true, "confidence": 0.9',
        '{"independent_answer": "a", "is_correct": true, "confidence": 0.9, "verdict": "pass"}',
        '{"independent_answer": "a", "is_correct": "true", "confidence": 0.9}',
        "[" * 5000,
    ],
)  # fmt: skip
async def test_a5_text_that_does_not_fit_the_schema_is_a_skip(text: str) -> None:
    verified, _ = await _verify(text)
    assert (verified.verification.passed, verified.verification.skip_reason) == (None, "unreadable")


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
_fields = st.sampled_from([*VerifyReply.model_fields, "verdict"])


@given(st.dictionaries(_fields, _json))
def test_a5_whatever_a_judge_replies_a_reading_of_it_is_within_bounds(reply: dict[str, Any]) -> None:
    try:
        read = VerifyReply.model_validate_json(json.dumps(reply))
    except ValidationError:
        return
    assert reply["is_correct"] is read.is_correct
    assert 0.0 <= read.confidence <= 1.0
    assert not isinstance(reply["confidence"], bool)
    assert set(reply) <= set(VerifyReply.model_fields)
