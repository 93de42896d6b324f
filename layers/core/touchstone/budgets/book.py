"""What can be done to the account of a quota, wherever it is kept: reserve, give back, learn, look."""

import logging
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from touchstone.budgets.days import day_of
from touchstone.budgets.decision import (
    DEFAULT_FRESH_SHARE,
    SEND_WITHIN,
    Learned,
    QuotaRules,
    QuotaState,
    Refused,
    decide,
    effective_limits,
    epoch_second,
    released,
    settled,
)
from touchstone.budgets.items import QuotaKey
from touchstone.budgets.learning import Telling, learned_from
from touchstone.budgets.shares import TenantShare
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
from touchstone.judges.base import Limits, Purpose

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


class QuotaBook(ABC):
    """The accounts of quotas. Where they are kept is a subclass's matter; what happens to them is decided here.

    `fresh_share` (0-1) is the part of a day that the backlog leaves for fresh requests until two hours before the
    provider's reset; 0 leaves nothing. `quota_share` is the part of every limit that is this deployment's, where others
    use the same account; none of them knows what the others did. `tenant_share` is what one tenant may use, None all of
    it: its unit is reserved in an account of its own, by the same rules, before the one that all share. The share of a
    day holds until two hours before the reset, when what others did not use is free for everyone; that of a minute
    always does.
    """

    def __init__(
        self,
        *,
        clock: Clock = system_clock,
        fresh_share: float = DEFAULT_FRESH_SHARE,
        quota_share: float = 1.0,
        tenant_share: TenantShare | None = None,
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

    def reserve(
        self,
        key: QuotaKey,
        limits: Limits,
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

    def check(self, key: QuotaKey, limits: Limits, *, purpose: Purpose, slow_start: bool = False) -> None:
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
        reservation_id, watched = secrets.token_hex(ID_BYTES), False

        def take(state: QuotaState, now: datetime) -> QuotaState:
            nonlocal watched
            decision = decide(state, now, rules=rules, purpose=purpose, reservation=reservation_id)
            if isinstance(decision, Refused):
                raise exceeded(key, decision)
            watched = decision.watched
            return decision.state

        reserved_at = self._change(key, take, writer=reservation_id)
        return Reservation(id=reservation_id, key=key, purpose=purpose, reserved_at=reserved_at, watched=watched)

    def _give_back(self, reservation: Reservation) -> None:
        key = reservation.key
        day, second = day_of(key.provider, reservation.reserved_at), epoch_second(reservation.reserved_at)

        def give_back(state: QuotaState, _now: datetime) -> QuotaState:
            return released(state, reservation.id, day=day, second=second, purpose=reservation.purpose)

        self._change(key, give_back, writer=secrets.token_hex(ID_BYTES), mark=reservation.id)

    def learn(self, reservation: Reservation, error: Telling) -> None:
        """Keep what the provider said of calls to come when it refused the one made on `reservation`."""
        key = reservation.key
        reserved_on = day_of(key.provider, reservation.reserved_at)

        def adapt(state: QuotaState, now: datetime) -> QuotaState:
            return learned_from(state, error, reservation=reservation.id, reserved_on=reserved_on, now=now)

        self._change(key, adapt, writer=secrets.token_hex(ID_BYTES))

    def settle(self, reservation: Reservation, *, answered: bool) -> None:
        """The call of a watched `reservation` has ended and was not refused. `answered`: what was refused is over."""

        def end(state: QuotaState, now: datetime) -> QuotaState:
            return settled(state, reservation.id, now, answered=answered)

        self._change(reservation.key, end, writer=secrets.token_hex(ID_BYTES))

    def usage(self, key: QuotaKey, limits: Limits) -> QuotaUsage:
        """What is used and left now, where `limits` are the configured ones."""
        now = self.clock()
        return usage_of(self._state(key, now), now, rules=self._rules(key, limits))

    def share_usage(self, key: QuotaKey, limits: Limits, *, tenant: str) -> QuotaUsage | None:
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

    def _rules(self, key: QuotaKey, limits: Limits, *, slow_start: bool = False) -> QuotaRules:
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
        if limits == Limits():
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
