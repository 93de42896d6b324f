"""May this call be made now? The rule alone: no store, no clock, no randomness.

Two promises are kept for every sequence of calls, however many functions make them: the calls *sent* in any 60 seconds
never exceed the limit a minute, and those sent in any day of the provider never exceed the limit a day. A call is sent
a little after its unit was reserved, so both are kept with a margin (`GUARD`): a reservation counts against the minute
for 60 s + `GUARD`, and none is made so close to the edge of a day that its call could be counted on the other side.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from touchstone.budgets.days import day_of, day_start, next_reset
from touchstone.judges.base import Limits, Purpose

WINDOW_SECONDS = 60
"""The window over which providers count requests a minute."""
GUARD = timedelta(seconds=5)
"""The longest time from a reservation to the moment its call reaches the provider; also what clocks may differ by."""
SEND_WITHIN = timedelta(seconds=4)
"""How long a permit may be used. The rest of `GUARD` is for connecting and for the request's way."""
REACH_SECONDS = WINDOW_SECONDS + int(GUARD.total_seconds()) + 1
"""How long a reservation counts against the minute. They are kept by whole seconds, hence one more."""
RELEASE_BEFORE_RESET = timedelta(hours=2)
"""When what fresh requests did not use is given to the backlog, and what other tenants did not use to everyone: two
runs of an hourly drain see it."""
DEFAULT_FRESH_SHARE = 0.1
"""The part of a day's quota that the backlog leaves for fresh requests until then."""
MAX_BLOCK = timedelta(minutes=10)
"""Longest time a provider's Retry-After is believed: a minute's quota is whole again long before."""
LEARNED_DAY_LIMIT_DAYS = 7
"""How long a learned limit a day holds. Then the configured one is tried again, so that a raised quota is found; if it
was not raised, that costs one refused call a week."""
PROBES = 1
"""Calls a minute that find out whether a provider that served nobody serves again."""
PROBE_FOR = timedelta(seconds=5)
"""How long everyone waits for the first call after a bar has lapsed: a provider tells within a second or two that a
model is not there, and then the account is barred again before a second call is sent."""

_MAX_HOPS = 8
"""Obstacles one after the other that a wait may meet (block, minute, edge of the day …); more means never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What was reserved in one of the provider's days.

    `backlog_used` is the part of `used` that the drain of deferred work took. `exhausted`: the provider said that the
    day's quota is spent, whatever our own count says (another program may share the account).
    """

    used: int = 0
    backlog_used: int = 0
    exhausted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Limits that the provider named while refusing a call. None: none is known.

    `per_day` was named on the provider's day `per_day_on`; `per_minute` holds until `per_minute_until` (UTC).
    """

    per_day: int | None = None
    per_day_on: date | None = None
    per_minute: int | None = None
    per_minute_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """The provider said that it serves nobody of this account; `why` is that in a sentence.

    Until `until` (UTC) no more than `PROBES` calls a minute are made. The first call after it is a probe too: nobody
    else is let through for `PROBE_FOR`.
    """

    until: datetime
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaState:
    """The account of one provider, model and account.

    `seconds` counts reservations by epoch second, for the minute. `blocked_until` (UTC): the provider asked for a
    pause; None if it did not. `barred`: it does not know the model or refuses the key; None if it did not say so.
    """

    day: date
    tally: Tally = Tally()
    seconds: Mapping[int, int] = field(default_factory=dict)
    learned: Learned = Learned()
    blocked_until: datetime | None = None
    barred: Barred | None = None

    def turned(self, day: date, tally: Tally) -> "QuotaState":
        """The same account on another day, which begins with `tally`."""
        return replace(self, day=day, tally=tally)

    def tally_on(self, day: date) -> Tally:
        """The tally of `day`; a day that is not the account's has an empty one."""
        return self.tally if day == self.day else Tally()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRules:
    """What a decision rests on beside the state: the configured limits and the share kept for fresh requests (0-1).

    `until_release`: the limit a day holds only until `RELEASE_BEFORE_RESET`, and none after it, as a tenant's share.
    """

    provider: str
    limits: Limits
    fresh_share: float = DEFAULT_FRESH_SHARE
    until_release: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """A unit is reserved in `state`."""

    state: QuotaState


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """No unit is free before `until` (UTC), if nobody else takes it. `window` says what ran out.

    Close to the edge of a day `window` is "minute", since waiting a few seconds is all it takes. `barred` is why the
    provider serves nobody, None where it is the quota that ran out.
    """

    window: Literal["day", "minute"]
    until: datetime
    barred: str | None = None


def decide(state: QuotaState, now: datetime, *, rules: QuotaRules, purpose: Purpose) -> Granted | Refused:
    """Reserve one unit at `now`, or say when one will be free.

    A limit of 0 never frees a unit; `until` is then the end of the window at hand.
    """
    first = _refusal(state, now, rules=rules, purpose=purpose)
    if first is None:
        return Granted(state=_reserved(state, now, purpose=purpose, day=day_of(rules.provider, now)))
    limits = effective_limits(state, now, rules=rules)
    if limits.per_day == 0 or limits.per_minute == 0:
        return first
    until = first.until
    for _ in range(_MAX_HOPS):
        later = _refusal(state, until, rules=rules, purpose=purpose)
        if later is None:
            break
        until = later.until
    return replace(first, until=until)


def effective_limits(state: QuotaState, now: datetime, *, rules: QuotaRules) -> Limits:
    """The configured limits, or what the provider named since where that is less and still holds.

    Where it serves nobody, its limit a minute are the probes.
    """
    learned, today = state.learned, day_of(rules.provider, now)
    released_now = rules.until_release and now >= next_reset(rules.provider, now) - RELEASE_BEFORE_RESET
    named_on, named_until = learned.per_day_on, learned.per_minute_until
    day_holds = named_on is not None and abs((today - named_on).days) < LEARNED_DAY_LIMIT_DAYS
    minute_holds = named_until is not None and now < named_until
    per_minute = _least(rules.limits.per_minute, learned.per_minute if minute_holds else None)
    return Limits(
        per_day=None if released_now else _least(rules.limits.per_day, learned.per_day if day_holds else None),
        per_minute=per_minute if barred_at(state, now) is None else _least(per_minute, PROBES),
    )


def kept_for_fresh(per_day: int, tally: Tally, *, fresh_share: float) -> int:
    """How many units the backlog must still leave: the fresh share, rounded down, less what fresh requests used."""
    share = math.floor(per_day * fresh_share + 1e-9)  # 0.29 × 100 is 28.999… in floating point
    return max(0, share - (tally.used - tally.backlog_used))


def live_seconds(state: QuotaState, now: datetime) -> dict[int, int]:
    """The reservations that count against the minute at `now`, by epoch second.

    Seconds far in the future come from a clock that was set ahead for a rehearsal; they are left out.
    """
    second = epoch_second(now)
    return {at: n for at, n in state.seconds.items() if second - REACH_SECONDS < at <= second + REACH_SECONDS}


def pause_until(state: QuotaState, now: datetime) -> datetime | None:
    """Until when the provider asked for a pause, None if no pause holds at `now`."""
    until = state.blocked_until
    return until if until is not None and now < until <= now + MAX_BLOCK else None


def barred_at(state: QuotaState, now: datetime) -> Barred | None:
    """Why the provider serves nobody, None where it may be asked as usual at `now`."""
    barred = state.barred
    return barred if barred is not None and now < barred.until <= now + MAX_BLOCK else None


def epoch_second(moment: datetime) -> int:
    """The whole second since 1970 that `moment` lies in."""
    return math.floor(moment.timestamp())


def released(state: QuotaState, *, day: date, second: int, purpose: Purpose) -> QuotaState:
    """Give back one unit reserved on `day` in `second`. On another day nothing is left to give back."""
    if state.day != day:
        return state
    seconds = {at: n - (at == second) for at, n in state.seconds.items() if n > (at == second)}
    backlog = int(purpose == "backlog")
    tally = replace(
        state.tally,
        used=max(0, state.tally.used - 1),
        backlog_used=max(0, state.tally.backlog_used - backlog),
    )
    return replace(state, tally=tally, seconds=seconds)


def _refusal(state: QuotaState, at: datetime, *, rules: QuotaRules, purpose: Purpose) -> Refused | None:
    limits = effective_limits(state, at, rules=rules)
    return _day_refusal(state, at, limits.per_day, rules=rules, purpose=purpose) or _minute_refusal(
        state, at, limits.per_minute
    )


def _day_refusal(
    state: QuotaState, at: datetime, per_day: int | None, *, rules: QuotaRules, purpose: Purpose
) -> Refused | None:
    day, reset = day_of(rules.provider, at), next_reset(rules.provider, at)
    tally = state.tally_on(day)
    if tally.exhausted:
        return Refused(window="day", until=reset + GUARD)
    if per_day is None:
        return None
    if tally.used >= per_day:
        return Refused(window="day", until=reset - RELEASE_BEFORE_RESET if rules.until_release else reset + GUARD)
    start = day_start(rules.provider, day)
    if at < start + GUARD:
        return Refused(window="minute", until=start + GUARD)
    if at > reset - GUARD:
        return Refused(window="minute", until=reset + GUARD)
    kept = kept_for_fresh(per_day, tally, fresh_share=rules.fresh_share)
    if purpose == "backlog" and at < reset - RELEASE_BEFORE_RESET and tally.used >= per_day - kept:
        return Refused(window="day", until=reset - RELEASE_BEFORE_RESET)
    return None


def _minute_refusal(state: QuotaState, at: datetime, per_minute: int | None) -> Refused | None:
    pause = pause_until(state, at)
    if pause is not None:
        return Refused(window="minute", until=pause)
    if per_minute is None:
        return None
    live = live_seconds(state, at)
    excess = sum(live.values()) - per_minute + 1
    if excess <= 0:
        return None
    leaves = epoch_second(at)
    for second in sorted(live):
        leaves, excess = second, excess - live[second]
        if excess <= 0:
            break
    barred = barred_at(state, at)
    return Refused(
        window="minute",
        until=datetime.fromtimestamp(leaves + REACH_SECONDS, UTC),
        barred=None if barred is None else barred.why,
    )


def _reserved(state: QuotaState, now: datetime, *, purpose: Purpose, day: date) -> QuotaState:
    tally, seconds, second = state.tally_on(day), live_seconds(state, now), epoch_second(now)
    is_probe = state.barred is not None and barred_at(state, now) is None
    return replace(
        state,
        day=day,
        blocked_until=now + PROBE_FOR if is_probe else state.blocked_until,
        barred=None if is_probe else state.barred,
        tally=replace(tally, used=tally.used + 1, backlog_used=tally.backlog_used + int(purpose == "backlog")),
        seconds=seconds | {second: seconds.get(second, 0) + 1},
    )


def _least(configured: int | None, learned: int | None) -> int | None:
    known = [limit for limit in (configured, learned) if limit is not None]
    return min(known, default=None)
