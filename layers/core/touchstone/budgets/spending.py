"""What a tenant may spend a day: one conditional update reserves money before a call, and the call settles it after.

A day's item holds the sums in micro-dollars and one attribute `open#<id>` for every reservation that is not settled.
Because of that attribute a reservation is settled or given back once, whatever is repeated. What a function reserved
and did not settle before it died stays reserved until the day ends: too much is held back, never too little. A tenant
with many calls in flight has parts of its day beside that item (`DayParts`).
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import uuid4

from touchstone.aws import Table, store_faults
from touchstone.budgets.day_parts import DAY_PREFIX, DayParts, PartKey, partition, room_in_part
from touchstone.budgets.money import billed, dollars, micros
from touchstone.budgets.store import Item, client_of, condition_failed
from touchstone.clock import Clock, system_clock
from touchstone.errors import JudgeError, SpendingCeilingError

NEAR_PERCENT = 80.0
"""From this percentage on a ceiling is near, and the operator of the deployment is told."""
DRAW_TRIES = 3
"""How often a part without room draws money before the day's own item is asked."""
RESERVE_TRIES = 12
"""The most tries to reserve. A try fails if others took the money that was drawn or given back for it. That happens so
often in a row only at the end of a day's money, and the call is refused then."""
_CEILING = "CEILING"
_SUMS = ("spent", "reserved", "calls", "unpriced_calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendReservation:
    """Money held back for one call, or for several `calls` at once, in micro-dollars.

    `unpriced`: the highest price of the call is not known. `part` is the number of the day's part that holds the money.
    """

    id: str
    tenant: str
    day: date
    amount: int
    unpriced: bool
    calls: int = 1
    part: int = 0

    @property
    def place(self) -> PartKey:
        """The key of the item that holds this reservation."""
        return PartKey(self.tenant, self.day, self.part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a tenant spent on one UTC day, in US dollars.

    `reserved_usd` is held back for calls under way. `unpriced_calls` is how many of the `calls` had no known price;
    they are not in the sums. `ceiling_usd` is the tenant's own ceiling, None if the default holds.
    """

    day: date
    spent_usd: float
    reserved_usd: float
    calls: int
    unpriced_calls: int
    ceiling_usd: float | None


def ceiling_reached(tenant: str, ceiling_usd: float, day: date) -> SpendingCeilingError:
    """The error that callers see for a refusal by the ceiling; a tenant's day ends at UTC midnight."""
    return SpendingCeilingError(
        f"The spending ceiling of {tenant} for {day} ({ceiling_usd:.2f} US dollars) would be passed; nothing was sent.",
        until=datetime.combine(day + timedelta(days=1), time.min, tzinfo=UTC),
    )


class Spending:
    """The tenants' spending of each day, in the table. All methods block; they raise `StoreError` if the table fails.

    `near` is called with the percentage of a ceiling that is spent or held back, each time it is `NEAR_PERCENT` or
    more.
    """

    def __init__(
        self, table: Table, *, clock: Clock = system_clock, near: Callable[[float], None] | None = None
    ) -> None:
        self._client = client_of(table)
        self._table = table.name
        self._clock = clock
        self._near = near
        self._parts = DayParts(table)

    def reserve(self, tenant: str, usd: float | None, ceiling: float | None) -> SpendReservation:
        """Hold back `usd` US dollars, or raise `SpendingCeilingError` if `ceiling` would be passed.

        `usd` None (no price known) holds nothing back, but the call is counted. `ceiling` None: there is no ceiling. A
        call that costs nothing is always let through.
        """
        amount, day = 0 if usd is None else micros(usd, where="usd"), self._clock().astimezone(UTC).date()
        part = random.randrange(self._parts.spread(tenant))  # noqa: S311 - spreads writers, guards nothing
        held = SpendReservation(id=uuid4().hex, tenant=tenant, day=day, amount=amount, unpriced=usd is None, part=part)
        return self._reserve(held, ceiling)

    def reserve_for(
        self, tenant: str, usd: float, ceiling: float | None, *, name: str, calls: int, on: datetime
    ) -> SpendReservation:
        """As `reserve`, for several calls, under the name `name` and on the day of the moment `on` (UTC).

        A repeat under the same name holds nothing more back while the first reservation is not settled, and is not
        refused, however low the ceiling is by now.
        """
        day = on.astimezone(UTC).date()
        amount = micros(usd, where="usd")
        held = SpendReservation(id=name, tenant=tenant, day=day, amount=amount, unpriced=False, calls=calls)
        return self._reserve(held, ceiling, repeated=True)

    def _reserve(
        self, reservation: SpendReservation, ceiling_usd: float | None, *, repeated: bool = False
    ) -> SpendReservation:
        """Hold money back. `repeated`: the same reservation may stand already, and then it is returned."""
        ceiling = None if ceiling_usd is None else micros(ceiling_usd, where="ceiling")
        if ceiling_usd is not None and ceiling is not None and reservation.amount > ceiling:
            if repeated and f"open#{reservation.id}" in self._parts.read(reservation.place):
                return reservation
            self._tell(100.0)
            raise ceiling_reached(reservation.tenant, ceiling_usd, reservation.day)
        for tried in range(RESERVE_TRIES):
            held, committed = self._held(reservation, ceiling)
            if held:
                self._tell_of(committed, ceiling_usd if reservation.amount else None)
                return reservation
            if reservation.part:
                place = reservation.place
                drawn = self._parts.draw(place, reservation.amount, ceiling) if tried < DRAW_TRIES else None
                self._tell_of(drawn, ceiling_usd)
                if drawn is None:  # too little is left to be shared out, or the part has drawn too often
                    reservation = replace(reservation, part=0)
            elif not self._parts.give_back(reservation.tenant, reservation.day) and not self._room(
                reservation, ceiling
            ):
                break
        self._tell(100.0)
        raise ceiling_reached(reservation.tenant, ceiling_usd or 0.0, reservation.day)

    def _held(self, reservation: SpendReservation, ceiling: int | None) -> tuple[bool, int | None]:
        """Try to hold money back. Return whether it is held, and what the day has committed after that.

        The second value is None if no money is held, or if a part holds it. A reservation that stands already counts as
        held: an earlier try succeeded, and only the table's reply was lost.
        """
        amount = reservation.amount
        values = {
            ":amount": amount,
            ":calls": reservation.calls,
            ":unpriced": int(reservation.unpriced),
            ":one": 1,
            ":expires": reservation.place.expiry,
        }
        if reservation.part:
            kept, sign = "unspent", -1
            room, more = room_in_part(amount, ceiling)
        else:
            kept, sign = "committed", 1
            room, more = "", {}
            if ceiling is not None and amount > 0:
                # `committed` is spent + reserved in one attribute, since a condition cannot add.
                room, more = "(attribute_not_exists(committed) OR committed <= :room)", {":room": ceiling - amount}
        written, found = self._update(
            reservation,
            "SET #open = :amount, expires_at = :expires "
            f"ADD {kept} :kept, reserved :amount, calls :calls, unpriced_calls :unpriced, in_flight :one",
            " AND ".join(filter(None, ("attribute_not_exists(#open)", room))),
            values | {":kept": sign * amount} | more,
        )
        if written:
            self._parts.adapt_spread(reservation.tenant, found.get("in_flight", 0))
        held = written or f"open#{reservation.id}" in found
        return held, found.get("committed", 0) if held and not reservation.part else None

    def _room(self, reservation: SpendReservation, ceiling: int | None) -> bool:
        """Whether the day's own item has room by now: another process may have given money back meanwhile."""
        committed = int(self._parts.read(PartKey(reservation.tenant, reservation.day)).get("committed", 0))
        return ceiling is None or committed + reservation.amount <= ceiling

    def settle(
        self, reservation: SpendReservation, *, cost_usd: float | None, error: JudgeError | None = None, unsent: int = 0
    ) -> None:
        """Count what the call cost in place of the money that was held back; see `billed`. A second time is ignored.

        `unsent` of several calls were never sent, and are not counted.
        """
        actual = billed(reservation.amount, cost_usd, error)
        self._end(reservation, actual, "spent :actual, calls :less", {":actual": actual, ":less": -unsent})

    def release(self, reservation: SpendReservation) -> None:
        """Free the money that was held back for a call that was never sent. A second time is ignored."""
        less = {":less": -reservation.calls, ":unpriced": -int(reservation.unpriced)}
        self._end(reservation, 0, "calls :less, unpriced_calls :unpriced", less)

    def _end(self, reservation: SpendReservation, actual: int, also: str, values: dict[str, int]) -> None:
        """Remove a reservation, and count `actual` micro-dollars of it as spent."""
        difference = actual - reservation.amount
        kept, back = ("unspent", -difference) if reservation.part else ("committed", difference)
        self._update(
            reservation,
            f"REMOVE #open ADD {kept} :kept, reserved :back, in_flight :one, {also}",
            "attribute_exists(#open)",
            {":kept": back, ":back": -reservation.amount, ":one": -1, **values},
        )

    def today(self, tenant: str) -> Spent:
        """What the tenant spent since UTC midnight."""
        day = self._clock().astimezone(UTC).date()
        item = self._item(tenant, DAY_PREFIX + day.isoformat(), "sk", "parts", *_SUMS)
        return _spent(day, {} if item is None else self._parts.sums(tenant, item, *_SUMS), self.ceiling(tenant))

    def history(self, tenant: str, *, days: int = 30) -> tuple[Spent, ...]:
        """What the tenant spent on the latest `days` days on which it made a call, newest first."""
        with store_faults(f"read what {tenant} spent"):
            page = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :day)",
                ExpressionAttributeValues={":pk": partition(tenant), ":day": DAY_PREFIX},
                ProjectionExpression=", ".join(("sk", "parts", *_SUMS)),
                ScanIndexForward=False,
                Limit=days,
            )
        items: list[Any] = page["Items"]
        ceiling = self.ceiling(tenant)
        sums = self._parts.sums_since(tenant, items, *_SUMS)
        return tuple(
            _spent(date.fromisoformat(item["sk"].removeprefix(DAY_PREFIX)), added, ceiling)
            for item, added in zip(items, sums, strict=True)
        )

    def ceiling(self, tenant: str) -> float | None:
        """The tenant's own ceiling in US dollars a day, None if it has none and the default holds."""
        item = self._item(tenant, _CEILING, "ceiling")
        return None if item is None else dollars(int(item["ceiling"]))

    def set_ceiling(self, tenant: str, usd: float | None) -> None:
        """Give the tenant a ceiling of its own; None takes it away, so that the default holds."""
        key = {"pk": partition(tenant), "sk": _CEILING}
        with store_faults(f"write the ceiling of {tenant}"):
            if usd is None:
                self._client.delete_item(TableName=self._table, Key=key)
            else:
                self._client.put_item(TableName=self._table, Item={**key, "ceiling": micros(usd, where="usd")})

    def _item(self, tenant: str, sk: str, *attributes: str) -> Item | None:
        with store_faults(f"read what {tenant} spent"):
            found = self._client.get_item(
                TableName=self._table,
                Key={"pk": partition(tenant), "sk": sk},
                ProjectionExpression=", ".join(attributes),
                ConsistentRead=True,
            )
        return found.get("Item")

    def _update(
        self, reservation: SpendReservation, update: str, condition: str, values: dict[str, int]
    ) -> tuple[bool, dict[str, int]]:
        """Update the item that holds a reservation. Return whether the condition held, and numbers of the item.

        After a write, the numbers are those that tell the item's state (`committed`, `in_flight`). If nothing was
        written, they are all numbers of the item.
        """
        from botocore.exceptions import ClientError

        with store_faults(f"write what {reservation.tenant} spends"):
            try:
                written = self._client.update_item(
                    TableName=self._table,
                    Key=reservation.place.item,
                    UpdateExpression=update,
                    ConditionExpression=condition,
                    ExpressionAttributeNames={"#open": f"open#{reservation.id}"},
                    ExpressionAttributeValues=values,
                    ReturnValues="UPDATED_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if not condition_failed(error):
                    raise
                found: dict[str, Any] = error.response.get("Item", {})  # type: ignore[assignment]
                # The item in an error is in DynamoDB's wire format: a number is {"N": text}.
                return False, {name: int(value["N"]) for name, value in found.items() if "N" in value}
        numbers: dict[str, Any] = dict(written.get("Attributes", {}))
        return True, {name: int(numbers[name]) for name in ("committed", "in_flight") if name in numbers}

    def _tell(self, percent: float) -> None:
        if self._near is not None and percent >= NEAR_PERCENT:
            self._near(percent)

    def _tell_of(self, committed: int | None, ceiling_usd: float | None) -> None:
        if committed is not None and ceiling_usd:
            self._tell(100.0 * dollars(committed) / ceiling_usd)


def _spent(day: date, sums: Mapping[str, int], ceiling: float | None) -> Spent:
    return Spent(
        day=day,
        spent_usd=dollars(sums.get("spent", 0)),
        reserved_usd=dollars(sums.get("reserved", 0)),
        calls=sums.get("calls", 0),
        unpriced_calls=sums.get("unpriced_calls", 0),
        ceiling_usd=ceiling,
    )
