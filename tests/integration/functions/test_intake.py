"""Messages: every one is done once, whatever is delivered twice, dies halfway, or cannot be read at all."""

import io
import json
import logging
import threading
import time
from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import process_partial_response

from functions import idempotency, intake
from functions.composition import stores
from functions.observability import logger
from tests.support.deployment import Context, Deployment
from tests.support.events import event
from tests.support.providers import ProviderServer
from tests.support.sinks import listening
from tests.support.store_faults import one_call_at_a_time, refusing
from touchstone.operations.answers import messages
from touchstone.records import Answers
from touchstone.references import Reference

TENANT = "demo"
OPEN = {"problem": "Name the capital of Australia.", "answer": "Canberra"}
PROVED = {"problem": "Compute 17 + 25.", "answer": "42"}


class Killed(BaseException):
    """The process ends here: nothing catches it, nothing is cleaned up."""


def _message(*, message_id: str = "m-1", key: str = "k-1", request: Any = OPEN, **fields: Any) -> dict[str, Any]:
    record: dict[str, Any] = event("sqs_intake")["Records"][0]
    body = {"tenant": TENANT, "id": key, "kind": "verify", "request": request, **fields}
    body = {name: value for name, value in body.items() if value is not None}
    return record | {"messageId": message_id, "body": json.dumps(body)}


def _take(*records: dict[str, Any], context: Context | None = None) -> list[str]:
    said = intake.handler({"Records": list(records)}, context or Context())
    return [str(failure["itemIdentifier"]) for failure in said["batchItemFailures"]]


def _stored() -> list[Any]:
    return list(stores.answers().page(tenant=TENANT).items)


def test_the_sample_is_done_and_its_broken_message_alone_comes_back(deployment: Deployment) -> None:
    """R5"""
    batch = event("sqs_intake_batch")
    assert _take(*batch["Records"]) == [batch["Records"][9]["messageId"]]
    stored = _stored()
    assert len(stored) == 9
    assert [item.verification_status for item in stored if item.kind == "verify"] == ["verified"] * 8
    assert next(item for item in _stored() if item.kind == "solve").stage == "failed"


def test_a_message_may_ask_several_judges(judged: Deployment, judges: ProviderServer) -> None:
    assert _take(_message(request={**OPEN, "judges": 2})) == []
    (item,) = _stored()
    record = stores.answers().get(Reference(TENANT, "answer", item.id))
    assert (record.judges, record.verification_status, len(judges.calls)) == (2, "verified", 2)


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", '{"tenant": "demo"}', '{"tenant": "demo", "id": "k", "kind": "dance"}', "[" * 50_000,
     '{"tenant": "../rival", "id": "k", "kind": "verify", "request": {"problem": "1+1", "answer": "2"}}',
     '{"tenant": "demo", "id": "", "kind": "verify", "request": {"problem": "1+1", "answer": "2"}}',
     '{"tenant": "demo", "id": "k", "kind": "verify", "request": {"problem": "1+1", "answer": "2", "x": 1}}',
     '{"tenant": "demo", "id": "k", "id": "l", "kind": "verify", "request": {"problem": "1+1", "answer": "2"}}',
     '{"tenant": "demo", "id": "k", "kind": "evaluate", "answer_id": "01JD7Z00000000000000000000"}'],
)  # fmt: skip
def test_r5_a_message_that_cannot_be_taken_comes_back_alone(deployment: Deployment, body: str) -> None:
    poison = _message(message_id="poison") | {"body": body}
    assert _take(_message(message_id="a", key="a"), poison, _message(message_id="b", key="b")) == ["poison"]
    assert len(_stored()) == 2


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "verify", "request": PROVED},
        {"kind": "solve", "request": {"problem": PROVED["problem"]}},
        {"kind": "evaluate", "request": None, "answer_id": "01JD7Z00000000000000000000"},
    ],
)
def test_a_message_for_a_tenant_that_does_not_exist_comes_back_and_nothing_is_recorded(
    deployment: Deployment, asked: dict[str, Any]
) -> None:
    before = deployment.rows()
    astray = _message(message_id="astray", key="a", tenant="nobody", **asked)
    with listening() as heard:
        assert _take(astray) == ["astray"]
    assert "not_found" in heard()
    assert deployment.rows() == before
    assert deployment.machines.started == []
    assert _take(_message(message_id="b", key="b", request=PROVED), astray) == ["astray"]
    deployment.tenant("nobody")
    if asked["kind"] != "evaluate":
        assert _take(astray) == [], "redriven once the tenant is there, it is done"


def test_r1_a_message_delivered_again_is_answered_from_what_is_stored(
    judged: Deployment, judges: ProviderServer
) -> None:
    for _ in range(3):
        assert _take(_message()) == []
    assert [item.verification_status for item in _stored()] == ["verified"]
    assert len(judges.calls) == 1


def test_many_messages_that_ask_for_deep_evaluations_start_one_drain(judged: Deployment) -> None:
    asked = [
        _message(message_id=f"m-{number}", key=f"k-{number}", request=PROVED | {"deep_evaluation": True})
        for number in range(4)
    ]
    assert _take(*asked) == []
    assert [summary.evaluation for summary in _stored()] == ["deferred"] * 4
    assert (judged.machines.started, judged.machines.drains) == ([], 1)
    assert _take(_message(message_id="m-5", key="k-5", request=PROVED)) == []
    assert judged.machines.drains == 1, "nothing joined the line"


def test_an_id_that_was_used_for_another_message_sends_the_second_to_the_dead_letters(deployment: Deployment) -> None:
    other = _message(message_id="m-2", request=OPEN | {"answer": "Sydney"})
    for _ in range(2):
        assert _take(_message(), other) == ["m-2"]
    assert [item.answer for item in _stored()] == ["Canberra"]


def test_a_message_that_fails_unexpectedly_is_logged_without_its_words(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("canary of a fault")

    monkeypatch.setattr(messages, "take", broken)
    with listening() as heard:
        assert _take(_message(request=OPEN | {"problem": "canary"})) == ["m-1"]
    assert "ZeroDivisionError" in heard()
    assert "canary" not in heard()


def test_a_message_that_nobody_can_read_is_logged_under_no_other_tenants_name(deployment: Deployment) -> None:
    written = io.StringIO()
    log = logging.StreamHandler(written)
    log.setFormatter(logger.registered_formatter)
    poison = _message(message_id="poison") | {"body": "{"}
    assert _take(_message()) == []
    logger.addHandler(log)
    try:
        assert _take(poison) == ["poison"]
        assert _take(_message(message_id="m-2", key="k-2"), poison) == ["poison"]
    finally:
        logging.getLogger(logger.name).removeHandler(log)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    refused = [line for line in lines if line["message"] == "A message could not be taken"]
    assert len(refused) == 2
    assert not any(line.keys() & {"tenant", "correlation_id"} for line in refused)


def test_a_memory_that_fails_sends_the_message_back(deployment: Deployment) -> None:
    client = idempotency._memory()[0].client
    with refusing(client, "UpdateItem", "ProvisionedThroughputExceededException", times=9), listening() as heard:
        assert _take(_message()) == ["m-1"]
    assert "store_unavailable" in heard()


def test_r1_a_message_delivered_twice_at_once_is_done_once(judged: Deployment, judges: ProviderServer) -> None:
    """The second worker arrives while the first waits for its judge; it is told to come back, and asks nobody."""
    meanwhile: list[list[str]] = []

    def second_worker(asked: Any) -> Any:
        if not meanwhile:
            worker = threading.Thread(target=lambda: meanwhile.append(_take(_message(message_id="m-2"))))
            worker.start()
            worker.join(60)
        return next(rule.behaviour for rule in reversed(judges.exchange._rules) if rule.fits(asked))

    with one_call_at_a_time(stores.table().meta.client):
        judges.script(second_worker)
        assert _take(_message()) == []
    assert meanwhile == [["m-2"]]
    assert len(judges.calls) == 1
    assert _take(_message(message_id="m-2")) == []
    assert len(_stored()) == 1


def test_r2_a_message_sent_again_under_another_id_meets_the_stored_result(
    judged: Deployment, judges: ProviderServer
) -> None:
    assert _take(_message(message_id="first")) == []
    assert _take(_message(message_id="redriven")) == []
    assert (len(_stored()), len(judges.calls)) == (1, 1)


@pytest.mark.parametrize("point", ["created", "called", "answered", "stored", "not_deleted"])
def test_r3_a_worker_that_dies_anywhere_loses_nothing_and_doubles_nothing(
    judged: Deployment, judges: ProviderServer, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any, **__: Any) -> Any:
        raise Killed

    with monkeypatch.context() as dying:
        match point:
            case "created":
                dying.setattr("touchstone.operations.answers.messages.work_whole", killed)
            case "called":
                dying.setattr("touchstone.judges.caller.Caller._cost", killed)
            case "answered":
                dying.setattr(Answers, "finish", killed)
            case "stored":
                finish = Answers.finish
                dying.setattr(Answers, "finish", lambda *one, **named: (finish(*one, **named), killed()))
            case "not_deleted":
                dying.setattr(intake, "process_partial_response", _then(killed, process_partial_response))
        with pytest.raises(Killed):
            _take(_message(), context=Context(remaining_ms=30))
    time.sleep(0.04)
    assert _take(_message()) == []
    assert [item.verification_status for item in _stored()] == ["verified"]
    assert len(judges.calls) <= 2
    if point not in {"called", "answered"}:
        assert len(judges.calls) == 1
    volume = stores.statistics().volume(TENANT, days=1)
    assert sum(volume[-1].statuses.values()) == 1


def _then(last: Any, first: Any) -> Any:
    def both(**arguments: Any) -> Any:
        first(**arguments)
        return last()

    return both


def test_r6_a_batch_that_ran_out_of_time_pays_nobody_twice(judged: Deployment, judges: ProviderServer) -> None:
    """Six of ten done, then the function is stopped; its remaining time was 0 from the start."""
    records = [
        _message(message_id=f"m-{n}", key=f"k-{n}", request=OPEN | {"problem": f"Name capital number {n}."})
        for n in range(10)
    ]
    answered = 0

    def stop_after_six(asked: Any) -> Any:
        nonlocal answered
        answered += 1
        return next(rule.behaviour for rule in reversed(judges.exchange._rules) if rule.fits(asked))

    judges.script(stop_after_six)
    assert _take(*records[:6], context=Context(remaining_ms=0)) == []
    assert _take(*records) == []
    assert len(_stored()) == 10
    assert answered == len(judges.calls) == 10


def test_a_message_asks_for_a_deep_evaluation_of_an_answer_it_knows(deployment: Deployment) -> None:
    assert _take(_message()) == []
    answer_id = _stored()[0].id
    asking = _message(message_id="m-2", key="k-2", kind="evaluate", answer_id=answer_id, request=None)
    assert _take(asking) == []
    wanted = _message(message_id="m-3", key="k-3", request=OPEN | {"deep_evaluation": True})
    assert _take(wanted) == []
    assert [summary.evaluation for summary in _stored()] == ["deferred", "deferred"]
    assert len(deployment.messages()) == 2
    assert (deployment.machines.started, deployment.machines.drains) == ([], 0), "nobody has a key to evaluate with"


def test_a_message_may_bring_an_answer_key_and_its_redelivery_meets_the_same_verdict(deployment: Deployment) -> None:
    eggs = {"problem": "How many eggs are in the basket of the story?", "answer": "13"}
    asked = [
        _message(message_id="a", key="a", request=eggs | {"expected": ["12", "13"]}),
        _message(message_id="b", key="b", request=eggs | {"expected": "12"}),
        _message(message_id="c", key="c", request=eggs | {"expected": "12.9", "tolerance": {"relative": 0.01}}),
    ]
    for _ in range(2):
        assert _take(*asked) == []
    assert sorted(str(item.verification_status) for item in _stored()) == ["caution", "verified", "verified"]
    for broken in ({"expected": "12"}, {}, {"tolerance": {"absolute": 1}}, {"expected": "Answer:"}):
        assert _take(_message(message_id="other", key="a", request=eggs | broken)) == ["other"]
    assert len(_stored()) == 3
