"""The journal of the providers' batches that answer a file of requests. It is a file beside the results.

    digest of the file of requests
    intent, before each create ──> created ──> replies ──> ended
                    └──> dropped: refused, or certainly not created

Each entry is on the disk before the next step is taken, so a run after a crash knows which batches there are, or may
be. The journal holds the replies, but of the questions only their addresses. It is deleted when all lines are decided.
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

from touchstone.cli.files.batch_files import other_file_error
from touchstone.errors import ConflictError, StoreError
from touchstone.judges.batches import BatchReply
from touchstone.whole_files import PRIVATE

SUFFIX = ".batches"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class JournalHeader(_Entry):
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

    @property
    def recipient(self) -> tuple[str, str]:
        """The provider and the model."""
        return self.provider, self.model


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


class ReceivedReply(_Entry):
    """What a line of a batch brought."""

    kind: Literal["got"] = "got"
    intent: str
    reply: BatchReply


class EndedBatch(_Entry):
    """A batch that has brought what it ever will. `lost`: nobody can tell what that was any more, all is paid for."""

    kind: Literal["ended"] = "ended"
    intent: str
    lost: bool = False


type Entry = JournalHeader | Intent | Created | Dropped | ReceivedReply | EndedBatch
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


@dataclass(slots=True)
class SubmittedBatch:
    """An intent and the state of its batch. `replies` count only after the batch has `ended`.

    `batch` is the id at the provider, None if it is not known; `ends_by` is None if the provider told no time.
    `cancelled_at` is when this run first cancelled it for being late. `lost` is as in `EndedBatch`.
    """

    intent: Intent
    batch: str | None = None
    ends_by: datetime | None = None
    cancelled_at: datetime | None = None
    replies: dict[str, BatchReply] = field(default_factory=dict)
    ended: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreportedReplies:
    """Replies that were paid for and are in no result: their number, and what they cost at most in US dollars.

    A `lost` batch, whose replies nobody can have, adds its highest cost to the sum if that is known, and nothing to the
    number of replies.
    """

    count: int
    lost: int
    most_usd: float

    def __str__(self) -> str:
        """What it is, in words; empty if it is nothing."""
        asked = "questions that are not asked any more (the prompt, the model or a check is another one)"
        replies = f"{self.count} repl{'y' if self.count == 1 else 'ies'} to {asked}"
        lost = f"{self.lost} batch{'' if self.lost == 1 else 'es'} whose replies could not be had"
        return " and ".join([replies] * (self.count > 0) + [lost] * (self.lost > 0))


class BatchJournal:
    """The journal of one file of requests, for one process at a time. Raises `StoreError` if the file cannot be used.

    `requests` is the digest of the file of requests; None: the caller only ends the batches that are under way. Raises
    `ConflictError` if the batches belong to another file of requests, or if the journal is damaged.
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
        """The submitted batches that have not ended, the oldest first."""
        return [each for each in self.submissions.values() if not each.ended]

    @property
    def known(self) -> set[str]:
        """The ids of all batches whose intents are known."""
        return {each.batch for each in self.submissions.values() if each.batch is not None}

    def replies(self, answer: str) -> Mapping[str, list[BatchReply]]:
        """The replies that ended batches brought for an answer, by the address of the question, the oldest first."""
        return self._brought.get(answer, {})

    def untold(self, told: Collection[str]) -> UnreportedReplies:
        """The paid replies that are in no result, and what they may have cost at most.

        `told` are the ids of the batch lines whose calls are in results.
        """
        count, lost, most = 0, 0, 0.0
        for each in self.submissions.values():
            if each.lost:
                lost += 1
                most += each.intent.most_usd or 0.0
                continue
            share = (each.intent.most_usd or 0.0) / max(1, len(each.intent.lines))
            for reply in each.replies.values():
                if reply.missed is None and reply.status == HTTPStatus.OK and reply.line_id not in told:
                    count, most = count + 1, most + share
        return UnreportedReplies(count=count, lost=lost, most_usd=most)

    def waiting(self) -> frozenset[LinePlace]:
        """The questions that are in a batch now, or may be."""
        return frozenset(place for each in self.open for place in each.intent.lines.values())

    def add(self, *entries: Entry) -> None:
        """Append entries to the journal. They are on the disk when this returns. Raises `StoreError`."""
        if not self._begun and self._requests is not None:
            entries = (JournalHeader(requests=self._requests), *entries)
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
        """Close the file. With `remove`, delete it and forget its batches."""
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
                    os.fsync(folder)  # so that a new file also survives a crash
                finally:
                    os.close(folder)
        return self._file

    def _read(self) -> None:
        """Read the file. An incomplete last line is removed: no step was taken after it."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error.strerror}.") from None
        whole = data[: data.rfind(b"\n") + 1]
        for entry in self._entries(whole):
            if self._requests is not None and not self._begun and entry != JournalHeader(requests=self._requests):
                raise other_file_error(self.path, "batches")
            try:
                self._apply(entry)
            except KeyError:  # an entry before it is missing
                raise self._damaged() from None
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))

    def _entries(self, data: bytes) -> Iterator[Entry]:
        for text in data.split(b"\n")[:-1]:
            try:
                yield _ENTRY.validate_json(text)
            except ValidationError:
                raise self._damaged() from None

    def _damaged(self) -> ConflictError:
        return ConflictError(
            f"{self.path} is damaged, so it is not known what is under way at providers; --again begins anew."
        )

    def _apply(self, entry: Entry) -> None:
        self._begun = True
        match entry:
            case JournalHeader():
                pass
            case Intent():
                self.submissions[entry.intent] = SubmittedBatch(entry)
            case Created():
                self.submissions[entry.intent].batch = entry.batch
                self.submissions[entry.intent].ends_by = entry.ends_by
            case Dropped():
                del self.submissions[entry.intent]
            case ReceivedReply():
                self.submissions[entry.intent].replies[entry.reply.line_id] = entry.reply
            case EndedBatch():
                ended = self.submissions[entry.intent]
                ended.ended, ended.lost = True, entry.lost
                for line_id, place in ended.intent.lines.items():
                    brought = self._brought.setdefault(place.answer, {}).setdefault(place.question, [])
                    brought.append(ended.replies[line_id])


def journal_path(results: Path) -> Path:
    """The path of the journal of a file of results."""
    return results.with_name(results.name + SUFFIX)
