"""What is known of the batches at providers that a file of requests is done by: a file beside its results.

    digest of the file of requests
    intent, before each create ──> created ──> replies ──> ended
                    └──> dropped: refused, or certainly not created

An intent and what follows from it is on the disk before the next step is taken, so whoever comes after a crash knows
which batches there are, or may be. The file holds replies, and of the questions only addresses. It is gone when all
lines have their end.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from io import FileIO
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from touchstone.cli.files.batch_files import foreign
from touchstone.cli.terminal.places import PRIVATE
from touchstone.errors import ConflictError, StoreError
from touchstone.judges.batches import BatchReply

SUFFIX = ".batches"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Of(_Entry):
    """The first entry: whose batches these are, by the digest of the file of requests."""

    kind: Literal["of"] = "of"
    requests: str


class LinePlace(_Entry):
    """Which question a line of a batch is: the id of the answer that it belongs to, and its address."""

    answer: str
    question: str


class Intent(_Entry):
    """A batch that is about to be created. `most_usd` None: what it may cost is not known."""

    kind: Literal["intent"] = "intent"
    intent: str
    provider: str
    model: str
    at: datetime
    lines: dict[str, LinePlace]
    most_usd: float | None = None


class Created(_Entry):
    """The batch of an intent, by its provider's id."""

    kind: Literal["created"] = "created"
    intent: str
    batch: str
    ends_by: datetime | None


class Dropped(_Entry):
    """An intent without a batch."""

    kind: Literal["dropped"] = "dropped"
    intent: str


class Got(_Entry):
    """What a line of a batch brought."""

    kind: Literal["got"] = "got"
    intent: str
    reply: BatchReply


class EndedBatch(_Entry):
    """A batch that has brought what it ever will."""

    kind: Literal["ended"] = "ended"
    intent: str


type Entry = Of | Intent | Created | Dropped | Got | EndedBatch
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


@dataclass(slots=True)
class SubmittedBatch:
    """One intent and what came of it. `replies` count once the batch has `ended`."""

    intent: Intent
    batch: str | None = None
    ends_by: datetime | None = None
    replies: dict[str, BatchReply] = field(default_factory=dict)
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Untold:
    """Replies that were paid for and stand in no result: how many, and what they cost at most in US dollars."""

    count: int
    most_usd: float


class BatchJournal:
    """The file, for one process at a time. Raises `StoreError` where it cannot be written.

    `requests` is the digest of the file of requests, None for whoever only ends what is under way. Raises
    `ConflictError` where the batches are those of another file, or the file is damaged.
    """

    def __init__(self, path: Path, requests: str | None) -> None:
        self.path = path
        self._requests = requests
        self._begun = False
        self.submissions: dict[str, SubmittedBatch] = {}
        self._brought: dict[str, dict[str, list[BatchReply]]] = {}
        self._file: FileIO | None = None
        self._read()

    @property
    def open(self) -> list[SubmittedBatch]:
        """The submissions that have not ended, oldest first."""
        return [each for each in self.submissions.values() if not each.ended]

    def replies(self, answer: str) -> Mapping[str, list[BatchReply]]:
        """What batches brought for the questions of an answer, by their addresses, oldest first."""
        return self._brought.get(answer, {})

    def untold(self, told: Collection[str]) -> Untold:
        """The replies that are in no result whose calls have the `told` ids: what they may have cost at most."""
        count, most = 0, 0.0
        for each in self.submissions.values():
            share = (each.intent.most_usd or 0.0) / max(1, len(each.intent.lines))
            for reply in each.replies.values():
                if reply.missed is None and reply.status == HTTPStatus.OK and reply.line_id not in told:
                    count, most = count + 1, most + share
        return Untold(count=count, most_usd=most)

    def waiting(self) -> frozenset[LinePlace]:
        """The questions that are in a batch now, or may be."""
        return frozenset(place for each in self.open for place in each.intent.lines.values())

    def add(self, *entries: Entry) -> None:
        """Keep entries; they are on the disk when this returns."""
        if not self._begun and self._requests is not None:
            entries = (Of(requests=self._requests), *entries)
        try:
            file = self._opened()
            data = b"".join(_ENTRY.dump_json(entry) + b"\n" for entry in entries)
            written = file.write(data)
            os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error.strerror}.") from None
        if written < len(data):
            raise StoreError(f"{self.path} took only part of an entry: is the disk full?")
        for entry in entries:
            self._apply(entry)

    def close(self, *, remove: bool = False) -> None:
        """Close the file, and with `remove` delete it."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if remove:
            self.path.unlink(missing_ok=True)
            self.submissions, self._brought, self._begun = {}, {}, False

    def _opened(self) -> FileIO:
        if self._file is None:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE)
            self._file = FileIO(descriptor, "ab")
            if os.name == "posix":  # elsewhere a folder cannot be opened
                folder = os.open(self.path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)  # so that a new file outlives a crash, too
                finally:
                    os.close(folder)
        return self._file

    def _read(self) -> None:
        """Read the file. A last line that was cut short was never acted on, and is cut off."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error.strerror}.") from None
        whole = data[: data.rfind(b"\n") + 1]
        for entry in self._entries(whole):
            if self._requests is not None and not self._begun and entry != Of(requests=self._requests):
                raise foreign(self.path, "batches")
            self._apply(entry)
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))

    def _entries(self, data: bytes) -> Iterator[Entry]:
        for text in data.split(b"\n")[:-1]:
            try:
                yield _ENTRY.validate_json(text)
            except ValidationError:
                raise ConflictError(
                    f"{self.path} is damaged, so it is not known what is under way at providers; --again begins anew."
                ) from None

    def _apply(self, entry: Entry) -> None:
        self._begun = True
        match entry:
            case Of():
                pass
            case Intent():
                self.submissions[entry.intent] = SubmittedBatch(entry)
            case Created():
                self.submissions[entry.intent].batch = entry.batch
                self.submissions[entry.intent].ends_by = entry.ends_by
            case Dropped():
                del self.submissions[entry.intent]
            case Got():
                self.submissions[entry.intent].replies[entry.reply.line_id] = entry.reply
            case EndedBatch():
                ended = self.submissions[entry.intent]
                ended.ended = True
                for line_id, place in ended.intent.lines.items():
                    brought = self._brought.setdefault(place.answer, {}).setdefault(place.question, [])
                    brought.append(ended.replies[line_id])


def journal_path(results: Path) -> Path:
    """Where the journal of a file of results lies."""
    return results.with_name(results.name + SUFFIX)
