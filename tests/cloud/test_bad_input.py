"""Input that cannot be taken: it gets a clear answer at the door, costs no call, and loses nothing."""

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support import replies
from tests.support.callers import Caller, refusal, said
from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer
from tests.support.overrides import own_model, registry

pytestmark = pytest.mark.cloud

GIVEN: dict[str, Any] = {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"}
MEGABYTE = "9" * 1_000_000

REFUSED: dict[str, tuple[tuple[str, Any], tuple[int, str]]] = {
    # path and body; the status and what the answer must name
    "an unknown field": (("v1/verifications", {**GIVEN, "colour": "red"}), (422, "colour")),
    "an empty problem": (("v1/verifications", {**GIVEN, "problem": ""}), (422, "problem")),
    "a missing answer": (("v1/verifications", {"problem": "1 + 1"}), (422, "answer")),
    "a problem of a megabyte": (("v1/verifications", {**GIVEN, "problem": MEGABYTE}), (413, "problem")),
    "an answer of a megabyte": (("v1/verifications", {**GIVEN, "answer": MEGABYTE}), (413, "answer")),
    "neither problem nor image": (("v1/solutions", {}), (422, "exactly one")),
    "an image that is none": (("v1/solutions", {"image": {"data_base64": "SGVsbG8sIHdvcmxkIQ=="}}), (400, "PNG")),
    "an image that is no base64": (("v1/solutions", {"image": {"data_base64": "§"}}), (400, "base64")),
    "an image that was never uploaded": (("v1/solutions", {"image": {"s3_key": "{tenant}/images/x"}}), (404, "")),
    "a role that there is not": (("v1/tokens", {"role": "king", "name": "x"}), (422, "role")),
}


@pytest.mark.parametrize(("request_", "answer"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_taken_is_refused_by_name(
    caller: Caller, judge: JudgeServer, request_: tuple[str, Any], answer: tuple[int, str]
) -> None:
    (path, body), (status, names) = request_, answer
    sent = json.loads(json.dumps(body).replace("{tenant}", caller.tenant))
    document = refusal(caller.send("POST", path, json=sent), status)
    assert names in json.dumps(document, ensure_ascii=False)
    assert MEGABYTE[:100] not in json.dumps(document), "what was sent is not sent back"
    assert caller.summaries() == []
    assert judge.calls() == []


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", '{"problem": NaN, "answer": "1"}', '{"problem": "1", "problem": "2", "answer": "3"}',
     "[" * 10_000, '{"problem": "\\ud800", "answer": "1"}'],
    ids=["nothing", "cut off", "a list", "null", "not a number", "a field twice", "nested", "a lone surrogate"],
)  # fmt: skip
def test_r18_what_is_no_json_is_refused(caller: Caller, body: str) -> None:
    reply = caller.send("POST", "v1/verifications", content=body, headers={"content-type": "application/json"})
    assert reply.status_code in {400, 422}, reply.text
    refusal(reply, reply.status_code)


def test_r17_more_than_a_function_can_be_handed_is_refused_whole(caller: Caller) -> None:
    refusal(caller.send("POST", "v1/verifications", json={**GIVEN, "steps": "9" * 5_600_000}), 413)


def test_what_is_not_there_is_not_found(caller: Caller) -> None:
    refusal(caller.send("GET", "v1/answers/nonsense"), 404)
    refusal(caller.send("GET", "v1/nowhere"), 404)


def test_r19_a_repeat_returns_the_first_result_and_another_body_is_refused(caller: Caller, judge: JudgeServer) -> None:
    key = uuid.uuid4().hex
    first = caller.verify(**GIVEN, key=key)
    assert caller.verify(**GIVEN, key=key) == first
    document = refusal(
        caller.send("POST", "v1/verifications", json={**GIVEN, "answer": "1"}, headers={"Idempotency-Key": key}), 422
    )
    assert "Idempotency-Key" in document["detail"]
    assert [item["id"] for item in caller.summaries()] == [first["id"]]


def test_r19_a_repeat_while_the_first_still_runs_is_told_to_wait(caller: Caller, judge: JudgeServer) -> None:
    key, bones = uuid.uuid4().hex, {"problem": "How many bones does an adult human have?", "answer": "206"}
    judge.rule({"value": replies.verify(independent_answer="206"), "seconds": 3.0}, schema_title="VerifyReply")
    with ThreadPoolExecutor(2) as pool:
        # Both at once, so that neither the first request nor its repeat meets a function that has yet to start.
        list(pool.map(lambda _: caller.verify(**GIVEN), range(2)))
        running = pool.submit(caller.verify, **bones, key=key)
        while not judge.calls() and not running.done():
            time.sleep(0.05)
        reply = caller.send("POST", "v1/verifications", json=bones, headers={"Idempotency-Key": key})
        assert int(reply.headers["retry-after"]) >= 1
        refusal(reply, 409)
        first = running.result()
    assert caller.verify(**bones, key=key) == first
    assert len(judge.calls()) == 1


def lines_with_faults(count: int) -> list[str]:
    """So many lines of which three are broken: no JSON, an unknown field, a kind that there is not."""
    lines = [
        json.dumps({"kind": "verify", "id": f"line-{n}", "problem": f"Compute {n} + {n}.", "answer": str(2 * n)})
        for n in range(1, count + 1)
    ]
    lines[16] = '{"kind": "verify", "problem": "cut o'
    lines[count // 2 - 1] = json.dumps(
        {"kind": "verify", "id": "odd", "problem": "1 + 1", "answer": "2", "colour": "red"}
    )
    lines[-1] = json.dumps({"kind": "guess", "problem": "1 + 1"})
    return lines


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("door", "count"), [("api", 300), ("drop", 100)])
def test_three_broken_lines_among_many_cost_themselves_alone(
    cloud: Cloud, caller: Caller, judge: JudgeServer, door: str, count: int
) -> None:
    content = "\n".join(lines_with_faults(count)).encode()
    if door == "api":
        begun = said(caller.send("POST", "v1/batches"), 201)
        put = httpx.put(begun["upload_url"], content=content, headers={"content-type": "application/x-ndjson"})
        put.raise_for_status()
        results = f"inbox/{caller.tenant}/{begun['id']}.results.jsonl"
    else:
        key = f"inbox/{caller.tenant}/homework.jsonl"
        cloud.s3.put_object(Bucket=cloud.outputs["BucketName"], Key=key, Body=content)
        results = f"inbox/{caller.tenant}/homework.results.jsonl"
    batch = caller.batch_ended()
    assert (batch["state"], batch["total"], batch["done"], batch["failed"]) == ("finished", count, count - 3, 3)
    text = httpx.get(batch["results_url"]).raise_for_status().text
    beside = cloud.s3.get_object(Bucket=cloud.outputs["BucketName"], Key=results)["Body"].read().decode()
    assert text == beside
    found = [json.loads(line) for line in text.splitlines()]
    assert [line["line"] for line in found] == list(range(1, count + 1))
    assert {line["line"]: line["error"]["where"] for line in found if line["error"]} == {
        17: None,
        count // 2: "colour",
        count: None,
    }
    assert all(line["error"]["detail"] for line in found if line["error"])
    views = [line["answer"] for line in found if line["answer"]]
    # Ten chunks at once leave a small, busy machine too little time for some checks: those say so, none says wrong.
    assert {view["verification_status"] for view in views} <= {"verified", "unverified"}
    assert {view["skip_reason"] for view in views} <= {None, "timed_out"}
    assert found[0]["id"] == "line-1"


def test_a_missing_key_is_named_with_the_place_to_set_it(cloud: Cloud, caller: Caller, judge: JudgeServer) -> None:
    with cloud.judge_keys({}), cloud.functions.changed("ApiVerifying", "AnswersAnalyze", "AnswersSolve"):
        view = caller.verify(problem="How many bones does an adult human have?", answer="206")
        solved = caller.ended(caller.solve(problem="How many bones does an adult human have?")["id"])
    assert (view["verification_status"], view["skip_reason"]) == ("unverified", "misconfigured")
    for said_so in (view["verify_error"], solved["failure"]):
        assert "GEMINI_API_KEY" in said_so
        assert "touchstone-local up" in said_so
    assert judge.calls() == []


def test_a_model_that_does_not_exist_is_said_to_be_so(cloud: Cloud, caller: Caller, judge: JudgeServer) -> None:
    name, model = own_model(tier="verify")
    judge.rule({"kind": "unknown_model"}, model=name)
    with cloud.functions.changed("ApiVerifying", variables=registry(gemini=model)):
        caller.verify(**GIVEN)
        view = caller.verify(problem="How many bones does an adult human have?", answer="206", use_cache=False)
    assert (view["verification_status"], view["skip_reason"]) == ("unverified", "misconfigured")
    assert name in view["verify_error"]
    assert len(judge.calls(model=name)) == 1, "no storm of retries"
