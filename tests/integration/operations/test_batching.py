"""A batch over weeks: runs that broke off, what only served them gone, and the same file dropped again."""

from typing import TYPE_CHECKING

import boto3
import pytest

from tests.integration.operations.conftest import BUCKET, House
from touchstone.operations.batching import QUIET_AFTER, BatchDesk
from touchstone.operations.chunks import CHUNK_LINES, Chunk
from touchstone.records import Artifacts, Batch, Batches, RequestKeys

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

LINES = CHUNK_LINES + 5


@pytest.fixture
def s3(house: House) -> "S3Client":
    """The store behind the house."""
    client = boto3.client("s3", region_name="us-east-1")
    body = b"\n".join(b'{"kind": "solve", "problem": "1 + 1"}' for _ in range(LINES))
    client.put_object(Bucket=BUCKET, Key="inbox/acme/a.jsonl", Body=body)
    return client


@pytest.fixture
def desk(house: House, s3: "S3Client") -> BatchDesk:
    """The desk of a tenant who dropped a file of two chunks."""
    return BatchDesk(
        tenant="acme",
        batches=Batches(house.table, clock=house.clock),
        inbox=Artifacts(lambda: s3, BUCKET, root="inbox"),
        scratch=Artifacts(lambda: s3, BUCKET, root="scratch"),
        artifacts=house.artifacts,
        keys=RequestKeys(house.table, clock=house.clock),
        clock=house.clock,
    )


def _do(desk: BatchDesk, chunk: Chunk) -> None:
    """A chunk's work, as far as its batch sees it."""
    desk.scratch.put_text(tenant="acme", key=chunk.part_key, text="{}\n" * chunk.lines)
    desk.batches.chunk_done(tenant="acme", batch_id=chunk.batch_id, chunk=chunk.chunk, done=chunk.lines, failed=0)


def _chunks(desk: BatchDesk, *, owner: str) -> list[Chunk]:
    prepared = desk.prepare("a", owner=owner)
    listed = desk.scratch.get_text(tenant="acme", key=prepared.manifest_key.removeprefix("scratch/"))
    return [Chunk.model_validate_json(line) for line in listed.splitlines()]


def _forget_scratch(s3: "S3Client") -> None:
    """What the bucket's own rule does two weeks later."""
    for item in s3.list_objects_v2(Bucket=BUCKET, Prefix="scratch/")["Contents"]:
        s3.delete_object(Bucket=BUCKET, Key=item["Key"])


def _results(desk: BatchDesk, batch: Batch) -> int:
    """How many lines of results there are."""
    assert batch.results_key is not None
    return len(desk.inbox.get_text(tenant="acme", key=batch.results_key).splitlines())


def test_a_run_that_went_quiet_is_followed_by_the_next_one_that_is_asked_for(house: House, desk: BatchDesk) -> None:
    first, second = _chunks(desk, owner="run-1")
    _do(desk, first)
    house.clock.advance(seconds=QUIET_AFTER.total_seconds() - 1)
    assert _chunks(desk, owner="run-2") == []
    house.clock.advance(seconds=1)
    assert _chunks(desk, owner="run-3") == [first, second]
    _do(desk, second)
    assert desk.collect(first.batch_id, owner="run-1").state == "running"
    batch = desk.collect(first.batch_id, owner="run-3")
    assert (batch.state, batch.done, _results(desk, batch)) == ("finished", LINES, LINES)


def test_a_run_whose_parts_have_expired_begins_them_anew(house: House, desk: BatchDesk, s3: "S3Client") -> None:
    chunks = _chunks(desk, owner="run-1")
    _do(desk, chunks[0])
    house.clock.advance(days=20)
    _forget_scratch(s3)
    assert _chunks(desk, owner="run-2") == chunks
    for chunk in chunks:
        _do(desk, chunk)
    batch = desk.collect(chunks[0].batch_id, owner="run-2")
    assert (batch.state, batch.total, batch.done, batch.failed) == ("finished", LINES, LINES, 0)


def test_a_run_redriven_after_its_parts_expired_fails_and_says_what_to_do(desk: BatchDesk, s3: "S3Client") -> None:
    chunks = _chunks(desk, owner="run-1")
    _do(desk, chunks[0])
    _forget_scratch(s3)
    failed = desk.collect(chunks[0].batch_id, owner="run-1")
    assert failed.state == "failed"
    assert "expired; put the file there again" in (failed.failure or "")
    assert _chunks(desk, owner="run-2") == chunks


def test_results_outlive_what_only_served_them(house: House, desk: BatchDesk, s3: "S3Client") -> None:
    chunks = _chunks(desk, owner="run-1")
    for chunk in chunks:
        _do(desk, chunk)
    finished = desk.collect(chunks[0].batch_id, owner="run-1")
    house.clock.advance(days=20)
    _forget_scratch(s3)
    assert desk.collect(finished.id, owner="run-1") == finished
    assert _chunks(desk, owner="run-2") == []
    assert _results(desk, finished) == LINES
    assert desk.results_link(finished) is not None
