"""An answer key through the API: decided without a judge, kept with its answer, counted, and nobody else's."""

from typing import Any

import pytest

from tests.support import replies
from tests.support.api import Api
from tests.support.providers import ProviderServer
from tests.support.sinks import SaidAloud

EGGS = {"problem": "How many eggs are in the basket of the story?", "answer": "12"}
GEM = {"problem": "Which gem of the story is green?", "answer": "Ruby", "expected": "Emerald"}
IDEMPOTENCY_KEY = "3f0e8c2a-6d1b-4f5e-9a7c-0d2b4c6e8f10"


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"expected": "12"}, "verified", None),
        ({"expected": ["13", "a dozen", "12"]}, "verified", None),
        ({"expected": "13"}, "caution", "The answer differs from the answer key: 13"),
        ({"expected": "12.05", "tolerance": {"relative": 0.01}}, "verified", None),
        ({"expected": "12.5", "tolerance": {"absolute": 0.5}}, "verified", None),
        ({"expected": "12.04", "tolerance": {"significant_digits": 2}}, "verified", None),
    ],
)
def test_a_key_decides_here_without_any_judge(
    acme: Api, fields: dict[str, Any], status: str, error: str | None
) -> None:
    made = acme.post("/v1/verifications", EGGS | fields)
    view = made.json
    assert (made.status, view["verification_status"], view["method"]) == (201, status, "expected")
    assert (view["verify_passed"], view["verify_confidence"]) == (status == "verified", 1.0)
    assert (view["verify_error"], view["skip_reason"]) == (error, None)
    expected = fields["expected"]
    assert view["expected"] == ([expected] if isinstance(expected, str) else expected)
    kind, value = next(iter(fields.get("tolerance", {"relative": None}).items()))
    assert (view["tolerance"] or {"relative": None})[kind] == value
    assert (view["spends"], view["cost_usd"]) == ([], 0.0)
    assert acme.get(made.location).json == view


def test_i5_a_key_that_nothing_can_read_is_unverified_without_a_judge_and_says_why(acme: Api) -> None:
    view = acme.post("/v1/verifications", GEM).json
    assert (view["verification_status"], view["verify_passed"], view["method"]) == ("unverified", None, "none")
    assert (view["verify_confidence"], view["skip_reason"]) == (0.0, "misconfigured")
    assert "GEMINI_API_KEY" in view["verify_error"]


def test_a_key_that_the_check_cannot_use_is_shown_to_the_judge(buyer: Api, judges: ProviderServer) -> None:
    judges.reply(replies.failed(independent_answer="Emerald"), schema="VerifyReply")
    view = buyer.post("/v1/verifications", GEM).json
    assert (view["method"], view["verify_passed"]) == ("judge", False)
    (call,) = judges.calls
    assert "The teacher's answer key" in call.prompt
    assert "Emerald" in call.prompt


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"expected": []}, 422, "body.expected: give the expected answer as one text, or as a list of texts."),
        ({"expected": 12}, 422, "body.expected: give the expected answer as one text, or as a list of texts."),
        ({"expected": "Answer:"}, 422, "body.expected: the expected answer says nothing that an answer could equal."),
        ({"expected": "x" * 2001}, 413, "body.expected may have at most"),
        ({"expected": ["x"] * 11}, 413, "body.expected may have at most"),
        ({"tolerance": {"absolute": 1}}, 422, "a tolerance needs the expected answer that it is for."),
        ({"expected": "12", "tolerance": {}}, 422, "body.tolerance: give exactly one of relative, absolute and"),
        ({"expected": "12", "tolerance": {"relative": 1}}, 422, "body.tolerance.relative must be less than 1"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/verifications", "/v1/solutions"])
def test_a_key_that_means_nothing_is_refused_and_nothing_is_kept(
    acme: Api, path: str, fields: dict[str, Any], status: int, said: str
) -> None:
    body = EGGS | fields if path.endswith("verifications") else {"problem": EGGS["problem"]} | fields
    refused = acme.post(path, body)
    assert refused.status == status
    assert said in refused.json["detail"]
    assert acme.get("/v1/answers").json["items"] == []


def test_r19_the_same_answer_with_another_key_is_another_request(acme: Api) -> None:
    first = acme.post("/v1/verifications", EGGS | {"expected": "12"}, key=IDEMPOTENCY_KEY)
    again = acme.post("/v1/verifications", EGGS | {"expected": "12"}, key=IDEMPOTENCY_KEY)
    assert (first.status, again.json) == (201, first.json)
    for other in ({}, {"expected": "13"}, {"expected": "12", "tolerance": {"absolute": 1}}):
        refused = acme.post("/v1/verifications", EGGS | other, key=IDEMPOTENCY_KEY)
        assert (refused.status, refused.json["type"]) == (422, "urn:touchstone:problem:idempotency_key_reused")
    assert len(acme.get("/v1/answers").json["items"]) == 1
    assert acme.post("/v1/verifications", EGGS | {"expected": "13"}).json["verification_status"] == "caution"


def test_what_a_key_decided_counts_for_model_and_subject_and_for_a_card_of_its_own(acme: Api) -> None:
    graded = EGGS | {"subject": "reading", "model": "my-model", "difficulty": "easy"}
    ids = [acme.post("/v1/verifications", graded | {"expected": each}).json["id"] for each in ("12", "12", "13")]
    acme.post("/v1/verifications", graded | {"answer": "ruby", "expected": "emerald"})
    rates = acme.get("/v1/statistics/rates").json
    (rate,) = rates["model_subject"]
    assert (rate["name"], rate["decided"], rate["correct"], rate["skipped"]) == ("my-model", 3, 2, 1)
    label = acme.call("PUT", f"/v1/labels/quick_verify/{ids[0]}/1", '{"label": "right"}').json
    assert label["judge"] == {"model": "expected", "tier": None, "prompt_version": None, "kind": "quick_verify"}


def test_a_stored_solution_answers_a_request_with_a_key_only_where_it_meets_it(
    buyer: Api, judges: ProviderServer
) -> None:
    problem = {"problem": EGGS["problem"], "subject": "reading", "deep_evaluation": False}
    judges.reply(replies.analyze(), schema="AnalyzeReply")
    judges.reply(replies.enrich(), schema="EnrichReply")

    def solved(answer: str, **fields: Any) -> tuple[dict[str, Any], int]:
        judges.reply(replies.solve(answer=answer), schema="SolveReply")
        before = len(judges.calls)
        made = buyer.post("/v1/solutions", problem | {"use_cache": False} | fields)
        asked = [call.title for call in judges.calls[before:]].count("SolveReply")
        return buyer.get(made.location).json, asked

    first, asked = solved("12", expected="12")
    assert (first["verification_status"], first["method"], asked) == ("verified", "expected", 1)
    anew, asked = solved("99")
    assert (anew["answer"], anew["retrieved_from"], asked) == ("99", None, 1), "a key decides for its own request alone"
    met, asked = solved("99", expected=["11", "12"])
    assert (met["retrieved_from"], met["method"], met["verify_confidence"], asked) == (first["id"], "expected", 1.0, 0)
    other, asked = solved("13", expected="13")
    assert (other["answer"], other["retrieved_from"], other["method"], asked) == ("13", None, "expected", 1)
    decided = {rate["name"]: rate["decided"] for rate in buyer.get("/v1/statistics/rates").json["model_subject"]}
    assert sum(decided.values()) == 2, "what was taken from an earlier answer counts for nobody"


def test_a_key_is_the_tenant_s_and_is_never_logged(acme: Api, rival: Api, warnings_printed: SaidAloud) -> None:
    made = acme.post("/v1/verifications", GEM | {"expected": ["canary-key", "canary-other"]})
    refused = acme.post("/v1/verifications", GEM | {"expected": ["canary-key", "Answer:"]})
    assert (made.status, refused.status) == (201, 422)
    assert "canary" not in refused.body
    assert rival.get(made.location).status == 404
    assert "canary" not in rival.get("/v1/answers").body
    assert "canary" not in warnings_printed()
