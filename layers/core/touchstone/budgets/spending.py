"""What a tenant may spend a day: money is reserved before a call by one conditional update, and settled after it.

A day's item holds the sums in micro-dollars and one attribute `open#<id>` for every reservation that is not settled.
That attribute makes settling and giving back happen once, whatever is repeated. What a function that died had reserved
stays reserved until the day ends: too much is held back, never too little.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from touchstone.budgets.money import billed, dollars, micros
from touchstone.budgets.store import Item, client_of, condition_failed, store_errors
from touchstone.clock import Clock, system_clock
from touchstone.errors import JudgeError, SpendingCeilingError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

KEEP_DAYS = 400
"""How long a day's sums are kept: a year and a month, to compare with the year before."""
NEAR_PERCENT = 80.0
"""From here on a ceiling is near, and whoever looks after the deployment is told."""
_CEILING = "CEILING"
_DAY_PREFIX = "DAY#"
_SUMS = ("spent", "reserved", "calls", "unpriced_calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendReservation:
    """Money held back for one call, in micro-dollars. `unpriced`: nobody knows what the call costs at most."""

    id: str
    tenant: str
    day: date
    amount: int
    unpriced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a tenant spent on one UTC day, in US dollars.

    `reserved_usd` is held back for calls under way. `unpriced_calls` of the `calls` had no known price and are not in
    the sums. `ceiling_usd` is the tenant's own ceiling, None if the default holds.
    """

    day: date
    spent_usd: float
    reserved_usd: float
    calls: int
    unpriced_calls: int
    ceiling_usd: float | None


def ceiling_reached(tenant: str, ceiling_usd: float, day: date) -> SpendingCeilingError:
    """The refusal as the error that callers see; a tenant's day ends at UTC midnight."""
    return SpendingCeilingError(
        f"The spending ceiling of {tenant} for {day} ({ceiling_usd:.2f} US dollars) would be passed; nothing was sent.",
        until=datetime.combine(day + timedelta(days=1), time.min, tzinfo=UTC),
    )


class Spending:
    """Tenants' spending a day, in the table. All methods block; they raise `StoreError` when the table fails.

    `near` is told how many percent of a ceiling are spent or held back, each time it is `NEAR_PERCENT` or more.
    """

    def __init__(
        self, table: "Table", *, clock: Clock = system_clock, near: Callable[[float], None] | None = None
    ) -> None:
        self._client = client_of(table)
        self._table = table.name
        self._clock = clock
        self._near = near

    def reserve(self, tenant: str, usd: float | None, ceiling: float | None) -> SpendReservation:
        """Hold back `usd` US dollars, or raise `SpendingCeilingError` where `ceiling` would be passed.

        `usd` None (no price known) holds nothing back but is counted; `ceiling` None: there is none. A call that costs
        nothing is always let through.
        """
        amount, day = 0 if usd is None else micros(usd, where="usd"), self._clock().astimezone(UTC).date()
        reservation = SpendReservation(id=uuid4().hex, tenant=tenant, day=day, amount=amount, unpriced=usd is None)
        condition, values = "attribute_not_exists(#open)", {":amount": amount, ":expires": _expiry(day)}
        if ceiling is not None and amount > 0:
            room = micros(ceiling, where="ceiling") - amount
            if room < 0:
                self._tell(100.0)
                raise ceiling_reached(tenant, ceiling, day)
            # `committed` is spent + reserved in one attribute, since a condition cannot add.
            condition += " AND (attribute_not_exists(committed) OR committed <= :room)"
            values[":room"] = room
        committed = self._update(
            reservation,
            "SET #open = :amount, expires_at = :expires "
            "ADD committed :amount, reserved :amount, calls :one, unpriced_calls :unpriced",
            condition,
            values | {":one": 1, ":unpriced": int(reservation.unpriced)},
            done_if_open=True,
        )
        if ceiling is not None and amount > 0:
            if committed is None:
                self._tell(100.0)
                raise ceiling_reached(tenant, ceiling, day)
            self._tell(100.0 * dollars(committed) / ceiling)
        return reservation

    def settle(self, reservation: SpendReservation, *, cost_usd: float | None, error: JudgeError | None = None) -> None:
        """Count what the call cost in place of what was held back for it; see `billed`. A second time is ignored."""
        actual = billed(reservation.amount, cost_usd, error)
        self._update(
            reservation,
            "REMOVE #open ADD committed :difference, reserved :back, spent :actual",
            "attribute_exists(#open)",
            {":difference": actual - reservation.amount, ":back": -reservation.amount, ":actual": actual},
        )

    def release(self, reservation: SpendReservation) -> None:
        """Free what was held back for a call that was never sent. A second time is ignored."""
        self._update(
            reservation,
            "REMOVE #open ADD committed :back, reserved :back, calls :less, unpriced_calls :unpriced",
            "attribute_exists(#open)",
            {":back": -reservation.amount, ":less": -1, ":unpriced": -int(reservation.unpriced)},
        )

    def today(self, tenant: str) -> Spent:
        """What the tenant spent since UTC midnight."""
        day = self._clock().astimezone(UTC).date()
        return _spent(day, self._item(tenant, _DAY_PREFIX + day.isoformat(), *_SUMS), self.ceiling(tenant))

    def history(self, tenant: str, *, days: int = 30) -> tuple[Spent, ...]:
        """What the tenant spent on the latest `days` days on which it made a call, newest first."""
        with store_errors(f"read what {tenant} spent"):
            page = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :day)",
                ExpressionAttributeValues={":pk": _pk(tenant), ":day": _DAY_PREFIX},
                ProjectionExpression=", ".join(("sk", *_SUMS)),
                ScanIndexForward=False,
                Limit=days,
            )
        items: list[Any] = page["Items"]
        ceiling = self.ceiling(tenant)
        return tuple(_spent(date.fromisoformat(item["sk"].removeprefix(_DAY_PREFIX)), item, ceiling) for item in items)

    def ceiling(self, tenant: str) -> float | None:
        """The tenant's own ceiling in US dollars a day, None if it has none and the default holds."""
        item = self._item(tenant, _CEILING, "ceiling")
        return None if item is None else dollars(int(item["ceiling"]))

    def set_ceiling(self, tenant: str, usd: float | None) -> None:
        """Give the tenant a ceiling of its own; None takes it away, so that the default holds."""
        key = {"pk": _pk(tenant), "sk": _CEILING}
        with store_errors(f"write the ceiling of {tenant}"):
            if usd is None:
                self._client.delete_item(TableName=self._table, Key=key)
            else:
                self._client.put_item(TableName=self._table, Item={**key, "ceiling": micros(usd, where="usd")})

    def _item(self, tenant: str, sk: str, *attributes: str) -> Item | None:
        with store_errors(f"read what {tenant} spent"):
            found = self._client.get_item(
                TableName=self._table,
                Key={"pk": _pk(tenant), "sk": sk},
                ProjectionExpression=", ".join(attributes),
                ConsistentRead=True,
            )
        return found.get("Item")

    def _update(
        self,
        reservation: SpendReservation,
        update: str,
        condition: str,
        values: dict[str, int],
        *,
        done_if_open: bool = False,
    ) -> int | None:
        """Update the day's item; what is spent or held back after it, None if the condition does not hold.

        With `done_if_open`, a condition that fails because this very reservation stands already counts as done: an
        earlier try had succeeded and only the reply of the table was lost.
        """
        from botocore.exceptions import ClientError

        opened = f"open#{reservation.id}"
        with store_errors(f"write what {reservation.tenant} spends"):
            try:
                written = self._client.update_item(
                    TableName=self._table,
                    Key={"pk": _pk(reservation.tenant), "sk": _DAY_PREFIX + reservation.day.isoformat()},
                    UpdateExpression=update,
                    ConditionExpression=condition,
                    ExpressionAttributeNames={"#open": opened},
                    ExpressionAttributeValues=values,
                    ReturnValues="UPDATED_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if not condition_failed(error):
                    raise
                found: dict[str, Any] = error.response.get("Item", {})  # type: ignore[assignment]
                # An error's item is as it was sent: no number, but what says that it is one.
                return int(found.get("committed", {"N": "0"})["N"]) if done_if_open and opened in found else None
        return _committed(written["Attributes"])

    def _tell(self, percent: float) -> None:
        if self._near is not None and percent >= NEAR_PERCENT:
            self._near(percent)


def _committed(item: Item) -> int:
    return int(item.get("committed", 0))


def _pk(tenant: str) -> str:
    return f"T#{tenant}#SPEND"


def _expiry(day: date) -> int:
    return int((datetime.combine(day, time.min, tzinfo=UTC) + timedelta(days=KEEP_DAYS)).timestamp())


def _spent(day: date, item: Item | None, ceiling: float | None) -> Spent:
    sums = {name: int((item or {}).get(name, 0)) for name in _SUMS}
    return Spent(
        day=day,
        spent_usd=dollars(sums["spent"]),
        reserved_usd=dollars(sums["reserved"]),
        calls=sums["calls"],
        unpriced_calls=sums["unpriced_calls"],
        ceiling_usd=ceiling,
    )
