"""How long a file's batch waits for its open lines, and which of its chunks the next round is to do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.clocks import StandingClock
from touchstone.operations.batches.batching import CONTENT_TYPE, Batching
from touchstone.operations.batches.chunks import LineChunk, listed, to_list
from touchstone.operations.batches.lines import LineResult, part_of
from touchstone.operations.batches.rounds import (
    MAX_ROUNDS,
    NOT_DONE,
    SHORTEST_PAUSE,
    Gathered,
    Rounds,
    collect,
)
from touchstone.operations.jobs.waiting import LONGEST_PAUSE, OpenLine
from touchstone.records import Batch

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MANIFEST = "acme/batches/b/v1/manifest.jsonl"


class _Folder:
    """A folder of the bucket, in memory."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def get_bytes(self, *, key: str, **_: Any) -> bytes:
        return self.objects[key]

    def put_text(self, *, key: str, text: str, content_type: str, **_: Any) -> None:
        assert content_type == CONTENT_TYPE
        self.objects[key] = text.encode()

    def whole_key(self, *, key: str, **_: Any) -> str:
        return key


class _Waits:
    """The record of a running batch."""

    def __init__(self) -> None:
        self.batch = Batch(
            tenant="acme", id="b", state="running", created_at=NOW, updated_at=NOW, version="v1", owner="run-1"
        )

    def hold(self, **_: Any) -> Batch:
        return self.batch

    def wait(self, *, until: datetime, **_: Any) -> Batch:
        self.batch = replace(self.batch, waiting_until=until)
        return self.batch


def _chunk(number: int) -> LineChunk:
    return LineChunk(
        tenant="acme", batch_id="b", key="k", version="v1", chunk=number, first_line=number, lines=1, start=0, end=1
    )


def _open(number: int, wait: timedelta, reason: str = "overloaded") -> OpenLine:
    return OpenLine(line=number, reason=reason, detail="Later.", until=NOW + wait)


def _collected(
    lines: Sequence[OpenLine], *, since: timedelta | None = None, rounds: int = 0
) -> tuple[Gathered, Mapping[str, bytes]]:
    """What a round comes to in which these lines are open, each in a chunk of its own, and one more is done."""
    nothing: Any = None
    scratch, waits = _Folder(), _Waits()
    every: list[OpenLine | LineResult] = [*lines, LineResult(line=99, finished_at=NOW)]
    chunks = [_chunk(one.line) for one in every]
    scratch.objects[MANIFEST] = to_list(chunks).encode()
    for chunk, line in zip(chunks, every, strict=True):
        scratch.objects[chunk.part_key] = f"{line.model_dump_json()}\n".encode()
    folders: Any = {"inbox": _Folder(), "scratch": scratch, "artifacts": scratch, "batches": waits}
    batching = Batching(tenant="acme", tenants=nothing, keys=nothing, clock=StandingClock(NOW), **folders)
    begun = None if since is None else NOW - since
    return collect(batching, "b", owner="run-1", rounds=Rounds(done=rounds, since=begun)), scratch.objects


def _next(gathered: Gathered, objects: Mapping[str, bytes]) -> tuple[timedelta, list[int]]:
    """How long the batch waits, and the chunks of the next round."""
    assert gathered.batch.waiting_until is not None
    assert gathered.open_key is not None
    return gathered.batch.waiting_until - NOW, [chunk.chunk for chunk in listed(objects[gathered.open_key])]


@pytest.mark.parametrize(
    ("waits", "since", "waited", "due"),
    [
        # the first line is waited for, but no less than the pause of the round
        ([600], 0, 600, [1]),
        ([0], 0, 30, [1]),
        ([0], 16 * 600, 600, [1]),
        ([0], 86_400, LONGEST_PAUSE.total_seconds(), [1]),
        # lines that are due within a moment of it are waited for, and no others are done
        ([600, 610, 630], 0, 630, [1, 2, 3]),
        ([600, 631], 0, 600, [1]),
        ([600, 7_200], 0, 600, [1]),
        ([7_200, 600], 0, 600, [2]),
        ([0, 20, 59, 61], 0, 59, [1, 2, 3]),
    ],
)
def test_the_next_round_does_what_is_due_then(waits: list[int], since: int, waited: float, due: list[int]) -> None:
    lines = [_open(number, timedelta(seconds=wait)) for number, wait in enumerate(waits, 1)]
    gathered, objects = _collected(lines, since=timedelta(seconds=since))
    assert _next(gathered, objects) == (timedelta(seconds=waited), due)
    assert (gathered.rounds.done, gathered.rounds.last, gathered.idle) == (1, False, False)


@pytest.mark.parametrize(
    ("wait", "since", "rounds", "waited", "last"),
    [
        (timedelta(days=7) - SECOND, timedelta(0), 0, timedelta(days=7) - SECOND, False),
        (timedelta(days=7), timedelta(0), 0, timedelta(days=7), True),
        (timedelta(days=9), timedelta(0), 0, timedelta(days=7), True),
        (timedelta(days=2), timedelta(days=6), 40, timedelta(days=1), True),
        (timedelta(days=2), timedelta(days=8), 40, timedelta(0), True),
        (timedelta(hours=2), timedelta(days=1), MAX_ROUNDS - 2, timedelta(hours=2), False),
        (timedelta(hours=2), timedelta(days=1), MAX_ROUNDS - 1, timedelta(hours=2), True),
    ],
)
def test_the_last_round_comes_when_the_days_or_the_rounds_are_over_and_does_every_chunk(
    *, wait: timedelta, since: timedelta, rounds: int, waited: timedelta, last: bool
) -> None:
    gathered, objects = _collected([_open(1, wait), _open(2, wait + timedelta(days=30))], since=since, rounds=rounds)
    assert _next(gathered, objects) == (waited, [1, 2] if last else [1])
    assert gathered.rounds == Rounds(done=rounds + 1, since=NOW - since, last=last)
    assert gathered.open_key is not None
    assert {chunk.last for chunk in listed(objects[gathered.open_key])} == {last}


@pytest.mark.parametrize(
    ("left", "since", "until"),
    [
        (timedelta(hours=1), timedelta(hours=2), timedelta(hours=1)),  # it is left alone still
        (timedelta(0), timedelta(hours=2), timedelta(hours=2)),
        (-SECOND, timedelta(hours=2), timedelta(hours=2)),
        (-SECOND, timedelta(0), SHORTEST_PAUSE),
        (-SECOND, timedelta(days=1), timedelta(hours=6)),
    ],
)
def test_a_chunk_whose_function_died_is_left_alone_for_as_long_as_it_was_tried_and_that_is_stored(
    left: timedelta, since: timedelta, until: timedelta
) -> None:
    gathered, objects = _collected([_open(1, left, NOT_DONE.reason)], since=since)
    (stored,) = part_of(objects[_chunk(1).part_key])
    assert isinstance(stored, OpenLine)
    assert (stored.reason, stored.until - NOW) == (NOT_DONE.reason, until)
    waited, due = _next(gathered, objects)
    assert (waited, due) == (max(until, since / 16), [1])
