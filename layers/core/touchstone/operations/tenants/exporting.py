"""All data of a tenant as files: a file of JSON lines for each kind of record, and one file for each object."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import batched
from typing import Any

from touchstone.clock import Clock, system_clock
from touchstone.errors import NotFoundError, StoreError
from touchstone.operations.tenants.folder import ExportedFile, ExportFolder, LineFile, aside
from touchstone.records import Artifacts, Tenant
from touchstone.records.belongings import KINDS, OTHER, Belonging, Belongings, kind_of
from touchstone.records.keys import key_in, of_tenant
from touchstone.records.objects import StoredObject, TenantObjects
from touchstone.records.table import Item
from touchstone.whole_files import sha256_of

SIDE_BY_SIDE = 16
"""How many partitions or objects are read at the same time. Each takes some milliseconds, most of them waiting."""
_AT_ONCE = SIDE_BY_SIDE * 16
"""How many partitions or objects are submitted before the first result is written. So many are held in memory."""
_LOOKS = 5
"""How often a document is read if its tenant keeps replacing it."""
_ONLY_INSIDE = frozenset(
    {"pk", "sk", "gsi1pk", "gsi1sk", "gsi2pk", "gsi2sk", "gsi3pk", "revision", "request", "summary", "body_key"}
)
"""Attributes that mean nothing to the tenant: keys, copies for the indexes, marks that tell two writes apart."""
_SECRETS = frozenset({"digest"})
"""Attributes that are never exported: the digest by which a token is recognised."""
_LEFT_OUT = {
    "hashes of tokens": "they are what lets somebody in",
    "earlier versions of objects": "their owner replaced or deleted them",
    "remembered responses to repeated requests": "they repeat what the records say, and last 15 days",
}

type Line = tuple[Belonging, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The result of an export: its files, the number of its objects, and their total size in bytes.

    `begun_at` is when the export began. `gone` are the keys of the objects that were deleted after they were listed and
    before they were read, sorted.
    """

    files: tuple[ExportedFile, ...]
    objects: int
    object_bytes: int
    begun_at: datetime
    gone: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Exports the data of tenants. `bodies` holds long records, `courses` long curricula and learners.

    Every item is exported as it was when it was read. Of work that goes on during the export, the export shows a part.
    """

    belongings: Belongings
    objects: TenantObjects
    bodies: Artifacts
    courses: Artifacts
    clock: Clock = system_clock

    def run(self, tenant: Tenant, folder: ExportFolder, *, show: Callable[[int, str], None]) -> Exported:
        """Write all data of a tenant into a folder. If an export into the folder broke off, continue it.

        `show` is told how many things are written so far, and of what kind. Raises what `ExportFolder.begun` raises,
        and `StoreError`.
        """
        begun_at = self.clock()
        with folder.begun(begun_at):
            try:
                files = self._records(tenant.id, folder, show)
                fetched = self._objects(tenant.id, folder, show)
            except OSError as error:
                raise StoreError(f"{folder.path} cannot be written: {error.strerror}.") from None
            exported = Exported(
                files=(*files, fetched.file),
                objects=fetched.file.lines,
                object_bytes=fetched.size,
                begun_at=begun_at,
                gone=tuple(sorted(fetched.gone)),
            )
            folder.write_manifest(self._manifest(tenant, exported))
        return exported

    def _manifest(self, tenant: Tenant, exported: Exported) -> dict[str, Any]:
        kept_back = {kind.name: kind.kept_back for kind in KINDS if kind.kept_back is not None}
        return {
            "tenant": tenant.id,
            "name": tenant.name,
            "complete": True,
            "begun_at": exported.begun_at.isoformat(),
            "finished_at": self.clock().isoformat(),
            "files": [file.shown for file in exported.files],
            "objects": {"count": exported.objects, "bytes": exported.object_bytes, "gone": list(exported.gone)},
            "left_out": kept_back | _LEFT_OUT,
        }

    def _records(self, tenant: str, folder: ExportFolder, show: Callable[[int, str], None]) -> list[ExportedFile]:
        kinds = [kind for kind in (*KINDS, OTHER) if kind.kept_back is None]
        written = 0
        with ExitStack() as unfinished:
            files = {kind.name: LineFile(path=folder.path / f"{kind.name}.jsonl") for kind in kinds}
            for file in files.values():
                unfinished.callback(file.abandon)
            for kind, line in self._lines(tenant):
                files[kind.name].add(line)
                written += 1
                show(written, kind.name)
            unfinished.pop_all()
        return [file.close() for file in files.values()]

    def _lines(self, tenant: str) -> Iterator[Line]:
        """Every exported item of the tenant, with its kind, as a line of that kind's file."""
        partitions = (of_tenant(tenant), *self.belongings.partitions(tenant))
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            for some in batched(dict.fromkeys(partitions), _AT_ONCE, strict=False):
                for lines in pool.map(lambda pk: self._partition(tenant, pk), some):
                    yield from lines

    def _partition(self, tenant: str, pk: str) -> list[Line]:
        for _ in range(_LOOKS):
            try:
                return [
                    (kind, self._line(tenant, item, kind))
                    for item in self.belongings.items(pk)
                    if (kind := kind_of(key_in(item))).kept_back is None
                ]
            except NotFoundError:  # between the reads of an item and its body the document was replaced or removed
                continue
        raise StoreError("What a tenant has was changed each time it was read; it is safe to repeat.")

    def _line(self, tenant: str, item: Item, kind: Belonging) -> dict[str, Any]:
        line: dict[str, Any] = {"key": {"pk": item["pk"], "sk": item["sk"]}}
        hidden = _ONLY_INSIDE | _SECRETS
        if "body" in item or "body_key" in item:
            hidden |= {"count"}  # a record's `count` is its place in an index
        line |= {name: _plain(value) for name, value in item.items() if name not in hidden and name != "body"}
        body = item.get("body")
        if "body_key" in item:
            store = self.courses if kind.documents else self.bodies
            body = store.get_text(tenant=tenant, key=item["body_key"])
        # A label has no body: its summary is all of it. For all other records the body contains the summary.
        body = item.get("summary") if body is None else body
        return line if body is None else line | {"body": json.loads(body)}

    def _objects(self, tenant: str, folder: ExportFolder, show: Callable[[int, str], None]) -> _Fetched:
        size, fetch, gone, places = 0, _Fetch(objects=self.objects, folder=folder), list[str](), set[str]()
        listed = LineFile(path=folder.path / "objects.jsonl")
        try:
            with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
                for some in batched(self.objects.all(tenant), _AT_ONCE, strict=False):
                    placed = [(stored, folder.place(stored.root, stored.name)) for stored in some]
                    for (stored, place), line in zip(placed, pool.map(fetch, placed), strict=True):
                        if line is None:
                            gone.append(stored.key)
                            continue
                        places.add(place)
                        listed.add(line)
                        size += line["bytes"]
                        show(listed.lines, "objects")
            folder.sweep(places)
        except BaseException:
            listed.abandon()
            raise
        return _Fetched(file=listed.close(), size=size, gone=gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetched:
    """The file that lists the objects, their total bytes, and the keys of objects deleted before they were read."""

    file: ExportedFile
    size: int
    gone: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetch:
    """Fetches an object to its place, unless an earlier try has fetched it completely."""

    objects: TenantObjects
    folder: ExportFolder

    def __call__(self, placed: tuple[StoredObject, str]) -> dict[str, Any] | None:
        """The line for the object in the list of objects. None if the object was deleted meanwhile."""
        stored, place = placed
        path = self.folder.path / place
        modified = int(stored.modified_at.timestamp())
        there = path.stat() if path.is_file() else None
        if there is None or (there.st_size, int(there.st_mtime)) != (stored.size, modified):
            part = aside(path)
            if not self.objects.fetch(stored, part):
                part.unlink(missing_ok=True)
                return None  # if an earlier try left a file in this place, `sweep` removes it
            # A later try recognises a complete file by its size and this time of modification.
            os.utime(part, (modified, modified))
            part.replace(path)
        return {
            "key": stored.key,
            "file": place,
            "bytes": path.stat().st_size,
            "sha256": sha256_of(path),
            "modified_at": stored.modified_at.isoformat(),
        }


def _plain(value: Any) -> Any:
    """A value of the table in its JSON form."""
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case _:
            return value
