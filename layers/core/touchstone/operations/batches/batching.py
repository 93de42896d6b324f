"""Batches of a deployment: a file is cut into chunks, each chunk done once, the results collected beside the file.

    inbox/<tenant>/<name>.jsonl ── prepare ──> manifest of chunks ── lines (each) ──> parts ── collect ──>
    inbox/<tenant>/<name>.results.jsonl

A file that is dropped without the API makes a batch of its bytes: the same file dropped again is the same batch, other
bytes under the same name are another batch. A file that is put where the API awaits it belongs to the batch that the
API began. A file that is dropped under a tenant that does not exist is left alone, and nothing is recorded of it.

One run at a time owns a batch, and no other run ends it: the event of a dropped file may come more than once. If a file
is dropped again after its batch failed or went quiet, that is a new run of the batch. It continues where the last run
stopped, since it finds finished parts and answers. If the bytes have changed, the file is cut and counted anew.

Manifest and parts only serve the work, and the store deletes them some time later. The results stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from touchstone.attempts import When
from touchstone.clock import Clock, system_clock
from touchstone.errors import InputError, NotFoundError, StoreError, TooLargeError
from touchstone.operations.batches.chunks import (
    NOW_SUFFIX,
    SOURCE_SUFFIX,
    LineChunk,
    chunks_of,
    listing_folder,
    to_list,
)
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
QUIET_AFTER = timedelta(minutes=30)
"""A run that was silent for this long is gone: a chunk is given up after a quarter of an hour, and the waits before its
repeats take about ten minutes in all."""
CONTENT_TYPE = "application/x-ndjson"
PUT_AGAIN = "put the file in its place again (the batch's upload_url, or the key where it was dropped)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A batch that is ready to be worked on. `manifest_key` is the whole key of the list of its chunks.

    `elsewhere`: another run works on the batch or has finished it; then the list is empty.
    """

    tenant: str
    batch_id: str
    manifest_key: str
    elsewhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """One tenant's batches. `inbox` holds files and results, `scratch` the files in between, `artifacts` images.

    `days` is how long a run waits for undecided lines.
    """

    tenant: str
    tenants: Tenants
    batches: Batches
    inbox: Artifacts
    scratch: Artifacts
    artifacts: Artifacts
    keys: RequestIds
    days: timedelta = WAITS_FOR
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
        whole = self.scratch.whole_key(tenant=self.tenant, key=self.manifest_key(batch.id, version))
        return Prepared(tenant=self.tenant, batch_id=batch.id, manifest_key=whole)

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
            self.scratch.size(tenant=self.tenant, key=self.manifest_key(batch.id, version))
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
        key = self.manifest_key(batch_id, version)
        self.scratch.put_text(tenant=self.tenant, key=key, text=to_list(chunks), content_type=CONTENT_TYPE)
        return self.batches.set_total(tenant=self.tenant, batch_id=batch_id, owner=owner, version=version, total=total)

    def manifest_key(self, batch_id: str, version: str) -> str:
        """The key of the list of a batch's chunks."""
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
