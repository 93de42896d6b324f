"""An answer of the caller's own, verified through the API: every verdict there is, and how it was reached."""

from typing import Any

import pytest

from tests.support import replies
from tests.support.callers import Caller
from tests.support.judge_server import JudgeServer

pytestmark = pytest.mark.cloud

BONES: dict[str, Any] = {"problem": "How many bones does an adult human have?", "answer": "206", "use_cache": False}


def test_what_a_check_proves_is_verified_and_no_judge_is_asked(caller: Caller, judge: JudgeServer) -> None:
    view = caller.verify(problem="Solve x^2 - 5x + 6 = 0.", answer="x = 2 or x = 3")
    assert (view["verification_status"], view["method"], view["verification_confidence"]) == ("verified", "proof", 1.0)
    assert view["derivation"]
    assert judge.calls() == []


def test_what_a_check_refutes_is_caution_and_no_judge_is_asked(caller: Caller, judge: JudgeServer) -> None:
    view = caller.verify(problem="Compute 3/4 + 1/6.", answer="7/12")
    assert (view["verification_status"], view["verify_passed"], view["method"]) == ("caution", False, "proof")
    assert judge.calls() == []


JUDGED: dict[str, tuple[dict[str, Any], str, float]] = {
    "sure of a pass": (replies.verify(independent_answer="206", confidence=0.95), "verified", 0.95),
    "just sure enough": (replies.verify(independent_answer="206", confidence=0.8), "verified", 0.8),
    "passed below 0.8": (replies.verify(independent_answer="206", confidence=0.79), "caution", 0.79),
    "failed": (replies.failed(independent_answer="207"), "caution", 0.9),
    "says right, worked out another": (replies.verify(independent_answer="207"), "caution", 0.5),
    "says wrong, worked out the same": (replies.failed(independent_answer="206"), "caution", 0.5),
}


@pytest.mark.parametrize(("reply", "status", "confidence"), JUDGED.values(), ids=JUDGED)
def test_a_judges_word_decides_what_no_check_can(
    caller: Caller, judge: JudgeServer, reply: dict[str, Any], status: str, confidence: float
) -> None:
    judge.reply("VerifyReply", reply)
    view = caller.verify(**BONES)
    assert (view["verification_status"], view["verification_confidence"]) == (status, confidence)
    assert view["method"] == "judge"
    assert view["attempt_count"] == 1, "there is nothing to solve again in an answer that the caller brought"
    assert view["uncertain"] == (confidence < 0.6)
    assert len(judge.calls()) == 1
    assert caller.answer(view["id"]) == view, "what was returned is what is kept"
