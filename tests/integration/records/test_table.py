"""R16: what the store's faults become, and that nothing is lost or counted twice by them."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError

from functions.clients import for_tables
from tests.support.records import START, HandClock, an_answer, an_attempt, finished
from tests.support.store_faults import cancelled, losing_replies, refusing
from touchstone.aws import CONFLICT_TRIES, ConditionFailedError, jitter
from touchstone.errors import StoreError
from touchstone.records import Answers, Artifacts, Evaluations, Statistics
from touchstone.records.table import MAX_ACTIONS, repeating_conflicts, transact
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

THROTTLED = "ProvisionedThroughputExceededException"
ACTION = {"Put": {"Item": {"pk": "a", "sk": "b"}}}


def _unhurried(_: float) -> None:
    return None


@pytest.mark.parametrize(
    "code", [THROTTLED, "InternalServerError", "RequestLimitExceeded", "ResourceNotFoundException"]
)
def test_r16_a_refusal_is_a_store_error_and_has_no_effect(answers: Answers, table: "Table", code: str) -> None:
    record = answers.create(an_answer())
    with refusing(table.meta.client, "PutItem", code), pytest.raises(StoreError, match="safe to repeat"):
        answers.add_attempt(record.ref, attempt=an_attempt())
    assert answers.get(Reference("acme", "answer", record.id)) == record


def test_r16_a_read_that_fails_is_a_store_error(answers: Answers, table: "Table") -> None:
    record = answers.create(an_answer())
    with refusing(table.meta.client, "GetItem", THROTTLED), pytest.raises(StoreError):
        answers.get(Reference("acme", "answer", record.id))
    # What a proxy on the way does not find says nothing of the record.
    with refusing(table.meta.client, "GetItem", "404"), pytest.raises(StoreError):
        answers.get(Reference("acme", "answer", record.id))
    with losing_replies(table.meta.client, "GetItem"), pytest.raises(StoreError):
        answers.get(Reference("acme", "answer", record.id))
    with refusing(table.meta.client, "Query", THROTTLED), pytest.raises(StoreError):
        answers.page(tenant="acme")


def test_r16_a_transaction_without_a_reply_is_a_store_error(table: "Table") -> None:
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError, match="ReadTimeoutError"):
        transact(table, [ACTION], "write")


@pytest.mark.parametrize("reason", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])
def test_r16_a_collision_of_transactions_is_repeated(table: "Table", reason: str) -> None:
    pauses: list[float] = []
    with refusing(table.meta.client, "TransactWriteItems", cancelled("None", reason), times=3) as refused:
        transact(table, [ACTION], "write", pause=pauses.append)
    assert len(refused) == len(pauses) == 3
    assert "Item" in table.get_item(Key={"pk": "a", "sk": "b"})


def test_r16_collisions_without_end_are_a_store_error(table: "Table") -> None:
    body = cancelled("TransactionConflict")
    with refusing(table.meta.client, "TransactWriteItems", body, times=99) as refused, pytest.raises(StoreError):
        transact(table, [ACTION], "write", pause=_unhurried)
    assert len(refused) == CONFLICT_TRIES


def test_r16_a_transaction_still_in_progress_is_repeated(table: "Table") -> None:
    with refusing(table.meta.client, "TransactWriteItems", "TransactionInProgressException"):
        transact(table, [ACTION], "write", pause=_unhurried)
    assert "Item" in table.get_item(Key={"pk": "a", "sk": "b"})


def test_a_failed_condition_is_never_repeated_and_says_which(table: "Table") -> None:
    body = cancelled("None", "ConditionalCheckFailed", "TransactionConflict")
    client = table.meta.client
    with (
        refusing(client, "TransactWriteItems", body, times=9) as refused,
        pytest.raises(ConditionFailedError) as failure,
    ):
        transact(table, [ACTION], "write", pause=_unhurried)
    assert failure.value.failed == (1,)
    assert len(refused) == 1


@pytest.mark.parametrize("error", [cancelled("ValidationError"), cancelled(), "ValidationException", THROTTLED])
def test_what_cannot_succeed_by_repeating_is_not_repeated(table: "Table", error: Any) -> None:
    with refusing(table.meta.client, "TransactWriteItems", error, times=9) as refused, pytest.raises(StoreError):
        transact(table, [ACTION], "write", pause=_unhurried)
    assert len(refused) == 1


def test_more_writes_than_a_transaction_takes_are_refused_whole(table: "Table") -> None:
    actions = [{"Put": {"Item": {"pk": "a", "sk": str(number)}}} for number in range(MAX_ACTIONS + 1)]
    with pytest.raises(StoreError):
        transact(table, actions, "write")
    assert table.scan()["Items"] == []


def test_pauses_grow_to_a_bound() -> None:
    assert all(0 <= jitter(attempt) <= 0.02 * 2**attempt for attempt in range(5))
    assert all(jitter(attempt) <= 0.64 for attempt in range(5, 20))


def test_r3_a_finish_whose_reply_was_lost_counts_once_when_repeated(
    answers: Answers, table: "Table", artifacts: Artifacts, clock: HandClock
) -> None:
    record = answers.create(an_answer(attempts=(an_attempt(),)))
    how: dict[str, Any] = {"status": "verified", "confidence": 0.9, "best_attempt": 1}
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError):
        answers.finish(record.ref, **how)
    assert answers.finish(record.ref, **how).stage == "finished"
    statistics = Statistics(table, artifacts, clock=clock)
    assert statistics.rates("acme").provider_subject["gemini", "mathematics"].decided == 1


def test_r3_a_write_that_boto_repeated_after_a_lost_reply_is_recognised(answers: Answers, table: "Table") -> None:
    """The first copy took effect, the second met its own revision: the writer must see its own result."""
    record = answers.create(an_answer())
    client = table.meta.client
    sent: list[dict[str, Any]] = []

    def send_twice(params: dict[str, Any], **_: Any) -> None:
        if not sent:
            sent.append(params)
            client.put_item(**params)

    client.meta.events.register_first("provide-client-params.dynamodb.PutItem", send_twice)
    after = answers.add_attempt(record.ref, attempt=an_attempt())
    assert sent
    assert after.attempt_count == 1
    assert answers.get(Reference("acme", "answer", record.id)) == after


def test_a_record_that_others_always_change_first_is_a_store_error(answers: Answers, table: "Table") -> None:
    record = answers.create(an_answer())
    code = "ConditionalCheckFailedException"
    with refusing(table.meta.client, "PutItem", code, times=99), pytest.raises(StoreError):
        answers.add_attempt(record.ref, attempt=an_attempt())


def test_r16_a_body_that_could_not_be_stored_leaves_the_record_as_it_was(
    answers: Answers, artifacts: Artifacts, s3: Any
) -> None:
    record = answers.create(an_answer())
    with refusing(s3, "PutObject", "SlowDown"), pytest.raises(StoreError):
        answers.add_attempt(record.ref, attempt=an_attempt(answer="x" * 400_000))
    assert answers.get(Reference("acme", "answer", record.id)) == record


def test_r3_a_crash_before_any_write_of_the_way_is_mended_by_replaying_it(
    answers: Answers, evaluations: Evaluations, table: "Table", artifacts: Artifacts, clock: HandClock
) -> None:
    """At every write of the way in turn the worker dies before, or right after it; then the whole way is replayed."""
    for operation in ("PutItem", "TransactWriteItems"):
        for fault in (refusing, losing_replies):
            record = an_answer(at=START, deep_evaluation_wanted=True)
            arguments: Any = (THROTTLED,) if fault is refusing else ()
            with fault(table.meta.client, operation, *arguments), pytest.raises(StoreError):
                finished(answers, record)
            assert finished(answers, record).evaluation.state == "waiting"
    statistics = Statistics(table, artifacts, clock=clock)
    assert statistics.rates("acme").provider_subject["gemini", "mathematics"].decided == 4
    assert statistics.evaluations("acme")["waiting"] == 4


@pytest.mark.parametrize(("conflicts", "written"), [(3, True), (99, False)])
def test_a_plain_write_that_meets_a_transaction_is_repeated_and_not_without_end(conflicts: int, written: bool) -> None:
    sent: list[object] = []

    def answer(request: object, **_: object) -> AWSResponse:
        sent.append(request)
        body = b'{"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException"}'
        refused = len(sent) <= conflicts
        return AWSResponse("http://x", 400 if refused else 200, HTTPHeaders(), _Raw(body if refused else b"{}"))

    resource = boto3.resource(
        "dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x", config=for_tables()
    )
    events: Any = resource.meta.client.meta.events  # typed for handlers that answer nothing
    events.register("before-send.dynamodb", answer)
    table = repeating_conflicts(resource.Table("records"))
    if written:
        table.put_item(Item={"pk": "a", "sk": "b"})
        assert len(sent) == conflicts + 1
    else:
        with pytest.raises(ClientError, match="TransactionConflictException"):
            table.put_item(Item={"pk": "a", "sk": "b"})
        assert len(sent) == CONFLICT_TRIES


class _Raw(io.BytesIO):
    """The body of a reply as botocore streams it."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.getvalue()
