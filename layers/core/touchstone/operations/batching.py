"""Batches of a deployment: a file is cut into chunks, each chunk done once, the results collected beside the file.

    inbox/<tenant>/<name>.jsonl ── prepare ──> manifest of chunks ── lines (each) ──> parts ── collect ──>
    inbox/<tenant>/<name>.results.jsonl

Every line has an id that follows from the batch and its number, so a chunk that is repeated meets its own records.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from touchstone.answers.model import AnswerRecord, VerifyRequest
from touchstone.answers.progress import new_record
from touchstone.answers.view import AnswerView
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import InputError, NotFoundError, StoreError, TooLargeError, TouchstoneError
from touchstone.operations.desk import Desk
from touchstone.operations.finishing import ENDED
from touchstone.operations.lines import (
    EvaluateLine,
    LineError,
    LineResult,
    SolveLine,
    VerifyLine,
    failed_line,
    parse_line,
    reference_in,
    request_of,
)
from touchstone.operations.reception import Reception
from touchstone.operations.steps import solve_whole, verify_own_answer
from touchstone.records import Artifacts, Batch, Batches, RequestKeys, derived_ulid, is_ulid, new_ulid

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Read whole into a function's memory; about 60,000 problems of ordinary length."""
CHUNK_LINES = 25
CHUNK_BYTES = 1024 * 1024
SIDE_BY_SIDE = 8
"""Lines of a chunk done at once: the judges' quota is the limit long before."""
CONTENT_TYPE = "application/x-ndjson"
SOURCE_SUFFIX = ".jsonl"
RESULTS_SUFFIX = ".results.jsonl"
NOT_DONE = LineError(
    reason="not_done", detail="The line was not done: its part of the batch failed. Send it again in a new batch."
)


class Chunk(BaseModel):
    """Some lines of a file: bytes `start` to `end` (exclusive), the first line's number counted from 1."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    batch_id: str
    key: str
    chunk: int
    first_line: int
    lines: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A batch that is ready to be worked on; `manifest_key` is the whole key of its chunks' list."""

    tenant: str
    batch_id: str
    manifest_key: str


def tenant_of(key: str) -> tuple[str, str]:
    """Tenant and name from a dropped file's key, `<tenant>/<name>.jsonl` below the inbox. Raises `InputError`."""
    tenant, _, name = key.partition("/")
    if not tenant or not name.endswith(SOURCE_SUFFIX) or name.endswith(RESULTS_SUFFIX):
        raise InputError("A file of requests is dropped as inbox/<tenant>/<name>.jsonl.", where="key")
    return tenant, name.removesuffix(SOURCE_SUFFIX)


def chunks_of(data: bytes, *, tenant: str, batch_id: str, key: str) -> Iterator[Chunk]:
    """Cut a file after line ends, into at most `CHUNK_LINES` lines each, and `CHUNK_BYTES` but for a longer line."""
    start, number, chunk = 0, 1, 0
    while start < len(data):
        end, lines = start, 0
        while end < len(data) and lines < CHUNK_LINES:
            stop = data.find(b"\n", end) + 1 or len(data)
            if lines and stop - start > CHUNK_BYTES:
                break
            end, lines = stop, lines + 1
        yield Chunk(
            tenant=tenant, batch_id=batch_id, key=key, chunk=chunk, first_line=number, lines=lines, start=start, end=end
        )
        start, number, chunk = end, number + lines, chunk + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDesk:
    """One tenant's batches. `inbox` holds the files and results, `artifacts` what lies between them."""

    tenant: str
    batches: Batches
    inbox: Artifacts
    artifacts: Artifacts
    keys: RequestKeys
    clock: Clock = system_clock

    def begin(self, *, key: str | None) -> Batch:
        """A batch whose file is awaited."""
        batch_id = new_ulid(self.clock()) if key is None else self.keys.id_for(tenant=self.tenant, key=f"batch#{key}")
        source = f"{self.tenant}/{batch_id}{SOURCE_SUFFIX}"
        return self.batches.create(tenant=self.tenant, batch_id=batch_id, source_key=source)

    def upload_link(self, batch: Batch) -> str | None:
        """Where to PUT the file; None once it was read."""
        if batch.total is not None or batch.state != "running" or batch.source_key is None:
            return None
        return self.inbox.upload_link(tenant=self.tenant, key=batch.source_key, content_type=CONTENT_TYPE)

    def results_link(self, batch: Batch) -> str | None:
        """Where to GET the results; None before they exist."""
        return (
            None if batch.results_key is None else self.inbox.download_link(tenant=self.tenant, key=batch.results_key)
        )

    def image_link(self) -> tuple[str, str]:
        """A fresh key for an image, and where to PUT it."""
        key = f"{self.tenant}/images/{new_ulid(self.clock())}"
        return key, self.artifacts.upload_link(tenant=self.tenant, key=key, content_type="application/octet-stream")

    def prepare(self, name: str) -> Prepared:
        """Read a dropped file and list its chunks. Raises `TooLargeError`, `InputError` for an empty one."""
        source = f"{self.tenant}/{name}{SOURCE_SUFFIX}"
        batch = self._batch(name, source)
        if self.inbox.size(tenant=self.tenant, key=source) > MAX_FILE_BYTES:
            raise TooLargeError(f"The file is larger than {MAX_FILE_BYTES:,} bytes; split it.", where="file")
        data = self.inbox.get_bytes(tenant=self.tenant, key=source)
        chunks = list(chunks_of(data, tenant=self.tenant, batch_id=batch.id, key=source))
        total = sum(1 for line in data.split(b"\n") if line.strip())
        if not total:
            raise InputError("The file holds no request; write one JSON object a line.", where="file")
        manifest = f"{self.tenant}/batches/{batch.id}/manifest.jsonl"
        text = "".join(chunk.model_dump_json() + "\n" for chunk in chunks)
        self.artifacts.put_text(tenant=self.tenant, key=manifest, text=text, content_type=CONTENT_TYPE)
        self.batches.set_total(tenant=self.tenant, batch_id=batch.id, total=total)
        return Prepared(
            tenant=self.tenant,
            batch_id=batch.id,
            manifest_key=self.artifacts.whole_key(tenant=self.tenant, key=manifest),
        )

    def collect(self, batch_id: str) -> Batch:
        """Put the parts together beside the file, with an error for every line whose part is missing."""
        batch = self.batches.get(tenant=self.tenant, batch_id=batch_id)
        manifest = self.artifacts.get_text(tenant=self.tenant, key=f"{self.tenant}/batches/{batch_id}/manifest.jsonl")
        parts = [self._part(Chunk.model_validate_json(line)) for line in manifest.splitlines()]
        source = batch.source_key or f"{self.tenant}/{batch_id}{SOURCE_SUFFIX}"
        results = source.removesuffix(SOURCE_SUFFIX) + RESULTS_SUFFIX
        self.inbox.put_text(tenant=self.tenant, key=results, text="".join(parts), content_type=CONTENT_TYPE)
        return self.batches.finish(tenant=self.tenant, batch_id=batch_id, results_key=results)

    def refuse(self, name: str, why: str) -> Batch:
        """Close the batch of a file that could not be prepared."""
        batch = self._batch(name, f"{self.tenant}/{name}{SOURCE_SUFFIX}")
        return self.batches.fail(
            tenant=self.tenant,
            batch_id=batch.id,
            failure=f"The file could not be read ({why}); see the guide to batches.",
        )

    def _part(self, chunk: Chunk) -> str:
        try:
            return self.artifacts.get_text(tenant=self.tenant, key=part_key(chunk))
        except NotFoundError:
            missing = range(chunk.first_line, chunk.first_line + chunk.lines)
            return "".join(LineResult(line=number, error=NOT_DONE).model_dump_json() + "\n" for number in missing)

    def _batch(self, name: str, source: str) -> Batch:
        """The batch that the API began for this file, or a new one for a file that was dropped by itself."""
        if is_ulid(name):
            return self.batches.create(tenant=self.tenant, batch_id=name, source_key=source)
        version = self.inbox.version(tenant=self.tenant, key=source)
        batch_id = self.keys.id_for(tenant=self.tenant, key=f"drop#{source}#{version}")
        return self.batches.create(tenant=self.tenant, batch_id=batch_id, source_key=source)


def part_key(chunk: Chunk) -> str:
    """Where the results of a chunk are kept."""
    return f"{chunk.tenant}/batches/{chunk.batch_id}/parts/{chunk.chunk:06d}.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineWork:
    """Does the lines of a chunk."""

    batch_desk: BatchDesk
    desk: Desk
    reception: Callable[[], Reception]
    clock: Clock = system_clock

    async def run(self, chunk: Chunk, *, deadline: Deadline) -> Batch:
        """Do a chunk and keep its results, once; a repeat finds them. Raises `StoreError` where it must be repeated."""
        here = self.batch_desk
        batch = here.batches.get(tenant=chunk.tenant, batch_id=chunk.batch_id)
        try:
            text = here.artifacts.get_text(tenant=chunk.tenant, key=part_key(chunk))
            results = [LineResult.model_validate_json(line) for line in text.splitlines()]
        except NotFoundError:
            results = await self._do(chunk, batch.created_at, deadline)
            text = "".join(result.model_dump_json() + "\n" for result in results)
            here.artifacts.put_text(tenant=chunk.tenant, key=part_key(chunk), text=text, content_type=CONTENT_TYPE)
        failed = sum(result.error is not None for result in results)
        return here.batches.chunk_done(
            tenant=chunk.tenant,
            batch_id=chunk.batch_id,
            chunk=chunk.chunk,
            done=len(results) - failed,
            failed=failed,
        )

    async def _do(self, chunk: Chunk, moment: datetime, deadline: Deadline) -> list[LineResult]:
        data = self.batch_desk.inbox.get_range(tenant=chunk.tenant, key=chunk.key, start=chunk.start, end=chunk.end)
        seats = asyncio.Semaphore(SIDE_BY_SIDE)

        async def one(number: int, text: bytes) -> LineResult:
            async with seats:
                return await self._line(chunk, number, text, moment, deadline)

        numbered = [(chunk.first_line + place, text) for place, text in enumerate(lines_of(data)) if text.strip()]
        return list(await asyncio.gather(*(one(number, text) for number, text in numbered)))

    async def _line(self, chunk: Chunk, number: int, text: bytes, moment: datetime, deadline: Deadline) -> LineResult:
        reference = None
        try:
            line = parse_line(text)
            reference = line.id
            answer_id = derived_ulid(moment, chunk.tenant, chunk.batch_id, str(number))
            record = await self._record(line, answer_id, chunk.batch_id, deadline)
        except StoreError:
            raise
        except TouchstoneError as error:
            return failed_line(number, reference or reference_in(text), error)
        return LineResult(line=number, id=reference, answer=AnswerView.of(record), finished_at=self.clock())

    async def _record(
        self, line: VerifyLine | SolveLine | EvaluateLine, answer_id: str, batch_id: str, deadline: Deadline
    ) -> AnswerRecord:
        if isinstance(line, EvaluateLine):
            return self.reception().evaluate(line.answer_id)
        request = request_of(line)
        image_key = None
        if isinstance(line, SolveLine) and line.image is not None:
            image_key = self.reception().keep_image(line, answer_id)
        record = new_record(
            request, tenant=self.desk.tenant, answer_id=answer_id, now=self.clock(), image_key=image_key
        )
        record = self.desk.answers.create(record.model_copy(update={"batch_id": batch_id}))
        if record.stage not in ENDED:
            if isinstance(request, VerifyRequest):
                record = await verify_own_answer(self.desk, answer_id, deadline=deadline)
            else:
                record = await solve_whole(self.desk, answer_id)
        if record.evaluation.state == "waiting":
            self.reception().workflows.evaluate(tenant=record.tenant, answer_id=record.id)
        return record


def lines_of(data: bytes) -> Sequence[bytes]:
    """The lines of a chunk; only a line feed ends one, as in the cutting."""
    return data.removesuffix(b"\n").split(b"\n")
