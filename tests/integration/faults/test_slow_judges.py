"""A judge that takes its time: who waits is told within five seconds, and nobody else is. In made-up time."""

import json

import pytest

from functions.answers import intake, verify
from functions.composition import stores
from tests.support.api import Api
from tests.support.events import event
from tests.support.faults import FAULTS, TENANT, TimedContext, faulty_deployment, in_a_function, request
from touchstone.answers.model import VerifyRequest
from touchstone.answers.progress import new_record
from touchstone.operations.intake import SYNC_SECONDS
from touchstone.records import new_ulid
from touchstone.references import Reference

SLOW = ["8 s", "20 s", "60 s"]


@pytest.mark.parametrize("fault", SLOW)
def test_r25_for_who_waits_the_step_behind_the_api_ends_in_time(aws: None, sdks: None, fault: str) -> None:
    with faulty_deployment("compatible", FAULTS[fault]) as (time, _, endpoint):

        def verified() -> float:
            asked, number = VerifyRequest.model_validate(request(1)), new_ulid(time.now())
            stores.answers().create(new_record(asked, tenant=TENANT, answer_id=number, now=time.now()))
            deadline = round((time.timestamp() + SYNC_SECONDS) * 1000)
            verify.handler({"tenant": TENANT, "answer_id": number, "deadline_epoch_ms": deadline}, TimedContext(time))
            return time.monotonic()

        took = in_a_function(time, verified)
        (answer,) = stores.answers().page(tenant=TENANT).items
        record = stores.answers().get(Reference(TENANT, "answer", answer.id))
    assert 4.0 < took < SYNC_SECONDS
    assert (record.stage, record.verification_status) == ("finished", "unverified")
    assert record.attempts[0].verification is not None
    assert record.attempts[0].verification.skip_reason == "timed_out"
    assert len(endpoint.served) == 1


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
