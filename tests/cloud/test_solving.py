"""A problem solved and verified through the API: the routing table, row by row, for text and for a picture."""

import base64
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.support import replies
from tests.support.callers import Caller, said
from tests.support.judge_server import JudgeServer

pytestmark = pytest.mark.cloud

BONES = "How many bones does an adult human have?"
RIGHT = replies.verify(confidence=0.95)
WRONG = replies.failed(independent_answer="207", confidence=0.9)
UNSURE = replies.verify(confidence=0.7)
SKIPPED = {"kind": "server_error"}


def solved_by(judge: JudgeServer) -> list[str]:
    """The providers that were asked for a solution, in order."""
    return [call["provider"] for call in judge.calls(title="SolveReply")]


def arrange(judge: JudgeServer, *verdicts: dict[str, Any]) -> None:
    """Verdicts by attempt: the first provider answers 205, the second 206, and each has its verdict."""
    first, second = verdicts[0], verdicts[-1]
    judge.reply("SolveReply", replies.solve(steps=["Count them."], answer="206"))
    judge.reply("SolveReply", replies.solve(steps=["Count them."], answer="205"), provider="anthropic")
    for answer, verdict in (("206", second), ("205", first)):
        agreed = {"independent_answer": answer} if verdict.get("is_correct") else {}
        behaviour = verdict if "kind" in verdict else {"value": verdict | agreed}
        judge.rule(behaviour, schema_title="VerifyReply", prompt=f"\\b{answer}\\b")


@dataclass(frozen=True)
class Row:
    """Verdicts by attempt, and how the problem ends: its badge, the attempts made, the answer that is returned."""

    verdicts: tuple[dict[str, Any], ...]
    status: str
    attempts: int
    answer: str


ROWS = {
    "passed at once": Row((RIGHT,), "verified", 1, "205"),
    "skipped at once": Row((SKIPPED,), "unverified", 1, "205"),
    "failed, then passed": Row((WRONG, RIGHT), "verified", 2, "206"),
    "passed below 0.8, then passed": Row((UNSURE, RIGHT), "verified", 2, "206"),
    "failed, then skipped": Row((WRONG, SKIPPED), "unverified", 2, "206"),
    "failed twice": Row((WRONG, WRONG), "caution", 2, "205"),
    "passed below 0.8, then failed": Row((UNSURE, WRONG), "caution", 2, "205"),
    "passed below 0.8 twice": Row((UNSURE, UNSURE), "caution", 2, "205"),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_problem_ends_as_the_routing_table_says(caller: Caller, judge: JudgeServer, row: Row) -> None:
    arrange(judge, *row.verdicts)
    asked = caller.solve(problem=BONES, use_cache=False, use_retrieved=False, deep_evaluation=False)
    assert asked["stage"] == "received"
    view = caller.ended(asked["id"])
    assert (view["verification_status"], view["attempt_count"], view["answer"]) == (
        row.status,
        row.attempts,
        row.answer,
    )
    assert view["enrichment"]["hints"]
    providers = solved_by(judge)
    assert len(providers) == row.attempts
    assert len(set(providers)) == row.attempts, "a retry asks another provider"
    assert [attempt["solution"]["provider"] for attempt in view["attempts"]] == [
        {"anthropic": "claude"}.get(provider, provider) for provider in providers
    ]


PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63f80f00010101001bb6ee56"
        "0000000049454e44ae426082"
    )
).decode()
"""A whole picture of one pixel."""


def test_a_picture_of_a_problem_is_read_and_solved(caller: Caller, judge: JudgeServer) -> None:
    judge.reply("ImageReply", replies.image(problem=BONES))
    arrange(judge, RIGHT)
    asked = caller.solve(image={"data_base64": PNG}, use_cache=False, deep_evaluation=False)
    view = caller.ended(asked["id"])
    assert (view["problem"], view["answer"], view["verification_status"]) == (BONES, "205", "verified")
    [reading] = judge.calls(title="ImageReply")
    assert reading["images"] == 1
    assert [spend["purpose"] for spend in view["spends"]] == ["ocr", "analyze", "solve", "verify", "enrich"]


def test_a_picture_uploaded_first_is_read_by_its_key(caller: Caller, judge: JudgeServer) -> None:
    judge.reply("ImageReply", replies.image(problem=BONES))
    arrange(judge, RIGHT)
    upload = said(caller.send("POST", "v1/images"), 200)
    httpx.put(
        upload["upload_url"], content=base64.b64decode(PNG), headers={"content-type": "application/octet-stream"}
    ).raise_for_status()
    asked = caller.solve(image={"s3_key": upload["s3_key"]}, use_cache=False, deep_evaluation=False)
    assert caller.ended(asked["id"])["verification_status"] == "verified"


def test_a_picture_that_shows_no_problem_is_said_to_be_so(caller: Caller, judge: JudgeServer) -> None:
    judge.reply("ImageReply", {"readable": False, "problem": None, "obstacle": "It shows a cat."})
    asked = caller.solve(image={"data_base64": PNG}, use_cache=False)
    view = caller.ended(asked["id"])
    assert (view["stage"], view["verification_status"]) == ("failed", None)
    assert "It shows a cat." in view["failure"]
    assert judge.calls(title="SolveReply") == []


def test_a_provider_that_fails_is_followed_by_the_next_and_that_is_no_attempt(
    caller: Caller, judge: JudgeServer
) -> None:
    arrange(judge, RIGHT)
    judge.rule({"kind": "forbidden"}, schema_title="SolveReply", provider="anthropic")
    view = caller.ended(caller.solve(problem=BONES, use_cache=False, use_retrieved=False, deep_evaluation=False)["id"])
    assert (view["verification_status"], view["attempt_count"], view["answer"]) == ("verified", 1, "206")
    assert solved_by(judge) == ["anthropic", "openai"]


def test_where_no_provider_answers_the_record_says_why(caller: Caller, judge: JudgeServer) -> None:
    judge.rule({"kind": "forbidden"}, schema_title="SolveReply")
    view = caller.ended(caller.solve(problem=BONES, use_cache=False, use_retrieved=False)["id"])
    assert (view["stage"], view["verification_status"]) == ("failed", None)
    assert view["failure"]


def test_a_verified_solution_answers_the_same_problem_again_without_a_solver(
    caller: Caller, judge: JudgeServer
) -> None:
    arrange(judge, RIGHT)
    first = caller.ended(caller.solve(problem=BONES, use_cache=False, deep_evaluation=False)["id"])
    again = caller.ended(caller.solve(problem=BONES, use_cache=False, deep_evaluation=False)["id"])
    assert (again["retrieved_from"], again["answer"]) == (first["id"], first["answer"])
    assert again["verification_status"] == "verified"
    assert len(solved_by(judge)) == 1


def test_the_answer_is_evaluated_deeply_after_it_is_out(caller: Caller, judge: JudgeServer) -> None:
    arrange(judge, RIGHT)
    judge.rule({"value": replies.evaluate(), "seconds": 1.0}, schema_title="EvaluateReply")
    out = caller.ended(caller.solve(problem=BONES, use_cache=False)["id"])
    assert out["verification_status"] == "verified"
    assert out["deep_evaluation"] is None, "nobody waits for it"
    view = caller.evaluated(out["id"])
    assert view["deep_evaluation"]["overall"] == pytest.approx((1.0 + 0.8 + 0.9 + 0.5 + 0.3) / 5)
    assert caller.get("v1/statistics/suggestions") == [{"text": "Number the steps", "count": 1}]
