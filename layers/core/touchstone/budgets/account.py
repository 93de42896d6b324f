"""The account of a quota: whose it is, what was reserved, what the provider told and refused, and what changes it.

Pure: no store, no clock, no randomness. Whether a call may be made by it is decided in `decision`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from touchstone.judges.base import Purpose

WINDOW_SECONDS = 60
"""The window over which providers count requests a minute."""
GUARD = timedelta(seconds=5)
"""The longest time from a reservation to the moment its call reaches the provider; also what clocks may differ by."""
REACH_SECONDS = WINDOW_SECONDS + int(GUARD.total_seconds()) + 1
"""How long a reservation counts against the minute. They are kept by whole seconds, hence one more."""
MAX_BLOCK = timedelta(minutes=10)
"""Longest pause: so soon a provider that was mended is found, and a minute's quota is whole again long before."""
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


@dataclass(frozen=True, slots=True)
class QuotaKey:
    """Whose quota: a provider's, for one model and one account.

    `tenant` names whose share of it; None: all of it.
    """

    provider: str
    model: str
    account: str
    tenant: str | None = None

    @property
    def pk(self) -> str:
        """The partition key. A `#` inside a name is escaped, so that two keys never meet.

        A share has a partition of its own: a tenant that asks without end wears out no item that others need.
        """
        share = () if self.tenant is None else ("T", self.tenant)
        names = (self.provider, self.model, self.account, *share)
        return "#".join(("QUOTA", *(name.replace("%", "%25").replace("#", "%23") for name in names)))

    def __str__(self) -> str:
        """For people: `gemini gemini-3.5-flash-lite (default)`."""
        return f"{self.provider} {self.model} ({self.account})"

    def share_of(self, tenant: str) -> "QuotaKey":
        """The key of a tenant's share."""
        return replace(self, tenant=tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayTally:
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
    tally: DayTally = DayTally()
    seconds: Mapping[int, int] = field(default_factory=dict)
    learned: Learned = Learned()
    refusals: Refusals | None = None
    watched: Mapping[str, datetime] = field(default_factory=dict)

    def turned(self, day: date, tally: DayTally) -> "QuotaState":
        """The same account on another day, which begins with `tally`."""
        return replace(self, day=day, tally=tally)

    def tally_on(self, day: date) -> DayTally:
        """The tally of `day`; a day that is not the account's has an empty one."""
        return self.tally if day == self.day else DayTally()


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


def careful_at(state: QuotaState, at: datetime) -> Refusals | None:
    """The refusals for which calls are made with care at `at`; None where the last one is long ago and over."""
    refusals = state.refusals
    if refusals is None or refusals.in_a_row:
        return refusals
    return refusals if any(abs(at - moment) < CAREFUL_FOR for moment in refusals.at) else None


def calls_in_flight(state: QuotaState, at: datetime) -> dict[str, datetime]:
    """The reservations whose calls are waited for at `at`."""
    return {one: until for one, until in state.watched.items() if at < until <= at + PROBE_FOR + GUARD}


def settled(state: QuotaState, reservation: str, now: datetime, *, answered: bool) -> QuotaState:
    """The account when the watched call of `reservation` has ended and was not refused. `answered`: with a reply."""
    watched = {other: until for other, until in calls_in_flight(state, now).items() if other != reservation}
    refusals = state.refusals
    if refusals is not None and answered:
        refusals = replace(refusals, in_a_row=0, until=now, barred=False)
    return replace(state, watched=watched, refusals=refusals)


def released(
    state: QuotaState, reservation: str = "", *, day: date, second: int, purpose: Purpose, units: int = 1
) -> QuotaState:
    """Give back `units` of `reservation`, made on `day` in `second`. On another day nothing is left to give back."""
    if reservation in state.watched:
        watched = {other: until for other, until in state.watched.items() if other != reservation}
        state = replace(state, watched=watched)
    if state.day != day:
        return state
    seconds = {at: n - units * (at == second) for at, n in state.seconds.items() if n > units * (at == second)}
    backlog = units * int(purpose == "backlog")
    tally = replace(
        state.tally,
        used=max(0, state.tally.used - units),
        backlog_used=max(0, state.tally.backlog_used - backlog),
    )
    return replace(state, tally=tally, seconds=seconds)


def epoch_second(moment: datetime) -> int:
    """The whole second since 1970 that `moment` lies in."""
    return math.floor(moment.timestamp())
