"""A judge that is less sure than people's labels ask of it decides nothing, and another provider is asked."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support import replies
from tests.support.judges import Line, Script
from tests.support.records import an_answer, an_attempt
from touchstone.answers.labelling import judged_attempt, verdicts_of
from touchstone.answers.model import AnswerRecord, Verification
from touchstone.answers.progress import route, status_of
from touchstone.answers.verification import Verified, quick_verify, second_judge
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, RefusedError, StoreError
from touchstone.judges.prompts import load_prompt
from touchstone.judges.sureness import JudgeThresholds, SureFrom
from touchstone.text.language import Language

PROBLEMS: Mapping[Language, str] = {"en": "Which city is the capital of Australia?", "zh": "澳大利亚的首都是哪座城市？"}


def sure(confidence: float | None) -> SureFrom:
    return SureFrom(confidence=confidence, labels=212, wanted=0.95, card="c" * 16, version="v" * 8)


async def _verify(
    script: Script, thresholds: Mapping[str, SureFrom | float | None], *, language: Language = "en", alone: bool = False
) -> Verified:
    """Verify by judges of which those of these providers have a threshold; None: they decide nothing."""
    judges = script.judges()
    judge = judges.default("verify")
    version = load_prompt("touchstone.answers", "verify", language).version
    found: JudgeThresholds = {
        (f"{judges.get(name, 'verify').model}-answered", version): least if isinstance(least, SureFrom) else sure(least)
        for name, least in thresholds.items()
    }
    return await quick_verify(
        PROBLEMS[language],
        "Canberra",
        judge=judge,
        another=None if alone else second_judge(judges, judge),
        thresholds=lambda: found,
        deadline=Deadline.after(5.0),
    )


def confident(confidence: float, **changes: Any) -> dict[str, Any]:
    return replies.verify(confidence=confidence, **changes)


async def test_without_labels_a_verdict_stands_as_it_did() -> None:
    found = (await _verify(Script({"verify": [confident(0.7)]}), {})).verification
    assert (found.passed, found.confidence, found.sure_from, found.opinions) == (True, 0.7, None, ())
    assert status_of(found) == "caution"


@pytest.mark.parametrize(("confidence", "least"), [(0.9, 0.9), (0.7, 0.7), (1.0, 1.0)])
async def test_at_its_threshold_a_judge_decides_and_the_verdict_says_by_which(confidence: float, least: float) -> None:
    script = Script({"verify": [confident(confidence)]})
    found = (await _verify(script, {"gemini": least})).verification
    assert (found.passed, found.confidence, found.sure_from) == (True, confidence, sure(least))
    assert status_of(found) == "verified", "by labels 0.7 may be enough where it is not without them"
    assert script.prompts() == ["gemini/verify"]


async def test_below_it_the_next_provider_decides_and_the_first_is_heard() -> None:
    script = Script({"gemini/verify": [confident(0.85)], "verify": [replies.failed(confidence=0.95)]})
    verified = await _verify(script, {"gemini": 0.9})
    found = verified.verification
    assert (found.passed, found.provider, found.sure_from) == (False, "claude", None)
    assert [(said.provider, said.passed, said.confidence) for said in found.opinions] == [("gemini", True, 0.85)]
    assert [spend.provider for spend in verified.spends] == ["gemini", "claude"]
    assert route(found, 1) == "retry"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("least", [0.99, None])
async def test_where_no_judge_is_sure_enough_nobody_decided(language: Language, least: float | None) -> None:
    script = Script({"verify": [confident(0.95)]})
    verified = await _verify(script, {"gemini": least, "claude": 0.98}, language=language)
    found = verified.verification
    assert (found.passed, found.confidence, found.method, found.skip_reason) == (None, 0.0, "none", "unsure")
    assert [said.provider for said in found.opinions] == ["gemini", "claude"]
    assert "212" in (found.error or "")
    assert status_of(found) == "unverified"
    assert route(found, 1) == "enrich"
    assert verified.failure is None, "another try would say the same"


@pytest.mark.parametrize(
    ("second", "reason"), [(RefusedError("Declined."), "unsure"), (OverloadedError("Overloaded."), "overloaded")]
)
async def test_a_second_judge_that_fails_leaves_the_first_unsure(second: Line, reason: str) -> None:
    verified = await _verify(Script({"gemini/verify": [confident(0.85)], "claude/verify": [second]}), {"gemini": 0.9})
    assert (verified.verification.passed, verified.verification.skip_reason) == (None, reason)
    assert [said.provider for said in verified.verification.opinions] == ["gemini"]
    assert (verified.failure is None) == (reason == "unsure")


async def test_a_judge_alone_that_is_not_sure_decides_nothing() -> None:
    script = Script({"verify": [replies.failed(confidence=0.6)]})
    found = (await _verify(script, {"gemini": 0.9}, alone=True)).verification
    assert (found.passed, found.skip_reason) == (None, "unsure")
    assert len(script.asked) == 1


async def test_a_judge_that_contradicts_itself_is_never_sure_enough() -> None:
    # Its own answer is the given one, and it calls that wrong: capped at 0.5, below any threshold there can be.
    script = Script({"verify": [replies.failed(independent_answer="Canberra", confidence=1.0)]})
    found = (await _verify(script, {"gemini": 0.6}, alone=True)).verification
    assert (found.passed, found.skip_reason) == (None, "unsure")


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_above_where_labels_show_that_it_is_too_low_a_judge_is_believed_as_without(language: Language) -> None:
    silent = sure(None).model_copy(update={"silent_below": 0.7})
    certain = await _verify(Script({"verify": [confident(0.99)]}), {"gemini": silent}, alone=True)
    assert status_of(certain.verification) == "verified"
    unsure = await _verify(Script({"verify": [confident(0.75)]}), {"gemini": silent}, alone=True)
    assert status_of(unsure.verification) == "caution"
    low = await _verify(Script({"verify": [confident(0.69)]}), {"gemini": silent}, alone=True, language=language)
    assert (low.verification.passed, low.verification.skip_reason) == (None, "unsure")
    assert "0.70" in (low.verification.error or "")


@pytest.mark.parametrize("least", [0.6, 0.7])
async def test_a_pass_that_names_a_mistake_is_never_verified_by_a_low_threshold(least: float) -> None:
    script = Script({"verify": [confident(0.99, independent_answer=None, error_description="No such town.")]})
    found = (await _verify(script, {"gemini": least}, alone=True)).verification
    assert (found.passed, found.confidence) == (True, 0.7)
    assert status_of(found) == "caution"
    judged = judged_attempt(_with(found), "1")
    assert (judged.verdict, judged.confidence) == ("right", None), "0.7 is the cap and not what the judge said"


async def test_where_the_thresholds_cannot_be_read_nobody_is_asked_and_nobody_decided() -> None:
    def broken() -> JudgeThresholds:
        raise StoreError("The table is throttled.")

    script = Script({"verify": [confident(0.99)]})
    judge = script.judges().default("verify")
    verified = await quick_verify(
        PROBLEMS["en"], "Canberra", judge=judge, thresholds=broken, deadline=Deadline.after(5.0)
    )
    assert status_of(verified.verification) == "unverified"
    assert "throttled" in (verified.verification.error or "")
    assert (script.asked, verified.spends) == ([], ()), "nothing is paid for a verdict that cannot be held to anything"
    assert isinstance(verified.failure, OverloadedError), "another try may read them"


def _with(verification: Verification) -> AnswerRecord:
    attempt = an_attempt().model_copy(update={"verification": verification})
    return an_answer(attempts=(attempt,), stage="finished")


async def test_a_label_counts_for_every_judge_that_said_something() -> None:
    script = Script({"gemini/verify": [confident(0.85)], "verify": [replies.failed(confidence=0.95)]})
    decided = (await _verify(script, {"gemini": 0.9})).verification
    judged = judged_attempt(_with(decided), "1")
    assert (judged.verdict, judged.judge and judged.judge.model) == ("wrong", decided.model)
    assert [(vote.verdict, vote.confidence) for vote in judged.votes] == [("right", 0.85)]
    assert [said for _, said in verdicts_of(decided)] == ["right", "wrong"]
    unsure = (await _verify(Script({"verify": [confident(0.85)]}), {"gemini": 0.9, "claude": 0.9})).verification
    judged = judged_attempt(_with(unsure), "1")
    assert (judged.verdict, judged.judge) == (None, None)
    assert [vote.verdict for vote in judged.votes] == ["right", "right"]
