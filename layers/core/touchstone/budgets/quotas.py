"""The providers' quotas in DynamoDB: a unit is reserved by one conditional write before a call is sent.

Every change reads the account, decides by the pure rules in `decision`, and writes the whole account back on condition
that nobody wrote since. Of any number of functions that reserve at once each one is granted a unit or refused; none
sees half of another's work, and a function that dies leaves at most its own unit spent.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from touchstone.budgets.book import Change, QuotaBook
from touchstone.budgets.days import day_of
from touchstone.budgets.decision import DEFAULT_FRESH_SHARE, QuotaState, Tally
from touchstone.budgets.items import (
    CURRENT,
    DAY_PREFIX,
    QuotaKey,
    Stored,
    current_item,
    day_item,
    released_item,
    stored_from,
    tally_from,
)
from touchstone.budgets.shares import TenantShare
from touchstone.budgets.store import Item, client_of, put_together, store_errors
from touchstone.budgets.usage import DayUsage
from touchstone.clock import Clock, system_clock
from touchstone.errors import StoreError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

MAX_TRIES = 64
"""Every failed try means that another writer got through, so twenty at once need at most twenty; the rest is slack."""
MAX_PAUSE_SECONDS = 0.05
"""Longest pause between two tries; its length is random, so that writers do not meet again."""


class Quotas(QuotaBook):
    """Accounts of quotas in the table. All methods block; they raise `StoreError` when the table fails."""

    def __init__(
        self,
        table: "Table",
        *,
        clock: Clock = system_clock,
        fresh_share: float = DEFAULT_FRESH_SHARE,
        quota_share: float = 1.0,
        tenant_share: TenantShare | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(clock=clock, fresh_share=fresh_share, quota_share=quota_share, tenant_share=tenant_share)
        self._client = client_of(table)
        self._table = table.name
        self._sleep = sleep
        self._turns: dict[QuotaKey, threading.Lock] = {}

    def history(self, key: QuotaKey, *, days: int = 30) -> tuple[DayUsage, ...]:
        """What was used on the latest `days` days on which anything was, today among them, newest first."""
        current = self._load(key, self.clock())
        with store_errors(f"read the history of {key}"):
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
        return tuple(DayUsage(day=day, **asdict(tally)) for day, tally in newest if tally != Tally())[:days]

    def _change(self, key: QuotaKey, change: Change, *, writer: str, mark: str | None = None) -> datetime:
        made_at = None
        for tries in range(MAX_TRIES):
            # Threads of one process take turns, so that only other processes can come between reading and writing.
            with self._turns.setdefault(key, threading.Lock()):
                now = self.clock()
                stored = self._load(key, now)
                # A try that seemed to fail had succeeded: only the reply of the table was lost.
                if made_at is not None and stored.writer == writer:
                    return made_at
                state = change(stored.state, now)
                if state is stored.state:
                    return now
                made_at = now
                with store_errors(f"write the quota of {key}"):
                    if self._write(key, stored, state, writer=writer, mark=mark, now=now):
                        return now
            self._sleep(random.uniform(0.0, min(MAX_PAUSE_SECONDS, 0.005 * (tries + 1))))  # noqa: S311 - jitter
        raise StoreError(f"The quota of {key} is written by too many at once; repeat the request.")

    def _state(self, key: QuotaKey, now: datetime) -> QuotaState:
        return self._load(key, now).state

    def _load(self, key: QuotaKey, now: datetime) -> Stored:
        """The account, turned to the provider's day at `now` if it was left on another one."""
        today = day_of(key.provider, now)
        item = self._item(key, CURRENT)
        if item is None:
            return Stored(state=QuotaState(day=today))
        stored = stored_from(item)
        if stored.state.day == today:
            return stored
        # The day may have a tally already: a clock that was set ahead for a rehearsal has been set back.
        kept = self._item(key, DAY_PREFIX + today.isoformat())
        tally = Tally() if kept is None else tally_from(kept)
        archive = (stored.state.day, stored.state.tally)
        return replace(stored, state=stored.state.turned(today, tally), archive=archive)

    def _item(self, key: QuotaKey, sk: str) -> Item | None:
        with store_errors(f"read the quota of {key}"):
            found = self._client.get_item(TableName=self._table, Key={"pk": key.pk, "sk": sk}, ConsistentRead=True)
        return found.get("Item")

    def _write(
        self, key: QuotaKey, stored: Stored, state: QuotaState, *, writer: str, mark: str | None, now: datetime
    ) -> bool:
        """Write the account if nobody did since it was read; False if somebody did."""
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
