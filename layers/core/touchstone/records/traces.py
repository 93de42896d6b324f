"""The traces of judge calls, kept for thirty days in a folder of the bucket that is named after their record.

An object holds the calls of one step. Nothing in the table leads to it: the record's id names the folder. So a trace
costs one write to S3, and no unit of the table.
"""

import gzip
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence

from touchstone.clock import Clock, system_clock
from touchstone.errors import InputError, NotFoundError
from touchstone.judges.tracing import MOST_TEXT_CHARS, TracedCall, TraceView, shortened_call
from touchstone.records.artifacts import Artifacts
from touchstone.records.keys import check_tenant
from touchstone.records.ulids import is_ulid, new_ulid

KEPT_DAYS = 30
"""How long traces are kept: as long as replies are. The bucket's own rule removes older traces."""
MOST_OBJECT_BYTES = 1_000_000
"""The most bytes of the calls in one object, as they are served. Further calls go to further objects; a single call may
be larger."""
MOST_PAGE_BYTES = 4_000_000
"""The most bytes of the calls in one response, as they are served: a function answers at most 6 MB."""
MOST_OBJECTS = 100
"""The most objects that one response reads."""
MOST_CURSOR_CHARS = 200
"""The longest cursor. A cursor is the key of an object."""
MOST_DIGITS = 6
"""The most digits of a part's number."""
CALL_BYTES = 4_000
"""How many bytes a page writes around the texts of a call."""
NONE_KEPT = (
    "No trace is kept under this id. There is one for 30 days of each answer, measurement, quiz, task, experiment and "
    "audit for which a judge was asked, and of each submission as TASK.SUBMISSION, unless TOUCHSTONE_KEEP_PROMPTS is "
    "off; what was asked in the line of deferred evaluations or by a provider's batch has none."
)

_log = logging.getLogger(__name__)


class Traces:
    """Traces of all tenants, each below its tenant. `connect` returns their store, and is called on first use."""

    def __init__(self, connect: Callable[[], Artifacts], *, clock: Clock = system_clock) -> None:
        self._connect = connect
        self._clock = clock

    def keep(self, *, tenant: str, record_id: str, calls: Sequence[TracedCall]) -> None:
        """Keep the calls that were made for a record. A fault loses the trace and nothing else."""
        try:
            objects = self._connect()
            for body in _bodies(calls):
                key = f"{_folder(tenant, record_id)}/{new_ulid(self._clock())}.json.gz"
                objects.put_bytes(
                    tenant=tenant,
                    key=key,
                    data=gzip.compress(body.encode(), 6, mtime=0),
                    content_type="application/gzip",
                )
        except Exception as error:  # noqa: BLE001 - whatever fails, the work does not fail with its trace
            _log.warning("the trace of a record could not be kept: %s", type(error).__name__)

    def read(self, *, tenant: str, record_id: str, cursor: str | None = None) -> TraceView:
        """A page of the calls that were made for a record, from `cursor` on; or of all its parts if it has parts.

        Raises `NotFoundError` if no trace is kept, `InputError` for a cursor of another trace.
        """
        if not is_traced(record_id):
            raise NotFoundError(NONE_KEPT)
        objects = self._connect()
        keys = _listed(objects, tenant=tenant, record_id=record_id, cursor=cursor)
        if not keys and cursor is None:
            raise NotFoundError(NONE_KEPT)
        calls, size = list[TracedCall](), 0
        for number, key in enumerate(keys):
            try:
                body = gzip.decompress(objects.get_bytes(tenant=tenant, key=key)).decode()
            except NotFoundError:
                continue  # its time has just passed
            found = [TracedCall.model_validate(each) for each in json.loads(body)]
            size += sum(map(served_bytes, found))
            if calls and size > MOST_PAGE_BYTES:
                return TraceView(id=record_id, calls=tuple(calls), cursor=keys[number - 1])
            calls.extend(map(_fitting, found))
        more = keys[-1] if len(keys) == MOST_OBJECTS else None
        return TraceView(id=record_id, calls=tuple(calls), cursor=more)


def is_traced(record_id: str) -> bool:
    """Whether calls may be kept under this id: the id of a record, of a part, or of a task's submission."""
    whole, of_part, number = record_id.partition("-")
    if of_part:
        return is_ulid(whole) and number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS
    return all(map(is_ulid, record_id.split(".", 1)))


def _listed(objects: Artifacts, *, tenant: str, record_id: str, cursor: str | None) -> tuple[str, ...]:
    """The keys of a trace behind its cursor, `MOST_OBJECTS` at most: those of the record, else those of its parts."""
    folder = _folder(tenant, record_id)
    for end in ("/", "-"):
        if cursor is not None and not (cursor.startswith(f"{folder}{end}") and len(cursor) <= MOST_CURSOR_CHARS):
            continue
        keys = objects.keys_after(tenant=tenant, begins=folder, end=end, after=cursor, most=MOST_OBJECTS)
        if keys or cursor is not None:
            return keys
    if cursor is not None:
        raise InputError("This cursor does not belong to this trace; start again without one.", where="cursor")
    return ()


def served_bytes(call: TracedCall) -> int:
    """The most bytes that a call takes in a function's response, as the API's JSON or as a page in HTML.

    The JSON has an escape for each character that is not ASCII, and Lambda escapes each of its backslashes, quotation
    marks and new lines once more: 7 bytes for a Chinese character. The page has up to 6 bytes for a character that HTML
    escapes.
    """
    text = json.dumps(call.model_dump(mode="json"), indent=2)
    again = text.count("\\") + text.count("\n")
    return CALL_BYTES + len(text) + again + 4 * sum(map(text.count, "\"'&<>"))


def _fitting(call: TracedCall) -> TracedCall:
    """The call, made to fit a response: if all its texts together are too long, the longest are cut and marked."""
    most = MOST_TEXT_CHARS
    while served_bytes(call) > MOST_PAGE_BYTES and most > 1:
        most //= 2
        call = shortened_call(call, most)
    return call


def _folder(tenant: str, record_id: str) -> str:
    return f"{check_tenant(tenant)}/{record_id}"


def _bodies(calls: Iterable[TracedCall]) -> Iterator[str]:
    """The calls as JSON lists, none much longer than an object may be."""
    written, size = list[str](), 0
    for call in calls:
        served = served_bytes(call)
        if written and size + served > MOST_OBJECT_BYTES:
            yield f"[{','.join(written)}]"
            written, size = [], 0
        written.append(call.model_dump_json(exclude_defaults=True))
        size += served
    if written:
        yield f"[{','.join(written)}]"
