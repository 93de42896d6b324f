"""A tenant's day in parts: if many calls are in flight at once, they write several items instead of one.

A part holds money back and counts calls as the day's own item does, out of money that it drew from that item before.
The drawn money counts as committed in the day's item, so that the ceiling holds whatever the parts do. If the day's
item has no room left, the parts give back the money that they do not need.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from touchstone.aws import Table, read_many, store_faults
from touchstone.budgets.store import Item, client_of, updated_together

KEEP_DAYS = 400
"""How long a day's sums are kept: a year and a month, to compare with the year before."""
MOST_PARTS = 32
"""The most parts of a day, the day's own item included. With a judge that takes ten seconds, each part carries some
thirty calls a second."""
BUSY_CALLS = 24
"""The calls in flight in one item from which on twice as many items are written. Each call in flight is an attribute of
some fifty bytes. A drain alone has twenty calls in flight."""
DRAWN_CALLS = 64
"""A part draws money for as many calls like the call that needs it."""
DRAWN_SHARE = 8 * MOST_PARTS
"""A part draws at most one such share of what is left, so that all parts together hold an eighth of it at most."""
DAY_PREFIX = "DAY#"
_NO_CEILING = -1


@dataclass(frozen=True, slots=True)
class PartKey:
    """The key of one item of a tenant's day; `part` 0 is the day's own item."""

    tenant: str
    day: date
    part: int = 0

    @property
    def item(self) -> dict[str, str]:
        """The key in the table."""
        return {"pk": partition(self.tenant, self.part), "sk": DAY_PREFIX + self.day.isoformat()}

    @property
    def expiry(self) -> int:
        """When the table may remove the item, in seconds since 1970."""
        return int((datetime.combine(self.day, time.min, tzinfo=UTC) + timedelta(days=KEEP_DAYS)).timestamp())


def partition(tenant: str, part: int = 0) -> str:
    """The partition key of one part of all days of a tenant."""
    return f"T#{tenant}#SPEND" if part == 0 else f"T#{tenant}#SPEND#{part}"


def parts_in(item: Item) -> tuple[int, ...]:
    """The numbers of a day's parts, read from the day's own item."""
    return tuple(sorted(int(part) for part in item.get("parts", ())))


def part_of(item: Item) -> int:
    """The number of the part that an item holds."""
    return int(str(item["pk"]).partition("#SPEND")[2].removeprefix("#") or 0)


def room_in_part(amount: int, ceiling: int | None) -> tuple[str, dict[str, int]]:
    """The condition for a part to hold an amount back, and the condition's values, in micro-dollars.

    A call that costs nothing needs no money of the part. The part must only exist, so that the day's item knows it.
    """
    if amount == 0:
        return "attribute_exists(ceiling)", {}
    return "ceiling = :ceiling AND unspent >= :amount", {":ceiling": _ceiling_value(ceiling)}


class DayParts:
    """The parts of tenants' days: how many of them are written to, and what they draw and give back."""

    def __init__(self, table: Table) -> None:
        self._source = table
        self._client = client_of(table)
        self._table = table.name
        self._spread: dict[str, int] = {}

    def spread(self, tenant: str) -> int:
        """How many parts this process spreads the tenant's calls over."""
        return self._spread.get(tenant, 1)

    def adapt_spread(self, tenant: str, in_flight: int) -> None:
        """Adapt the spread to `in_flight`, the number of calls in flight in the item that was just written."""
        spread = self.spread(tenant)
        if in_flight > BUSY_CALLS:
            self._spread[tenant] = min(MOST_PARTS, 2 * spread)
        elif in_flight < BUSY_CALLS // 4:
            self._spread[tenant] = max(1, spread // 2)

    def read(self, key: PartKey) -> Mapping[str, Any]:
        """An item of a day, strongly consistent; empty if there is none."""
        with store_faults(f"read what {key.tenant} spent"):
            return self._client.get_item(TableName=self._table, Key=key.item, ConsistentRead=True).get("Item", {})

    def draw(self, key: PartKey, amount: int, ceiling: int | None) -> int | None:
        """Draw money for a part in which a call of `amount` (micro-dollars) found no room.

        Return what the day has committed after that, or None if too little is left to be shared out. Money that the
        part drew under another ceiling goes back in the same transaction. Nothing is drawn if others write the same
        items meanwhile; the caller tries the call again.
        """
        day = PartKey(key.tenant, key.day)
        whole, part = self.read(day), self.read(key)
        ceiling_value = _ceiling_value(ceiling)
        back = int(part.get("unspent", 0)) if part.get("ceiling", ceiling_value) != ceiling_value else 0
        committed = int(whole.get("committed", 0)) - back
        more = DRAWN_CALLS * amount
        if ceiling is not None and amount:
            more = min(more, (ceiling - committed) // DRAWN_SHARE)
            if more < amount:
                return None
        room: dict[str, Any] = {"ExpressionAttributeValues": {":parts": {key.part}}}
        if ceiling is not None and amount:
            room["ConditionExpression"] = "attribute_not_exists(committed) OR committed <= :room"
            room["ExpressionAttributeValues"][":room"] = ceiling - more + back
        unchanged: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(ceiling)"}
        if part:
            unchanged = {
                "ConditionExpression": "ceiling = :seen AND unspent >= :back",
                "ExpressionAttributeValues": {":seen": part["ceiling"], ":back": back},
            }
        self._move(day, key, more - back, ceiling_value, (room, unchanged))
        return committed + more

    def give_back(self, tenant: str, day: date) -> bool:
        """Give back to the day the money that its parts drew and do not need now; False if there is none."""
        whole = PartKey(tenant, day)
        moved = False
        for found in self._read_all(tenant, day, parts_in(self.read(whole))):
            key = PartKey(tenant, day, part_of(found))
            unspent = int(found.get("unspent", 0))
            if unspent > 0:
                kept = {
                    "ConditionExpression": "unspent >= :unspent",
                    "ExpressionAttributeValues": {":unspent": unspent},
                }
                # If another writer came first, it changed something too: there is reason to look again.
                self._move(whole, key, -unspent, int(found["ceiling"]), ({}, kept))
                moved = True
        return moved

    def sums(self, tenant: str, item: Item, *names: str) -> dict[str, int]:
        """The sums of the attributes `names` over all parts of a day, whose own item is `item`."""
        day = date.fromisoformat(str(item["sk"]).removeprefix(DAY_PREFIX))
        return _added([item, *self._read_all(tenant, day, parts_in(item))], names)

    def _read_all(self, tenant: str, day: date, parts: tuple[int, ...]) -> list[dict[str, Any]]:
        """The items of these parts of a day; a part without an item is left out."""
        if not parts:
            return []
        return list(
            read_many(self._source, [PartKey(tenant, day, part).item for part in parts], f"what {tenant} spent")
        )

    def sums_since(self, tenant: str, items: list[Item], *names: str) -> Iterator[dict[str, int]]:
        """The sums of several days, newest first, each over all parts of its day."""
        found: dict[str, list[Item]] = {str(item["sk"]): [item] for item in items}
        for part in sorted({part for item in items for part in parts_in(item)}):
            with store_faults(f"read what {tenant} spent"):
                page = self._client.query(
                    TableName=self._table,
                    KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                    ExpressionAttributeValues={
                        ":pk": partition(tenant, part),
                        ":first": items[-1]["sk"],
                        ":last": items[0]["sk"],
                    },
                    ProjectionExpression=", ".join(("sk", *names)),
                )
            for of_day in page["Items"]:
                found[str(of_day["sk"])].append(of_day)
        return (_added(parts, names) for parts in found.values())

    def _move(self, day: PartKey, part: PartKey, amount: int, ceiling: int, conditions: tuple[Item, Item]) -> None:
        """Move money from the day's item to a part, in one transaction; nothing moves if a condition does not hold."""
        of_day, of_part = conditions
        update = "SET expires_at = :expires ADD committed :amount"
        values = {":amount": amount, ":expires": day.expiry}
        drawing = ":parts" in of_day.get("ExpressionAttributeValues", {})
        with store_faults(f"share out what {day.tenant} may spend"):
            updated_together(
                self._client,
                [
                    {
                        "TableName": self._table,
                        "Key": day.item,
                        "UpdateExpression": update + (", parts :parts" if drawing else ""),
                        **_with(of_day, values),
                    },
                    {
                        "TableName": self._table,
                        "Key": part.item,
                        "UpdateExpression": "SET expires_at = :expires, ceiling = :told ADD unspent :amount",
                        **_with(of_part, values | {":told": ceiling}),
                    },
                ],
            )


def _ceiling_value(ceiling: int | None) -> int:
    return _NO_CEILING if ceiling is None else ceiling


def _with(conditions: Item, values: Mapping[str, int]) -> dict[str, Any]:
    given = conditions.get("ExpressionAttributeValues", {})
    return {**conditions, "ExpressionAttributeValues": {**given, **values}}


def _added(items: list[Item], names: tuple[str, ...]) -> dict[str, int]:
    return {name: sum(int(item.get(name, 0)) for item in items) for name in names}
