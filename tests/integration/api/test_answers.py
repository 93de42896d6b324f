"""Answers through the API: verified, solved, listed, read, and kept from everybody else."""

import base64
import json
import threading
import time
from datetime import timedelta
from typing import Any

import pytest

from functions import idempotency, observability, sweep
from functions.composition import work
from tests.support.api import Api
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.sinks import SaidAloud
from touchstone.answers.model import MAX_ANSWER_CHARS, MAX_PROBLEM_CHARS, AnswerRecord
from touchstone.clock import OFFSET_VARIABLE, system_clock
from touchstone.operations.answers import intake, steps
from touchstone.operations.answers.finishing import fail_or_finish
from touchstone.records import Answers
from touchstone.references import Reference

EASY = {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"}
OPEN = {"problem": "Name the capital of Australia.", "answer": "Canberra"}
UNKNOWN = "01JD7Z00000000000000000000"


@pytest.mark.parametrize(
    ("answer", "status", "passed", "method"),
    [("11/12", "verified", True, "proof"), ("10/12", "caution", False, "proof")],
)
def test_a_proof_decides_and_shows_its_derivation(
    acme: Api, answer: str, status: str, passed: bool, method: str
) -> None:
    made = acme.post("/v1/verifications", EASY | {"answer": answer})
    assert made.status == 201
    view = made.json
    assert (view["verification_status"], view["verify_passed"], view["method"]) == (status, passed, method)
    assert view["verification_confidence"] == 1.0
    assert view["derivation"]
    assert made.location == f"/v1/answers/{view['id']}"
    assert acme.get(made.location).json == view


def test_what_nobody_can_decide_is_unverified_and_says_why(acme: Api) -> None:
    view = acme.post("/v1/verifications", OPEN).json
    assert (view["verification_status"], view["verify_passed"]) == ("unverified", None)
    assert (view["verification_confidence"], view["skip_reason"]) == (0.0, "misconfigured")
    assert "GEMINI_API_KEY" in view["verify_error"]


def test_an_answer_without_content_is_refused_without_asking_anybody(acme: Api) -> None:
    view = acme.post("/v1/verifications", OPEN | {"answer": "Thought process:"}).json
    assert (view["verification_status"], view["skip_reason"]) == ("caution", "contentless")


def test_a_computation_that_holds_the_event_loop_is_not_waited_for(acme: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    held, verify = threading.Event(), steps.verify_own_answer
    monkeypatch.setattr(intake, "SYNC_SECONDS", 0.6)

    async def holding(*asked: Any, **how: Any) -> Any:
        while not held.is_set():
            sum(range(1000))  # Python's own work, which lets the other threads have their turns
        return await verify(*asked, **how)

    with monkeypatch.context() as patch:
        patch.setattr(steps, "verify_own_answer", holding)
        view = acme.post("/v1/verifications", EASY).json
    assert (view["stage"], view["verification_status"], view["skip_reason"]) == ("finished", "unverified", "timed_out")
    monkeypatch.setattr(intake, "SYNC_SECONDS", 60.0)
    # What comes after it has an event loop of its own, and what was left behind changes nothing any more.
    assert acme.post("/v1/verifications", EASY).json["verification_status"] == "verified"
    held.set()
    for thread in [one for one in threading.enumerate() if one.name == "touchstone-awaited"]:
        thread.join()
    assert acme.get(f"/v1/answers/{view['id']}").json == view


@pytest.mark.parametrize(("elsewhere", "counted"), [(False, 1), (True, 0)])
def test_an_answer_is_counted_by_who_gave_it_its_end(
    acme: Api, monkeypatch: pytest.MonkeyPatch, elsewhere: bool, counted: int
) -> None:
    verify, heard = work.verify_now, list[AnswerRecord]()

    def verified(answers: Answers, answer_id: str, *asked: Any, tenant: str) -> None:
        if elsewhere:
            fail_or_finish(answers, answers.get(Reference(tenant, "answer", answer_id)), failure="Nobody came.")
        verify(answers, answer_id, *asked, tenant=tenant)

    monkeypatch.setattr(work, "verify_now", verified)
    monkeypatch.setattr(observability, "count_verdict", heard.append)
    view = acme.post("/v1/verifications", EASY).json
    assert view["stage"] == "finished"
    assert len(heard) == counted


@pytest.mark.usefixtures("deployment")
def test_work_that_nobody_waits_for_any_more_publishes_no_metrics() -> None:
    goes_on = threading.Event()

    async def measured(begins: threading.Event) -> bool:
        begins.wait()
        observability.measure_ceiling(80.0)
        return True

    def published() -> bool:
        for thread in [one for one in threading.enumerate() if one.name == "touchstone-awaited"]:
            thread.join()
        found = "CeilingPercent" in observability.metrics.metric_set
        observability.metrics.clear_metrics()
        return found

    observability.metrics.clear_metrics()
    assert work.run_within(measured(goes_on), 0.0) is None
    goes_on.set()
    assert not published()
    assert work.run_within(measured(goes_on), 60.0)
    assert published()


@pytest.mark.usefixtures("deployment")
def test_a_verification_whose_thread_began_after_its_time_leaves_the_next_ones_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begins = threading.Event()

    class Late(threading.Thread):
        def run(self) -> None:
            begins.wait()
            super().run()

    async def said(word: str) -> str:
        return word

    with monkeypatch.context() as patch:
        patch.setattr(threading, "Thread", Late)
        assert work.run_within(said("late"), 0.0) is None
    begins.set()
    for thread in [one for one in threading.enumerate() if one.name == "touchstone-awaited"]:
        thread.join()
    assert work.run_within(said("next"), 60.0) == "next"


def test_a_verification_that_breaks_off_says_so_and_nothing_of_what_was_sent(
    acme: Api, monkeypatch: pytest.MonkeyPatch, warnings_printed: SaidAloud
) -> None:
    def broken(*_: Any, **_of: Any) -> bool:
        raise RuntimeError(EASY["problem"])

    monkeypatch.setattr(work, "verify_now", broken)
    view = acme.post("/v1/verifications", EASY).json
    assert (view["verification_status"], view["skip_reason"]) == ("unverified", "overloaded")
    heard = warnings_printed()
    assert "RuntimeError" in heard
    assert EASY["problem"] not in heard


def test_a_request_that_took_its_time_to_arrive_is_not_kept_waiting(acme: Api) -> None:
    made = acme.call("POST", "/v1/verifications", json.dumps(OPEN), received_at_ms=1)
    assert (made.status, made.json["verification_status"]) == (201, "unverified")


def test_a_deep_evaluation_that_is_wanted_starts_when_the_answer_is_out(acme: Api, deployment: Deployment) -> None:
    view = acme.post("/v1/verifications", EASY | {"deep_evaluation": True}).json
    assert view["evaluation"]["state"] == "waiting"
    assert deployment.machines.started == [f"{view['id']}-1"]
    assert acme.get(f"/v1/answers/{view['id']}").json["evaluation"]["state"] == "deferred"
    assert acme.get("/v1/backlog").json["deferred"] == 1


def test_a_deep_evaluation_for_whose_start_no_time_is_left_is_started_by_the_sweep(
    acme: Api, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = acme.call("POST", "/v1/verifications", json.dumps(OPEN | {"deep_evaluation": True}), received_at_ms=1)
    assert (made.status, made.json["evaluation"]["state"]) == (201, "waiting")
    assert deployment.machines.started == []
    monkeypatch.setenv(OFFSET_VARIABLE, "1200")
    assert sweep.handler({"source": "schedule"}, Context())["restarted"] == 1


def test_a_deep_evaluation_is_asked_for_once(acme: Api, deployment: Deployment) -> None:
    view = acme.post("/v1/verifications", EASY).json
    first, second = (acme.post(f"/v1/answers/{view['id']}/deep-evaluation") for _ in range(2))
    assert (first.status, second.status) == (202, 202)
    assert deployment.machines.started == [f"{view['id']}-1"]


def test_a_problem_that_nobody_can_solve_says_so(acme: Api) -> None:
    made = acme.post("/v1/solutions", {"problem": "Compute 3/4 + 1/6."})
    assert made.status == 202
    view = acme.get(made.location).json
    assert (view["stage"], view["verification_status"]) == ("failed", None)
    assert "GEMINI_API_KEY" in view["failure"]


def test_answers_are_listed_newest_first_a_page_at_a_time(acme: Api) -> None:
    made = [acme.post("/v1/verifications", EASY | {"answer": f"{n}/12"}).json["id"] for n in (9, 10, 11)]
    first = acme.get("/v1/answers", limit=2).json
    rest = acme.get("/v1/answers", limit=2, cursor=first["cursor"]).json
    assert [item["id"] for item in (*first["items"], *rest["items"])] == made[::-1]
    assert rest["cursor"] is None
    verified = acme.get("/v1/answers", status="verified").json["items"]
    assert [item["id"] for item in verified] == made[2:]


@pytest.mark.parametrize("cursor", ["garbled", "%%%", "AAAA", "\N{SNOWMAN}", "0" * 2000])
def test_a_garbled_cursor_is_refused(acme: Api, cursor: str) -> None:
    refused = acme.get("/v1/answers", cursor=cursor)
    assert (refused.status, refused.json["where"]) == (400, "cursor")


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 101}, {"limit": "many"}, {"status": "excellent"}])
def test_a_page_that_cannot_be_is_refused(acme: Api, query: dict[str, Any]) -> None:
    assert acme.get("/v1/answers", **query).status == 422


def test_another_tenants_answer_is_as_absent_as_one_that_never_was(acme: Api, rival: Api) -> None:
    theirs = rival.post("/v1/verifications", EASY).json["id"]
    cursor = rival.get("/v1/answers", limit=1).json["cursor"]
    assert cursor is None
    for path in ("/v1/answers/{}", "/v1/batches/{}"):
        absent, foreign = acme.get(path.format(UNKNOWN)), acme.get(path.format(theirs))
        assert (absent.status, absent.body) == (foreign.status, foreign.body) == (404, absent.body)
    assert acme.post(f"/v1/answers/{theirs}/deep-evaluation").status == 404
    assert acme.get("/v1/answers").json["items"] == []


def test_a_cursor_of_another_tenant_leads_nowhere(acme: Api, rival: Api) -> None:
    for _ in range(2):
        rival.post("/v1/verifications", EASY)
    cursor = rival.get("/v1/answers", limit=1).json["cursor"]
    assert acme.get("/v1/answers", cursor=cursor).status == 400


PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.mark.parametrize("data", [b"%PDF-1.7 something", b"", b"just text that is long enough to be looked at"])
def test_what_is_no_image_is_refused(acme: Api, data: bytes) -> None:
    refused = acme.post("/v1/solutions", {"image": {"data_base64": base64.b64encode(data).decode()}})
    assert (refused.status, refused.json["where"]) == (400, "image")


def test_an_image_is_uploaded_first_and_named_afterwards(acme: Api, rival: Api, deployment: Deployment) -> None:
    upload = acme.post("/v1/images").json
    assert upload["s3_key"].startswith("acme/images/")
    request = {"image": {"s3_key": upload["s3_key"]}}
    assert acme.post("/v1/solutions", request).status == 404
    deployment.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{upload['s3_key']}", Body=PNG)
    assert acme.post("/v1/solutions", request).status == 202
    assert rival.post("/v1/solutions", request).status == 404
    deployment.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{upload['s3_key']}", Body=PNG + bytes(5 * 1024 * 1024))
    assert acme.post("/v1/solutions", request).status == 413


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("letter", ["x", "\u4e2d", "\U0001f600"])
def test_r17_a_text_is_taken_whole_up_to_its_limit_and_refused_beyond(acme: Api, letter: str, extra: int) -> None:
    problem = letter * (MAX_PROBLEM_CHARS + extra)
    made = acme.post("/v1/verifications", {"problem": problem, "answer": "42"}, key="edge")
    if extra > 0:
        assert made.status == 413
        assert acme.get("/v1/answers").json["items"] == []
    else:
        assert made.status == 201
        assert acme.get(made.location).json["problem"] == problem
        assert acme.post("/v1/verifications", {"problem": problem, "answer": "42"}, key="edge").json == made.json


def test_r17_the_longest_request_of_all_is_remembered_whole(acme: Api) -> None:
    """Three texts that share no character order, so that compressing them helps as little as it can."""
    texts = ["".join(chr(0x4E00 + (i * step) % 20_000) for i in range(MAX_ANSWER_CHARS)) for step in (7919, 104_729, 3)]
    request = dict(zip(("problem", "answer", "steps"), texts, strict=True))
    made, repeated = (acme.post("/v1/verifications", request, key="long") for _ in range(2))
    assert (made.status, repeated.status) == (201, 201)
    assert repeated.json == made.json
    assert made.json["problem"] == texts[0]


@pytest.mark.parametrize("text", ["a\x00b", "a\x0cb", "\x00", "zero\u200bwidth", "\u202eright to left", "\ufeffBOM"])
def test_r18_what_json_can_carry_comes_back_byte_by_byte(acme: Api, text: str) -> None:
    made = acme.post("/v1/verifications", {"problem": f"Say {text}.", "answer": f"It is {text} indeed."}, key="r18")
    assert made.status == 201
    view = acme.get(made.location).json
    assert view["problem"].encode() == f"Say {text}.".encode()
    assert view["answer"].encode() == f"It is {text} indeed.".encode()


def test_a_key_that_has_expired_is_a_new_one_though_its_memory_is_still_stored(acme: Api) -> None:
    """The table removes items days after they expired; until then they are as good as gone."""
    first = acme.post("/v1/verifications", {"problem": "Compute 17 + 25.", "answer": "42"}, key="again")
    memory = idempotency._memory()[0]
    (remembered,) = memory.client.scan(TableName=memory.table_name)["Items"]
    expired = remembered | {"expiration": {"N": str(int(time.time()) - 1)}}
    memory.client.put_item(TableName=memory.table_name, Item=expired)
    other = [acme.post("/v1/verifications", {"problem": "Compute 1 + 1.", "answer": "2"}, key="again") for _ in "ab"]
    assert [reply.status for reply in (first, *other)] == [201, 201, 201]
    assert first.json["id"] != other[0].json["id"] == other[1].json["id"]


def test_answers_are_found_by_filters_and_words_and_a_cursor_goes_on_with_them(acme: Api, rival: Api) -> None:
    asked = {"problem": "Compute 3/4 + 1/6, please.", "answer": "11/12", "subject": "Maths, I", "model": "m-1"}
    first, second = (acme.post("/v1/verifications", asked).json["id"] for _ in range(2))
    acme.post("/v1/verifications", EASY | {"answer": "10/12"})
    acme.post("/v1/verifications", OPEN)
    rival.post("/v1/verifications", asked)
    today = system_clock().date()
    meant = {"subject": "Maths, I", "search": "1/6, PLEASE", "decided_by": "proof", "model": "m-1"}
    query = meant | {"from": str(today - timedelta(days=1)), "to": str(today), "limit": "1"}
    page = acme.get("/v1/answers", **query).json
    assert [item["id"] for item in page["items"]] == [second]
    assert page["items"][0]["attempts"][0]["method"] == "proof"
    rest = acme.get("/v1/answers", **query, cursor=page["cursor"]).json
    assert ([item["id"] for item in rest["items"]], rest["cursor"]) == ([first], None)
    assert rest["looked_at"] >= 1
    refused = acme.get("/v1/answers", **(query | {"subject": "physics"}), cursor=page["cursor"])
    assert (refused.status, refused.json["where"]) == (400, "cursor")
    assert "with the filters that it came with" in refused.json["detail"]
    assert rival.get("/v1/answers", **query, cursor=page["cursor"]).status == 400


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"difficulty": "wild"}, "'easy', 'medium' or 'hard'"),
        ({"status": "wonderful"}, "'unfinished' or 'ended'"),
        ({"skip_reason": "tired"}, "skip_reason can be day_quota,"),
        ({"search": "\x00"}, "search has no word to look for"),
        ({"search": "y" * 9_000}, "at most 200 characters"),
        ({"from": "2026-02-02", "to": "2026-02-01"}, "`from` is a day after `to`"),
    ],
)
def test_a_filter_that_cannot_be_is_refused_with_what_may_be(acme: Api, query: dict[str, str], told: str) -> None:
    refused = acme.get("/v1/answers", **query)
    assert refused.status == 422
    assert told in refused.json["detail"]
    assert len(refused.body) < 2_000
