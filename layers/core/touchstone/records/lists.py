"""The two queries of the table's indexes that lists need, written once for every kind of record."""

import heapq
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from touchstone.aws import store_faults
from touchstone.records.cursors import cursor_after, page_size, position_of
from touchstone.records.keys import sortable
from touchstone.records.table import Item, query

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


_BEFORE_ALL = "0"
"""A position before all others: positions begin with a digit or a letter."""


def newest(table: "Table", what: str, *, scope: str, limit: int, cursor: str | None) -> tuple[list[Item], str | None]:
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


def all_of(table: "Table", what: str, *, scope: str) -> Iterator[Item]:
    """All items of `scope` in the index by time, oldest first. The index may lag behind the items."""
    return query(
        table,
        what,
        IndexName="by_time",
        KeyConditionExpression="gsi1pk = :scope",
        ExpressionAttributeValues={":scope": scope},
    )


def due_until(table: "Table", what: str, *, lists: Sequence[str], moment: datetime, limit: int) -> Iterator[Item]:
    """Up to `limit` items of these lists of unfinished records, due until `moment` (UTC), oldest first."""
    return in_order(table, what, lists=lists, first="", last=sortable(moment), limit=limit)


def in_order(table: "Table", what: str, *, lists: Sequence[str], first: str, last: str, limit: int) -> Iterator[Item]:
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
