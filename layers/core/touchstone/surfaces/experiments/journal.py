"""The replies of judges in an experiment, line by line, so that no paid call is repeated after an interruption.

```text
{"key": "…", "reply": "…", "spends": [{…}], "untold": 0.0}     one line a question
```

A line without a key is about calls that brought no reply. `untold` is the highest price of a call that told no cost.

A line is handed to the operating system before anything rests on it, so that it outlives the process. It reaches the
disk soon after, many lines at a time. If the machine went down and the last line is cut short, that line is removed
when the journal is opened again.
"""

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from pydantic import ValidationError

from touchstone.errors import ConflictError
from touchstone.judges.spends import Spend
from touchstone.locking import try_lock
from touchstone.whole_files import unusable


class ExperimentJournal:
    """The journal of one experiment: a `ReplyCache` in a file that one run at a time holds."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        self._spends: list[Spend] = []
        self._untold = 0.0
        self._end = 0
        self._on_disk = 0
        self._syncing = asyncio.Lock()

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or begin a journal and read what it holds.

        Raises `ConflictError` if another run holds it, and `StoreError` if the file cannot be used.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+b")
        except OSError as error:
            raise unusable(path, error) from None
        if not try_lock(file):
            file.close()
            raise ConflictError(f"Another run is at work in {path.parent}; wait until it has ended, or stop it.")
        journal = cls(path, file)
        journal._read()
        return journal

    @property
    def spends(self) -> tuple[Spend, ...]:
        """All calls that were paid for, also those of earlier runs."""
        return tuple(self._spends)

    @property
    def spent(self) -> float:
        """What all runs may have cost in US dollars. Calls that told no cost count with their highest price."""
        return self._untold + sum(one.cost_usd or 0.0 for one in self._spends)

    def __len__(self) -> int:
        return len(self._places)

    async def get(self, key: str) -> str | None:
        """The stored reply; None if there is none."""
        if (place := self._places.get(key)) is None:
            return None
        start, length = place
        return str(json.loads(os.pread(self._file.fileno(), length, start))["reply"])

    async def put(self, key: str, reply_json: str) -> None:
        """Store a reply under its content address."""
        await self.record(key=key, reply_json=reply_json)

    async def record(
        self,
        *,
        key: str | None = None,
        reply_json: str | None = None,
        spends: Iterable[Spend] = (),
        untold: float = 0.0,
    ) -> None:
        """Store a reply with the calls that were paid for, or only these calls. Raises `StoreError` if it cannot."""
        paid = [one.model_dump(mode="json") for one in spends]
        if key is None and not paid and not untold:
            return
        self._append({"key": key, "reply": reply_json, "spends": paid, "untold": untold})
        await self._sync(self._end)

    def note(self, *, untold: float) -> None:
        """Store what a call may have cost, without waiting for the disk. Raises `StoreError`."""
        self._append({"key": None, "reply": None, "spends": [], "untold": untold})

    def close(self) -> None:
        """Bring everything to the disk and let go of the file. Raises `StoreError` if the disk refuses."""
        if self._file.closed:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unusable(self._path, error) from None
        finally:
            self._file.close()

    def _append(self, entry: Mapping[str, Any]) -> None:
        """Hand a whole line to the operating system. If that fails, the part that was written is removed.

        Places in the file are counted from the end of the last whole line.
        """
        data = json.dumps(entry).encode() + b"\n"
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self._end)
            raise unusable(self._path, error) from None
        self._learn(entry, self._end, len(data))
        self._end += len(data)

    async def _sync(self, end: int) -> None:
        """Wait until everything up to `end` is on the disk. One sync may serve several callers that wait for it."""
        async with self._syncing:
            if self._on_disk < end:
                reached = self._end
                try:
                    await asyncio.to_thread(os.fsync, self._file.fileno())
                except OSError as error:
                    raise unusable(self._path, error) from None
                self._on_disk = reached

    def _read(self) -> None:
        self._file.seek(0)
        for line in self._file:
            if not line.endswith(b"\n"):
                self._file.truncate(self._end)
                break
            try:
                entry = json.loads(line)
                self._learn(entry, self._end, len(line))
            except (ValueError, ValidationError, LookupError, TypeError):
                pass  # a question whose line cannot be read is asked again
            self._end += len(line)
        self._file.seek(0, os.SEEK_END)
        self._on_disk = self._end

    def _learn(self, entry: Mapping[str, Any], start: int, length: int) -> None:
        paid: Sequence[Spend] = [Spend.model_validate(one) for one in entry["spends"]]
        self._untold += float(entry.get("untold", 0.0))
        if entry["key"] is not None and entry["reply"] is not None:
            self._places[str(entry["key"])] = (start, length)
        self._spends.extend(paid)
