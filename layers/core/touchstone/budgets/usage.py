"""How much of a quota is used, how much is left, and when a backlog will be done."""

import sys
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from touchstone.budgets.account import COUNTED_SECONDS, SEND_MARGIN, DayTally, QuotaState, live_seconds, pause_at
from touchstone.budgets.days import day_of, day_start, next_reset
from touchstone.budgets.decision import (
    RELEASE_BEFORE_RESET,
    QuotaRules,
    calls_allowed_at,
    effective_limits,
    kept_for_fresh,
    named_limits,
)
from touchstone.judges.base import QuotaLimits

FORECAST_DAYS = 3660
"""How many days a forecast looks ahead: ten years. A backlog that takes longer has no date worth showing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUsage:
    """The usage of the quota of one provider, model and account at the moment `now` (UTC).

    `limit` is how many requests a day are allowed now and `left` how many of them are free; both are None if no limit
    is known. `used` counts today's reservations, `backlog_used` the reservations among them for deferred work, and
    `kept` is what the backlog must still leave for fresh requests. `per_minute` and `left_this_minute` are the limit a
    minute and what is left of it. `learned` are the limits that the provider named for the whole account, while they
    hold. `blocked_until` (UTC) is when a call may be tried again after the provider refused one, None if a call may be
    tried now. `blocked_why` is what the provider said, as a sentence, None if that is not known. `resets_at` is the
    provider's next midnight. `at_once` is how many calls that nobody waits for may begin together, None if their number
    is not bounded.
    """

    provider: str
    now: datetime
    day: date
    limit: int | None
    used: int
    backlog_used: int
    left: int | None
    kept: int
    per_minute: int | None
    left_this_minute: int | None
    resets_at: datetime
    learned: QuotaLimits
    blocked_until: datetime | None
    blocked_why: str | None
    fresh_share: float
    at_once: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayUsage:
    """The usage of one of the provider's days. `exhausted`: the provider said that the day's quota was spent."""

    day: date
    used: int
    backlog_used: int
    exhausted: bool


def usage_of(state: QuotaState, now: datetime, *, rules: QuotaRules) -> QuotaUsage:
    """The usage that a state of the account shows at `now`."""
    day, reset = day_of(rules.provider, now), next_reset(rules.provider, now)
    tally, limits = state.tally_on(day), effective_limits(state, now, rules=rules)
    per_day, per_minute = limits.per_day, limits.per_minute
    kept = 0
    if per_day is not None and now < reset - RELEASE_BEFORE_RESET:
        kept = kept_for_fresh(per_day, tally, fresh_share=rules.fresh_share)
    left = None if per_day is None else max(0, per_day - tally.used)
    pause = state.refusals if tally.exhausted else pause_at(state, now)
    in_minute = sum(live_seconds(state, now).values())
    return QuotaUsage(
        provider=rules.provider,
        now=now,
        day=day,
        limit=per_day,
        used=tally.used,
        backlog_used=tally.backlog_used,
        left=0 if tally.exhausted else left,
        kept=kept,
        per_minute=per_minute,
        left_this_minute=None if per_minute is None else max(0, per_minute - in_minute),
        resets_at=reset,
        learned=named_limits(state, now, rules=rules),
        blocked_until=reset + SEND_MARGIN if tally.exhausted else None if pause is None else pause.until,
        blocked_why=None if pause is None else pause.why,
        fresh_share=rules.fresh_share,
        at_once=calls_allowed_at(state, now, rules=replace(rules, slow_start=True)),
    )


def forecast(backlog: int, usage: QuotaUsage) -> datetime | None:
    """When the last of `backlog` calls will be sent, at the rate that `usage` allows; exact to the minute.

    The forecast supposes that the drain runs whenever a unit is free, that fresh requests take nothing more (each one
    pushes the end back by one unit), and that no tenant's share holds the backlog back within a day. None: never, or
    later than ten years from now.
    """
    if backlog <= 0:
        return usage.now
    start = max(usage.now, usage.blocked_until or usage.now)
    if usage.limit is None:
        return _last_sent(start, backlog, usage.per_minute)
    for day in (usage.day + timedelta(days=ahead) for ahead in range(FORECAST_DAYS)):
        reset = day_start(usage.provider, day + timedelta(days=1))
        opens = max(start, day_start(usage.provider, day) + SEND_MARGIN)
        today = day == usage.day
        free = (usage.left or 0) if today else usage.limit
        kept = usage.kept if today else kept_for_fresh(usage.limit, DayTally(), fresh_share=usage.fresh_share)
        release = max(opens, reset - RELEASE_BEFORE_RESET)
        first = min(max(0, free - kept), _sendable(opens, release, usage.per_minute))
        if backlog <= first:
            return _last_sent(opens, backlog, usage.per_minute)
        second = min(free - first, _sendable(release, reset - SEND_MARGIN, usage.per_minute))
        if backlog <= first + second:
            return _last_sent(release, backlog - first, usage.per_minute)
        backlog -= first + second
    return None


def _sendable(opens: datetime, closes: datetime, per_minute: int | None) -> int:
    """How many calls the limit a minute lets through between two moments."""
    if closes <= opens:
        return 0
    if per_minute is None:
        return sys.maxsize
    return per_minute * (int((closes - opens).total_seconds()) // COUNTED_SECONDS + 1)


def _last_sent(start: datetime, calls: int, per_minute: int | None) -> datetime | None:
    if per_minute is None:
        return start
    if per_minute == 0:
        return None
    return start + timedelta(seconds=COUNTED_SECONDS * ((calls - 1) // per_minute))
