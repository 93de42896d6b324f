"""The providers' quotas in DynamoDB: a unit is reserved by one conditional write before a call is sent.

Every change reads the account, decides by the pure rules in `decision`, and writes the whole account back on condition
that nobody wrote since. Of any number of functions that reserve at once each one is granted a unit or refused; none
sees half of another's work, and a function that dies leaves at most its own unit spent.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from touchstone.budgets.days import day_of
from touchstone.budgets.decision import (
    DEFAULT_FRESH_SHARE,
    SEND_WITHIN,
    Learned,
    QuotaRules,
    QuotaState,
    Refused,
    Tally,
    decide,
    epoch_second,
    released,
)
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
from touchstone.budgets.learning import learned_from
from touchstone.budgets.store import Item, client_of, put_together, store_errors
from touchstone.budgets.usage import DayUsage, QuotaUsage, usage_of
from touchstone.clock import Clock, system_clock
from touchstone.errors import DayQuotaError, InputError, MinuteQuotaError, QuotaExceededError, StoreError
from touchstone.judges.base import Limits, Purpose

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

MAX_TRIES = 64
"""Every failed try means that another writer got through, so twenty at once need at most twenty; the rest is slack."""
MAX_PAUSE_SECONDS = 0.05
"""Longest pause between two tries; its length is random, so that writers do not meet again."""

type Change = Callable[[QuotaState, datetime], QuotaState]
"""Makes the new state of an account; returns the same object to change nothing, or raises to refuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """One reserved unit. The call must be sent before `expires_at` (UTC), else the unit is given back."""

    id: str
    key: QuotaKey
    purpose: Purpose
    reserved_at: datetime

    @property
    def expires_at(self) -> datetime:
        """When the call would fall into another minute or day than the one it was counted in."""
        return self.reserved_at + SEND_WITHIN


def exceeded(key: QuotaKey, refusal: Refused) -> QuotaExceededError:
    """The refusal as the error that callers see."""
    return QuotaExceededError(
        f"The {refusal.window}'s quota of {key} has no unit left before {refusal.until:%Y-%m-%d %H:%M:%S} UTC; "
        "nothing was sent.",
        window=refusal.window,
        until=refusal.until,
    )


class Quotas:
    """Reserves units of providers' quotas. All methods block; they raise `StoreError` when the table fails.

    `fresh_share` (0-1) is the part of a day that the backlog leaves for fresh requests until two hours before the
    provider's reset; 0 leaves nothing.
    """

    def __init__(
        self,
        table: "Table",
        *,
        clock: Clock = system_clock,
        fresh_share: float = DEFAULT_FRESH_SHARE,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not 0.0 <= fresh_share <= 1.0:
            raise InputError(
                f"The share kept for fresh requests must be 0 to 1, not {fresh_share}.", where="fresh_share"
            )
        self._client = client_of(table)
        self._table = table.name
        self._clock = clock
        self._fresh_share = fresh_share
        self._sleep = sleep

    def reserve(self, key: QuotaKey, limits: Limits, *, purpose: Purpose) -> Reservation:
        """Reserve one unit, or raise `QuotaExceededError` with the moment at which one will be free."""
        rules = self._rules(key, limits)

        def take(state: QuotaState, now: datetime) -> QuotaState:
            decision = decide(state, now, rules=rules, purpose=purpose)
            if isinstance(decision, Refused):
                raise exceeded(key, decision)
            return decision.state

        reservation_id = uuid4().hex
        reserved_at = self._change(key, take, writer=reservation_id)
        return Reservation(id=reservation_id, key=key, purpose=purpose, reserved_at=reserved_at)

    def release(self, reservation: Reservation) -> None:
        """Give a unit back whose call was certainly never sent. On a later day, or a second time, nothing happens."""
        key = reservation.key
        day, second = day_of(key.provider, reservation.reserved_at), epoch_second(reservation.reserved_at)

        def give_back(state: QuotaState, _now: datetime) -> QuotaState:
            return released(state, day=day, second=second, purpose=reservation.purpose)

        self._change(key, give_back, writer=uuid4().hex, mark=reservation.id)

    def learn(self, reservation: Reservation, error: DayQuotaError | MinuteQuotaError) -> None:
        """Keep what the provider said about its quota when it refused the call made on `reservation`."""
        key = reservation.key
        reserved_on = day_of(key.provider, reservation.reserved_at)

        def adapt(state: QuotaState, now: datetime) -> QuotaState:
            return learned_from(state, error, reserved_on=reserved_on, now=now)

        self._change(key, adapt, writer=uuid4().hex)

    def usage(self, key: QuotaKey, limits: Limits) -> QuotaUsage:
        """What is used and left now, where `limits` are the configured ones."""
        now = self._clock()
        return usage_of(self._load(key, now).state, now, rules=self._rules(key, limits))

    def history(self, key: QuotaKey, *, days: int = 30) -> tuple[DayUsage, ...]:
        """What was used on the latest `days` days on which anything was, today among them, newest first."""
        current = self._load(key, self._clock())
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

    def forget(self, key: QuotaKey) -> None:
        """Forget the limits and refusals the provider named: its quota was raised, or its credit topped up."""

        def reset(state: QuotaState, _now: datetime) -> QuotaState:
            tally = replace(state.tally, exhausted=False)
            return replace(state, tally=tally, learned=Learned(), blocked_until=None)

        self._change(key, reset, writer=uuid4().hex)

    def _rules(self, key: QuotaKey, limits: Limits) -> QuotaRules:
        return QuotaRules(provider=key.provider, limits=limits, fresh_share=self._fresh_share)

    def _change(self, key: QuotaKey, change: Change, *, writer: str, mark: str | None = None) -> datetime:
        """Apply `change` to the account exactly once; returns the moment it was made for.

        `writer` names this change: found in the table after a try that seemed to fail, it had succeeded after all.
        `mark` names a reservation that is given back; if it already was, nothing happens.
        """
        made_at = None
        for tries in range(MAX_TRIES):
            now = self._clock()
            stored = self._load(key, now)
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
