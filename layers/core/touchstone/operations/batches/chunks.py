"""The chunks of a batch's file: some lines each, cut after line ends, so that each can be read and done separately."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

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
"""The suffix of a file whose lines are asked at once."""


class LineChunk(BaseModel):
    """Some lines of a file: its bytes from `start` to `end` (exclusive). The first line of the file has the number 1.

    `version` is the version of the file that was cut. `blank` are the numbers of lines that hold nothing. `last`: each
    line of the chunk ends with this try, whatever comes of it. `now` are the numbers of lines that are asked at once,
    whatever the lines themselves say.
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
        """The key of the chunk's results."""
        return f"{listing_folder(self.tenant, self.batch_id, self.version)}/parts/{self.chunk:06d}.jsonl"


def request_of(line: BaseModel) -> Any:
    """The request that a line carries: an instance of the class that the line's class extends."""
    kind: Any = type(line).__base__
    return kind(**{name: getattr(line, name) for name in kind.model_fields})


def listing_folder(tenant: str, batch_id: str, version: str) -> str:
    """The folder of a batch's list of chunks and of their parts.

    Each version of the file has its own, as it is cut anew.
    """
    return f"{tenant}/batches/{batch_id}/{version}"


def asks_now(key: str) -> bool:
    """Whether the name of a dropped file says that its lines are asked at once: `<name>.now.jsonl`."""
    return key.endswith(NOW_SUFFIX)


def tenant_of(key: str) -> tuple[str, str]:
    """The tenant and the name in the key of a dropped file, `inbox/<tenant>/<name>.jsonl`. Raises `InputError`."""
    tenant, _, name = key.removeprefix(INBOX).partition("/")
    dropped = key.startswith(INBOX) and name.endswith(SOURCE_SUFFIX) and not name.endswith(RESULTS_SUFFIX)
    if not tenant or not dropped:
        raise InputError("A file of requests is dropped as inbox/<tenant>/<name>.jsonl.", where="key")
    return tenant, name.removesuffix(SOURCE_SUFFIX)


def chunks_of(data: bytes, *, tenant: str, batch_id: str, key: str, version: str) -> Iterator[LineChunk]:
    """Cut a file after line ends into chunks of at most `CHUNK_LINES` lines and `CHUNK_BYTES` bytes.

    A line that is longer than `CHUNK_BYTES` is a chunk of its own.
    """
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
    """The lines of a chunk or a list. Only a line feed ends a line, as in `chunks_of`."""
    return data.removesuffix(b"\n").split(b"\n")


def listed(data: bytes) -> Iterator[LineChunk]:
    """The chunks of a list."""
    return (LineChunk.model_validate_json(line) for line in lines_of(data) if line)


def to_list(chunks: Iterable[LineChunk]) -> str:
    """A list of chunks as JSON lines, in ASCII: some readers split lines also at other characters than line feeds."""
    return "".join(json.dumps(chunk.model_dump(mode="json")) + "\n" for chunk in chunks)
