"""What can be done to the account of a quota, in the table or in memory: reserve, give back, learn, look.

All tenants of a deployment share an account, and each tenant may use its share of it.
"""

import logging
import math
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from touchstone.budgets.account import (
    MAX_BLOCK,
    MAX_REFUSALS_PER_MINUTE,
    REFUSED_FOR,
    Learned,
    QuotaKey,
    QuotaState,
    Refusals,
    epoch_second,
    pause_at,
    recently_refused,
    released,
    settled,
)
from touchstone.budgets.days import day_of
from touchstone.budgets.decision import (
    DEFAULT_FRESH_SHARE,
    SEND_WITHIN,
    Granted,
    QuotaRules,
    Refused,
    decide,
    effective_limits,
)
from touchstone.budgets.leased import UnitLease, UnitLeases
from touchstone.budgets.usage import QuotaUsage, usage_of
from touchstone.clock import Clock, system_clock
from touchstone.errors import (
    DayQuotaError,
    InputError,
    MinuteQuotaError,
    QuotaExceededError,
    StoreError,
    TenantShareError,
    TouchstoneError,
    UnavailableModelError,
)
from touchstone.judges.base import Purpose, QuotaLimits

type LearnableError = DayQuotaError | MinuteQuotaError | UnavailableModelError
"""Failures that tell something about all calls to come, and not only about the call that failed."""

LEARNED_MINUTE_FOR = timedelta(days=1)
"""How long a named limit a minute holds. To try the configured limit again costs one refused call a day."""
FIRST_PAUSE = timedelta(seconds=10)
"""The pause after a refusal that advises none. It doubles with every probe that is refused too."""
PROBE = 1
"""What a named limit of 0 is kept as: one call a window, which finds out when the quota is above 0 again."""


def learned_from(
    state: QuotaState, error: LearnableError, *, reservation: str = "", reserved_on: date, now: datetime
) -> QuotaState:
    """The account after the provider refused the call of `reservation`, made on its day `reserved_on`.

    A refusal that arrives after midnight is about the day that is over, and does not block the new day.
    """
    learned = state.learned
    watched = {other: until for other, until in state.watched.items() if other != reservation}
    state = replace(state, watched=watched)
    match error:
        case DayQuotaError():
            if error.limit is not None:
                learned = replace(learned, per_day=max(PROBE, error.limit), per_day_on=state.day)
            if reserved_on != state.day:
                return replace(state, learned=learned)
            state = replace(state, tally=replace(state.tally, exhausted=True))
        case MinuteQuotaError(limit=int(limit)):
            learned = replace(learned, per_minute=max(PROBE, limit), per_minute_until=now + LEARNED_MINUTE_FOR)
    return replace(state, learned=learned, refusals=_refused_once_more(state, error, now=now))


def _refused_once_more(state: QuotaState, error: LearnableError, *, now: datetime) -> Refusals:
    """The refusals with the refusal of `error` added.

    A refusal that comes during a pause is of a call that was in flight when the pause began, and is no failed probe.
    The provider's advice is followed at the first refusal of a row; after that only if it is longer than our own pause.
    In any case the pause is so long that the probe after it is one of at most `MAX_REFUSALS_PER_MINUTE` refused calls
    in a minute.
    """
    before, held = state.refusals, pause_at(state, now)
    in_a_row = 0 if before is None else before.in_a_row
    if held is None or in_a_row == 0:
        in_a_row += 1
    at = (*(() if before is None else recently_refused(before, now)), now)[-MAX_REFUSALS_PER_MINUTE:]
    grown = FIRST_PAUSE * 2 ** min(in_a_row - 1, 10)
    asked = timedelta(seconds=min(MAX_BLOCK.total_seconds(), max(0.0, error.retry_after or 0.0)))
    advised_at_first = in_a_row == 1 and error.retry_after is not None
    until = now + (asked if advised_at_first else min(MAX_BLOCK, max(grown, asked)))
    if len(at) == MAX_REFUSALS_PER_MINUTE:
        until = max(until, at[0] + REFUSED_FOR)
    if held is not None:
        until = max(until, held.until)
    barred = isinstance(error, UnavailableModelError)
    return Refusals(at=at, in_a_row=in_a_row, until=until, why=str(error), barred=barred)


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantShare:
    """The part of every quota that one tenant may use: `fraction`, above 0 and at most 1 (1: all of it).

    `several` tells whether the deployment has more than one tenant; a single tenant may use everything. Raises
    `InputError` for a fraction out of range.
    """

    fraction: float
    several: Callable[[], bool]

    def __post_init__(self) -> None:
        """Check the fraction."""
        if not 0.0 < self.fraction <= 1.0:
            raise InputError(
                f"A tenant's share of a quota must be above 0 and at most 1, not {self.fraction}.", where="tenant_share"
            )

    @property
    def binds(self) -> bool:
        """Whether a tenant must leave something for others."""
        return self.fraction < 1.0 and self.several()

    def of(self, limits: QuotaLimits) -> QuotaLimits:
        """One tenant's part of the limits, rounded up, so that it is at least one unit if the limit has any."""
        return QuotaLimits(per_day=self._part(limits.per_day), per_minute=self._part(limits.per_minute))

    def _part(self, limit: int | None) -> int | None:
        if limit is None or limit <= 0:
            return limit
        return max(1, math.ceil(limit * self.fraction - 1e-9))  # 0.1 × 30 is 3.000…04 in floating point


ID_BYTES = 16
"""Random bytes of a reservation's name: no two reservations of a deployment share a name. (As many bytes as a UUID has,
made in a third of the time.)"""

type Change = Callable[[QuotaState, datetime], QuotaState]
"""Makes the new state of an account. Returns the same object to change nothing, or raises to refuse."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """One reserved unit. The call must be sent before `expires_at` (UTC); otherwise the unit must be given back.

    `share` is the unit of the tenant's own share that was reserved with it, None if no share binds. `watched`: others
    wait for the end of its call, so that end must be told in any case (`settle`, `learn` or `release`).
    """

    id: str
    key: QuotaKey
    purpose: Purpose
    reserved_at: datetime
    share: "Reservation | None" = None
    watched: bool = False

    @property
    def expires_at(self) -> datetime:
        """When the unit is too old to send its call: the call would fall into another minute or day."""
        return self.reserved_at + SEND_WITHIN


def exceeded(key: QuotaKey, refusal: Refused) -> QuotaExceededError | UnavailableModelError:
    """The error that callers see for a refusal: what was not sent, why, and until when."""
    if refusal.why is not None:
        sentence = f"{refusal.why} Nothing was sent; {_next(refusal)}"
        if refusal.barred:
            return UnavailableModelError(sentence, sent=False)
        return QuotaExceededError(sentence, window=refusal.window, until=refusal.until)
    if refusal.in_flight:
        sentence = f"It is not known yet how many calls at once {key} takes. Nothing was sent; {_next(refusal)}"
        return QuotaExceededError(sentence, window=refusal.window, until=refusal.until)
    rest = f"has no unit left before {refusal.until:%Y-%m-%d %H:%M:%S} UTC; nothing was sent."
    if key.tenant is not None:
        sentence = f"The share of {key.tenant} in the {refusal.window}'s quota of {key} {rest}"
        return TenantShareError(sentence, window=refusal.window, until=refusal.until)
    return QuotaExceededError(
        f"The {refusal.window}'s quota of {key} {rest}", window=refusal.window, until=refusal.until
    )


def _next(refusal: Refused) -> str:
    when = "when one in flight has ended" if refusal.in_flight else f"at {refusal.until:%Y-%m-%d %H:%M:%S} UTC"
    return f"the next call may be made {when}."


class QuotaLedger(ABC):
    """The accounts of quotas. A subclass keeps them; the changes to them are decided here.

    `fresh_share` (0-1) is the part of a day that the backlog leaves for fresh requests until two hours before the
    provider's reset; 0 leaves nothing. `quota_share` is the part of every limit that is this deployment's, if other
    deployments use the same account; none of them knows what the others did. `tenant_share` is what one tenant may use,
    None: everything. A unit of the tenant's share is reserved in an account of its own, by the same rules, before the
    unit of the account that all share. The share of a day holds until two hours before the reset; then what others did
    not use is free for everyone. The share of a minute always holds. `most_leased` is the most units that are reserved
    together if many are asked for (`leased`); 1: each unit alone.
    """

    def __init__(
        self,
        *,
        clock: Clock = system_clock,
        fresh_share: float = DEFAULT_FRESH_SHARE,
        quota_share: float = 1.0,
        tenant_share: TenantShare | None = None,
        most_leased: int = 1,
    ) -> None:
        if not 0.0 <= fresh_share <= 1.0:
            raise InputError(
                f"The share kept for fresh requests must be 0 to 1, not {fresh_share}.", where="fresh_share"
            )
        if not 0.0 < quota_share <= 1.0:
            raise InputError(
                f"A deployment's share of a quota must be above 0 and at most 1, not {quota_share}.",
                where="quota_share",
            )
        self.clock = clock
        self._fresh_share = fresh_share
        self._quota_share = quota_share
        self._tenant_share = tenant_share
        self._most_leased = most_leased
        self._leases = UnitLeases(most_leased)
        self._asking: dict[QuotaKey, threading.RLock] = {}

    def reserve(
        self,
        key: QuotaKey,
        limits: QuotaLimits,
        *,
        purpose: Purpose,
        tenant: str | None = None,
        slow_start: bool = False,
    ) -> Reservation:
        """Reserve one unit, or raise `QuotaExceededError` with the moment at which a unit will be free.

        Raises `UnavailableModelError` instead if the provider has just said that it serves nobody; the error repeats
        the provider's words. `slow_start` is the field of `QuotaRules`.

        For a `tenant`, a unit of its share is reserved first, or `TenantShareError` raised. The share's unit is given
        back if the account of all refuses. A process that dies between the two reservations has spent a unit of its
        tenant's share and none of the others'.
        """
        rules = self._rules(key, limits, slow_start=slow_start)
        share = None if tenant is None else self._take_share(key, rules, purpose=purpose, tenant=tenant)
        try:
            unit = self._take(key, rules, purpose=purpose)
        except TouchstoneError:
            if share is not None:
                self._leave_share(share)
            raise
        return unit if share is None else replace(unit, share=share)

    def check(self, key: QuotaKey, limits: QuotaLimits, *, purpose: Purpose, slow_start: bool) -> None:
        """Raise the error that `reserve` would raise for the account of all now; nothing is reserved or written."""
        self._admitting(key, self._rules(key, limits, slow_start=slow_start), self.clock(), purpose=purpose)

    def release(self, reservation: Reservation) -> None:
        """Give back a unit whose call was certainly never sent. On a later day, or a second time, nothing happens."""
        try:
            self._give_back(reservation)
        finally:
            if reservation.share is not None:
                self._give_back(reservation.share)

    def _take_share(self, key: QuotaKey, rules: QuotaRules, *, purpose: Purpose, tenant: str) -> Reservation | None:
        """Reserve a unit of a tenant's share; None if no share binds."""
        if self._tenant_share is None or not self._tenant_share.binds:
            return None
        now = self.clock()
        # If nothing is left for anybody, the share need not be written and given back.
        whole = self._admitting(key, rules, now, purpose=purpose)
        own = self._share_rules(whole, now, rules=rules, share=self._tenant_share)
        return None if own is None else self._take(key.share_of(tenant), own, purpose=purpose)

    def _admitting(self, key: QuotaKey, rules: QuotaRules, now: datetime, *, purpose: Purpose) -> QuotaState:
        """The account at `now`. Raises the error for a refusal if it admits no call."""
        state = self._state(key, now)
        refusal = decide(state, now, rules=rules, purpose=purpose)
        if isinstance(refusal, Refused):
            raise exceeded(key, refusal)
        return state

    def _leave_share(self, share: Reservation) -> None:
        try:
            self._give_back(share)
        except StoreError:
            _log.warning("A unit of a tenant's share could not be given back; it stays reserved.", exc_info=True)

    def _take(self, key: QuotaKey, rules: QuotaRules, *, purpose: Purpose) -> Reservation:
        reservation_id = secrets.token_hex(ID_BYTES)
        granted: Granted | None = None
        tries = 0
        with self._leasing(key):
            leased = self._leases.take(key, purpose, self.clock())
            if leased is not None:
                return Reservation(id=leased[0], key=key, purpose=purpose, reserved_at=leased[1])
            unused = self._leases.ended_leases(key)

            def take(state: QuotaState, now: datetime) -> QuotaState:
                nonlocal granted, tries
                tries += 1
                lease = self._leases.next_request(key, purpose, now, tries=tries)
                state = self._without(key, state, unused)
                decision = decide(state, now, rules=rules, purpose=purpose, reservation=reservation_id, lease=lease)
                if isinstance(decision, Refused):
                    raise exceeded(key, decision)
                granted = decision
                return decision.state

            self._change(key, take)
            assert granted is not None  # noqa: S101 - a change that is made was decided
            self._leases.forget_returned(key, unused)
            self._leases.adapt_duration(key, purpose, tries=tries)
            if granted.units > 1:
                left = granted.units - 1
                self._leases.begin(key, UnitLease(id=reservation_id, at=granted.at, purpose=purpose, left=left))
        # The first unit of a lease has a name of its own, as each other unit of it has.
        name = reservation_id if granted.units == 1 else f"{reservation_id}-0"
        return Reservation(id=name, key=key, purpose=purpose, reserved_at=granted.at, watched=granted.watched)

    def end_leases(self) -> None:
        """Give back all units that were reserved together and not taken, since nobody will ask for them any more."""
        for key in self._leases.accounts():
            self._end_leases(key)

    def _end_leases(self, key: QuotaKey) -> None:
        with self._leasing(key):
            unused = self._leases.ended_leases(key, all_of_them=True)
            if unused:
                self._change(key, lambda state, _: self._without(key, state, unused))
                self._leases.forget_returned(key, unused)

    @staticmethod
    def _without(key: QuotaKey, state: QuotaState, unused: tuple[UnitLease, ...]) -> QuotaState:
        """The account after the units of leases that nobody took are given back."""
        for lease in unused:
            day, second = day_of(key.provider, lease.at), epoch_second(lease.at)
            state = released(state, day=day, second=second, purpose=lease.purpose, units=lease.left)
        return state

    def _leasing(self, key: QuotaKey) -> AbstractContextManager[object]:
        """The turn of one thread to ask the store for an account's units; the process's other threads wait."""
        return nullcontext() if self._most_leased <= 1 else self._asking.setdefault(key, threading.RLock())

    def _give_back(self, reservation: Reservation) -> None:
        key = reservation.key
        if self._leases.return_unit(key, reservation.purpose, reservation.id, self.clock()):
            return
        day, second = day_of(key.provider, reservation.reserved_at), epoch_second(reservation.reserved_at)

        def give_back(state: QuotaState, _now: datetime) -> QuotaState:
            return released(state, reservation.id, day=day, second=second, purpose=reservation.purpose)

        self._change(key, give_back, mark=reservation.id)

    def learn(self, reservation: Reservation, error: LearnableError) -> None:
        """Keep what the provider said about calls to come when it refused the call made on `reservation`."""
        key = reservation.key
        # Units reserved for calls to come are given back: each is asked for again, by what is known now.
        reserved_on = day_of(key.provider, reservation.reserved_at)
        with self._leasing(key):
            unused = self._leases.ended_leases(key, all_of_them=True)

            def adapt(state: QuotaState, now: datetime) -> QuotaState:
                state = self._without(key, state, unused)
                return learned_from(state, error, reservation=reservation.id, reserved_on=reserved_on, now=now)

            self._change(key, adapt)
            self._leases.forget_returned(key, unused)

    def settle(self, reservation: Reservation, *, answered: bool) -> None:
        """Note that the watched call of `reservation` ended without a refusal. `answered`: past refusals are over."""

        def end(state: QuotaState, now: datetime) -> QuotaState:
            return settled(state, reservation.id, now, answered=answered)

        self._change(reservation.key, end)

    def usage(self, key: QuotaKey, limits: QuotaLimits) -> QuotaUsage:
        """What is used and left now. `limits` are the configured ones."""
        now = self.clock()
        return usage_of(self._state(key, now), now, rules=self._rules(key, limits))

    def share_usage(self, key: QuotaKey, limits: QuotaLimits, *, tenant: str) -> QuotaUsage | None:
        """What a tenant used of its share and has left; None if no share binds. `limits` are the configured ones.

        The usage's `limit` is None while no share of the day holds.
        """
        if self._tenant_share is None or not self._tenant_share.binds:
            return None
        now = self.clock()
        whole = self._state(key, now)
        own = self._share_rules(whole, now, rules=self._rules(key, limits), share=self._tenant_share)
        return None if own is None else usage_of(self._state(key.share_of(tenant), now), now, rules=own)

    def forget(self, key: QuotaKey) -> None:
        """Forget the limits and refusals that the provider named: its quota was raised, or its credit topped up."""

        def reset(state: QuotaState, _now: datetime) -> QuotaState:
            tally = replace(state.tally, exhausted=False)
            return replace(state, tally=tally, learned=Learned(), refusals=None)

        self._change(key, reset)

    def _rules(self, key: QuotaKey, limits: QuotaLimits, *, slow_start: bool = False) -> QuotaRules:
        return QuotaRules(
            provider=key.provider,
            limits=limits,
            fresh_share=self._fresh_share,
            quota_share=self._quota_share,
            slow_start=slow_start,
        )

    @staticmethod
    def _share_rules(whole: QuotaState, now: datetime, *, rules: QuotaRules, share: TenantShare) -> QuotaRules | None:
        """The rules of one tenant's account, if the account of all is `whole`; None if no limit is known."""
        limits = share.of(effective_limits(whole, now, rules=rules))
        if limits == QuotaLimits():
            return None
        return QuotaRules(provider=rules.provider, limits=limits, fresh_share=0.0, until_release=True)

    @abstractmethod
    def _state(self, key: QuotaKey, now: datetime) -> QuotaState:
        """The account at `now`, turned to the provider's present day."""

    @abstractmethod
    def _change(self, key: QuotaKey, change: Change, *, mark: str | None = None) -> datetime:
        """Apply `change` to the account exactly once; return the moment for which it was made (UTC).

        `mark` names a reservation that is given back; if it was given back already, nothing happens.
        """
