"""A batch over weeks: runs that broke off, what only served them gone, and the same file dropped again."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from tests.support.house import BUCKET, House
from touchstone.errors import StoreError
from touchstone.operations.batches.batching import QUIET_AFTER, Batching, Prepared
from touchstone.operations.batches.chunks import CHUNK_LINES, LineChunk
from touchstone.operations.batches.rounds import Rounds, collect
from touchstone.records import Artifacts, Batch, Batches, RequestKeys, Tenants

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

LINES = CHUNK_LINES + 5
LINE = b'{"kind": "solve", "problem": "1 + 1"}'


@pytest.fixture
def s3(house: House) -> "S3Client":
    """The store behind the house."""
    client = boto3.client("s3", region_name="us-east-1")
    client.put_object(Bucket=BUCKET, Key="inbox/acme/a.jsonl", Body=b"\n".join([LINE] * LINES))
    return client


@pytest.fixture
def batching(house: House, s3: "S3Client") -> Batching:
    """The batching of a tenant who dropped a file of two chunks."""
    tenants = Tenants(house.table, clock=house.clock)
    tenants.create(tenant="acme", name="Acme")
    return Batching(
        tenant="acme",
        tenants=tenants,
        batches=Batches(house.table, clock=house.clock),
        inbox=Artifacts(lambda: s3, BUCKET, root="inbox"),
        scratch=Artifacts(lambda: s3, BUCKET, root="scratch"),
        artifacts=house.artifacts,
        keys=RequestKeys(house.table, clock=house.clock),
        clock=house.clock,
    )


def _do(batching: Batching, chunk: LineChunk) -> None:
    """A chunk's work, as far as its batch sees it."""
    batching.scratch.put_text(tenant="acme", key=chunk.part_key, text="{}\n" * chunk.lines)
    batching.batches.chunk_done(
        tenant="acme",
        batch_id=chunk.batch_id,
        version=chunk.version,
        chunk=chunk.chunk,
        done=chunk.lines,
        failed=0,
    )


def _chunks(batching: Batching, *, owner: str) -> list[LineChunk]:
    return _listed(batching, batching.prepare("a", owner=owner))


def _listed(batching: Batching, prepared: Prepared) -> list[LineChunk]:
    listed = batching.scratch.get_text(tenant="acme", key=prepared.manifest_key.removeprefix("scratch/"))
    return [LineChunk.model_validate_json(line) for line in listed.splitlines()]


def _forget_scratch(s3: "S3Client") -> None:
    """What the bucket's own rule does two weeks later."""
    for item in s3.list_objects_v2(Bucket=BUCKET, Prefix="scratch/")["Contents"]:
        s3.delete_object(Bucket=BUCKET, Key=item["Key"])


def _results(batching: Batching, batch: Batch) -> int:
    """How many lines of results there are."""
    assert batch.results_key is not None
    return len(batching.inbox.get_text(tenant="acme", key=batch.results_key).splitlines())


def test_a_run_that_went_quiet_is_followed_by_the_next_one_that_is_asked_for(house: House, batching: Batching) -> None:
    first, second = _chunks(batching, owner="run-1")
    _do(batching, first)
    house.clock.advance(seconds=QUIET_AFTER.total_seconds() - 1)
    assert _chunks(batching, owner="run-2") == []
    house.clock.advance(seconds=1)
    assert _chunks(batching, owner="run-3") == [first, second]
    _do(batching, second)
    assert collect(batching, first.batch_id, owner="run-1").batch.state == "running"
    batch = collect(batching, first.batch_id, owner="run-3").batch
    assert (batch.state, batch.done, _results(batching, batch)) == ("finished", LINES, LINES)


def test_a_run_whose_parts_have_expired_begins_them_anew(house: House, batching: Batching, s3: "S3Client") -> None:
    chunks = _chunks(batching, owner="run-1")
    _do(batching, chunks[0])
    house.clock.advance(days=20)
    _forget_scratch(s3)
    assert _chunks(batching, owner="run-2") == chunks
    for chunk in chunks:
        _do(batching, chunk)
    batch = collect(batching, chunks[0].batch_id, owner="run-2").batch
    assert (batch.state, batch.total, batch.done, batch.failed) == ("finished", LINES, LINES, 0)


def test_a_run_redriven_after_its_parts_expired_fails_and_says_what_to_do(batching: Batching, s3: "S3Client") -> None:
    chunks = _chunks(batching, owner="run-1")
    _do(batching, chunks[0])
    _forget_scratch(s3)
    failed = collect(batching, chunks[0].batch_id, owner="run-1").batch
    assert failed.state == "failed"
    assert "expired; put the file in its place again" in (failed.failure or "")
    assert _chunks(batching, owner="run-2") == chunks


def test_results_outlive_what_only_served_them(house: House, batching: Batching, s3: "S3Client") -> None:
    chunks = _chunks(batching, owner="run-1")
    for chunk in chunks:
        _do(batching, chunk)
    finished = collect(batching, chunks[0].batch_id, owner="run-1").batch
    house.clock.advance(days=20)
    _forget_scratch(s3)
    assert collect(batching, finished.id, owner="run-1").batch == finished
    assert _chunks(batching, owner="run-2") == []
    assert _results(batching, finished) == LINES
    assert batching.results_link(finished) is not None


@contextmanager
def _meanwhile(s3: "S3Client", operation: str, step: Callable[[], object]) -> Iterator[None]:
    """Something happens once, right after an operation of the store took effect."""
    event, happened = f"after-call.s3.{operation}", list[None]()

    def happen(**_: Any) -> None:
        if not happened:
            happened.append(None)
            step()

    s3.meta.events.register(event, happen)
    yield
    s3.meta.events.unregister(event, happen)
    assert happened


def test_a_run_that_is_late_to_collect_keeps_its_batch_until_it_is_finished(
    house: House, batching: Batching, s3: "S3Client"
) -> None:
    chunks = _chunks(batching, owner="run-1")
    for chunk in chunks:
        _do(batching, chunk)
    house.clock.advance(seconds=QUIET_AFTER.total_seconds())
    others: list[list[LineChunk]] = []
    with _meanwhile(s3, "GetObject", lambda: others.append(_chunks(batching, owner="run-2"))):
        batch = collect(batching, chunks[0].batch_id, owner="run-1").batch
    assert others == [[]]
    assert (batch.state, batch.owner, batch.done, batch.failed) == ("finished", "run-1", LINES, 0)


def test_a_run_that_loses_its_batch_while_it_collects_leaves_results_and_counts_to_the_next_one(
    house: House, batching: Batching, s3: "S3Client"
) -> None:
    chunks = _chunks(batching, owner="run-1")
    _do(batching, chunks[0])

    def lost() -> None:
        house.clock.advance(seconds=QUIET_AFTER.total_seconds())
        assert _chunks(batching, owner="run-2") == chunks

    with _meanwhile(s3, "GetObject", lost):
        left = collect(batching, chunks[0].batch_id, owner="run-1").batch
    assert (left.state, left.owner, left.done, left.failed) == ("running", "run-2", CHUNK_LINES, 0)
    assert s3.list_objects_v2(Bucket=BUCKET, Prefix="inbox/acme/a.results")["KeyCount"] == 0
    _do(batching, chunks[1])
    batch = collect(batching, chunks[0].batch_id, owner="run-2").batch
    assert (batch.state, batch.done, batch.failed, _results(batching, batch)) == ("finished", LINES, 0, LINES)


def test_a_part_that_its_run_did_not_come_to_count_is_counted_with_the_results(batching: Batching) -> None:
    chunks = _chunks(batching, owner="run-1")
    _do(batching, chunks[0])
    part = '{}\n{"error": {"reason": "invalid_input"}}\n' + "{}\n" * 3
    batching.scratch.put_text(tenant="acme", key=chunks[1].part_key, text=part)
    batch = collect(batching, chunks[0].batch_id, owner="run-1").batch
    assert (batch.state, batch.done, batch.failed) == ("finished", LINES - 1, 1)


def test_a_run_without_a_list_of_chunks_fails(batching: Batching) -> None:
    batch = batching.begin(key=None)
    assert collect(batching, batch.id, owner="run-1").batch.state == "failed"


def test_a_link_is_given_while_a_file_helps(house: House, batching: Batching, s3: "S3Client") -> None:
    def awaited() -> bool:
        return batching.upload_link(batching.begin(key="k")) is not None

    batch = batching.begin(key="k")
    seen = [awaited()]
    s3.put_object(Bucket=BUCKET, Key=f"inbox/acme/{batch.id}.jsonl", Body=LINE)
    (chunk,) = _listed(batching, batching.prepare(batch.id, owner="run-1"))
    seen.append(awaited())
    house.clock.advance(seconds=QUIET_AFTER.total_seconds())
    seen.append(awaited())
    collect(batching, batch.id, owner="run-1", rounds=Rounds(last=True))
    seen.append(awaited())
    batching.prepare(batch.id, owner="run-2")
    _do(batching, chunk)
    collect(batching, batch.id, owner="run-2")
    seen.append(awaited())
    assert seen == [True, False, True, True, False]


def test_a_corrected_file_of_a_batch_that_failed_is_cut_and_counted_anew(batching: Batching, s3: "S3Client") -> None:
    batch = batching.begin(key="k")
    key = f"inbox/acme/{batch.id}.jsonl"
    runs = ("run-1", LINES), ("run-2", 2 * LINES), ("run-3", LINES)
    for owner, lines in runs:
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"\n".join([LINE] * lines))
        chunks = _listed(batching, batching.prepare(batch.id, owner=owner))
        assert sum(chunk.lines for chunk in chunks) == lines
        assert {chunk.version for chunk in chunks} == {batching.inbox.version(tenant="acme", key=chunks[0].key)}
        batch = batching.batches.get(tenant="acme", batch_id=batch.id)
        assert (batch.total, batch.done, batch.failed) == (lines, 0, 0)
        if owner == "run-3":
            break
        _do(batching, chunks[0])
        batching.refuse(batch.id, "States.DataLimitExceeded", owner=owner)
    _do(batching, chunks[1])
    batch = collect(batching, batch.id, owner="run-3").batch
    assert (batch.state, batch.done, _results(batching, batch)) == ("finished", LINES, LINES)


def test_a_file_replaced_while_it_is_cut_is_read_again(batching: Batching, s3: "S3Client") -> None:
    batch = batching.begin(key=None)
    key = f"inbox/acme/{batch.id}.jsonl"
    s3.put_object(Bucket=BUCKET, Key=key, Body=LINE)
    replace = lambda: s3.put_object(Bucket=BUCKET, Key=key, Body=LINE + b"\n" + LINE)  # noqa: E731
    with _meanwhile(s3, "GetObject", replace), pytest.raises(StoreError):
        batching.prepare(batch.id, owner="run-1")
    (chunk,) = _listed(batching, batching.prepare(batch.id, owner="run-1"))
    assert chunk.lines == 2


def test_a_run_that_loses_its_batch_while_it_lists_works_on_nothing(
    house: House, batching: Batching, s3: "S3Client"
) -> None:
    def lost() -> None:
        house.clock.advance(seconds=QUIET_AFTER.total_seconds())
        assert len(_chunks(batching, owner="run-2")) == 2

    with _meanwhile(s3, "GetObject", lost):
        assert batching.prepare("a", owner="run-1").elsewhere


def test_the_memory_of_collecting_does_not_grow_with_the_results(
    batching: Batching, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty megabytes of results are put together in the memory of a chunk; the bucket, which is here, is left out."""
    first, second = _chunks(batching, owner="run-1")
    size, copies = 1_000_000, 20
    part = (json.dumps({"line": 1, "text": "x" * (size // first.lines)}) + "\n").encode() * first.lines
    stored: list[int] = []

    def read(_: Artifacts, *, tenant: str, key: str) -> bytes:
        assert tenant == "acme"
        return manifest.encode() if key.endswith("manifest.jsonl") else part

    def put(_: Artifacts, *, data: Any, **_of: str) -> None:
        data.seek(0)
        stored.append(sum(map(len, iter(lambda: data.read(100_000), b""))))

    manifest = "".join(chunk.model_dump_json() + "\n" for chunk in [first, second] * copies)
    monkeypatch.setattr(Artifacts, "get_bytes", read)
    monkeypatch.setattr(Artifacts, "put_stream", put)
    tracemalloc.start()
    try:
        batch = collect(batching, first.batch_id, owner="run-1").batch
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert batch.state == "finished"
    assert stored[0] > copies * size
    assert most < 6 * size
