"""The providers' quotas in DynamoDB: a unit is reserved by one conditional write before a call is sent.

Every change reads the account, decides by the pure rules in `decision`, and writes the whole account back on condition
that nobody wrote since. If many functions reserve at once, each one is granted a unit or refused. None sees half of
another's work, and a function that dies leaves at most its own unit spent.

An account is the item `CURRENT`, an item `DAY#<date>` for every day that is over, and a `RELEASED#<id>` for each unit
that was given back.
"""

import random
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from touchstone.aws import Table, store_faults
from touchstone.budgets.account import DayTally, Learned, QuotaKey, QuotaState, Refusals
from touchstone.budgets.days import day_of
from touchstone.budgets.decision import DEFAULT_FRESH_SHARE
from touchstone.budgets.ledger import ID_BYTES, Change, QuotaLedger, TenantShare
from touchstone.budgets.store import Item, client_of, put_together
from touchstone.budgets.usage import DayUsage
from touchstone.clock import Clock, system_clock
from touchstone.errors import StoreError

CURRENT = "CURRENT"
DAY_PREFIX = "DAY#"
RELEASED_PREFIX = "RELEASED#"
KEEP_DAYS = 100
"""For how many days the tally of a day is kept for showing: a quarter of a year and a little."""
KEEP_RELEASED = timedelta(days=2)
"""How long the mark of a given-back unit is kept. A unit can be given back only on its own day; after that its mark has
no use."""
MAX_TRIES = 64
"""The most tries of one change. Every failed try means that another writer got through, so twenty writers at once need
at most twenty tries; the rest is slack."""
FIRST_PAUSE_SECONDS = 0.005
LAST_PAUSE_SECONDS = 1.0
"""The longest pause between two tries. A pause has a random length under a bound that doubles, so that a thousand
writers of one account spread as far as they need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """A state as it was read. `version` 0: nothing is stored yet.

    `writer` is the id of the last write: a writer whose reply was lost recognises its own write by it. `archive` is the
    tally of a day that is over, which the next write must keep.
    """

    state: QuotaState
    version: int = 0
    writer: str | None = None
    archive: tuple[date, DayTally] | None = None


class Quotas(QuotaLedger):
    """The accounts of quotas in the table. All methods block; they raise `StoreError` if the table fails."""

    def __init__(
        self,
        table: Table,
        *,
        clock: Clock = system_clock,
        fresh_share: float = DEFAULT_FRESH_SHARE,
        quota_share: float = 1.0,
        tenant_share: TenantShare | None = None,
        most_leased: int = 1,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(
            clock=clock,
            fresh_share=fresh_share,
            quota_share=quota_share,
            tenant_share=tenant_share,
            most_leased=most_leased,
        )
        self._client = client_of(table)
        self._table = table.name
        self._sleep = sleep
        self._turns: dict[QuotaKey, threading.Lock] = {}

    def history(self, key: QuotaKey, *, days: int = 30) -> tuple[DayUsage, ...]:
        """What was used on the latest `days` days with any use, today included, newest first."""
        current = self._load(key, self.clock())
        with store_faults(f"read the history of {key}"):
            page = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :day)",
                ExpressionAttributeValues={":pk": key.pk, ":day": DAY_PREFIX},
                ScanIndexForward=False,
                Limit=days,
            )
        days_over: Sequence[Item] = page["Items"]
        tallies = {date.fromisoformat(item["day"]): tally_from(item) for item in days_over}
        tallies |= dict([current.archive] if current.archive else [])
        tallies |= {current.state.day: current.state.tally}
        newest = sorted(tallies.items(), reverse=True)
        return tuple(DayUsage(day=day, **asdict(tally)) for day, tally in newest if tally != DayTally())[:days]

    def _change(self, key: QuotaKey, change: Change, *, mark: str | None = None) -> datetime:
        writer, made_at = secrets.token_hex(ID_BYTES), None
        for tries in range(MAX_TRIES):
            # Threads of one process take turns, so that only other processes can write between our read and our write.
            with self._turns.setdefault(key, threading.Lock()):
                now = self.clock()
                stored = self._load(key, now)
                # If an earlier try seemed to fail but had succeeded, only the table's reply was lost.
                if made_at is not None and stored.writer == writer:
                    return made_at
                state = change(stored.state, now)
                if state is stored.state:
                    return now
                made_at = now
                with store_faults(f"write the quota of {key}"):
                    if self._write(key, stored, state, writer=writer, mark=mark, now=now):
                        return now
            self._sleep(random.uniform(0.0, min(LAST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**tries)))  # noqa: S311 - jitter
        raise StoreError(f"The quota of {key} is written by too many at once; repeat the request.")

    def _state(self, key: QuotaKey, now: datetime) -> QuotaState:
        return self._load(key, now).state

    def _load(self, key: QuotaKey, now: datetime) -> StoredState:
        """The account, turned to the provider's day at `now` if it was left on another day."""
        today = day_of(key.provider, now)
        item = self._item(key, CURRENT)
        if item is None:
            return StoredState(state=QuotaState(day=today))
        stored = stored_from(item)
        if stored.state.day == today:
            return stored
        # The day has a tally already if a clock that was set ahead for a rehearsal has been set back.
        kept = self._item(key, DAY_PREFIX + today.isoformat())
        tally = DayTally() if kept is None else tally_from(kept)
        archive = (stored.state.day, stored.state.tally)
        return replace(stored, state=stored.state.on_day(today, tally), archive=archive)

    def _item(self, key: QuotaKey, sk: str) -> Item | None:
        with store_faults(f"read the quota of {key}"):
            found = self._client.get_item(TableName=self._table, Key={"pk": key.pk, "sk": sk}, ConsistentRead=True)
        return found.get("Item")

    def _write(
        self, key: QuotaKey, stored: StoredState, state: QuotaState, *, writer: str, mark: str | None, now: datetime
    ) -> bool:
        """Write the account on condition that nobody wrote it since it was read; False if somebody did."""
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
        if stored.version:
            condition = {
                "ConditionExpression": "version = :seen",
                "ExpressionAttributeValues": {":seen": stored.version},
            }
        current = current_item(key, state, version=stored.version + 1, writer=writer)
        puts: list[dict[str, Any]] = [{"TableName": self._table, "Item": current, **condition}]
        if stored.archive is not None:
            puts.append({"TableName": self._table, "Item": day_item(key, *stored.archive)})
        if mark is not None:
            once = {"ConditionExpression": "attribute_not_exists(pk)"}
            puts.append({"TableName": self._table, "Item": released_item(key, mark, now), **once})
        return put_together(self._client, puts, last_marks_done=mark is not None)


def current_item(key: QuotaKey, state: QuotaState, *, version: int, writer: str) -> dict[str, Any]:
    """The item that holds `state`."""
    learned = state.learned
    return {
        "pk": key.pk,
        "sk": CURRENT,
        **_listed(key),
        "version": version,
        "writer": writer,
        "day": state.day.isoformat(),
        **asdict(state.tally),
        "seconds": {str(second): count for second, count in state.seconds.items()},
        "learned_day": learned.per_day,
        "learned_day_on": None if learned.per_day_on is None else learned.per_day_on.isoformat(),
        "learned_minute": learned.per_minute,
        "learned_minute_until": _text(learned.per_minute_until),
        "blocked_until": None if state.refusals is None else _text(state.refusals.until),
        "refusals": None if state.refusals is None else _refusals_item(state.refusals),
        "watched": {reservation: _text(until) for reservation, until in state.watched.items()},
    }


def stored_from(item: Mapping[str, Any]) -> StoredState:
    """The state that an item holds."""
    learned_on = item["learned_day_on"]
    state = QuotaState(
        day=date.fromisoformat(item["day"]),
        tally=tally_from(item),
        seconds={int(second): int(count) for second, count in item["seconds"].items()},
        learned=Learned(
            per_day=_whole(item["learned_day"]),
            per_day_on=None if learned_on is None else date.fromisoformat(learned_on),
            per_minute=_whole(item["learned_minute"]),
            per_minute_until=_moment(item["learned_minute_until"]),
        ),
        refusals=_refusals_from(item),
        watched={one: datetime.fromisoformat(until) for one, until in item.get("watched", {}).items()},
    )
    return StoredState(state=state, version=int(item["version"]), writer=item["writer"])


def _refusals_item(refusals: Refusals) -> dict[str, Any]:
    return {
        "at": [moment.isoformat() for moment in refusals.at],
        "in_a_row": refusals.in_a_row,
        "why": refusals.why,
        "barred": refusals.barred,
    }


def _refusals_from(item: Mapping[str, Any]) -> Refusals | None:
    """The refusals in an item.

    An item of an earlier release has only the moment until which nothing is sent, or that moment with the reason why
    nobody is served.
    """
    kept, barred, until = item.get("refusals"), item.get("barred"), _moment(item["blocked_until"])
    if barred is not None:
        return Refusals(in_a_row=1, until=datetime.fromisoformat(barred["until"]), why=barred["why"], barred=True)
    if until is None:
        return None
    if kept is None:
        return Refusals(in_a_row=1, until=until, why="The provider asked for a pause.")
    return Refusals(
        at=tuple(datetime.fromisoformat(moment) for moment in kept["at"]),
        in_a_row=int(kept["in_a_row"]),
        until=until,
        why=kept["why"],
        barred=kept["barred"],
    )


def day_item(key: QuotaKey, day: date, tally: DayTally) -> dict[str, Any]:
    """The item that keeps the tally of a day that is over."""
    over = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return {
        "pk": key.pk,
        "sk": DAY_PREFIX + day.isoformat(),
        "day": day.isoformat(),
        **asdict(tally),
        "expires_at": int((over + timedelta(days=KEEP_DAYS)).timestamp()),
    }


def released_item(key: QuotaKey, reservation_id: str, now: datetime) -> dict[str, Any]:
    """The item that marks a unit as given back, so that it is given back only once."""
    return {
        "pk": key.pk,
        "sk": RELEASED_PREFIX + reservation_id,
        "expires_at": int((now + KEEP_RELEASED).timestamp()),
    }


def tally_from(item: Mapping[str, Any]) -> DayTally:
    """The tally in an item, of the current day or of an earlier one."""
    return DayTally(used=int(item["used"]), backlog_used=int(item["backlog_used"]), exhausted=bool(item["exhausted"]))


def _listed(key: QuotaKey) -> dict[str, str]:
    """The attributes that list a tenant's share among all that the tenant has; none for an account of all.

    They do not change from write to write, so that the index is written only once.
    """
    return {} if key.tenant is None else {"gsi1pk": f"T#{key.tenant}#SHARES", "gsi1sk": key.pk}


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _whole(number: Any) -> int | None:
    return None if number is None else int(number)
