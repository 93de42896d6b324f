"""A judge that takes its time or fails: who waits is told within five seconds, and nobody else is. In made-up time."""

import json
import math
from collections.abc import Coroutine
from typing import Any

import pytest

from functions import intake
from functions.composition import stores, work
from tests.support.api import Api
from tests.support.events import event
from tests.support.faults import FAULTS, TENANT, Fault, TimedContext, faulty_deployment, in_a_function, request
from tests.support.providers import error
from tests.support.virtual_time import VirtualTime
from tests.support.wire import Kind
from touchstone.answers.model import AnswerRecord
from touchstone.operations.answers import steps
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.answers.intake import RETURN_SECONDS, SYNC_SECONDS, AnswerIntake
from touchstone.references import Reference

SLOW = ["8 s", "20 s", "60 s"]
REAL_SECONDS = 120.0
"""A test waits no longer for a thread in made-up time."""


@pytest.mark.parametrize("accepting", [0.0, 1.0])
@pytest.mark.parametrize("fault", SLOW)
def test_r25_who_waits_is_answered_in_time_however_long_it_took_to_accept_the_request(
    aws: None, sdks: None, monkeypatch: pytest.MonkeyPatch, fault: str, accepting: float
) -> None:
    with faulty_deployment("compatible", FAULTS[fault]) as (time, here, endpoint):
        waited = _door_in_made_up_time(monkeypatch, time)
        begun = AnswerIntake._new

        def slowly(*asked: Any, **how: Any) -> AnswerRecord:
            time.forward(accepting)
            return begun(*asked, **how)

        monkeypatch.setattr(AnswerIntake, "_new", slowly)
        api, body = Api(token=here.token(TENANT)), json.dumps(request(1))
        received = round(time.timestamp() * 1000)
        made = in_a_function(time, lambda: api.call("POST", "/v1/verifications", body, received_at_ms=received))
        took = time.monotonic()
    view = made.json
    assert (made.status, view["stage"], view["verification_status"]) == (201, "finished", "unverified")
    assert view["skip_reason"] == "timed_out"
    assert 4.0 < took < SYNC_SECONDS
    assert len(endpoint.served) == 1
    assert waited == [pytest.approx(SYNC_SECONDS - RETURN_SECONDS - accepting, abs=0.01)]


def _door_in_made_up_time(patch: pytest.MonkeyPatch, time: VirtualTime) -> list[float]:
    """Let the door's thread work in made-up time, and its caller wait for it; the seconds that it would have waited."""
    waited: list[float] = []
    verify, within = steps.verify_own_answer, work.run_within

    async def verified(context: AnswerContext, *asked: Any, **how: Any) -> AnswerRecord:
        with time.working():
            try:
                return await verify(context, *asked, **how)
            finally:
                await context.judges.aclose()

    def run_within(coroutine: Coroutine[Any, Any, None], seconds: float) -> None:
        waited.append(seconds)
        time.waits(math.inf)
        try:
            within(coroutine, REAL_SECONDS)
        finally:
            time.works()

    patch.setattr(steps, "verify_own_answer", verified)
    patch.setattr(work, "run_within", run_within)
    return waited


SAID: list[tuple[Kind, dict[str, Any], set[str]]] = [
    ("server_error", {}, {"overloaded"}),
    ("overloaded", {}, {"overloaded"}),
    ("minute_quota", {"limit": 10, "retry_after": 30}, {"minute_quota"}),
    ("day_quota", {"limit": 20, "retry_after": 30}, {"day_quota"}),
    ("unknown_quota", {}, {"minute_quota", "quota"}),
    ("reset", {}, {"overloaded"}),
    ("html", {}, {"unreadable", "overloaded"}),
    ("truncated", {}, {"unreadable"}),
    ("max_tokens", {}, {"unreadable"}),
    ("refused", {}, {"refused"}),
    ("blocked", {}, {"refused"}),
    ("empty", {}, {"unreadable", "refused"}),
    ("off_schema", {}, {"unreadable"}),
    ("unknown_model", {}, {"misconfigured"}),
    ("unauthorized", {}, {"misconfigured"}),
]
"""What a provider does, and what is then told of the verification."""


@pytest.mark.parametrize("said", SAID, ids=lambda said: said[0])
def test_r13_whatever_the_provider_does_is_unverified_with_the_reason_in_time(
    aws: None, sdks: None, monkeypatch: pytest.MonkeyPatch, said: tuple[Kind, dict[str, Any], set[str]]
) -> None:
    kind, options, reasons = said
    fault = Fault(name=kind, fails=lambda _endpoint, _asked: error(kind, **options))
    with faulty_deployment("gemini", fault) as (time, here, _):
        _door_in_made_up_time(monkeypatch, time)
        api, body = Api(token=here.token(TENANT)), json.dumps(request(1))
        received = round(time.timestamp() * 1000)
        made = in_a_function(time, lambda: api.call("POST", "/v1/verifications", body, received_at_ms=received))
        took = time.monotonic()
        record = stores.answers().get(Reference(TENANT, "answer", made.json["id"]))
    assert took < SYNC_SECONDS
    assert (record.stage, record.verification_status, record.verification_confidence) == ("finished", "unverified", 0.0)
    verification = record.attempts[0].verification
    assert verification is not None
    assert verification.passed is None
    assert verification.skip_reason in reasons
    assert verification.error is not None
    assert "loopback-gemini-key" not in record.model_dump_json()


@pytest.mark.parametrize("fault", SLOW)
def test_r25_a_message_gets_its_verdict_from_the_same_judge(aws: None, sdks: None, fault: str) -> None:
    with faulty_deployment("compatible", FAULTS[fault]) as (time, here, endpoint):
        body = json.dumps({"tenant": TENANT, "id": "k", "kind": "verify", "request": request(1)})
        record = event("sqs_intake")["Records"][0] | {"messageId": "m", "body": body}
        said = in_a_function(time, lambda: intake.handler({"Records": [record]}, TimedContext(time)))
        (answer,) = Api(token=here.token(TENANT)).get("/v1/answers").json["items"]
        took = time.monotonic()
    assert said == {"batchItemFailures": []}
    assert answer["verification_status"] == "verified"
    assert FAULTS[fault].seconds <= took < FAULTS[fault].allowed
    assert len(endpoint.served) == 1
