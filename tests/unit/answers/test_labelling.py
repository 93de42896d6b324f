"""What of an answer may be labelled, and whose card a label of it counts for."""

from typing import Any

import pytest

from tests.support import replies
from tests.support.judges import Script, paid
from tests.support.records import a_spend, an_answer, an_attempt
from touchstone.answers.labelling import judged_attempt
from touchstone.answers.model import Attempt, Verification
from touchstone.answers.verification import quick_verify
from touchstone.clock import Deadline
from touchstone.errors import ConflictError, NotFoundError, UnreadableError
from touchstone.statistics import JudgeKey


def attempt(number: int = 1, **verification: Any) -> Attempt:
    given: dict[str, Any] = {"passed": True, "confidence": 0.9, "method": "judge"}
    return an_attempt(number).model_copy(update={"verification": Verification(**(given | verification))})


def key(model: str, tier: str | None = None, prompt_version: str | None = None) -> JudgeKey:
    return JudgeKey(model=model, tier=tier, prompt_version=prompt_version, kind="quick_verify")


@pytest.mark.parametrize(
    ("verification", "judge"),
    [
        ({"method": "proof", "confidence": 1.0}, key("checks")),
        ({"method": "retrieved"}, key("retrieved")),
        ({"model": "flash", "prompt_version": "f" * 16}, key("flash", "verify", "f" * 16)),
        ({"model": "gemini-3.8-flash"}, key("gemini-3.8-flash", "verify", "0" * 16)),  # an older record: of its calls
        ({"model": "pro"}, key("pro", "verify")),
    ],
)
def test_a_label_counts_for_whoever_decided(verification: dict[str, Any], judge: JudgeKey) -> None:
    record = an_answer(stage="finished", attempts=(attempt(**verification),), spends=(a_spend(),))
    found = judged_attempt(record, "1")
    assert (found.verdict, found.judge, found.classes) == ("right", judge, ("right", "wrong"))


def test_an_older_record_asked_by_two_prompts_does_not_say_which() -> None:
    spends = (a_spend(), a_spend(prompt_version="1" * 16))
    record = an_answer(stage="finished", attempts=(attempt(model="gemini-3.8-flash"),), spends=spends)
    judge = judged_attempt(record, "1").judge
    assert judge is not None
    assert judge.prompt_version is None


def test_each_attempt_is_a_thing_of_its_own() -> None:
    record = an_answer(stage="finished", attempts=(attempt(passed=False, confidence=0.7), attempt(2)))
    first, second = judged_attempt(record, "1"), judged_attempt(record, "2")
    assert (first.verdict, first.confidence, second.verdict, second.confidence) == ("wrong", 0.7, "right", 0.9)


@pytest.mark.parametrize("item", ["0", "2", "-1", "1.0", "one", ""])
def test_an_attempt_that_is_not_there_is_not_found(item: str) -> None:
    with pytest.raises(NotFoundError, match="counted from 1"):
        judged_attempt(an_answer(stage="finished", attempts=(attempt(),)), item)


def test_nothing_is_labelled_before_its_verdict_stands() -> None:
    with pytest.raises(ConflictError):
        judged_attempt(an_answer(stage="solving", attempts=(attempt(),)), "1")
    unverified = an_attempt().model_copy(update={"verification": None})
    with pytest.raises(ConflictError):
        judged_attempt(an_answer(stage="failed", attempts=(unverified,)), "1")


async def test_a_judge_that_was_paid_and_gave_no_verdict_is_known_and_one_that_was_not_asked_is_nobody() -> None:
    script = Script({"verify": [paid(UnreadableError("Garbled."), "flash-answered")]})
    deadline = Deadline.after(5.0)
    asked = await quick_verify("Name it.", "Canberra", judge=script.judges().default("verify"), deadline=deadline)
    nobody = await quick_verify("Name it.", "Canberra", judge=None, deadline=deadline)
    attempts = tuple(
        an_attempt(number).model_copy(update={"verification": done.verification})
        for number, done in enumerate((asked, nobody), start=1)
    )
    record = an_answer(stage="finished", attempts=attempts)
    first, second = judged_attempt(record, "1"), judged_attempt(record, "2")
    assert first.judge == key("flash-answered", "verify", asked.spends[0].prompt_version)
    assert (first.verdict, first.confidence, second.verdict, second.judge) == (None, None, None, None)


async def test_a_verdict_says_which_prompt_it_was_asked_by() -> None:
    script = Script({"verify": [replies.verify()]})
    judge = script.judges().default("verify")
    done = await quick_verify("Name it.", "Canberra", judge=judge, deadline=Deadline.after(5.0))
    assert done.verification.prompt_version == done.spends[0].prompt_version
