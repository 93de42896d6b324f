"""Earlier replies by content address: in memory for one process, in a file for the command line."""

import asyncio
from collections import OrderedDict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from touchstone.errors import StoreError

if TYPE_CHECKING:
    import sqlite3

MEMORY_ENTRIES = 4_096
"""The default number of replies in memory. A reply is about 1 KB, so all of them take some 4 MB."""

BUSY_SECONDS = 2.0
"""How long to wait for another process that writes the same file."""


class MemoryCache:
    """Replies of this process, the least recently used one dropped first."""

    def __init__(self, *, entries: int = MEMORY_ENTRIES) -> None:
        self._entries = entries
        self._replies: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._replies)

    async def get(self, key: str) -> str | None:
        """The stored reply, None when there is none (any more)."""
        reply = self._replies.get(key)
        if reply is not None:
            self._replies.move_to_end(key)
        return reply

    async def put(self, key: str, reply_json: str) -> None:
        """Store a reply, dropping the least recently used one when full."""
        self._replies[key] = reply_json
        self._replies.move_to_end(key)
        if len(self._replies) > self._entries:
            self._replies.popitem(last=False)


class FileCache:
    """Replies in a SQLite file that several runs and processes share. Raises `StoreError` when it cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get(self, key: str) -> str | None:
        """The stored reply, None when there is none."""
        return await asyncio.to_thread(self._get, key)

    async def put(self, key: str, reply_json: str) -> None:
        """Store a reply; an earlier one under this key is replaced."""
        await asyncio.to_thread(self._put, key, reply_json)

    def _get(self, key: str) -> str | None:
        import sqlite3

        try:
            with closing(self._open()) as file:
                row = file.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None
        return None if row is None else str(row[0])

    def _put(self, key: str, reply_json: str) -> None:
        import sqlite3

        try:
            with closing(self._open()) as file, file:
                file.execute("INSERT OR REPLACE INTO replies (key, reply) VALUES (?, ?)", (key, reply_json))
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None

    def _open(self) -> "sqlite3.Connection":
        import sqlite3

        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = sqlite3.connect(self._path, timeout=BUSY_SECONDS)
        try:
            file.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID")
        except sqlite3.Error:
            file.close()
            raise
        return file

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(
            f"The reply cache {self._path} cannot be used ({type(error).__name__}); delete it or name another."
        )
