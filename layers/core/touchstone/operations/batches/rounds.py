"""The end of a round over a batch's lines: the results are put together, or the batch waits for its open lines.

Lines that go by batches of providers stay open until these bring replies, and are not done before.

Lines that are undecided for a passing reason stay open. The run waits for them, for a limited number of days, and does
the chunks that hold them again, in one round after another. The last round ends the lines that are left. A chunk that
brought nothing because its function died is treated alike; the pauses before its repeats grow with the time it failed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from tempfile import TemporaryFile
from typing import IO, Protocol

from touchstone.attempts import growing_pause
from touchstone.errors import NotFoundError
from touchstone.operations.batches.batching import CONTENT_TYPE, PUT_AGAIN, Batching
from touchstone.operations.batches.chunks import (
    RESULTS_SUFFIX,
    SOURCE_SUFFIX,
    LineChunk,
    lines_of,
    listed,
    listing_folder,
    to_list,
)
from touchstone.operations.batches.lines import LineError, LineResult, given_up
from touchstone.operations.jobs.waiting import LONGEST_PAUSE, LineStanding, OpenLine
from touchstone.records import Batch

SHORTEST_PAUSE = timedelta(seconds=30)
PAUSE_PART = 16
MAX_ROUNDS = 400
"""The most rounds of a run: more than fit into ten days with these pauses. Each round takes fifteen events of an
execution, which may have 25,000."""
NOT_DONE = LineError(
    reason="not_done", detail="The line was not done: its part of the batch failed. Send it again in a new batch."
)
ROUNDS_FOR_NOTHING = 5
"""After this many rounds without a result from any chunk, a batch fails: the cause is no passing fault."""
NOTHING_DONE = f"None of its lines could be done; once the cause is removed, {PUT_AGAIN}."
EXPIRED = f"What its run had done has expired; {PUT_AGAIN}: answers that exist are not paid twice."


@dataclass(slots=True, kw_only=True)
class Collected:
    """The results of a batch's lines, in a temporary file: only one chunk of them at a time is in memory.

    `done` and `failed` count the lines; `parts` counts the chunks that have results. `open` are the lines without a
    result, each with its chunk; the file holds an error for each. `lost` are the chunks whose function died before it
    stored anything, each with the time until which it is left alone (UTC; None if none was set yet). The file holds an
    error for each of their lines too.
    """

    text: IO[bytes] = field(default_factory=TemporaryFile)
    parts: int = 0
    done: int = 0
    failed: int = 0
    open: list[tuple[LineChunk, OpenLine]] = field(default_factory=list)
    lost: list[tuple[LineChunk, datetime | None]] = field(default_factory=list)

    def close(self) -> None:
        """Delete the temporary file."""
        self.text.close()

    def add(self, chunk: LineChunk, part: bytes) -> None:
        """Add the results of a chunk. They are counted here, because a run that broke off may not have counted them."""
        open_before = len(self.open)
        for line in filter(None, lines_of(part)):
            told = json.loads(line)
            if told.get("open") is True:
                self.open.append((chunk, OpenLine.model_validate(told)))
                self.text.write(given_up(self.open[-1][1]).model_dump_json().encode())
            else:
                self.text.write(line)
            self.text.write(b"\n")
            failed = told.get("open") is True or told.get("error") is not None
            self.failed += failed
            self.done += not failed
        now_open = [line for _, line in self.open[open_before:]]
        if len(now_open) == len(chunk.numbers) and all(line.reason == NOT_DONE.reason for line in now_open):
            del self.open[open_before:]
            self.lost.append((chunk, now_open[0].until))
        else:
            self.parts += 1

    def add_lost(self, chunk: LineChunk) -> None:
        """Add a chunk that has no results: an error for each of its lines."""
        self.lost.append((chunk, None))
        lost = (LineResult(line=number, error=NOT_DONE) for number in chunk.numbers)
        self.text.write("".join(result.model_dump_json() + "\n" for result in lost).encode())
        self.failed += len(chunk.numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """The rounds that a run made over the open lines of its batch: how many are `done`, and `since` when (UTC).

    `since` is None before the first round. `last`: the present round ends all open lines, whatever comes of it.
    """

    done: int = 0
    since: datetime | None = None
    last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A batch after a round. `open_key` is the whole key of the list of chunks that the next round is to do.

    `rounds` describes that next round. `open_key` is None if the batch has ended. `idle`: the next round has no chunk
    to do and only looks at the batch.
    """

    batch: Batch
    open_key: str | None = None
    rounds: Rounds = Rounds()
    idle: bool = False


class LinesByBatch(Protocol):
    """Adds the open questions of a file's lines to providers' batches, and tells the state of each line."""

    def __call__(self, file: Batch, lines: Sequence[OpenLine], *, begin: bool) -> Mapping[int, LineStanding]:
        """The state of each line, keyed by its number.

        `begin` False: no new batch is begun; batches under way are looked at.
        """
        ...


def collect(
    files: Batching, batch_id: str, *, owner: str, rounds: Rounds = Rounds(), by_batch: LinesByBatch | None = None
) -> Gathered:
    """Put the parts of a batch together beside its file, with an error for every line whose part is missing.

    If lines are open, and this was not the last of the `rounds`, the batch waits for them instead. A batch that ended,
    or that another run owns by now, is left as it is. A batch without any part fails after some rounds. `by_batch`
    None: no line goes by batches of providers.
    """
    return _Round(files=files, batch_id=batch_id, owner=owner, rounds=rounds, by_batch=by_batch).ended()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """The end of one round of the run `owner`, see `collect`."""

    files: Batching
    batch_id: str
    owner: str
    rounds: Rounds
    by_batch: LinesByBatch | None

    def ended(self) -> Gathered:
        """The batch after the round; see `collect`."""
        # Mark the batch as heard of: reading its parts takes minutes, and no other run may take the batch over
        # meanwhile.
        held = self._held()
        if held is None:
            return self._as_it_is()
        try:
            collected = self._results(held)
        except NotFoundError:
            return self._failed(EXPIRED)
        with closing(collected):
            return self._gathered(held, collected)

    def _gathered(self, held: Batch, collected: Collected) -> Gathered:
        """The batch as ended, or as waiting for its next round."""
        if not collected.parts and (self.rounds.last or self.rounds.done >= ROUNDS_FOR_NOTHING):
            return self._failed(NOTHING_DONE)
        if self._held() is None:
            return self._as_it_is()
        if (collected.open or collected.lost) and not self.rounds.last:
            return self._again(held, collected)
        source = held.source_key or f"{self.files.tenant}/{self.batch_id}{SOURCE_SUFFIX}"
        key = source.removesuffix(SOURCE_SUFFIX) + RESULTS_SUFFIX
        self.files.inbox.put_stream(tenant=self.files.tenant, key=key, data=collected.text, content_type=CONTENT_TYPE)
        finished = self.files.batches.finish(
            tenant=self.files.tenant,
            batch_id=self.batch_id,
            owner=self.owner,
            results_key=key,
            done=collected.done,
            failed=collected.failed,
        )
        return Gathered(batch=finished)

    def _again(self, batch: Batch, collected: Collected) -> Gathered:
        """The batch as waiting for its open lines. The next round is due when the first of them is.

        The pause before a round is a fixed part of the time since the first round, so that a long wait takes few
        rounds. The last round comes when the days are over.
        """
        now = self.files.clock()
        since = self.rounds.since or now
        end = since + self.files.days
        lines = [*collected.open, *self._left(collected.lost, since=since, now=now)]
        pause = max(SHORTEST_PAUSE, min((now - since) / PAUSE_PART, LONGEST_PAUSE))
        # The last round asks all questions at once, also those in a batch: so none is begun if the next round may be
        # the last.
        begin = now + pause + SHORTEST_PAUSE < end and self.rounds.done + 1 < MAX_ROUNDS
        lines, elsewhere = self._with_standings(batch, lines, begin=begin and batch.when != "now")
        moments = [one.until for _, one in lines]
        soonest = max(min(moments), now + pause)
        # Wait for lines that are due within a moment, too: a provider's day begins for all its lines within some
        # seconds.
        until = max((one for one in moments if soonest < one <= soonest + SHORTEST_PAUSE), default=soonest)
        last = until >= end or self.rounds.done + 1 >= MAX_ROUNDS
        until = max(now, min(until, end))
        ready = (chunk for chunk, one in lines if last or (one.until <= until and one.line not in elsewhere))
        due = {chunk.chunk: chunk for chunk in ready}
        at_once = {one.line for _, one in lines if one.wanted and one.line not in elsewhere and batch.when == "now"}
        text = to_list(
            chunk.model_copy(update={"last": last, "now": tuple(one for one in chunk.numbers if one in at_once)})
            for _, chunk in sorted(due.items())
        )
        key = f"{listing_folder(self.files.tenant, batch.id, batch.version or '')}/open.jsonl"
        self._put(key, text)
        reasons = Counter(one.reason for _, one in lines)
        waiting = self.files.batches.wait(
            tenant=self.files.tenant,
            batch_id=batch.id,
            owner=self.owner,
            lines=len(lines),
            reason=reasons.most_common(1)[0][0],
            until=until,
        )
        if waiting.state != "running" or waiting.owner != self.owner:
            return Gathered(batch=waiting)
        return Gathered(
            batch=waiting,
            open_key=self.files.scratch.whole_key(tenant=self.files.tenant, key=key),
            rounds=Rounds(done=self.rounds.done + 1, since=since, last=last),
            idle=not due,
        )

    def _with_standings(
        self, batch: Batch, lines: Sequence[tuple[LineChunk, OpenLine]], *, begin: bool
    ) -> tuple[list[tuple[LineChunk, OpenLine]], set[int]]:
        """The open lines, and the numbers of lines for which nothing can be done here so far.

        Each line that goes by batches of providers is told until when and why it waits.
        """
        wanting = [line for _, line in lines if line.wanted]
        standings: Mapping[int, LineStanding] = {}
        if batch.pay_twice:
            due = LineStanding(standing="due", until=self.files.clock())
            standings = {line.line: due for line in wanting}
        elif wanting and self.by_batch is not None:
            standings = self.by_batch(batch, wanting, begin=begin)
        told = [
            (
                chunk,
                line.model_copy(update={"until": at.until, "reason": at.reason})
                if (at := standings.get(line.line)) is not None
                else line,
            )
            for chunk, line in lines
        ]
        return told, {number for number, at in standings.items() if at.standing != "due"}

    def _left(
        self, lost: Sequence[tuple[LineChunk, datetime | None]], *, since: datetime, now: datetime
    ) -> Iterator[tuple[LineChunk, OpenLine]]:
        """The lines of lost chunks, as open lines.

        They are stored as the chunk's part, with the time until which they wait. The wait grows, because whatever ended
        a chunk's function may end it again, after calls that were paid for.
        """
        for chunk, left_until in lost:
            until = left_until
            if until is None or until <= now:
                until = now + growing_pause(since, now, least=SHORTEST_PAUSE)
            detail, reason = NOT_DONE.detail, NOT_DONE.reason
            lines = [OpenLine(line=number, reason=reason, detail=detail, until=until) for number in chunk.numbers]
            if until != left_until:
                text = "".join(line.model_dump_json() + "\n" for line in lines)
                self._put(chunk.part_key, text)
            yield from ((chunk, line) for line in lines)

    def _results(self, batch: Batch) -> Collected:
        """All results, in the order of the chunks. Raises `NotFoundError` if the list of chunks has expired."""
        if batch.version is None:
            raise NotFoundError("There is no list of this batch's chunks.")
        manifest = self.files.scratch.get_bytes(
            tenant=self.files.tenant, key=self.files.manifest_key(batch.id, batch.version)
        )
        collected = Collected()
        for chunk in listed(manifest):
            if not chunk.numbers:
                continue
            try:
                collected.add(chunk, self.files.scratch.get_bytes(tenant=self.files.tenant, key=chunk.part_key))
            except NotFoundError:
                collected.add_lost(chunk)
        return collected

    def _held(self) -> Batch | None:
        """The batch, marked as heard of; None if it ended, or if another run owns it."""
        return self.files.batches.hold(tenant=self.files.tenant, batch_id=self.batch_id, owner=self.owner)

    def _as_it_is(self) -> Gathered:
        return Gathered(batch=self.files.batches.get(tenant=self.files.tenant, batch_id=self.batch_id))

    def _failed(self, why: str) -> Gathered:
        failed = self.files.batches.fail(
            tenant=self.files.tenant, batch_id=self.batch_id, owner=self.owner, failure=why
        )
        return Gathered(batch=failed)

    def _put(self, key: str, text: str) -> None:
        self.files.scratch.put_text(tenant=self.files.tenant, key=key, text=text, content_type=CONTENT_TYPE)
