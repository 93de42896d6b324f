"""The chunks of a batch's file: some lines each, cut after line ends, so that each can be read and done by itself."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from touchstone.errors import InputError

MAX_REFERENCE_CHARS = 256

type LineName = Annotated[str, Field(max_length=MAX_REFERENCE_CHARS)] | None
"""The sender's own name for a line, returned with its result."""
CHUNK_LINES = 25
CHUNK_BYTES = 1024 * 1024
INBOX = "inbox/"
"""The folder of the bucket where tenants drop their files."""
SOURCE_SUFFIX = ".jsonl"
RESULTS_SUFFIX = ".results.jsonl"
NOW_SUFFIX = ".now.jsonl"
"""Ends the name of a file whose lines are asked at once."""


class LineChunk(BaseModel):
    """Some lines of a file: bytes `start` to `end` (exclusive), the first line's number counted from 1.

    `version` is the file's as it was cut, and `blank` the numbers of lines that hold nothing. `last`: each line of it
    ends with this try, whatever comes of it. `now`: the numbers of lines that are asked at once, whatever they say
    themselves.
    """

    model_config = ConfigDict(frozen=True)

    tenant: str
    batch_id: str
    key: str
    version: str
    chunk: int
    first_line: int
    lines: int
    blank: tuple[int, ...] = ()
    start: int
    end: int
    last: bool = False
    now: tuple[int, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the lines that hold something."""
        return tuple(n for n in range(self.first_line, self.first_line + self.lines) if n not in self.blank)

    @property
    def part_key(self) -> str:
        """Where the results of the chunk are kept."""
        return f"{listing_folder(self.tenant, self.batch_id, self.version)}/parts/{self.chunk:06d}.jsonl"


def listing_folder(tenant: str, batch_id: str, version: str) -> str:
    """Where a batch's list of chunks and their parts are kept: apart for each version of the file, which cuts anew."""
    return f"{tenant}/batches/{batch_id}/{version}"


def asks_now(key: str) -> bool:
    """Whether the name of a dropped file says that its lines are asked at once: `<name>.now.jsonl`."""
    return key.endswith(NOW_SUFFIX)


def tenant_of(key: str) -> tuple[str, str]:
    """Tenant and name from a dropped file's key, `inbox/<tenant>/<name>.jsonl`. Raises `InputError`."""
    tenant, _, name = key.removeprefix(INBOX).partition("/")
    dropped = key.startswith(INBOX) and name.endswith(SOURCE_SUFFIX) and not name.endswith(RESULTS_SUFFIX)
    if not tenant or not dropped:
        raise InputError("A file of requests is dropped as inbox/<tenant>/<name>.jsonl.", where="key")
    return tenant, name.removesuffix(SOURCE_SUFFIX)


def chunks_of(data: bytes, *, tenant: str, batch_id: str, key: str, version: str) -> Iterator[LineChunk]:
    """Cut a file after line ends, into at most `CHUNK_LINES` lines each, and `CHUNK_BYTES` but for a longer line."""
    start, number, chunk = 0, 1, 0
    while start < len(data):
        end, lines = start, 0
        blank: list[int] = []
        while end < len(data) and lines < CHUNK_LINES:
            stop = data.find(b"\n", end) + 1 or len(data)
            if lines and stop - start > CHUNK_BYTES:
                break
            if not data[end:stop].strip():
                blank.append(number + lines)
            end, lines = stop, lines + 1
        yield LineChunk(
            tenant=tenant,
            batch_id=batch_id,
            key=key,
            version=version,
            chunk=chunk,
            first_line=number,
            lines=lines,
            blank=tuple(blank),
            start=start,
            end=end,
        )
        start, number, chunk = end, number + lines, chunk + 1


def lines_of(data: bytes) -> Sequence[bytes]:
    """The lines of a chunk or a list; only a line feed ends one, as in the cutting."""
    return data.removesuffix(b"\n").split(b"\n")


def listed(data: bytes) -> Iterator[LineChunk]:
    """The chunks of a list."""
    return (LineChunk.model_validate_json(line) for line in lines_of(data) if line)


def to_list(chunks: Iterable[LineChunk]) -> str:
    """A list of chunks, in ASCII: whoever reads it splits it at line feeds, or at what else ends a line."""
    return "".join(json.dumps(chunk.model_dump(mode="json")) + "\n" for chunk in chunks)
