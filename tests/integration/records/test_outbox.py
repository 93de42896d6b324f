"""Events leave once; after a crash again, under the same id."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from tests.support.oracle_steps import ended as closed
from tests.support.oracle_steps import ended_in_vain, opened
from tests.support.records import HandClock
from tests.support.store_faults import losing_replies, refusing
from touchstone.errors import NotFoundError, StoreError
from touchstone.oracle.task import Task
from touchstone.records import Outbox, Tasks
from touchstone.records.outbox import CLAIM_SECONDS, OutboxEvent

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def ended(tasks: Tasks, clock: HandClock) -> Task:
    """A task whose end is told by two events."""
    task = opened(tasks, "fastest_first")
    clock.advance(days=7)
    closed(tasks, task)
    return ended_in_vain(tasks, task)


def test_what_happened_waits_until_it_is_sent_and_not_longer(ended: Task, outbox: Outbox, clock: HandClock) -> None:
    waiting = outbox.pending()
    assert {one.event.kind for one in waiting} == {"task.closed", "result.final"}
    assert outbox.pending(limit=1) == waiting[:1]
    for one in waiting:
        assert outbox.claim(one)
        outbox.sent(one)
    clock.advance(days=1)
    assert outbox.pending() == ()
    assert {one.sent_at for one in outbox.of_task(ended.ref)} == {ended.final_at}
    assert not outbox.claim(waiting[0])


def test_an_event_that_cannot_be_read_keeps_no_other(
    ended: Task, outbox: Outbox, table: "Table", caplog: pytest.LogCaptureFixture
) -> None:
    garbled, other = outbox.pending()
    (item,) = [item for item in table.scan()["Items"] if item.get("event_id") == garbled.id]
    table.update_item(
        Key={"pk": item["pk"], "sk": item["sk"]},
        UpdateExpression="SET body = :body",
        ExpressionAttributeValues={":body": '{"kind": "canary"}'},
    )
    assert outbox.pending() == (other,)
    assert garbled.id in caplog.text
    assert "canary" not in caplog.text


def test_an_event_tells_whose_task_it_is_and_nothing_of_its_scores(ended: Task, outbox: Outbox) -> None:
    one = outbox.pending()[0].event
    assert (one.tenant, one.task_id, one.owner, one.path, one.at) == (
        "acme",
        ended.id,
        "buyer-1",
        "fastest_first",
        ended.closed_at,
    )
    assert not [name for name in type(one).model_fields if "score" in name or "place" in name or "band" in name]


def test_of_many_who_would_send_an_event_one_does(ended: Task, outbox: Outbox) -> None:
    one, barrier = outbox.pending()[0], Barrier(8)

    def claim(_: int) -> bool:
        barrier.wait()
        return outbox.claim(one)

    with ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(claim, range(8))) == 1


def test_r20_an_event_whose_sender_died_is_sent_again_under_the_same_id(
    ended: Task, outbox: Outbox, clock: HandClock
) -> None:
    first = outbox.pending()
    assert all(outbox.claim(one) for one in first)
    assert outbox.pending() == ()
    clock.advance(seconds=CLAIM_SECONDS - 1)
    assert outbox.pending() == ()
    assert not outbox.claim(first[0])
    clock.advance(seconds=2)
    assert {one.id for one in outbox.pending()} == {one.id for one in first}
    assert all(outbox.claim(one) for one in first)


def test_the_first_time_an_event_was_sent_stays(ended: Task, outbox: Outbox, clock: HandClock) -> None:
    one = outbox.pending()[0]
    outbox.sent(one)
    clock.advance(hours=1)
    outbox.sent(one)
    (noted,) = [each for each in outbox.of_task(ended.ref) if each.id == one.id]
    assert noted.sent_at == ended.final_at


def test_an_event_that_is_none_cannot_be_claimed_or_sent(ended: Task, outbox: Outbox) -> None:
    known = outbox.pending()[0]
    theirs = known.event.model_copy(update={"tenant": "rival"})
    other = OutboxEvent(id=known.id, event=theirs, sent_at=None)
    with pytest.raises(NotFoundError):
        outbox.claim(other)
    with pytest.raises(NotFoundError):
        outbox.sent(other)


def test_r16_a_claim_whose_answer_was_lost_is_free_again_soon(
    ended: Task, outbox: Outbox, table: "Table", clock: HandClock
) -> None:
    one = outbox.pending()[0]
    with losing_replies(table.meta.client, "UpdateItem"), pytest.raises(StoreError):
        outbox.claim(one)
    assert not outbox.claim(one)
    clock.advance(seconds=CLAIM_SECONDS + 1)
    with refusing(table.meta.client, "UpdateItem", "ThrottlingException"), pytest.raises(StoreError):
        outbox.claim(one)
    assert outbox.claim(one)


def test_an_event_that_the_index_still_shows_after_it_was_sent_is_left_out(
    ended: Task, outbox: Outbox, table: "Table", clock: HandClock
) -> None:
    """An index may be a moment behind; the item itself decides."""
    one = outbox.pending()[0]
    key = {"pk": f"T#acme#TASK#{ended.id}", "sk": f"OUTBOX#{one.id}"}
    before = table.get_item(Key=key)["Item"]
    outbox.sent(one)
    table.update_item(
        Key=key,
        UpdateExpression="SET gsi2pk = :pk, gsi2sk = :sk",
        ExpressionAttributeValues={":pk": before["gsi2pk"], ":sk": before["gsi2sk"]},
    )
    assert one.id not in {each.id for each in outbox.pending()}
    assert not outbox.claim(one)


def test_events_of_all_tenants_wait_in_one_line_the_oldest_first(
    tasks: Tasks, outbox: Outbox, clock: HandClock
) -> None:
    early = opened(tasks, "fastest_first", tenant="rival")
    late = opened(tasks, "fastest_first", deadline=early.deadline + timedelta(days=1))
    clock.advance(days=8)
    for task in (late, early):
        closed(tasks, task)
        ended_in_vain(tasks, task)
        clock.advance(seconds=1)
    assert [one.event.tenant for one in outbox.pending()] == ["acme", "acme", "rival", "rival"]
