"""A batch's progress counts each chunk once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.records import START, HandClock
from tests.support.store_faults import losing_replies, one_call_at_a_time
from touchstone.errors import ConflictError, InputError, NotFoundError, StoreError
from touchstone.records import Batch, Batches, new_ulid

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

NAMED: dict[str, Any] = {"tenant": "acme", "batch_id": new_ulid(START)}
LISTED: dict[str, Any] = {"owner": "run-1", "version": "v1", "total": 1_000}
COUNTED: dict[str, Any] = {"results_key": "acme/results/a.jsonl", "done": 997, "failed": 3}
QUIET = timedelta(minutes=30)


@pytest.fixture
def batches(table: "Table", clock: HandClock) -> Batches:
    return Batches(table, clock=clock, pause=lambda _: None)


def test_the_whole_way(batches: Batches, clock: HandClock) -> None:
    batch = batches.create(**NAMED, source_key="acme/drop/a.jsonl")
    assert (batch.state, batch.total) == ("running", None)
    assert batches.set_total(**NAMED, **LISTED).total == 1_000
    clock.advance(seconds=9)
    batches.chunk_done(**NAMED, version="v1", chunk=0, done=500, failed=0)
    batches.chunk_done(**NAMED, version="v1", chunk=1, done=497, failed=3)
    finished = batches.finish(**NAMED, owner="run-1", **COUNTED)
    assert (finished.state, finished.done, finished.failed, finished.updated_at) == ("finished", 997, 3, clock())
    assert batches.get(**NAMED) == finished
    assert finished.created_at == START


def test_r1_a_chunk_delivered_many_times_counts_once(batches: Batches, table: "Table") -> None:
    batches.create(**NAMED)
    batches.set_total(**NAMED, **LISTED)

    def count(chunk: int) -> None:
        batches.chunk_done(**NAMED, version="v1", chunk=chunk % 4, done=10, failed=1)

    with one_call_at_a_time(table.meta.client), ThreadPoolExecutor(8) as workers:
        list(workers.map(count, range(16)))
    assert (batches.get(**NAMED).done, batches.get(**NAMED).failed) == (40, 4)


def test_r3_a_chunk_whose_reply_was_lost_counts_once(batches: Batches, table: "Table") -> None:
    batches.create(**NAMED)
    batches.set_total(**NAMED, **LISTED)
    with losing_replies(table.meta.client, "TransactWriteItems"), pytest.raises(StoreError):
        batches.chunk_done(**NAMED, version="v1", chunk=0, done=10, failed=0)
    assert batches.chunk_done(**NAMED, version="v1", chunk=0, done=10, failed=0).done == 10


def test_what_has_ended_stays_so(batches: Batches) -> None:
    batches.create(**NAMED)
    failed = batches.fail(**NAMED, owner="run-1", failure="not a JSONL file")
    assert (failed.state, failed.failure) == ("failed", "not a JSONL file")
    assert batches.finish(**NAMED, owner="run-1", **COUNTED) == failed
    assert batches.fail(**NAMED, owner="run-1", failure="another reason") == failed


def test_a_batch_belongs_to_one_run_until_it_fails_or_goes_quiet(batches: Batches, clock: HandClock) -> None:
    batches.create(**NAMED)
    quiet: dict[str, Any] = {**NAMED, "quiet": QUIET}
    assert all(batches.own(**quiet, owner="run-1") for _ in range(2))
    clock.advance(minutes=20)
    assert batches.own(**quiet, owner="run-2") is None
    batches.set_total(**NAMED, **LISTED)
    batches.chunk_done(**NAMED, version="v1", chunk=0, done=10, failed=0)
    clock.advance(minutes=20)
    assert batches.own(**quiet, owner="run-2") is None
    clock.advance(minutes=10)
    taken = batches.own(**quiet, owner="run-2")
    assert taken is not None
    assert (taken.owner, taken.done, batches.own(**quiet, owner="run-1")) == ("run-2", 10, None)


def test_only_the_run_that_owns_a_batch_fails_it_and_any_other_owns_it_then(batches: Batches) -> None:
    batches.create(**NAMED)
    quiet: dict[str, Any] = {**NAMED, "quiet": QUIET}
    owned = batches.own(**quiet, owner="run-1")
    assert batches.fail(**NAMED, owner="run-2", failure="Out of memory.") == owned
    assert batches.fail(**NAMED, owner="run-1", failure="Out of memory.").state == "failed"
    again = batches.own(**quiet, owner="run-2")
    assert again is not None
    assert (again.state, again.failure, again.owner) == ("running", None, "run-2")


def test_a_run_that_lost_its_batch_cannot_finish_it_nor_list_it(batches: Batches, clock: HandClock) -> None:
    batches.create(**NAMED)
    batches.own(**NAMED, owner="run-1", quiet=QUIET)
    clock.advance(minutes=30)
    taken = batches.own(**NAMED, owner="run-2", quiet=QUIET)
    assert batches.hold(**NAMED, owner="run-1") is None
    assert batches.finish(**NAMED, owner="run-1", **COUNTED) == taken
    assert batches.set_total(**NAMED, **LISTED) == taken
    assert batches.finish(**NAMED, owner="run-2", **COUNTED).state == "finished"
    assert batches.hold(**NAMED, owner="run-2") is None


def test_a_run_that_holds_its_batch_is_not_quiet(batches: Batches, clock: HandClock) -> None:
    batches.create(**NAMED)
    batches.own(**NAMED, owner="run-1", quiet=QUIET)
    clock.advance(minutes=40)
    assert batches.hold(**NAMED, owner="run-1") is not None
    clock.advance(minutes=20)
    assert batches.own(**NAMED, owner="run-2", quiet=QUIET) is None


def test_another_version_of_the_file_is_counted_anew_and_the_last_one_no_more(batches: Batches) -> None:
    batches.create(**NAMED)
    batches.set_total(**NAMED, **LISTED)
    batches.chunk_done(**NAMED, version="v1", chunk=0, done=10, failed=1)
    same = batches.set_total(**NAMED, **LISTED)
    assert (same.done, same.failed) == (10, 1)
    other = batches.set_total(**NAMED, **LISTED | {"version": "v2", "total": 60})
    assert (other.total, other.done, other.failed, other.version) == (60, 0, 0, "v2")
    assert batches.chunk_done(**NAMED, version="v1", chunk=1, done=10, failed=0) == other
    for _ in range(2):
        counted = batches.chunk_done(**NAMED, version="v2", chunk=0, done=20, failed=5)
        assert (counted.done, counted.failed) == (20, 5)


def test_a_chunk_that_comes_after_the_end_is_not_counted_any_more(batches: Batches) -> None:
    batches.create(**NAMED)
    batches.set_total(**NAMED, **LISTED)
    finished = batches.finish(**NAMED, owner="run-1", **COUNTED)
    assert batches.chunk_done(**NAMED, version="v1", chunk=9, done=25, failed=0) == finished


def test_a_batch_that_is_finished_belongs_to_nobody_any_more(batches: Batches, clock: HandClock) -> None:
    batches.create(**NAMED)
    finished = batches.finish(**NAMED, owner="run-1", **COUNTED)
    clock.advance(days=1)
    assert batches.own(**NAMED, owner="run-2", quiet=QUIET) is None
    assert batches.get(**NAMED) == finished


def test_a_repeat_returns_the_batch_as_it_is_and_another_file_is_a_conflict(batches: Batches) -> None:
    batches.create(**NAMED, source_key="acme/a", total=2)
    batches.set_total(**NAMED, **LISTED | {"total": 2})
    counted = batches.chunk_done(**NAMED, version="v1", chunk=0, done=2, failed=0)
    assert batches.create(**NAMED, source_key="acme/a", total=2) == counted
    with pytest.raises(ConflictError):
        batches.create(**NAMED, source_key="acme/b")


def test_another_tenants_batch_is_just_missing(batches: Batches, table: "Table") -> None:
    batches.create(**NAMED)
    theirs: dict[str, Any] = {**NAMED, "tenant": "rival"}
    before = table.scan()["Count"]
    steps: list[Callable[[], Batch | None]] = [
        lambda: batches.get(**theirs),
        lambda: batches.chunk_done(**theirs, version="v1", chunk=0, done=1, failed=0),
        lambda: batches.finish(**theirs, owner="run-1", **COUNTED),
        lambda: batches.hold(**theirs, owner="run-1"),
        lambda: batches.set_total(**theirs, **LISTED),
        lambda: batches.fail(**theirs, owner="run-1", failure="x"),
        lambda: batches.own(**theirs, owner="run-1", quiet=timedelta(0)),
        lambda: batches.get(tenant="acme", batch_id="../x"),
    ]
    for step in steps:
        with pytest.raises(NotFoundError):
            step()
    assert table.scan()["Count"] == before


def test_pages_hold_every_batch_once_newest_first(batches: Batches) -> None:
    made = [batches.create(tenant="acme", batch_id=new_ulid(START + timedelta(seconds=each))) for each in range(5)]
    batches.create(tenant="rival", batch_id=new_ulid(START))
    seen: list[Batch] = []
    cursor: str | None = None
    for _ in range(3):
        page = batches.page(tenant="acme", limit=2, cursor=cursor)
        seen += page.items
        cursor = page.cursor
    assert cursor is None
    assert seen == made[::-1]
    with pytest.raises(InputError):
        batches.page(tenant="acme", cursor="nonsense")
