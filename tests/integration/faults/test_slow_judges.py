"""A judge that takes its time: who waits is told within five seconds, and nobody else is. In made-up time."""

import json
import math
from collections.abc import Coroutine
from typing import Any

import pytest

from functions.answers import intake
from functions.composition import work
from tests.support.api import Api
from tests.support.events import event
from tests.support.faults import FAULTS, TENANT, TimedContext, faulty_deployment, in_a_function, request
from tests.support.virtual_time import VirtualTime
from touchstone.answers.model import AnswerRecord
from touchstone.operations import steps
from touchstone.operations.desk import Desk
from touchstone.operations.intake import RETURN_SECONDS, SYNC_SECONDS, AnswerIntake

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
        accept = AnswerIntake.accept

        def slowly(*asked: Any, **how: Any) -> AnswerRecord:
            time.forward(accepting)
            return accept(*asked, **how)

        monkeypatch.setattr(AnswerIntake, "accept", slowly)
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

    async def verified(desk: Desk, *asked: Any, **how: Any) -> AnswerRecord:
        with time.working():
            try:
                return await verify(desk, *asked, **how)
            finally:
                await desk.judges.aclose()

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
