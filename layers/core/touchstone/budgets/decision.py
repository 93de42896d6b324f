"""Whether a call may be made now. The rule alone: no store, no clock, no randomness.

Two promises are kept for every sequence of calls, however many functions make them: the calls *sent* in any 60 seconds
never exceed the limit a minute, and the calls sent in any day of the provider never exceed the limit a day. A call is
sent a little after its unit was reserved, so both promises are kept with a margin (`SEND_MARGIN`). A reservation counts
against the minute for 60 s + `SEND_MARGIN`. No reservation is made so close to the edge of a day that its call could
count on the other side.

A third promise holds for limits that nobody told us. Once a provider has refused a call, the calls that it refused in
the last minute and the calls in flight, which it may refuse too, are `MAX_REFUSALS_PER_MINUTE` at most together. So the
provider refuses no more than `MAX_REFUSALS_PER_MINUTE` calls in any 60 seconds, whatever waiting time it advises. This
care ends when it has refused no call for `CAUTION_PERIOD`. While it has answered nothing since it refused, one call at
a time asks, after pauses that grow (`ledger`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from touchstone.budgets.account import (
    COUNTED_SECONDS,
    MAX_REFUSALS_PER_MINUTE,
    PROBE_FOR,
    REFUSED_FOR,
    SEND_MARGIN,
    DayTally,
    QuotaState,
    calls_in_flight,
    careful_at,
    epoch_second,
    live_seconds,
    pause_at,
    recently_refused,
)
from touchstone.budgets.days import day_of, day_start, next_reset
from touchstone.judges.base import Purpose, QuotaLimits

SEND_WITHIN = timedelta(seconds=4)
"""How long a permit may be used. The rest of `SEND_MARGIN` is for connecting and for the request's way."""
RELEASE_BEFORE_RESET = timedelta(hours=2)
"""How long before the reset the unused part of the day is released: what fresh requests did not use to the backlog, and
what other tenants did not use to everyone. Two runs of an hourly drain fall into this time."""
DEFAULT_FRESH_SHARE = 0.1
"""The part of a day's quota that the backlog leaves for fresh requests until `RELEASE_BEFORE_RESET`."""
LEARNED_DAY_LIMIT_DAYS = 7
"""For how many days a learned limit a day holds. Then the configured limit is tried again, so that a raised quota is
found. If the quota was not raised, that costs one refused call a week."""
RECHECK_PAUSE = timedelta(seconds=1)
"""When to ask again while calls in flight are waited for: they mostly end long before `PROBE_FOR`."""
SHORTEST_LEASE = 2 * SEND_WITHIN
"""The shortest time in which units that were reserved together may be used. They may be taken until half of it has
passed, and then be sent as late as any other unit. They count against the minute as if all were taken last, so that the
minute holds a sixteenth less."""
LONGEST_LEASE = timedelta(seconds=20)
"""The longest such time, where many functions write one account; then the minute holds a fifth less."""
LEASE_SHARE = 100
"""A lease holds at most a hundredth of the limit a minute, and of what the day still has. So a function leaves few
units unused. A limit below twice this number is never leased: its units are reserved one by one."""
SLOW_START_DIVISOR = 8
"""With a slow start, one call may be in flight for each eight calls that were made today. When an unknown quota ends,
an eighth of it is refused, or `MAX_REFUSALS_PER_MINUTE` calls."""
SLOW_START_CALLS = 400
"""The calls of a day after which a slow start is over: 50 calls may be in flight by then, more than a batch ever
has."""

_MAX_HOPS = 8
"""How many obstacles a wait may meet one after the other (block, minute, edge of the day …); more means never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRules:
    """The rules of a decision, beside the state: the configured limits and the share kept for fresh requests (0-1).

    `quota_share` is the part of every limit that is ours, if other deployments use the account too (above 0, up to 1).
    `until_release`: the limit a day holds only until `RELEASE_BEFORE_RESET`, and no limit a day holds after it; a
    tenant's share is such a limit. `slow_start`: few calls are in flight at once until the calls made today show that
    there is room for more; for work that nobody waits for.
    """

    provider: str
    limits: QuotaLimits
    fresh_share: float = DEFAULT_FRESH_SHARE
    quota_share: float = 1.0
    until_release: bool = False
    slow_start: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The call may be made: `units` are reserved in `state`, counted at the moment `at` (UTC).

    `watched`: others wait for the call of this single unit, so its end must be told.
    """

    state: QuotaState
    watched: bool
    units: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The call may not be made: no unit is free before `until` (UTC). `window` says which quota ran out.

    A unit is free at `until` only if nobody else takes it. Close to the edge of a day `window` is "minute", since a
    wait of a few seconds is enough. `why` is what the provider said last, None if our own count ran out. `barred`: the
    provider serves nobody. `in_flight`: calls in flight are waited for, and one may be let through as soon as they end.
    """

    window: Literal["day", "minute"]
    until: datetime
    why: str | None = None
    barred: bool = False
    in_flight: bool = False


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """How many units the caller wants to reserve together, and how long they are to be used."""

    units: int
    duration: timedelta


SINGLE_UNIT = LeaseRequest(1, SHORTEST_LEASE)


def decide(
    state: QuotaState,
    now: datetime,
    *,
    rules: QuotaRules,
    purpose: Purpose,
    reservation: str = "",
    lease: LeaseRequest = SINGLE_UNIT,
) -> Granted | Refused:
    """Reserve one unit at `now` as `reservation`, or several units, up to what `lease` wants; or refuse.

    A refusal says when a unit will be free. A limit of 0 never frees a unit; `until` is then the end of the present
    window.
    """
    first = _refusal(state, now, rules=rules, purpose=purpose)
    if first is None:
        watched = _risk_limit(state, now, rules=rules) is not None
        in_flight = calls_in_flight(state, now) | ({reservation: now + PROBE_FOR} if watched else {})
        alone = watched or lease.units == 1
        units = 1 if alone else max(1, min(lease.units, leasable(state, now, lease, rules=rules, purpose=purpose)))
        # The units of a lease are used later: they count at the last moment at which a unit may still be taken.
        at = now if units == 1 else now + lease.duration - SEND_WITHIN
        granted = _reserved(state, now, purpose=purpose, day=day_of(rules.provider, now), watched=in_flight)
        return Granted(state=_with_units(granted, units, now, at, purpose=purpose), watched=watched, units=units, at=at)
    limits = effective_limits(state, now, rules=rules)
    if first.in_flight or limits.per_day == 0 or limits.per_minute == 0:
        return first
    until = first.until
    for _ in range(_MAX_HOPS):
        later = _refusal(state, until, rules=rules, purpose=purpose)
        if later is None:
            break
        until = later.until
    return replace(first, until=until)


def effective_limits(state: QuotaState, now: datetime, *, rules: QuotaRules) -> QuotaLimits:
    """Our share of the limits in force: of those that the provider named (`named_limits`), else of the configured."""
    named = named_limits(state, now, rules=rules)
    per_day = rules.limits.per_day if named.per_day is None else named.per_day
    per_minute = rules.limits.per_minute if named.per_minute is None else named.per_minute
    if rules.until_release and now >= next_reset(rules.provider, now) - RELEASE_BEFORE_RESET:
        per_day = None
    return QuotaLimits(
        per_day=_own_share(per_day, rules.quota_share), per_minute=_own_share(per_minute, rules.quota_share)
    )


def named_limits(state: QuotaState, now: datetime, *, rules: QuotaRules) -> QuotaLimits:
    """The limits that the provider named, for all who use the account, while they hold.

    Each is None if none was named, or if it is not smaller than the configured one.
    """
    learned, today = state.learned, day_of(rules.provider, now)
    named_on, named_until = learned.per_day_on, learned.per_minute_until
    day_holds = named_on is not None and abs((today - named_on).days) < LEARNED_DAY_LIMIT_DAYS
    minute_holds = named_until is not None and now < named_until
    return QuotaLimits(
        per_day=_smaller(learned.per_day, rules.limits.per_day) if day_holds else None,
        per_minute=_smaller(learned.per_minute, rules.limits.per_minute) if minute_holds else None,
    )


def _smaller(named: int | None, configured: int | None) -> int | None:
    return None if named is None or (configured is not None and named >= configured) else named


def _own_share(limit: int | None, share: float) -> int | None:
    """Our share of a limit, rounded down, so that shares that add up to 1 never pass the limit.

    At least one unit if the limit has any.
    """
    if limit is None or limit <= 0:
        return limit
    return max(1, math.floor(limit * share + 1e-9))  # 0.29 × 100 is 28.999… in floating point


def kept_for_fresh(per_day: int, tally: DayTally, *, fresh_share: float) -> int:
    """How many units the backlog must still leave: the fresh share, rounded down, less what fresh requests used."""
    share = math.floor(per_day * fresh_share + 1e-9)  # 0.29 × 100 is 28.999… in floating point
    return max(0, share - (tally.used - tally.backlog_used))


def leasable(state: QuotaState, now: datetime, lease: LeaseRequest, *, rules: QuotaRules, purpose: Purpose) -> int:
    """How many units may be reserved together at `now`; 0 if units may be reserved only one by one.

    No units may be reserved together if the provider refused calls of late, during a slow start, if the limit a minute
    is not known, or if the lease would last over the edge of a day.
    """
    limits = effective_limits(state, now, rules=rules)
    if limits.per_minute is None or _risk_limit(state, now, rules=rules) is not None:
        return 0
    if now + lease.duration > next_reset(rules.provider, now) - SEND_MARGIN:
        return 0
    left = limits.per_minute - sum(live_seconds(state, now).values())
    room = min(max(0, left), limits.per_minute // LEASE_SHARE)
    if limits.per_day is not None:
        tally = state.tally_on(day_of(rules.provider, now))
        kept = kept_for_fresh(limits.per_day, tally, fresh_share=rules.fresh_share) if purpose == "backlog" else 0
        room = min(room, max(0, limits.per_day - kept - tally.used) // LEASE_SHARE)
    return room


def _with_units(state: QuotaState, units: int, now: datetime, at: datetime, *, purpose: Purpose) -> QuotaState:
    """The account with `units` reserved instead of the one unit of this second, all counted at the moment `at`."""
    if units == 1:
        return state
    first, second, tally = epoch_second(now), epoch_second(at), state.tally
    seconds = {moment: n - (moment == first) for moment, n in state.seconds.items() if n > (moment == first)}
    more = units - 1
    return replace(
        state,
        tally=replace(
            tally, used=tally.used + more, backlog_used=tally.backlog_used + more * int(purpose == "backlog")
        ),
        seconds=seconds | {second: seconds.get(second, 0) + units},
    )


def _refusal(state: QuotaState, at: datetime, *, rules: QuotaRules, purpose: Purpose) -> Refused | None:
    limits = effective_limits(state, at, rules=rules)
    return (
        _day_refusal(state, at, limits.per_day, rules=rules, purpose=purpose)
        or _minute_refusal(state, at, limits.per_minute)
        or _risk_refusal(state, at, rules=rules)
    )


def _day_refusal(
    state: QuotaState, at: datetime, per_day: int | None, *, rules: QuotaRules, purpose: Purpose
) -> Refused | None:
    day, reset = day_of(rules.provider, at), next_reset(rules.provider, at)
    tally = state.tally_on(day)
    if tally.exhausted:
        return Refused(
            window="day", until=reset + SEND_MARGIN, why=None if state.refusals is None else state.refusals.why
        )
    if per_day is None:
        return None
    if tally.used >= per_day:
        return Refused(window="day", until=reset - RELEASE_BEFORE_RESET if rules.until_release else reset + SEND_MARGIN)
    start = day_start(rules.provider, day)
    if at < start + SEND_MARGIN:
        return Refused(window="minute", until=start + SEND_MARGIN)
    if at > reset - SEND_MARGIN:
        return Refused(window="minute", until=reset + SEND_MARGIN)
    kept = kept_for_fresh(per_day, tally, fresh_share=rules.fresh_share)
    if purpose == "backlog" and at < reset - RELEASE_BEFORE_RESET and tally.used >= per_day - kept:
        return Refused(window="day", until=reset - RELEASE_BEFORE_RESET)
    return None


def _minute_refusal(state: QuotaState, at: datetime, per_minute: int | None) -> Refused | None:
    pause = pause_at(state, at)
    if pause is not None:
        return Refused(window="minute", until=pause.until, why=pause.why, barred=pause.barred)
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
    return Refused(window="minute", until=datetime.fromtimestamp(leaves + COUNTED_SECONDS, UTC))


def _risk_refusal(state: QuotaState, at: datetime, *, rules: QuotaRules) -> Refused | None:
    """The refusal of a call after which the provider might refuse more than `MAX_REFUSALS_PER_MINUTE`, or None."""
    limit = _risk_limit(state, at, rules=rules)
    if limit is None:
        return None
    refusals = careful_at(state, at)
    in_flight = calls_in_flight(state, at).values()
    refused = () if refusals is None or refusals.in_a_row else recently_refused(refusals, at)
    ends = sorted((*in_flight, *(moment + REFUSED_FOR for moment in refused)))
    if len(ends) < limit:
        return None
    return Refused(
        window="minute",
        until=min(ends[len(ends) - limit], at + RECHECK_PAUSE) if in_flight else ends[len(ends) - limit],
        why=refusals.why if refusals is not None and refusals.in_a_row else None,
        barred=refusals is not None and refusals.barred,
        in_flight=bool(in_flight),
    )


def _risk_limit(state: QuotaState, at: datetime, *, rules: QuotaRules) -> int | None:
    """How many calls may be in flight, including the calls refused in the last minute; None: any number.

    A probe is alone: the pause before it was long enough for the refusals of the last minute to be over (`ledger`).
    """
    refusals = careful_at(state, at)
    if refusals is not None:
        return 1 if refusals.in_a_row else MAX_REFUSALS_PER_MINUTE
    made = state.tally_on(day_of(rules.provider, at)).used
    if not rules.slow_start or made >= SLOW_START_CALLS:
        return None
    return max(MAX_REFUSALS_PER_MINUTE, (made - len(calls_in_flight(state, at))) // SLOW_START_DIVISOR)


def calls_allowed_at(state: QuotaState, at: datetime, *, rules: QuotaRules) -> int | None:
    """How many calls may begin at once, so far as the provider may refuse them; None: any number."""
    limit = _risk_limit(state, at, rules=rules)
    return None if limit is None else max(0, limit - len(calls_in_flight(state, at)))


def _reserved(
    state: QuotaState, now: datetime, *, purpose: Purpose, day: date, watched: Mapping[str, datetime]
) -> QuotaState:
    tally, seconds, second = state.tally_on(day), live_seconds(state, now), epoch_second(now)
    return replace(
        state,
        day=day,
        tally=replace(tally, used=tally.used + 1, backlog_used=tally.backlog_used + int(purpose == "backlog")),
        seconds=seconds | {second: seconds.get(second, 0) + 1},
        watched=watched,
    )
