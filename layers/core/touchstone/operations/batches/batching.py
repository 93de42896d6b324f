"""Batches of a deployment: a file is cut into chunks, each chunk done once, the results collected beside the file.

    inbox/<tenant>/<name>.jsonl ── prepare ──> manifest of chunks ── lines (each) ──> parts ── collect ──>
    inbox/<tenant>/<name>.results.jsonl

A file that is dropped without the API makes a batch of its bytes: the same file dropped again is the same batch, other
bytes under the same name are another batch. A file that is put where the API awaits it belongs to the batch that the
API began. A file that is dropped under a tenant that does not exist is left alone, and nothing is recorded of it.

One run at a time owns a batch, and no other run ends it: the event of a dropped file may come more than once. If a file
is dropped again after its batch failed or went quiet, that is a new run of the batch. It continues where the last run
stopped, since it finds finished parts and answers. If the bytes have changed, the file is cut and counted anew.

Lines that go by batches of providers stay open until these bring replies, and are not done before.

Lines that are undecided for a passing reason stay open. The run waits for them, for a limited number of days, and does
the chunks that hold them again, in one round after another. The last round ends the lines that are left. A chunk that
brought nothing because its function died is treated alike; the pauses before its repeats grow with the time it failed.

Manifest and parts only serve the work, and the store deletes them some time later. The results stay.
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

from touchstone.attempts import When, growing_pause
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
"""The largest file of a batch: about 60,000 problems of ordinary length. It is read whole into a function's memory."""
MAX_LINES = 100_000
"""The most lines of a batch. A result of two attempts takes about 8 KB, so that all results of the largest file take
less than a gigabyte. The collecting function assembles them on its disk of four gigabytes."""
WAITS_FOR = timedelta(days=7)
LEFT_LONGER = timedelta(days=1)
"""How much longer than any batch waits the sweep leaves the work of a batch alone. Work that is open for longer has
lost its run, and the sweep ends it."""
SHORTEST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)
PAUSE_PART = 16
MAX_ROUNDS = 400
"""The most rounds of a run: more than fit into ten days with these pauses. Each round takes fifteen events of an
execution, which may have 25,000."""
QUIET_AFTER = timedelta(minutes=30)
"""A run that was silent for this long is gone: a chunk is given up after a quarter of an hour, and the waits before its
repeats take about ten minutes in all."""
CONTENT_TYPE = "application/x-ndjson"
NOT_DONE = LineError(
    reason="not_done", detail="The line was not done: its part of the batch failed. Send it again in a new batch."
)
PUT_AGAIN = "put the file in its place again (the batch's upload_url, or the key where it was dropped)"
ROUNDS_FOR_NOTHING = 5
"""After this many rounds without a result from any chunk, a batch fails: the cause is no passing fault."""
NOTHING_DONE = f"None of its lines could be done; once the cause is removed, {PUT_AGAIN}."
EXPIRED = f"What its run had done has expired; {PUT_AGAIN}: answers that exist are not paid twice."


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A batch that is ready to be worked on. `manifest_key` is the whole key of the list of its chunks.

    `elsewhere`: another run works on the batch or has finished it; then the list is empty.
    """

    tenant: str
    batch_id: str
    manifest_key: str
    elsewhere: bool = False


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """One tenant's batches. `inbox` holds files and results, `scratch` the files in between, `artifacts` images.

    `days` is how long a run waits for undecided lines. `by_batch` None: no line goes by batches of providers.
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
    def abandoned_after(self) -> timedelta:
        """How long the sweep leaves the work of a batch alone."""
        return self.days + LEFT_LONGER

    def begin(self, *, key: str | None, when: When | None = None) -> Batch:
        """Begin a batch whose file is awaited. `when` "now": its lines are asked at once unless they say otherwise."""
        batch_id = new_ulid(self.clock()) if key is None else self.keys.id_for(tenant=self.tenant, key=f"batch#{key}")
        source = f"{self.tenant}/{batch_id}{NOW_SUFFIX if when == 'now' else SOURCE_SUFFIX}"
        return self.batches.create(tenant=self.tenant, batch_id=batch_id, source_key=source)

    def upload_link(self, batch: Batch) -> str | None:
        """The link to PUT the file to. None if the file is not awaited.

        The file is awaited before it has come, and again after its batch failed or went quiet.
        """
        quiet = self.clock() - batch.last_heartbeat_at >= QUIET_AFTER
        awaited = batch.total is None or batch.state == "failed" or quiet
        if batch.state == "finished" or not awaited or batch.source_key is None:
            return None
        return self.inbox.upload_link(tenant=self.tenant, key=batch.source_key, content_type=CONTENT_TYPE)

    def results_link(self, batch: Batch) -> str | None:
        """The link to GET the results from. None before they exist."""
        if batch.results_key is None:
            return None
        return self.inbox.download_link(tenant=self.tenant, key=batch.results_key)

    def image_link(self) -> tuple[str, str]:
        """A new key for an image, and the link to PUT the image to."""
        key = f"{self.tenant}/{IMAGES}/{new_ulid(self.clock())}"
        return key, self.artifacts.upload_link(tenant=self.tenant, key=key, content_type="application/octet-stream")

    def prepare(self, name: str, *, owner: str) -> Prepared:
        """Read a dropped file and list its chunks for the run `owner`. A repeat returns the first list.

        A batch that is finished, or on which another run works, is left alone. If the file is empty or too large, the
        batch fails with the reason, which is raised as `InputError` or `TooLargeError`. Raises `NotFoundError` if there
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

        If lines are open, and this was not the last of the `rounds`, the batch waits for them instead. A batch that
        ended, or that another run owns by now, is left as it is. A batch without any part fails after some rounds.
        """
        # Mark the batch as heard of: reading its parts takes minutes, and no other run may take the batch over
        # meanwhile.
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
        """The batch as ended, or as waiting for its next round."""
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
        """The batch as waiting for its open lines. The next round is due when the first of them is.

        The pause before a round is a fixed part of the time since the first round, so that a long wait takes few
        rounds. The last round comes when the days are over.
        """
        now = self.clock()
        since = rounds.since or now
        end = since + self.days
        lines = [*collected.open, *self._left(collected.lost, since=since, now=now)]
        pause = max(SHORTEST_PAUSE, min((now - since) / PAUSE_PART, LONGEST_PAUSE))
        # The last round asks all questions at once, also those in a batch: so none is begun if the next round may be
        # the last.
        begin = now + pause + SHORTEST_PAUSE < end and rounds.done + 1 < MAX_ROUNDS
        lines, elsewhere = self._with_standings(batch, lines, begin=begin and batch.when != "now")
        moments = [one.until for _, one in lines]
        soonest = max(min(moments), now + pause)
        # Wait for lines that are due within a moment, too: a provider's day begins for all its lines within some
        # seconds.
        until = max((one for one in moments if soonest < one <= soonest + SHORTEST_PAUSE), default=soonest)
        last = until >= end or rounds.done + 1 >= MAX_ROUNDS
        until = max(now, min(until, end))
        ready = (chunk for chunk, one in lines if last or (one.until <= until and one.line not in elsewhere))
        due = {chunk.chunk: chunk for chunk in ready}
        at_once = {one.line for _, one in lines if one.wanted and one.line not in elsewhere and batch.when == "now"}
        text = to_list(
            chunk.model_copy(update={"last": last, "now": tuple(one for one in chunk.numbers if one in at_once)})
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
        """The open lines, and the numbers of lines for which nothing can be done here so far.

        Each line that goes by batches of providers is told until when and why it waits.
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
                self.scratch.put_text(tenant=self.tenant, key=chunk.part_key, text=text, content_type=CONTENT_TYPE)
            yield from ((chunk, line) for line in lines)

    def refuse(self, name: str, why: str, *, owner: str) -> Batch:
        """Fail the batch of a file that the run could not prepare. If the batch has a reason already, that one is kept.

        Raises `NotFoundError` if there is no such tenant, and thus no batch.
        """
        batch = self._batch(name, f"{self.tenant}/{name}{SOURCE_SUFFIX}")
        return self.batches.fail(
            tenant=self.tenant,
            batch_id=batch.id,
            owner=owner,
            failure=f"The file could not be read ({why}); {PUT_AGAIN}.",
        )

    def _is_listed(self, batch: Batch, version: str) -> bool:
        """Whether the list of this version's chunks exists. It may have expired since it was written."""
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
        # Read the version again after the bytes: the list of one version must not hold the cuts of another.
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
        """All results, in the order of the chunks. Raises `NotFoundError` if the list of chunks has expired."""
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
        """The batch that the API began for this file, or a new batch for a file that was dropped by itself.

        The folder of a dropped file names its tenant. The tenant must exist: a misspelt folder must not begin records.
        """
        self.tenants.get(self.tenant)
        if is_ulid(begun := name.removesuffix(NOW_SUFFIX.removesuffix(SOURCE_SUFFIX))):
            return self.batches.create(tenant=self.tenant, batch_id=begun, source_key=source)
        version = self.inbox.version(tenant=self.tenant, key=source)
        batch_id = self.keys.id_for(tenant=self.tenant, key=f"drop#{source}#{version}")
        return self.batches.create(tenant=self.tenant, batch_id=batch_id, source_key=source)
