"""Batches of a deployment: a file is cut into chunks, each chunk done once, the results collected beside the file.

    inbox/<tenant>/<name>.jsonl ── prepare ──> manifest of chunks ── lines (each) ──> parts ── collect ──>
    inbox/<tenant>/<name>.results.jsonl

A file that is dropped by itself makes a batch of its bytes: the same file dropped again is the same batch, other bytes
under the same name are another one. A file that is put where the API awaited it belongs to the batch that was begun.

A file that was dropped under a tenant that does not exist is left alone, and nothing is recorded of it.

One run at a time owns a batch, and nobody else ends it: the event of a dropped file may come more than once. A file
that is dropped again after its batch failed, or went quiet, is a new run of that batch: it goes on where the last one
was, since finished parts and answers are found. If its bytes are others by then, it is cut and counted anew.

Lines that go by batches of providers are open until those brought something, and are not done before.

Lines that nobody decided for a reason that may pass stay open. A run waits for them, at most so many days, and does the
chunks that hold them once more, in one round after another; the last round ends what is left. So it does with a chunk
of which nothing came back, since its function died: after pauses as long as that has gone on.

Manifest and parts only serve the work, and the store forgets them a while after. The results stay.
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

from touchstone.attempts import When, as_long_again
from touchstone.clock import Clock, system_clock
from touchstone.errors import InputError, NotFoundError, StoreError, TooLargeError
from touchstone.operations.batches.chunks import (
    NOW_SUFFIX,
    RESULTS_SUFFIX,
    SOURCE_SUFFIX,
    LineChunk,
    chunks_of,
    lines_of,
    listed,
    listing_folder,
    to_list,
)
from touchstone.operations.batches.lines import LineError, LineResult, LineStanding, OpenLine
from touchstone.records import Artifacts, Batch, Batches, RequestIds, Tenants, is_ulid, new_ulid
from touchstone.records.artifacts import IMAGES

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Read whole into a function's memory; about 60,000 problems of ordinary length."""
MAX_LINES = 100_000
"""A result of two attempts takes some 8 KB: with this, all results of a file of the greatest size are less than a
gigabyte, which the collecting function puts together on its disk of four."""
WAITS_FOR = timedelta(days=7)
LEFT_LONGER = timedelta(days=1)
"""The sweep ends work of a batch that lies open so much longer than any batch waits: its run is gone."""
SHORTEST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)
PAUSE_PART = 16
MAX_ROUNDS = 400
"""More than the pauses leave room for in ten days; each is fifteen events of an execution, which may have 25,000."""
QUIET_AFTER = timedelta(minutes=30)
"""A run of which nothing was heard for so long is gone: a chunk is given up after a quarter of an hour, and the waits
before its repeats are some ten minutes in all."""
CONTENT_TYPE = "application/x-ndjson"
NOT_DONE = LineError(
    reason="not_done", detail="The line was not done: its part of the batch failed. Send it again in a new batch."
)
PUT_AGAIN = "put the file in its place again (the batch's upload_url, or the key where it was dropped)"
ROUNDS_FOR_NOTHING = 5
"""After so many a batch fails of which no chunk brought anything: something else is wrong than a moment."""
NOTHING_DONE = f"None of its lines could be done; once the cause is removed, {PUT_AGAIN}."
EXPIRED = f"What its run had done has expired; {PUT_AGAIN}: answers that exist are not paid twice."


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A batch that is ready to be worked on; `manifest_key` is the whole key of its chunks' list.

    `elsewhere`: another run works on it or has finished it; the list is empty.
    """

    tenant: str
    batch_id: str
    manifest_key: str
    elsewhere: bool = False


@dataclass(slots=True, kw_only=True)
class Collected:
    """The results of a batch's lines, in a file on the disk: in memory there is one chunk of them at a time.

    `done` and `failed` count the lines; `parts` is how many chunks had results. `open` are the lines without one, by
    their chunk, in the results as errors. `lost` are the chunks whose function died before it kept anything, each with
    until when it is left since (UTC), None where that was not said yet; their lines are in the results as errors, too.
    """

    text: IO[bytes] = field(default_factory=TemporaryFile)
    parts: int = 0
    done: int = 0
    failed: int = 0
    open: list[tuple[LineChunk, OpenLine]] = field(default_factory=list)
    lost: list[tuple[LineChunk, datetime | None]] = field(default_factory=list)

    def close(self) -> None:
        """Forget the results."""
        self.text.close()

    def add(self, chunk: LineChunk, part: bytes) -> None:
        """The results of a chunk, counted as they say themselves: a run that broke off may not have counted them."""
        open_before = len(self.open)
        for line in filter(None, lines_of(part)):
            told = json.loads(line)
            if told.get("open") is True:
                self.open.append((chunk, OpenLine.model_validate(told)))
                self.text.write(self.open[-1][1].given_up.model_dump_json().encode())
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
        """An error for each line of a chunk that has no results."""
        self.lost.append((chunk, None))
        lost = (LineResult(line=number, error=NOT_DONE) for number in chunk.numbers)
        self.text.write("".join(result.model_dump_json() + "\n" for result in lost).encode())
        self.failed += len(chunk.numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How often a run did the open lines of its batch, and since when (UTC), None before the first; `last`: they were
    to end with this round, whatever came of it.
    """

    done: int = 0
    since: datetime | None = None
    last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A batch after a round. `open_key`: the whole key of the list of chunks to be done in the next one, and `rounds`
    that one's; None where the batch has its end. `idle`: no chunk is to be done then, the batch is only looked at.
    """

    batch: Batch
    open_key: str | None = None
    rounds: Rounds = Rounds()
    idle: bool = False


class LinesByBatch(Protocol):
    """Puts what open lines of a file want of providers' batches into some, and tells where each line stands."""

    def __call__(self, file: Batch, lines: Sequence[OpenLine], *, begin: bool) -> Mapping[int, LineStanding]:
        """By the lines' numbers. `begin` False: no batch is begun any more, those that are under way are looked at."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """One tenant's batches. `inbox` holds files and results, `scratch` what lies between them, `artifacts` images.

    `days`: how long a run waits for lines that nobody decided. `by_batch` None: lines want nothing of batches.
    """

    tenant: str
    tenants: Tenants
    batches: Batches
    inbox: Artifacts
    scratch: Artifacts
    artifacts: Artifacts
    keys: RequestIds
    days: timedelta = WAITS_FOR
    by_batch: LinesByBatch | None = None
    clock: Clock = system_clock

    @property
    def left_for(self) -> timedelta:
        """How long the sweep leaves the work of a batch alone."""
        return self.days + LEFT_LONGER

    def begin(self, *, key: str | None, when: When | None = None) -> Batch:
        """A batch whose file is awaited. `when` now: its lines are asked at once where they do not say otherwise."""
        batch_id = new_ulid(self.clock()) if key is None else self.keys.id_for(tenant=self.tenant, key=f"batch#{key}")
        source = f"{self.tenant}/{batch_id}{NOW_SUFFIX if when == 'now' else SOURCE_SUFFIX}"
        return self.batches.create(tenant=self.tenant, batch_id=batch_id, source_key=source)

    def upload_link(self, batch: Batch) -> str | None:
        """Where to PUT the file: while it is awaited, and again once its batch failed or went quiet; None otherwise."""
        quiet = self.clock() - batch.heard_of_at >= QUIET_AFTER
        awaited = batch.total is None or batch.state == "failed" or quiet
        if batch.state == "finished" or not awaited or batch.source_key is None:
            return None
        return self.inbox.upload_link(tenant=self.tenant, key=batch.source_key, content_type=CONTENT_TYPE)

    def results_link(self, batch: Batch) -> str | None:
        """Where to GET the results; None before they exist."""
        if batch.results_key is None:
            return None
        return self.inbox.download_link(tenant=self.tenant, key=batch.results_key)

    def image_link(self) -> tuple[str, str]:
        """A fresh key for an image, and where to PUT it."""
        key = f"{self.tenant}/{IMAGES}/{new_ulid(self.clock())}"
        return key, self.artifacts.upload_link(tenant=self.tenant, key=key, content_type="application/octet-stream")

    def prepare(self, name: str, *, owner: str) -> Prepared:
        """Read a dropped file and list its chunks for the run `owner`; a repeat returns the first list.

        A batch that is finished, or that another run works on, is left alone. A file that is empty or too large fails
        its batch with the reason, and raises it as `InputError` or `TooLargeError`. Raises `NotFoundError` where there
        is no such tenant.
        """
        source = f"{self.tenant}/{name}{SOURCE_SUFFIX}"
        batch = self._batch(name, source)
        owned = self.batches.own(tenant=self.tenant, batch_id=batch.id, owner=owner, quiet=QUIET_AFTER)
        if owned is None:
            return self._nothing(batch.id)
        try:
            version = self.inbox.version(tenant=self.tenant, key=source)
            if not self._is_listed(owned, version):
                owned = self._list_chunks(batch.id, source, version=version, owner=owner)
        except InputError as error:
            self.batches.fail(tenant=self.tenant, batch_id=batch.id, owner=owner, failure=str(error))
            raise
        if owned.owner != owner:
            return self._nothing(batch.id)
        whole = self.scratch.whole_key(tenant=self.tenant, key=self._manifest_key(batch.id, version))
        return Prepared(tenant=self.tenant, batch_id=batch.id, manifest_key=whole)

    def collect(self, batch_id: str, *, owner: str, rounds: Rounds = Rounds()) -> Gathered:
        """Put the parts together beside the file, with an error for every line whose part is missing.

        Where lines are open, and this was not the last of the `rounds`, the batch waits for them instead. One that
        ended, or that another run owns by now, is left as it is; one without any part fails after some rounds.
        """
        # Heard of now, so that no other run comes to own the batch while its parts are read, which takes minutes.
        held = self.batches.hold(tenant=self.tenant, batch_id=batch_id, owner=owner)
        if held is None:
            return Gathered(batch=self.batches.get(tenant=self.tenant, batch_id=batch_id))
        try:
            collected = self._collected(held)
        except NotFoundError:
            return Gathered(
                batch=self.batches.fail(tenant=self.tenant, batch_id=batch_id, owner=owner, failure=EXPIRED)
            )
        with closing(collected):
            return self._gathered(held, collected, owner=owner, rounds=rounds)

    def _gathered(self, held: Batch, collected: Collected, *, owner: str, rounds: Rounds) -> Gathered:
        """The batch with its end, or until when it waits."""
        batch_id = held.id
        if not collected.parts and (rounds.last or rounds.done >= ROUNDS_FOR_NOTHING):
            return Gathered(
                batch=self.batches.fail(tenant=self.tenant, batch_id=batch_id, owner=owner, failure=NOTHING_DONE)
            )
        if self.batches.hold(tenant=self.tenant, batch_id=batch_id, owner=owner) is None:
            return Gathered(batch=self.batches.get(tenant=self.tenant, batch_id=batch_id))
        if (collected.open or collected.lost) and not rounds.last:
            return self._again(held, collected, owner=owner, rounds=rounds)
        source = held.source_key or f"{self.tenant}/{batch_id}{SOURCE_SUFFIX}"
        key = source.removesuffix(SOURCE_SUFFIX) + RESULTS_SUFFIX
        self.inbox.put_stream(tenant=self.tenant, key=key, data=collected.text, content_type=CONTENT_TYPE)
        finished = self.batches.finish(
            tenant=self.tenant,
            batch_id=batch_id,
            owner=owner,
            results_key=key,
            done=collected.done,
            failed=collected.failed,
        )
        return Gathered(batch=finished)

    def _again(self, batch: Batch, collected: Collected, *, owner: str, rounds: Rounds) -> Gathered:
        """The batch that waits for its open lines: the next round is due when the first of them is.

        Rounds are as far apart as they have lasted, in part, so that a long wait costs few; the last is when the days
        are over.
        """
        now = self.clock()
        since = rounds.since or now
        end = since + self.days
        lines = [*collected.open, *self._left(collected.lost, since=since, now=now)]
        pause = max(SHORTEST_PAUSE, min((now - since) / PAUSE_PART, LONGEST_PAUSE))
        # The last round asks at once, also what a batch has: none is begun where the next round may be the last.
        begin = now + pause + SHORTEST_PAUSE < end and rounds.done + 1 < MAX_ROUNDS
        lines, elsewhere = self._with_standings(batch, lines, begin=begin and batch.when != "now")
        moments = [one.until for _, one in lines]
        soonest = max(min(moments), now + pause)
        # What is due a moment later is waited for: a provider's day begins for all its lines within some seconds.
        until = max((one for one in moments if soonest < one <= soonest + SHORTEST_PAUSE), default=soonest)
        last = until >= end or rounds.done + 1 >= MAX_ROUNDS
        until = max(now, min(until, end))
        ready = (chunk for chunk, one in lines if last or (one.until <= until and one.line not in elsewhere))
        due = {chunk.chunk: chunk for chunk in ready}
        hastened = {one.line for _, one in lines if one.wanted and one.line not in elsewhere and batch.when == "now"}
        text = to_list(
            chunk.model_copy(update={"last": last, "now": tuple(one for one in chunk.numbers if one in hastened)})
            for _, chunk in sorted(due.items())
        )
        key = f"{listing_folder(self.tenant, batch.id, batch.version or '')}/open.jsonl"
        self.scratch.put_text(tenant=self.tenant, key=key, text=text, content_type=CONTENT_TYPE)
        reasons = Counter(one.reason for _, one in lines)
        waiting = self.batches.wait(
            tenant=self.tenant,
            batch_id=batch.id,
            owner=owner,
            lines=len(lines),
            reason=reasons.most_common(1)[0][0],
            until=until,
        )
        if waiting.state != "running" or waiting.owner != owner:
            return Gathered(batch=waiting)
        return Gathered(
            batch=waiting,
            open_key=self.scratch.whole_key(tenant=self.tenant, key=key),
            rounds=Rounds(done=rounds.done + 1, since=since, last=last),
            idle=not due,
        )

    def _with_standings(
        self, batch: Batch, lines: Sequence[tuple[LineChunk, OpenLine]], *, begin: bool
    ) -> tuple[list[tuple[LineChunk, OpenLine]], set[int]]:
        """The open lines, with until when and why those wait that go by batches of providers; and the numbers of those
        for which nothing can be done here so far.
        """
        wanting = [line for _, line in lines if line.wanted]
        standings: Mapping[int, LineStanding] = {}
        if batch.pay_twice:
            due = LineStanding(standing="due", until=self.clock())
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
        """The lines of lost chunks, open from now on: a part says so, and until when.

        Whatever ended a chunk's function may do so again, after calls that were paid for.
        """
        for chunk, left_until in lost:
            until = left_until
            if until is None or until <= now:
                until = now + as_long_again(since, now, least=SHORTEST_PAUSE)
            detail, reason = NOT_DONE.detail, NOT_DONE.reason
            lines = [OpenLine(line=number, reason=reason, detail=detail, until=until) for number in chunk.numbers]
            if until != left_until:
                text = "".join(line.model_dump_json() + "\n" for line in lines)
                self.scratch.put_text(tenant=self.tenant, key=chunk.part_key, text=text, content_type=CONTENT_TYPE)
            yield from ((chunk, line) for line in lines)

    def refuse(self, name: str, why: str, *, owner: str) -> Batch:
        """Close the batch of a file that the run could not prepare; a reason that it has already is kept.

        Raises `NotFoundError` where there is no such tenant, who can have no batch either.
        """
        batch = self._batch(name, f"{self.tenant}/{name}{SOURCE_SUFFIX}")
        return self.batches.fail(
            tenant=self.tenant,
            batch_id=batch.id,
            owner=owner,
            failure=f"The file could not be read ({why}); {PUT_AGAIN}.",
        )

    def _is_listed(self, batch: Batch, version: str) -> bool:
        """Whether the list of this version's chunks is there; it may have expired since it was written."""
        if batch.version != version:
            return False
        try:
            self.scratch.size(tenant=self.tenant, key=self._manifest_key(batch.id, version))
        except NotFoundError:
            return False
        return True

    def _nothing(self, batch_id: str) -> Prepared:
        key = f"{self.tenant}/batches/{batch_id}/nothing.jsonl"
        self.scratch.put_text(tenant=self.tenant, key=key, text="", content_type=CONTENT_TYPE)
        whole = self.scratch.whole_key(tenant=self.tenant, key=key)
        return Prepared(tenant=self.tenant, batch_id=batch_id, manifest_key=whole, elsewhere=True)

    def _list_chunks(self, batch_id: str, source: str, *, version: str, owner: str) -> Batch:
        if self.inbox.size(tenant=self.tenant, key=source) > MAX_FILE_BYTES:
            raise TooLargeError(f"The file is larger than {MAX_FILE_BYTES:,} bytes; split it.", where="file")
        data = self.inbox.get_bytes(tenant=self.tenant, key=source)
        # Asked again after the bytes were read: a list must not hold the cuts of other bytes than its version's.
        if self.inbox.version(tenant=self.tenant, key=source) != version:
            raise StoreError("The file was replaced while it was read; it is safe to repeat.")
        total, chunks = 0, list[LineChunk]()
        for chunk in chunks_of(data, tenant=self.tenant, batch_id=batch_id, key=source, version=version):
            total += len(chunk.numbers)
            chunks.append(chunk)
            if total > MAX_LINES:
                raise TooLargeError(f"The file has more than {MAX_LINES:,} lines; split it.", where="file")
        if not total:
            raise InputError("The file holds no request; write one JSON object a line.", where="file")
        key = self._manifest_key(batch_id, version)
        self.scratch.put_text(tenant=self.tenant, key=key, text=to_list(chunks), content_type=CONTENT_TYPE)
        return self.batches.set_total(tenant=self.tenant, batch_id=batch_id, owner=owner, version=version, total=total)

    def _collected(self, batch: Batch) -> Collected:
        """All results one after the other. Raises `NotFoundError` where the list of chunks has expired."""
        if batch.version is None:
            raise NotFoundError("There is no list of this batch's chunks.")
        manifest = self.scratch.get_bytes(tenant=self.tenant, key=self._manifest_key(batch.id, batch.version))
        collected = Collected()
        for chunk in listed(manifest):
            if not chunk.numbers:
                continue
            try:
                collected.add(chunk, self.scratch.get_bytes(tenant=self.tenant, key=chunk.part_key))
            except NotFoundError:
                collected.add_lost(chunk)
        return collected

    def _manifest_key(self, batch_id: str, version: str) -> str:
        return f"{listing_folder(self.tenant, batch_id, version)}/manifest.jsonl"

    def _batch(self, name: str, source: str) -> Batch:
        """The batch that the API began for this file, or a new one for a file that was dropped by itself.

        Whoever drops a file names its tenant by a folder; a slip of the pen must not begin a tenant's records.
        """
        self.tenants.get(self.tenant)
        if is_ulid(begun := name.removesuffix(NOW_SUFFIX.removesuffix(SOURCE_SUFFIX))):
            return self.batches.create(tenant=self.tenant, batch_id=begun, source_key=source)
        version = self.inbox.version(tenant=self.tenant, key=source)
        batch_id = self.keys.id_for(tenant=self.tenant, key=f"drop#{source}#{version}")
        return self.batches.create(tenant=self.tenant, batch_id=batch_id, source_key=source)
