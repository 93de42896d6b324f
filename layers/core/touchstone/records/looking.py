"""Lists of records, all or filtered: each page makes a bounded number of reads, however many records there are.

DECISION: a filtered list is searched along the index by time, in the query's range of days. A page ends after a fixed
number of lines, even if it found none; its cursor goes on (docs/decisions/0063). No list scans the table, and none
writes items of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, Self

from touchstone.aws import Table, store_faults
from touchstone.records.list_query import ListQuery
from touchstone.records.lists import MAX_PAGE, Page, cursor_after, page_size, resumed_behind, scope_of_filters
from touchstone.records.table import Item
from touchstone.records.ulids import ulid_moment

MOST_LOOKED_AT = 2_000
"""The most records that a page looks at, by their lines in the index: some 250 read units, and half a second of a
function."""
LINES = 500
"""How many lines one query reads: they take half of the 1 MB that a query can return."""
MOST_QUERIES = MOST_LOOKED_AT // LINES
MOST_LOOKED_INTO = 200
"""The reads that look into lines: each reads a whole record, or queries its labels. A page makes no more than these,
except for the rest of its last record."""
OBJECT_READS = 5
"""An object of the bucket counts as this many reads: it takes as long, and may have a megabyte."""
RECORDS = 25
"""How many records are read at once: even at their greatest size they stay below the 16 MB that one call may return."""


class Line(Protocol):
    """What a list shows of a record."""

    @property
    def id(self) -> str:
        """The record's ULID."""

    @property
    def created_at(self) -> datetime:
        """When it arrived."""

    @property
    def model_fields_set(self) -> set[str]:
        """The fields that the stored line has."""

    def model_dump_json(self) -> str:
        """The line as JSON."""

    @classmethod
    def model_validate_json(cls, json_data: str, /) -> Self:
        """The line from its JSON text. Raises `ValidationError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage[S](Page[S]):
    """A page of a list. `looked_at` is how many records were looked at, `looked_to` the moment of the last one's id.

    If there is a cursor, there may be more records behind the page, even if it found none. `looked_to` is None if no
    record was looked at.
    """

    looked_at: int
    looked_to: datetime | None


@dataclass(slots=True)
class _Walk[S]:
    """How far a page has come. `ended`: nothing comes behind `last`, the id that was looked at last."""

    last: str | None = None
    looked_at: int = 0
    reads: int = 0
    ended: bool = False
    found: list[S] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking[S: Line]:
    """One list, and how a page of it is found.

    `what` names its records in sentences, `scope` is its partition of the index by time, and `between` the first and
    the last id that the query can mean. `match_records` is given the lines about which `query` cannot decide; it
    returns those that are meant by their records, by id, as they are to be shown. `reads_of` returns how many reads
    `match_records` makes for a line.
    """

    table: Table
    what: str
    scope: str
    line: type[S]
    query: ListQuery
    between: tuple[str, str]
    match_records: Callable[[Sequence[S]], Mapping[str, S]]
    reads_of: Callable[[S], int] = lambda _: 1

    def page(self, *, limit: int, cursor: str | None, most: int = MAX_PAGE) -> FoundPage[S]:
        """The lines that the query means, in its order.

        A page without filters is full, unless it is the last one. A page with filters ends when it is full, or when it
        has looked at as many lines as it may. Raises `InputError` for a cursor of another list or of other filters, and
        for a limit outside 1 to `most`.
        """
        list_scope = scope_of_filters(self.scope, self.query.given)
        behind = resumed_behind(list_scope, cursor)
        # One line more than asked for is searched, so that the last page is recognised as the last.
        wanted = page_size(limit, most=most) + 1
        walk = _Walk[S]()
        for items in self._queries(walk, behind=behind, wanted=wanted):
            if not self._look(walk, items, wanted=wanted):
                break
        full = len(walk.found) >= wanted
        shown = tuple(walk.found[:limit])
        last = shown[-1].id if full else walk.last
        return FoundPage(
            items=shown,
            cursor=cursor_after(list_scope, last) if last is not None and (full or not walk.ended) else None,
            looked_at=walk.looked_at,
            looked_to=None if last is None else ulid_moment(last),
        )

    def _queries(self, walk: _Walk[S], *, behind: str | None, wanted: int) -> Iterator[Sequence[Item]]:
        """The index's lines in the range of the query, behind the position `behind`, one query's lines at a time."""
        first, last = self.between
        if behind is not None:
            first, last = (first, min(last, behind)) if self.query.sort == "newest" else (max(first, behind), last)
        walk.ended = first > last
        arguments = self._arguments(first, last)
        start: dict[str, Any] = {}
        for _ in range(MOST_QUERIES):
            if walk.ended or len(walk.found) >= wanted:
                return
            # The position itself lies in the range, since a query takes one condition on the sort key only.
            lines = LINES if self.query.filters else wanted - len(walk.found) + (behind is not None)
            with store_faults(f"list {self.what}"):
                reply = self.table.query(**arguments, Limit=lines, **start)
            items = [item for item in reply["Items"] if item["gsi1sk"] != behind]
            walk.looked_at += reply["ScannedCount"] - (len(reply["Items"]) - len(items))
            walk.ended = "LastEvaluatedKey" not in reply
            if items:
                walk.last = str(items[-1]["gsi1sk"])
            yield items
            if not walk.ended:
                # Lines that the filter left out may lie behind the last line that the index returned.
                walk.last = str(reply["LastEvaluatedKey"]["gsi1sk"])
                start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}

    def _arguments(self, first: str, last: str) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "IndexName": "by_time",
            "KeyConditionExpression": "gsi1pk = :scope AND gsi1sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": {":scope": self.scope, ":first": first, ":last": last},
            "ScanIndexForward": self.query.sort == "oldest",
        }
        if self.query.only is not None:
            name, value = self.query.only
            arguments["FilterExpression"] = f"{name} = :only"
            arguments["ExpressionAttributeValues"][":only"] = value
        return arguments

    def _look(self, walk: _Walk[S], items: Sequence[Item], *, wanted: int) -> bool:
        """Add to the walk the lines that the query means; False if the page ends among these lines."""
        waiting: list[tuple[S, bool]] = []
        unknown = 0
        for item in items:
            line = self.line.model_validate_json(str(item["summary"]))
            passes = self.query.matches_line(line)
            if passes is False:
                continue
            waiting.append((line, passes is None))
            if passes is None:
                unknown += 1
                walk.reads += self.reads_of(line)
            if unknown == RECORDS or walk.reads >= MOST_LOOKED_INTO:
                self._close(walk, waiting)
                waiting, unknown = [], 0
                if len(walk.found) >= wanted:
                    return False
                if walk.reads >= MOST_LOOKED_INTO:
                    walk.last, walk.ended = line.id, line.id == str(items[-1]["gsi1sk"]) and walk.ended
                    return False
        self._close(walk, waiting)
        return True

    def _close(self, walk: _Walk[S], waiting: Sequence[tuple[S, bool]]) -> None:
        """Decide on the waiting lines: look into the records of those about which their line does not tell enough."""
        unknown = [line for line, open_one in waiting if open_one]
        meant = self.match_records(unknown) if unknown else {}
        for line, open_one in waiting:
            if not open_one:
                walk.found.append(line)
            elif line.id in meant:
                walk.found.append(meant[line.id])
