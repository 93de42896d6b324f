"""Traces through the API: every question as it was sent, for its own tenant's admins, and none where none is wanted."""

import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.composition import stores
from functions.environment import environment
from tests.support.api import Api, refusal
from tests.support.deployment import BUCKET, Deployment
from tests.support.pages import Visitor
from tests.support.providers import ProviderServer, success
from tests.support.quizzes import experiment, measurement, quiz
from tests.support.sinks import SaidAloud
from touchstone.judges.tracing import REMOVED, PromptPart, TracedCall, TracedTry

OPEN = {"problem": "Name the capital of Australia.", "answer": "Canberra"}
UNKNOWN = "01JD7Z00000000000000000000"
LAMBDA_BYTES = 6 * 1024 * 1024
"""What a function may answer at most."""


@pytest.fixture
def admin(judged: Deployment) -> Api:
    """An admin of the tenant acme."""
    return Api(token=judged.token("acme", "admin"))


def verified(buyer: Api, **more: Any) -> str:
    """The id of an answer that a judge was asked about."""
    made = buyer.post("/v1/verifications", OPEN | more)
    assert made.status == 201
    answer_id: str = made.json["id"]
    return answer_id


def test_a_verification_shows_what_its_judge_was_sent_and_said(
    buyer: Api, admin: Api, judges: ProviderServer, warnings_printed: SaidAloud
) -> None:
    trace = admin.get(f"/v1/traces/{verified(buyer)}").json
    (call,) = trace["calls"]
    (sent,) = judges.calls
    assert "".join(part["text"] for part in call["system"]) == sent.system
    assert "".join(part["text"] for part in call["user"]) == sent.prompt
    fenced = [part["text"] for part in call["user"] if part["fenced"]]
    assert any(OPEN["problem"] in text for text in fenced)
    assert any(OPEN["answer"] in text for text in fenced)
    assert (call["prompt_name"], call["failure"], call["cached"]) == ("verify", None, False)
    assert call["value"]["is_correct"] is True
    assert '"is_correct"' in call["tries"][0]["reply"]
    assert call["reply_schema"]["title"] == "VerifyReply"
    assert call["cost_usd"] > 0
    assert call["input_tokens"] > 0
    assert OPEN["problem"] not in warnings_printed()


def test_a_reply_that_was_not_understood_is_shown_as_it_came(buyer: Api, admin: Api, judges: ProviderServer) -> None:
    strange = {"is_correct": "rather", "confidence": 7}
    judges.script(success(strange), success(strange))
    answer_id = verified(buyer)
    assert buyer.get(f"/v1/answers/{answer_id}").json["skip_reason"] == "unreadable"
    (call,) = admin.get(f"/v1/traces/{answer_id}").json["calls"]
    assert (call["value"], call["failure"]) == (None, "unreadable")
    assert ["rather" in one["reply"] for one in call["tries"]] == [True, True]
    assert call["tries"][0]["next_in_seconds"] == 0.0


def test_a_deep_evaluation_and_a_measurement_have_traces_too(buyer: Api, admin: Api) -> None:
    answer_id = verified(buyer, deep_evaluation=True)
    named = [call["prompt_name"] for call in admin.get(f"/v1/traces/{answer_id}").json["calls"]]
    assert named == ["verify", "evaluate"]
    measured = buyer.post("/v1/measurements", measurement(material=quiz(4))).json["id"]
    calls = admin.get(f"/v1/traces/{measured}").json["calls"]
    assert {"quiz_answer_correctness", "quiz_clarity", "quiz_distractor_quality"} <= {
        call["prompt_name"] for call in calls
    }


def test_a_trace_is_for_admins_of_its_own_tenant(buyer: Api, judged: Deployment) -> None:
    answer_id = verified(buyer)
    rival = Api(token=judged.token("rival", "admin"))
    theirs, unknown = rival.get(f"/v1/traces/{answer_id}"), rival.get(f"/v1/traces/{UNKNOWN}")
    assert refusal(theirs, 404)["detail"] == refusal(unknown, 404)["detail"], "it is not said that another has it"
    assert refusal(buyer.get(f"/v1/traces/{answer_id}"), 403)
    for strange in ("..", "%2e%2e%2frival", "x" * 400):
        assert rival.get(f"/v1/traces/{strange}").status == 404


def test_nothing_is_kept_where_it_is_turned_off(
    buyer: Api, admin: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_KEEP_PROMPTS", "off")
    environment.cache_clear()
    answer_id = verified(buyer)
    assert "TOUCHSTONE_KEEP_PROMPTS" in refusal(admin.get(f"/v1/traces/{answer_id}"), 404)["detail"]
    assert "Contents" not in judged.s3.list_objects_v2(Bucket=BUCKET, Prefix="traces/")


def test_what_a_check_decides_asks_nobody_and_has_no_calls(buyer: Api, admin: Api, judged: Deployment) -> None:
    made = buyer.post("/v1/verifications", {"problem": "Compute 2 + 2.", "answer": "4"}).json
    assert admin.get(f"/v1/traces/{made['id']}").json == {"id": made["id"], "calls": [], "cursor": None}
    assert refusal(Api(token=judged.token("rival", "admin")).get(f"/v1/traces/{made['id']}"), 404)


def test_work_of_every_kind_that_needs_no_judge_has_a_trace_without_calls(teacher: Api, judged: Deployment) -> None:
    admin, rival = (Api(token=judged.token(name, "admin")) for name in ("acme", "rival"))
    metrics = ["quiz_item_flaws"]
    made = (
        teacher.post("/v1/measurements", measurement(metrics=metrics)).json["id"],
        teacher.post("/v1/experiments", {"experiment": experiment(1, metrics=metrics)}).json["id"],
    )
    for record_id in made:
        assert admin.get(f"/v1/traces/{record_id}").json == {"id": record_id, "calls": [], "cursor": None}
        assert refusal(rival.get(f"/v1/traces/{record_id}"), 404)


def test_what_judges_were_asked_for_is_never_said_to_have_asked_nobody(
    teacher: Api, admin: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_KEEP_PROMPTS", "off")
    environment.cache_clear()
    asked = [
        teacher.post("/v1/measurements", measurement(metrics=["quiz_clarity"])).json["id"],
        teacher.post("/v1/experiments", {"experiment": experiment(1, metrics=["quiz_clarity"])}).json["id"],
        teacher.post("/v1/quizzes", {"curriculum": "book-1", "chapter": "1", "questions": 2}).json["id"],
    ]
    for record_id in asked:
        assert "TOUCHSTONE_KEEP_PROMPTS" in refusal(admin.get(f"/v1/traces/{record_id}"), 404)["detail"]


def test_a_verdict_stands_where_its_trace_cannot_be_kept(
    buyer: Api, admin: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_BUCKET", "there-is-none")
    environment.cache_clear()
    for kept in (stores._objects, stores.traces):
        kept.cache_clear()
    made = buyer.post("/v1/verifications", OPEN).json
    assert made["verification_status"] == "verified"


def test_a_long_trace_comes_in_pages(
    buyer: Api, admin: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    from touchstone.records import traces

    monkeypatch.setattr(traces, "MOST_OBJECT_BYTES", 1)
    monkeypatch.setattr(traces, "MOST_PAGE_BYTES", 24_000)
    measured = buyer.post("/v1/measurements", measurement(material=quiz(4))).json["id"]
    kept = judged.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"traces/acme/{measured}/")["Contents"]
    found, cursor, pages = 0, None, 0
    while pages == 0 or cursor is not None:
        page = admin.get(f"/v1/traces/{measured}", **({"cursor": cursor} if cursor else {})).json
        found, cursor, pages = found + len(page["calls"]), page["cursor"], pages + 1
    assert found == len(kept)
    assert pages > 1


def test_no_key_is_in_what_is_kept(buyer: Api, judged: Deployment, judges: ProviderServer) -> None:
    keys, _ = judges.led_here()
    judges.script(success(f"My keys are {', '.join(keys.values())}."), success("I say no more."))
    verified(buyer)
    bodies = [
        gzip.decompress(judged.s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read()).decode()
        for each in judged.s3.list_objects_v2(Bucket=BUCKET, Prefix="traces/")["Contents"]
    ]
    asked = keys[f"{judges.calls[0].provider.upper()}_API_KEY"]
    assert any(REMOVED in body for body in bodies), "the key was said, and taken out"
    assert not any(asked in body for body in bodies)


@pytest.mark.parametrize(("number", "chars", "replies"), [(24, 30_000, 1), (1, 100_000, 8)])
def test_chinese_texts_come_in_pages_that_a_function_may_answer(
    admin: Api, judged: Deployment, number: int, chars: int, replies: int
) -> None:
    parts = (PromptPart(text="数" * chars),)
    tried = (TracedTry(latency_ms=1.0, reply="答" * chars),) * (replies - 1)
    call = TracedCall(
        asked_at=datetime(2026, 11, 23, tzinfo=UTC), prompt_name="verify", prompt_version="1", system=(), user=parts,
        reply_schema={}, max_output_tokens=700, provider="openai", requested_model="gpt", tries=tried,
    )  # fmt: skip
    stores.traces().keep(tenant="acme", record_id=UNKNOWN, calls=[call] * number)
    visitor = Visitor()
    visitor.sign_in(judged.token("acme", "admin"))
    found, query = 0, dict[str, str]()
    while True:
        page = admin.get(f"/v1/traces/{UNKNOWN}", **query)
        shown = visitor.open(f"/app/traces/{UNKNOWN}", **query).response
        for response in (page, shown):
            assert response.status == 200
            assert len(json.dumps(response.body, ensure_ascii=False).encode()) < LAMBDA_BYTES
        found += len(page.json["calls"])
        assert all("数" * 10_000 in told["user"][0]["text"] for told in page.json["calls"])
        if page.json["cursor"] is None:
            break
        query = {"cursor": page.json["cursor"]}
    assert found == number
    assert bool(page.json["calls"][0]["cut"]) == (replies > 1)
