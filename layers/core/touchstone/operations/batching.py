"""Batches of a deployment: a file is cut into chunks, each chunk done once, the results collected beside the file.

    inbox/<tenant>/<name>.jsonl ── prepare ──> manifest of chunks ── lines (each) ──> parts ── collect ──>
    inbox/<tenant>/<name>.results.jsonl

A batch belongs to the bytes that it was prepared with: the same file dropped again is the same batch, other bytes under
the same name are another one. One run at a time owns a batch, and nobody else ends it: the event of a dropped file may
come more than once. A file that is dropped again after its batch failed, or went quiet, is a new run of that batch: it
goes on where the last one was, since finished parts and answers are found.

Manifest and parts only serve the work, and the store forgets them a while after. The results stay.
"""

import io
from dataclasses import dataclass
from datetime import timedelta

from touchstone.clock import Clock, system_clock
from touchstone.errors import InputError, NotFoundError, TooLargeError
from touchstone.operations.chunks import RESULTS_SUFFIX, SOURCE_SUFFIX, Chunk, chunks_of
from touchstone.operations.lines import LineError, LineResult
from touchstone.records import Artifacts, Batch, Batches, RequestKeys, is_ulid, new_ulid

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Read whole into a function's memory; about 60,000 problems of ordinary length."""
MAX_LINES = 100_000
"""A result takes about 2.5 KB besides its texts: with this, all results of a file of the greatest size are some 450 MB,
which the collecting function holds once."""
QUIET_AFTER = timedelta(minutes=30)
"""A run of which nothing was heard for so long is gone: a chunk is given up after a quarter of an hour, and the waits
before its repeats are some ten minutes in all."""
CONTENT_TYPE = "application/x-ndjson"
NOT_DONE = LineError(
    reason="not_done", detail="The line was not done: its part of the batch failed. Send it again in a new batch."
)
NOTHING_DONE = "None of its lines could be done; once the cause is removed, put the file there again."
EXPIRED = "What its run had done has expired; put the file there again: answers that exist are not paid twice."


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A batch that is ready to be worked on; `manifest_key` is the whole key of its chunks' list.

    `elsewhere`: another run works on it or has finished it; the list is empty.
    """

    tenant: str
    batch_id: str
    manifest_key: str
    elsewhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDesk:
    """One tenant's batches. `inbox` holds files and results, `scratch` what lies between them, `artifacts` images."""

    tenant: str
    batches: Batches
    inbox: Artifacts
    scratch: Artifacts
    artifacts: Artifacts
    keys: RequestKeys
    clock: Clock = system_clock

    def begin(self, *, key: str | None) -> Batch:
        """A batch whose file is awaited."""
        batch_id = new_ulid(self.clock()) if key is None else self.keys.id_for(tenant=self.tenant, key=f"batch#{key}")
        source = f"{self.tenant}/{batch_id}{SOURCE_SUFFIX}"
        return self.batches.create(tenant=self.tenant, batch_id=batch_id, source_key=source)

    def upload_link(self, batch: Batch) -> str | None:
        """Where to PUT the file; None once it was read. One that could not be may be put there again."""
        if batch.total is not None or batch.state == "finished" or batch.source_key is None:
            return None
        return self.inbox.upload_link(tenant=self.tenant, key=batch.source_key, content_type=CONTENT_TYPE)

    def results_link(self, batch: Batch) -> str | None:
        """Where to GET the results; None before they exist."""
        if batch.results_key is None:
            return None
        return self.inbox.download_link(tenant=self.tenant, key=batch.results_key)

    def image_link(self) -> tuple[str, str]:
        """A fresh key for an image, and where to PUT it."""
        key = f"{self.tenant}/images/{new_ulid(self.clock())}"
        return key, self.artifacts.upload_link(tenant=self.tenant, key=key, content_type="application/octet-stream")

    def prepare(self, name: str, *, owner: str) -> Prepared:
        """Read a dropped file and list its chunks for the run `owner`; a repeat returns the first list.

        A batch that is finished, or that another run works on, is left alone. A file that is empty or too large fails
        its batch with the reason, and raises it as `InputError` or `TooLargeError`.
        """
        source = f"{self.tenant}/{name}{SOURCE_SUFFIX}"
        batch = self._batch(name, source)
        owned = self.batches.own(tenant=self.tenant, batch_id=batch.id, owner=owner, quiet=QUIET_AFTER)
        if owned is None:
            return self._nothing(batch)
        if not self._is_listed(owned):
            try:
                self._list_chunks(batch, source)
            except InputError as error:
                self.batches.fail(tenant=self.tenant, batch_id=batch.id, owner=owner, failure=str(error))
                raise
        whole = self.scratch.whole_key(tenant=self.tenant, key=self._manifest_key(batch.id))
        return Prepared(tenant=self.tenant, batch_id=batch.id, manifest_key=whole)

    def collect(self, batch_id: str, *, owner: str) -> Batch:
        """Put the parts together beside the file, with an error for every line whose part is missing.

        A batch that ended, or that another run owns by now, is left as it is; one without any part fails.
        """
        batch = self.batches.get(tenant=self.tenant, batch_id=batch_id)
        if batch.state != "running" or batch.owner != owner:
            return batch
        try:
            manifest = self.scratch.get_text(tenant=self.tenant, key=self._manifest_key(batch_id))
        except NotFoundError:
            return self.batches.fail(tenant=self.tenant, batch_id=batch_id, owner=owner, failure=EXPIRED)
        results = self._results(manifest)
        if results is None:
            return self.batches.fail(tenant=self.tenant, batch_id=batch_id, owner=owner, failure=NOTHING_DONE)
        source = batch.source_key or f"{self.tenant}/{batch_id}{SOURCE_SUFFIX}"
        key = source.removesuffix(SOURCE_SUFFIX) + RESULTS_SUFFIX
        self.inbox.put_bytes(tenant=self.tenant, key=key, data=results.getvalue(), content_type=CONTENT_TYPE)
        return self.batches.finish(tenant=self.tenant, batch_id=batch_id, results_key=key)

    def refuse(self, name: str, why: str, *, owner: str) -> Batch:
        """Close the batch of a file that the run could not prepare; a reason that it has already is kept."""
        batch = self._batch(name, f"{self.tenant}/{name}{SOURCE_SUFFIX}")
        return self.batches.fail(
            tenant=self.tenant,
            batch_id=batch.id,
            owner=owner,
            failure=f"The file could not be read ({why}); put it there again.",
        )

    def _is_listed(self, batch: Batch) -> bool:
        """Whether the list of chunks is there; it may have expired since it was written."""
        if batch.total is None:
            return False
        try:
            self.scratch.size(tenant=self.tenant, key=self._manifest_key(batch.id))
        except NotFoundError:
            return False
        return True

    def _nothing(self, batch: Batch) -> Prepared:
        key = f"{self.tenant}/batches/{batch.id}/nothing.jsonl"
        self.scratch.put_text(tenant=self.tenant, key=key, text="", content_type=CONTENT_TYPE)
        whole = self.scratch.whole_key(tenant=self.tenant, key=key)
        return Prepared(tenant=self.tenant, batch_id=batch.id, manifest_key=whole, elsewhere=True)

    def _list_chunks(self, batch: Batch, source: str) -> None:
        if self.inbox.size(tenant=self.tenant, key=source) > MAX_FILE_BYTES:
            raise TooLargeError(f"The file is larger than {MAX_FILE_BYTES:,} bytes; split it.", where="file")
        version = self.inbox.version(tenant=self.tenant, key=source)
        data = self.inbox.get_bytes(tenant=self.tenant, key=source)
        total, manifest = 0, io.StringIO()
        for chunk in chunks_of(data, tenant=self.tenant, batch_id=batch.id, key=source, version=version):
            total += len(chunk.numbers)
            manifest.write(chunk.model_dump_json() + "\n")
            if total > MAX_LINES:
                raise TooLargeError(f"The file has more than {MAX_LINES:,} lines; split it.", where="file")
        if not total:
            raise InputError("The file holds no request; write one JSON object a line.", where="file")
        key = self._manifest_key(batch.id)
        self.scratch.put_text(tenant=self.tenant, key=key, text=manifest.getvalue(), content_type=CONTENT_TYPE)
        self.batches.set_total(tenant=self.tenant, batch_id=batch.id, total=total)

    def _results(self, manifest: str) -> io.BytesIO | None:
        """All parts one after the other, None where there is none at all.

        One buffer that grows: the results of a large batch are held once, and given away without a copy. Lines whose
        part is missing are counted as failed and say so.
        """
        results, lost = io.BytesIO(), list[Chunk]()
        chunks = [Chunk.model_validate_json(line) for line in manifest.splitlines()]
        for chunk in chunks:
            try:
                results.write(self.scratch.get_bytes(tenant=self.tenant, key=chunk.part_key))
            except NotFoundError:
                lost.append(chunk)
                missing = (LineResult(line=number, error=NOT_DONE) for number in chunk.numbers)
                results.write("".join(result.model_dump_json() + "\n" for result in missing).encode())
        if len(lost) == len(chunks):
            return None
        for chunk in lost:
            self.batches.chunk_done(
                tenant=self.tenant, batch_id=chunk.batch_id, chunk=chunk.chunk, done=0, failed=len(chunk.numbers)
            )
        return results

    def _manifest_key(self, batch_id: str) -> str:
        return f"{self.tenant}/batches/{batch_id}/manifest.jsonl"

    def _batch(self, name: str, source: str) -> Batch:
        """The batch that the API began for this file, or a new one for a file that was dropped by itself."""
        if is_ulid(name):
            return self.batches.create(tenant=self.tenant, batch_id=name, source_key=source)
        version = self.inbox.version(tenant=self.tenant, key=source)
        batch_id = self.keys.id_for(tenant=self.tenant, key=f"drop#{source}#{version}")
        return self.batches.create(tenant=self.tenant, batch_id=batch_id, source_key=source)
