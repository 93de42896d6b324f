"""May this call be made now? The rule alone: no store, no clock, no randomness.

Two promises are kept for every sequence of calls, however many functions make them: the calls *sent* in any 60 seconds
never exceed the limit a minute, and those sent in any day of the provider never exceed the limit a day. A call is sent
a little after its unit was reserved, so both are kept with a margin (`GUARD`): a reservation counts against the minute
for 60 s + `GUARD`, and none is made so close to the edge of a day that its call could be counted on the other side.

A third holds for limits that nobody told us: once a provider has refused a call, the calls that it refused in the last
minute and those in flight, which it may refuse too, are `RISKED` at most together. So it refuses no more than that in
any 60 seconds, whatever it says of seconds to wait, until it has refused none for `CAREFUL_FOR`. While it has answered
nothing since it refused, one call at a time asks, after pauses that grow (`learning`).
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
"""Longest pause: so soon a provider that was mended is found, and a minute's quota is whole again long before."""
LEARNED_DAY_LIMIT_DAYS = 7
"""How long a learned limit a day holds. Then the configured one is tried again, so that a raised quota is found; if it
was not raised, that costs one refused call a week."""
RISKED = 3
"""Calls that a provider may refuse in a minute."""
REFUSED_FOR = timedelta(seconds=WINDOW_SECONDS) + GUARD
"""How long a refused call counts as one of the last minute."""
CAREFUL_FOR = timedelta(minutes=3)
"""How long after its last refusal a provider that answers again is still asked with care. Shorter than a line of a
batch waits, so that none waits for others in vain."""
PROBE_FOR = timedelta(seconds=5)
"""How long a call in flight is waited for: a provider refuses within a second or two, and whoever works on an answer
for longer has not refused it."""
LOOK_AGAIN = timedelta(seconds=1)
"""When to ask again where calls in flight are waited for, which mostly end long before `PROBE_FOR`."""
PROVEN_SHARE = 8
"""With a slow start one call may be in flight for each so many that were made today: where a quota that nobody knew
ends, an eighth of it is refused, or `RISKED`."""
PROVEN = 400
"""Calls of a day after which a slow start is over: 50 may be in flight by then, more than a batch ever has."""

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
class Refusals:
    """The provider refused calls; `why` is what it said last, in a sentence.

    `at` are its latest refusals (UTC, `RISKED` at most, oldest first). `in_a_row` counts those that a pause and a probe
    followed without an answer; 0: it answers again. Nothing is sent before `until` (UTC). `barred`: it does not know
    the model or refuses the key, so that it serves nobody.
    """

    at: tuple[datetime, ...] = ()
    in_a_row: int
    until: datetime
    why: str
    barred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaState:
    """The account of one provider, model and account.

    `seconds` counts reservations by epoch second, for the minute. `refusals` None: it refused none of late. `watched`
    are the reservations whose calls are waited for, each with the moment until which it is; kept only while that
    decides anything.
    """

    day: date
    tally: Tally = Tally()
    seconds: Mapping[int, int] = field(default_factory=dict)
    learned: Learned = Learned()
    refusals: Refusals | None = None
    watched: Mapping[str, datetime] = field(default_factory=dict)

    def turned(self, day: date, tally: Tally) -> "QuotaState":
        """The same account on another day, which begins with `tally`."""
        return replace(self, day=day, tally=tally)

    def tally_on(self, day: date) -> Tally:
        """The tally of `day`; a day that is not the account's has an empty one."""
        return self.tally if day == self.day else Tally()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRules:
    """What a decision rests on beside the state: the configured limits and the share kept for fresh requests (0-1).

    `quota_share`: the part of every limit that is ours, where other deployments use the account too (above 0, up to 1).
    `until_release`: the limit a day holds only until `RELEASE_BEFORE_RESET`, and none after it, as a tenant's share.
    `slow_start`: calls in flight are few until as many were made today as show that there is room for more; for work
    that nobody waits for.
    """

    provider: str
    limits: Limits
    fresh_share: float = DEFAULT_FRESH_SHARE
    quota_share: float = 1.0
    until_release: bool = False
    slow_start: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """A unit is reserved in `state`. `watched`: its call is waited for, so that its end must be told."""

    state: QuotaState
    watched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """No unit is free before `until` (UTC), if nobody else takes it. `window` says what ran out.

    Close to the edge of a day `window` is "minute", since waiting a few seconds is all it takes. `why` is what the
    provider said last, None where it is our own count that ran out; `barred`: it serves nobody. `in_flight`: calls in
    flight are waited for, and one may be let through as soon as they end.
    """

    window: Literal["day", "minute"]
    until: datetime
    why: str | None = None
    barred: bool = False
    in_flight: bool = False


def decide(
    state: QuotaState, now: datetime, *, rules: QuotaRules, purpose: Purpose, reservation: str = ""
) -> Granted | Refused:
    """Reserve one unit at `now` as `reservation`, or say when one will be free.

    A limit of 0 never frees a unit; `until` is then the end of the window at hand.
    """
    first = _refusal(state, now, rules=rules, purpose=purpose)
    if first is None:
        watched = _risk_limit(state, now, rules=rules) is not None
        in_flight = _in_flight(state, now) | ({reservation: now + PROBE_FOR} if watched else {})
        granted = _reserved(state, now, purpose=purpose, day=day_of(rules.provider, now), watched=in_flight)
        return Granted(state=granted, watched=watched)
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


def effective_limits(state: QuotaState, now: datetime, *, rules: QuotaRules) -> Limits:
    """Our share of the configured limits, or of what the provider named since where that is less and still holds."""
    learned, today = state.learned, day_of(rules.provider, now)
    released_now = rules.until_release and now >= next_reset(rules.provider, now) - RELEASE_BEFORE_RESET
    named_on, named_until = learned.per_day_on, learned.per_minute_until
    day_holds = named_on is not None and abs((today - named_on).days) < LEARNED_DAY_LIMIT_DAYS
    minute_holds = named_until is not None and now < named_until
    per_day = None if released_now else _least(rules.limits.per_day, learned.per_day if day_holds else None)
    per_minute = _least(rules.limits.per_minute, learned.per_minute if minute_holds else None)
    return Limits(per_day=_ours(per_day, rules.quota_share), per_minute=_ours(per_minute, rules.quota_share))


def _ours(limit: int | None, share: float) -> int | None:
    """Rounded down, so that shares that add up to 1 never pass the limit; one unit at least where there is any."""
    if limit is None or limit <= 0:
        return limit
    return max(1, math.floor(limit * share + 1e-9))  # 0.29 × 100 is 28.999… in floating point


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


def pause_at(state: QuotaState, now: datetime) -> Refusals | None:
    """The refusals for which nothing is sent at `now`, None where something may be."""
    refusals = state.refusals
    return refusals if refusals is not None and now < refusals.until <= now + MAX_BLOCK + GUARD else None


def recently_refused(refusals: Refusals, now: datetime) -> tuple[datetime, ...]:
    """The refusals that count as those of the last minute at `now`."""
    return tuple(at for at in refusals.at if abs(now - at) < REFUSED_FOR)


def settled(state: QuotaState, reservation: str, now: datetime, *, answered: bool) -> QuotaState:
    """The account when the watched call of `reservation` has ended and was not refused. `answered`: with a reply."""
    watched = {other: until for other, until in _in_flight(state, now).items() if other != reservation}
    refusals = state.refusals
    if refusals is not None and answered:
        refusals = replace(refusals, in_a_row=0, until=now, barred=False)
    return replace(state, watched=watched, refusals=refusals)


def epoch_second(moment: datetime) -> int:
    """The whole second since 1970 that `moment` lies in."""
    return math.floor(moment.timestamp())


def released(state: QuotaState, reservation: str = "", *, day: date, second: int, purpose: Purpose) -> QuotaState:
    """Give back the unit of `reservation`, made on `day` in `second`. On another day nothing is left to give back."""
    if reservation in state.watched:
        watched = {other: until for other, until in state.watched.items() if other != reservation}
        state = replace(state, watched=watched)
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
        return Refused(window="day", until=reset + GUARD, why=None if state.refusals is None else state.refusals.why)
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
    return Refused(window="minute", until=datetime.fromtimestamp(leaves + REACH_SECONDS, UTC))


def _risk_refusal(state: QuotaState, at: datetime, *, rules: QuotaRules) -> Refused | None:
    """The refusal of a call by which the provider could come to refuse more in a minute than `RISKED`."""
    limit = _risk_limit(state, at, rules=rules)
    if limit is None:
        return None
    refusals = careful_at(state, at)
    in_flight = _in_flight(state, at).values()
    refused = () if refusals is None or refusals.in_a_row else recently_refused(refusals, at)
    ends = sorted((*in_flight, *(moment + REFUSED_FOR for moment in refused)))
    if len(ends) < limit:
        return None
    return Refused(
        window="minute",
        until=min(ends[len(ends) - limit], at + LOOK_AGAIN) if in_flight else ends[len(ends) - limit],
        why=refusals.why if refusals is not None and refusals.in_a_row else None,
        barred=refusals is not None and refusals.barred,
        in_flight=bool(in_flight),
    )


def _risk_limit(state: QuotaState, at: datetime, *, rules: QuotaRules) -> int | None:
    """How many calls may be in flight, those refused in the last minute among them; None: as many as there are.

    A probe is alone: the pause before it was made long enough for the refusals of the last minute (`learning`).
    """
    refusals = careful_at(state, at)
    if refusals is not None:
        return 1 if refusals.in_a_row else RISKED
    made = state.tally_on(day_of(rules.provider, at)).used
    if not rules.slow_start or made >= PROVEN:
        return None
    return max(RISKED, (made - len(_in_flight(state, at))) // PROVEN_SHARE)


def room_at(state: QuotaState, at: datetime, *, rules: QuotaRules) -> int | None:
    """How many calls may begin at once, as far as the provider may refuse them; None: as many as there are."""
    limit = _risk_limit(state, at, rules=rules)
    return None if limit is None else max(0, limit - len(_in_flight(state, at)))


def careful_at(state: QuotaState, at: datetime) -> Refusals | None:
    """The refusals for which calls are made with care at `at`; None where the last one is long ago and over."""
    refusals = state.refusals
    if refusals is None or refusals.in_a_row:
        return refusals
    return refusals if any(abs(at - moment) < CAREFUL_FOR for moment in refusals.at) else None


def _in_flight(state: QuotaState, at: datetime) -> dict[str, datetime]:
    """The reservations whose calls are waited for at `at`."""
    return {one: until for one, until in state.watched.items() if at < until <= at + PROBE_FOR + GUARD}


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


def _least(configured: int | None, learned: int | None) -> int | None:
    known = [limit for limit in (configured, learned) if limit is not None]
    return min(known, default=None)
