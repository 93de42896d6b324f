"""What can be done to the account of a quota, wherever it is kept: reserve, give back, learn, look.

All tenants of a deployment share an account, and each may use its share of it.
"""

import logging
import math
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime

from touchstone.budgets.account import Learned, QuotaKey, QuotaState, epoch_second, released, settled
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
from touchstone.budgets.learning import Telling, learned_from
from touchstone.budgets.leased import UnitLease, UnitLeases
from touchstone.budgets.usage import QuotaUsage, usage_of
from touchstone.clock import Clock, system_clock
from touchstone.errors import (
    InputError,
    QuotaExceededError,
    StoreError,
    TenantShareError,
    TouchstoneError,
    UnavailableModelError,
)
from touchstone.judges.base import Purpose, QuotaLimits

DEFAULT_TENANT_SHARE = 0.5
"""Half of a day and half of a minute: whatever one tenant does, the other half is for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantShare:
    """The part of every quota that one tenant may use: `fraction`, above 0 and at most 1, which is all of it.

    `several` tells whether the deployment has more than one tenant; one that is alone may use everything. Raises
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
        """Whether any tenant must leave something for others."""
        return self.fraction < 1.0 and self.several()

    def of(self, limits: QuotaLimits) -> QuotaLimits:
        """One tenant's part of what holds for all: rounded up, so that it is one unit at least, where there is any."""
        return QuotaLimits(per_day=self._part(limits.per_day), per_minute=self._part(limits.per_minute))

    def _part(self, limit: int | None) -> int | None:
        if limit is None or limit <= 0:
            return limit
        return max(1, math.ceil(limit * self.fraction - 1e-9))  # 0.1 × 30 is 3.000…04 in floating point


ID_BYTES = 16
"""Random bytes of a reservation's name: no two of a deployment share one. (As many as a UUID has, at a third of it.)"""

type Change = Callable[[QuotaState, datetime], QuotaState]
"""Makes the new state of an account; returns the same object to change nothing, or raises to refuse."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """One reserved unit. The call must be sent before `expires_at` (UTC), else the unit is given back.

    `share` is the unit of the tenant's own share that was reserved with it, None where no share binds. `watched`:
    others wait for its call, so that its end must be told whatever it is (`settle`, `learn` or `release`).
    """

    id: str
    key: QuotaKey
    purpose: Purpose
    reserved_at: datetime
    share: "Reservation | None" = None
    watched: bool = False

    @property
    def expires_at(self) -> datetime:
        """When the call would fall into another minute or day than the one it was counted in."""
        return self.reserved_at + SEND_WITHIN


def exceeded(key: QuotaKey, refusal: Refused) -> QuotaExceededError | UnavailableModelError:
    """The refusal as the error that callers see: what was not sent, why, and until when."""
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
    """The accounts of quotas. Where they are kept is a subclass's matter; what happens to them is decided here.

    `fresh_share` (0-1) is the part of a day that the backlog leaves for fresh requests until two hours before the
    provider's reset; 0 leaves nothing. `quota_share` is the part of every limit that is this deployment's, where others
    use the same account; none of them knows what the others did. `tenant_share` is what one tenant may use, None all of
    it: its unit is reserved in an account of its own, by the same rules, before the one that all share. The share of a
    day holds until two hours before the reset, when what others did not use is free for everyone; that of a minute
    always does. `most_leased` units are reserved together at most, where many are asked for (`leased`); 1: each alone.
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
        """Reserve one unit, or raise `QuotaExceededError` with the moment at which one will be free.

        Raises `UnavailableModelError` instead where the provider has just said that it serves nobody, in those words.
        `slow_start` is that of `QuotaRules`.
        For a `tenant` one of its share is reserved before it, or `TenantShareError` raised, and given back where the
        account of all refuses. Whoever dies between the two has spent a unit of its own share and none of the others'.
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

    def check(self, key: QuotaKey, limits: QuotaLimits, *, purpose: Purpose, slow_start: bool = False) -> None:
        """Raise what `reserve` would for the account of all, as it is now; nothing is reserved or written."""
        now = self.clock()
        rules = replace(self._rules(key, limits), slow_start=slow_start)
        refusal = decide(self._state(key, now), now, rules=rules, purpose=purpose)
        if isinstance(refusal, Refused):
            raise exceeded(key, refusal)

    def release(self, reservation: Reservation) -> None:
        """Give a unit back whose call was certainly never sent. On a later day, or a second time, nothing happens."""
        try:
            self._give_back(reservation)
        finally:
            if reservation.share is not None:
                self._give_back(reservation.share)

    def _take_share(self, key: QuotaKey, rules: QuotaRules, *, purpose: Purpose, tenant: str) -> Reservation | None:
        """Reserve a unit of a tenant's share; None where no share binds."""
        if self._tenant_share is None or not self._tenant_share.binds:
            return None
        now = self.clock()
        whole = self._state(key, now)
        # Where there is nothing left for anybody, nothing need be written and given back.
        refusal = decide(whole, now, rules=rules, purpose=purpose)
        if isinstance(refusal, Refused):
            raise exceeded(key, refusal)
        own = self._share_rules(whole, now, rules=rules, share=self._tenant_share)
        return None if own is None else self._take(key.share_of(tenant), own, purpose=purpose)

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
            unused = self._leases.over(key)

            def take(state: QuotaState, now: datetime) -> QuotaState:
                nonlocal granted, tries
                tries += 1
                lease = self._leases.wanted(key, purpose, now, tries=tries)
                state = self._without(key, state, unused)
                decision = decide(state, now, rules=rules, purpose=purpose, reservation=reservation_id, lease=lease)
                if isinstance(decision, Refused):
                    raise exceeded(key, decision)
                granted = decision
                return decision.state

            self._change(key, take, writer=reservation_id)
            assert granted is not None  # noqa: S101 - a change that is made was decided
            self._leases.given_back(key, unused)
            self._leases.written(key, purpose, tries=tries)
            if granted.units > 1:
                left = granted.units - 1
                self._leases.begin(key, UnitLease(id=reservation_id, at=granted.at, purpose=purpose, left=left))
        # The first unit of a lease has its name, as each of the others has.
        name = reservation_id if granted.units == 1 else f"{reservation_id}-0"
        return Reservation(id=name, key=key, purpose=purpose, reserved_at=granted.at, watched=granted.watched)

    def end_leases(self) -> None:
        """Give back all units that were reserved together and not taken: nobody will ask for them any more."""
        for key in self._leases.accounts():
            self._end_leases(key)

    def _end_leases(self, key: QuotaKey) -> None:
        with self._leasing(key):
            unused = self._leases.over(key, all_of_them=True)
            if unused:
                self._change(
                    key, lambda state, _: self._without(key, state, unused), writer=secrets.token_hex(ID_BYTES)
                )
                self._leases.given_back(key, unused)

    @staticmethod
    def _without(key: QuotaKey, state: QuotaState, unused: tuple[UnitLease, ...]) -> QuotaState:
        """The account when units that nobody took are given back."""
        for lease in unused:
            day, second = day_of(key.provider, lease.at), epoch_second(lease.at)
            state = released(state, day=day, second=second, purpose=lease.purpose, units=lease.left)
        return state

    def _leasing(self, key: QuotaKey) -> AbstractContextManager[object]:
        """A turn in which one thread of the process asks the store for an account's units, and the others wait."""
        return nullcontext() if self._most_leased <= 1 else self._asking.setdefault(key, threading.RLock())

    def _give_back(self, reservation: Reservation) -> None:
        key = reservation.key
        if self._leases.put_back(key, reservation.purpose, reservation.id, self.clock()):
            return
        day, second = day_of(key.provider, reservation.reserved_at), epoch_second(reservation.reserved_at)

        def give_back(state: QuotaState, _now: datetime) -> QuotaState:
            return released(state, reservation.id, day=day, second=second, purpose=reservation.purpose)

        self._change(key, give_back, writer=secrets.token_hex(ID_BYTES), mark=reservation.id)

    def learn(self, reservation: Reservation, error: Telling) -> None:
        """Keep what the provider said of calls to come when it refused the one made on `reservation`."""
        key = reservation.key
        # What was reserved for calls to come is asked for anew, one by one, by what is known now.
        reserved_on = day_of(key.provider, reservation.reserved_at)
        with self._leasing(key):
            unused = self._leases.over(key, all_of_them=True)

            def adapt(state: QuotaState, now: datetime) -> QuotaState:
                state = self._without(key, state, unused)
                return learned_from(state, error, reservation=reservation.id, reserved_on=reserved_on, now=now)

            self._change(key, adapt, writer=secrets.token_hex(ID_BYTES))
            self._leases.given_back(key, unused)

    def settle(self, reservation: Reservation, *, answered: bool) -> None:
        """The call of a watched `reservation` has ended and was not refused. `answered`: what was refused is over."""

        def end(state: QuotaState, now: datetime) -> QuotaState:
            return settled(state, reservation.id, now, answered=answered)

        self._change(reservation.key, end, writer=secrets.token_hex(ID_BYTES))

    def usage(self, key: QuotaKey, limits: QuotaLimits) -> QuotaUsage:
        """What is used and left now, where `limits` are the configured ones."""
        now = self.clock()
        return usage_of(self._state(key, now), now, rules=self._rules(key, limits))

    def share_usage(self, key: QuotaKey, limits: QuotaLimits, *, tenant: str) -> QuotaUsage | None:
        """What a tenant used of its share and has left, where `limits` are the configured ones; None: no share binds.

        Its `limit` is None while the share of the day does not hold.
        """
        if self._tenant_share is None or not self._tenant_share.binds:
            return None
        now = self.clock()
        whole = self._state(key, now)
        own = self._share_rules(whole, now, rules=self._rules(key, limits), share=self._tenant_share)
        return None if own is None else usage_of(self._state(key.share_of(tenant), now), now, rules=own)

    def forget(self, key: QuotaKey) -> None:
        """Forget the limits and refusals the provider named: its quota was raised, or its credit topped up."""

        def reset(state: QuotaState, _now: datetime) -> QuotaState:
            tally = replace(state.tally, exhausted=False)
            return replace(state, tally=tally, learned=Learned(), refusals=None)

        self._change(key, reset, writer=secrets.token_hex(ID_BYTES))

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
        """The rules of one tenant's account, where the account of all is `whole`; None where no limit is known."""
        limits = share.of(effective_limits(whole, now, rules=rules))
        if limits == QuotaLimits():
            return None
        return QuotaRules(provider=rules.provider, limits=limits, fresh_share=0.0, until_release=True)

    @abstractmethod
    def _state(self, key: QuotaKey, now: datetime) -> QuotaState:
        """The account, turned to the provider's day at `now`."""

    @abstractmethod
    def _change(self, key: QuotaKey, change: Change, *, writer: str, mark: str | None = None) -> datetime:
        """Apply `change` to the account exactly once; returns the moment it was made for.

        `writer` names this change. `mark` names a reservation that is given back; if it already was, nothing happens.
        """
