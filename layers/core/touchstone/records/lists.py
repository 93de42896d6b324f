"""Pages of lists: the two queries of the table's indexes that they need, and the cursor that leads to the next one."""

import base64
import binascii
import hashlib
import heapq
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from touchstone.aws import Table, store_faults
from touchstone.errors import InputError
from touchstone.records.keys import sortable
from touchstone.records.table import Item, query

MAX_PAGE = 100
_TAG_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Page[T]:
    """Some items of a list, in its order. `cursor` leads to the next items; None at the end of the list."""

    items: tuple[T, ...]
    cursor: str | None


def page_size(limit: int, *, most: int = MAX_PAGE) -> int:
    """The limit unchanged. Raises `InputError` outside 1 to `most`."""
    if not 1 <= limit <= most:
        raise InputError(f"Ask for 1 to {most:,} items a page.", where="limit")
    return limit


def cursor_after(scope: str, position: str) -> str:
    """An opaque cursor that leads on behind `position` (a sort key); it is valid only in the list `scope`."""
    return base64.urlsafe_b64encode(f"{_tag(scope, position)}{position}".encode()).decode().rstrip("=")


def position_of(scope: str, cursor: str) -> str:
    """The position of a cursor. Raises `InputError` if it is garbled or comes from another list or tenant.

    The tag guards against mistakes, not against forgery: the position is only ever used inside the caller's own list.
    """
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise _refusal() from error
    tag, position = text[:_TAG_CHARACTERS], text[_TAG_CHARACTERS:]
    if not position or tag != _tag(scope, position):
        raise _refusal()
    return position


def is_cursor_of(scope: str, cursor: str) -> bool:
    """Whether a cursor belongs to the list `scope`."""
    try:
        position_of(scope, cursor)
    except InputError:
        return False
    return True


def scope_of_filters(scope: str, given: Mapping[str, Any]) -> str:
    """The scope of a list with these filters: with others, its cursors would skip records that they mean."""
    return f"{scope}\x1f{json.dumps(given)}" if given else scope


def resumed_behind(scope: str, cursor: str | None) -> str | None:
    """The position that a filtered list goes on behind; None: it begins.

    Raises `InputError` for a cursor of another list or of other filters.
    """
    if cursor is None:
        return None
    if not is_cursor_of(scope, cursor):
        raise InputError(
            "This cursor came with other filters or from another list; send it with the filters that it came with, or "
            "start again without one.",
            where="cursor",
        )
    return position_of(scope, cursor)


def page_of[T](items: Sequence[T], *, key: Callable[[T], str], scope: str, limit: int, cursor: str | None) -> Page[T]:
    """At most `limit` of `items`, which are sorted by `key`: the first items, or the items behind the cursor.

    Items that were added or removed meanwhile move none of the others. Raises `InputError` for a cursor of another
    list.
    """
    begin = 0 if cursor is None else bisect_right(items, position_of(scope, cursor), key=key)
    shown = tuple(items[begin : begin + limit])
    more = begin + limit < len(items)
    return Page(shown, cursor_after(scope, key(shown[-1])) if more else None)


def _tag(scope: str, position: str) -> str:
    return hashlib.sha256(f"{scope}\x1f{position}".encode()).hexdigest()[:_TAG_CHARACTERS]


def _refusal() -> InputError:
    return InputError("This cursor does not belong to this list; start again without one.", where="cursor")


_BEFORE_ALL = "0"
"""A position before all others: positions begin with a digit or a letter."""


def newest(table: Table, what: str, *, scope: str, limit: int, cursor: str | None) -> tuple[list[Item], str | None]:
    """A page of the items of `scope` in the index by time, newest first; and the next page's cursor, None at the end.

    Raises `InputError` for a cursor of another list and for a limit outside 1 to 100.
    """
    condition = "gsi1pk = :scope"
    values: dict[str, Any] = {":scope": scope}
    if cursor is not None:
        condition += " AND gsi1sk < :position"
        values[":position"] = position_of(scope, cursor)
    with store_faults(f"list {what}"):
        found: list[Item] = table.query(
            IndexName="by_time",
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            ScanIndexForward=False,
            Limit=page_size(limit) + 1,
        )["Items"]
    shown = found[:limit]
    return shown, cursor_after(scope, str(shown[-1]["gsi1sk"])) if len(found) > limit else None


def all_of(table: Table, what: str, *, scope: str) -> Iterator[Item]:
    """All items of `scope` in the index by time, oldest first. The index may lag behind the items."""
    return query(
        table,
        what,
        IndexName="by_time",
        KeyConditionExpression="gsi1pk = :scope",
        ExpressionAttributeValues={":scope": scope},
    )


def due_until(table: Table, what: str, *, lists: Sequence[str], moment: datetime, limit: int) -> Iterator[Item]:
    """Up to `limit` items of these lists of unfinished records, due until `moment` (UTC), oldest first."""
    return in_order(table, what, lists=lists, first="", last=sortable(moment), limit=limit)


def in_order(table: Table, what: str, *, lists: Sequence[str], first: str, last: str, limit: int) -> Iterator[Item]:
    """Up to `limit` items of these lists from the position `first` to `last`, in one order over all lists."""
    found = (
        query(
            table,
            what,
            IndexName="deferred",
            KeyConditionExpression="gsi2pk = :list AND gsi2sk BETWEEN :first AND :last",
            ExpressionAttributeValues={":list": each, ":first": first or _BEFORE_ALL, ":last": last},
            # Twice each list's share. The query reads more pages of a list if they are needed.
            Limit=max(1, min(limit, 2 * limit // len(lists) + 1)),
        )
        for each in lists
    )
    return islice(heapq.merge(*found, key=lambda item: str(item["gsi2sk"])), limit)
