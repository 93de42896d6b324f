"""The account of a quota: its owner, what was reserved, what the provider told and refused, and how it changes.

Pure: no store, no clock, no randomness. `decision` decides whether an account admits a call.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from touchstone.judges.base import Purpose

WINDOW_SECONDS = 60
"""The window over which providers count requests a minute."""
SEND_MARGIN = timedelta(seconds=5)
"""The longest time from a reservation to the moment its call reaches the provider. Clocks may differ by as much."""
COUNTED_SECONDS = WINDOW_SECONDS + int(SEND_MARGIN.total_seconds()) + 1
"""How many seconds a reservation counts against the minute. Reservations are kept by whole seconds, hence one more."""
MAX_BLOCK = timedelta(minutes=10)
"""The longest pause. After it, a provider that works again is found; a minute's quota is whole again long before."""
MAX_REFUSALS_PER_MINUTE = 3
"""How many calls a provider may refuse in a minute."""
REFUSED_FOR = timedelta(seconds=WINDOW_SECONDS) + SEND_MARGIN
"""How long a refused call counts as one of the last minute."""
CAUTION_PERIOD = timedelta(minutes=3)
"""How long after its last refusal a provider that answers again is still asked with care. This is shorter than the time
a batch's line waits, so that no line waits for others in vain."""
PROBE_FOR = timedelta(seconds=5)
"""How long other calls wait for a call in flight. A provider refuses within a second or two: if it works on an answer
for longer, it has not refused the call."""


@dataclass(frozen=True, slots=True)
class QuotaKey:
    """The key of a quota's account: the quota of a provider for one model and one account.

    `tenant` is the tenant whose share of the quota this is; None: the whole quota.
    """

    provider: str
    model: str
    account: str
    tenant: str | None = None

    @property
    def pk(self) -> str:
        """The partition key. A `#` inside a name is escaped, so that two keys never collide.

        A tenant's share has a partition of its own: a tenant that asks without end uses up no item that others need.
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
    """The reservations of one of the provider's days.

    `backlog_used` is the part of `used` that the drain of deferred work took. `exhausted`: the provider said that the
    day's quota is spent, whatever our own count says (another program may use the same account).
    """

    used: int = 0
    backlog_used: int = 0
    exhausted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Limits that the provider named when it refused a call; each is None if none is known.

    `per_day` was named on the provider's day `per_day_on`. `per_minute` holds until `per_minute_until` (UTC).
    """

    per_day: int | None = None
    per_day_on: date | None = None
    per_minute: int | None = None
    per_minute_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """The provider's latest refusals; `why` is what it said at the last one, as a sentence.

    `at` are the moments of the latest refusals (UTC, `MAX_REFUSALS_PER_MINUTE` at most, oldest first). `in_a_row`
    counts the refusals, each followed by a pause and a probe, since the provider last answered; 0: it answers again.
    Nothing is sent before `until` (UTC). `barred`: the provider does not know the model or refuses the key, so that it
    serves nobody.
    """

    at: tuple[datetime, ...] = ()
    in_a_row: int
    until: datetime
    why: str
    barred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaState:
    """The state of the account of one provider, model and account name.

    `seconds` counts the reservations by epoch second, for the limit a minute. `refusals` is None if the provider
    refused no call of late. `watched` are the reservations whose calls others wait for, each with the moment until
    which they wait; it is kept only while it affects a decision.
    """

    day: date
    tally: DayTally = DayTally()
    seconds: Mapping[int, int] = field(default_factory=dict)
    learned: Learned = Learned()
    refusals: Refusals | None = None
    watched: Mapping[str, datetime] = field(default_factory=dict)

    def on_day(self, day: date, tally: DayTally) -> "QuotaState":
        """The same account on another day, whose tally begins as `tally`."""
        return replace(self, day=day, tally=tally)

    def tally_on(self, day: date) -> DayTally:
        """The tally of `day`; an empty one if `day` is not the account's day."""
        return self.tally if day == self.day else DayTally()


def live_seconds(state: QuotaState, now: datetime) -> dict[int, int]:
    """The reservations that count against the minute at `now`, by epoch second.

    Seconds far in the future are left out: they come from a clock that was set ahead for a rehearsal.
    """
    second = epoch_second(now)
    return {at: n for at, n in state.seconds.items() if second - COUNTED_SECONDS < at <= second + COUNTED_SECONDS}


def pause_at(state: QuotaState, now: datetime) -> Refusals | None:
    """The refusals that forbid every call at `now`; None if a call may be sent."""
    refusals = state.refusals
    return refusals if refusals is not None and now < refusals.until <= now + MAX_BLOCK + SEND_MARGIN else None


def recently_refused(refusals: Refusals, now: datetime) -> tuple[datetime, ...]:
    """The moments of the refusals that count as refusals of the last minute at `now`."""
    return tuple(at for at in refusals.at if abs(now - at) < REFUSED_FOR)


def careful_at(state: QuotaState, at: datetime) -> Refusals | None:
    """The refusals for which calls are made with care at `at`; None if the last refusal is over and long ago."""
    refusals = state.refusals
    if refusals is None or refusals.in_a_row:
        return refusals
    return refusals if any(abs(at - moment) < CAUTION_PERIOD for moment in refusals.at) else None


def calls_in_flight(state: QuotaState, at: datetime) -> dict[str, datetime]:
    """The reservations whose calls others wait for at `at`, each with the moment until which they wait."""
    return {one: until for one, until in state.watched.items() if at < until <= at + PROBE_FOR + SEND_MARGIN}


def settled(state: QuotaState, reservation: str, now: datetime, *, answered: bool) -> QuotaState:
    """The account after the watched call of `reservation` ended without a refusal. `answered`: it brought a reply."""
    watched = {other: until for other, until in calls_in_flight(state, now).items() if other != reservation}
    refusals = state.refusals
    if refusals is not None and answered:
        refusals = replace(refusals, in_a_row=0, until=now, barred=False)
    return replace(state, watched=watched, refusals=refusals)


def released(
    state: QuotaState, reservation: str = "", *, day: date, second: int, purpose: Purpose, units: int = 1
) -> QuotaState:
    """Give back `units` of `reservation`, made on `day` in `second`. On another day there is nothing to give back."""
    if reservation in state.watched:
        watched = {other: until for other, until in state.watched.items() if other != reservation}
        state = replace(state, watched=watched)
    if state.day != day:
        return state
    seconds = {at: n - units * (at == second) for at, n in state.seconds.items() if n > units * (at == second)}
    backlog = units * int(purpose == "backlog")
    tally = replace(
        state.tally, used=max(0, state.tally.used - units), backlog_used=max(0, state.tally.backlog_used - backlog)
    )
    return replace(state, tally=tally, seconds=seconds)


def epoch_second(moment: datetime) -> int:
    """The whole second since 1970 in which `moment` lies."""
    return math.floor(moment.timestamp())
