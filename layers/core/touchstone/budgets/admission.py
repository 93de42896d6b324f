"""Admission to a judge: reserve money, then a unit of quota. Both are reserved before the call and settled after it."""

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from touchstone.budgets.account import QuotaKey
from touchstone.budgets.ledger import QuotaLedger, Reservation
from touchstone.budgets.spending import SpendReservation
from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    MinuteQuotaError,
    RefusedError,
    StoreError,
    TouchstoneError,
    UnavailableModelError,
    UnpricedError,
    UnreadableError,
)
from touchstone.judges.base import Admission, Call, Permit

CEILING_HOLDS = timedelta(seconds=30)
"""How long a tenant's ceiling is remembered between calls, which saves a read for each call."""

_log = logging.getLogger(__name__)


class SpendLedger(Protocol):
    """The tenants' spending, in the table or in memory."""

    def reserve(self, tenant: str, usd: float | None, ceiling: float | None) -> SpendReservation:
        """Hold money back, or raise `SpendingCeilingError`."""
        ...

    def settle(self, reservation: SpendReservation, *, cost_usd: float | None, error: JudgeError | None = None) -> None:
        """Count what a call cost."""
        ...

    def release(self, reservation: SpendReservation) -> None:
        """Free the money that was held back."""
        ...

    def ceiling(self, tenant: str) -> float | None:
        """The tenant's own ceiling in US dollars a day, None if the default ceiling holds."""
        ...


class BudgetAdmission(Admission, ABC):
    """The rules of admission over a ledger of quotas and a ledger of spending.

    `ceiling_usd` is the ceiling a day (US dollars) of tenants that have none of their own; None: there is no ceiling.
    `slow_start`: few calls are in flight at once until the provider has shown that it takes more, so that an unknown
    quota ends in few refusals. It is for callers that wait until a unit is free.
    """

    def __init__(
        self, quotas: QuotaLedger, spending: SpendLedger, *, ceiling_usd: float | None, slow_start: bool = False
    ) -> None:
        self.quotas = quotas
        self.spending = spending
        self._ceiling_usd = ceiling_usd
        self._slow_start = slow_start
        self._ceilings: dict[str, tuple[float | None, datetime]] = {}

    async def admit(self, call: Call) -> Permit:
        """Reserve money and one unit. Raises `QuotaExceededError`, `SpendingCeilingError` or `StoreError`."""
        made: list[BudgetPermit] = []
        abandoned = False
        turn = threading.Lock()

        def reserve() -> BudgetPermit:
            permit = self._reserve(call)
            with turn:
                made.append(permit)
                unwanted = abandoned
            if unwanted:
                permit.give_back()
            return permit

        try:
            return await self.run(reserve)
        except asyncio.CancelledError:
            # Nobody will use the permit. If the thread has made it already, it is given back from here; else the thread
            # goes on without us, and gives it back itself.
            with turn:
                abandoned, left = True, tuple(made)
            for permit in left:
                asyncio.get_running_loop().run_in_executor(None, permit.give_back)
            raise

    @abstractmethod
    async def run[T](self, work: Callable[[], T]) -> T:
        """Run work that may block, and return its result."""

    def _reserve(self, call: Call) -> "BudgetPermit":
        ceiling = self._ceiling_of(call.tenant)
        if ceiling is not None and call.max_cost_usd is None:
            from touchstone.judges.questions import without_price
            from touchstone.judges.registry import unpriced_allowed

            if not unpriced_allowed():
                raise UnpricedError(f"{without_price(call.provider, call.model)} Nothing was sent.", until=None)
        key = QuotaKey(call.provider, call.model, call.account)
        if self._slow_start:
            # A caller that waits looks every second, mostly in vain. A look costs one read; to hold money back and free
            # it again would cost two writes.
            self.quotas.check(key, call.limits, purpose=call.purpose, slow_start=True)
        money = self.spending.reserve(call.tenant, call.max_cost_usd, ceiling)
        try:
            unit = self.quotas.reserve(
                key, call.limits, purpose=call.purpose, tenant=call.tenant, slow_start=self._slow_start
            )
        except TouchstoneError:
            _lenient(lambda: self.spending.release(money))
            raise
        return BudgetPermit(self, unit=unit, money=money)

    def _ceiling_of(self, tenant: str) -> float | None:
        now = self.quotas.clock()
        own, read_at = self._ceilings.get(tenant, (None, None))
        if read_at is None or abs(now - read_at) >= CEILING_HOLDS:
            own = self.spending.ceiling(tenant)
            self._ceilings[tenant] = (own, now)
        return self._ceiling_usd if own is None else own


class BudgetPermit(Permit):
    """One unit of quota and the money for one call. Only the first call of `settle` or `release` has an effect.

    Neither raises if the store fails: a reply that was paid for is not lost over its bookkeeping. What could not be
    given back stays reserved, which errs on the side of the limit.
    """

    def __init__(self, admission: BudgetAdmission, *, unit: Reservation, money: SpendReservation) -> None:
        self._admission = admission
        self._unit = unit
        self._money = money
        self._ended = False

    @property
    def expired(self) -> bool:
        """Whether this permit is too old to send the call: the call would fall into another minute or day."""
        return self._admission.quotas.clock() >= self._unit.expires_at

    async def settle(self, *, cost_usd: float | None, error: JudgeError | None = None) -> None:
        """Count the cost of the call, which was sent, and keep what the provider said about its quota."""
        if self._end():
            await self._admission.run(lambda: self._settle(cost_usd, error))

    async def release(self) -> None:
        """Free the unit and the money of a call that was never sent."""
        if self._end():
            await self._admission.run(self.give_back)

    def give_back(self) -> None:
        """Free the unit and the money. Blocks."""
        _lenient(lambda: self._admission.quotas.release(self._unit))
        _lenient(lambda: self._admission.spending.release(self._money))

    def _settle(self, cost_usd: float | None, error: JudgeError | None) -> None:
        quotas, unit = self._admission.quotas, self._unit
        if isinstance(error, DayQuotaError | MinuteQuotaError | UnavailableModelError):
            _lenient(lambda: quotas.learn(unit, error))
        elif unit.watched:
            answered = error is None or isinstance(error, RefusedError | UnreadableError)
            _lenient(lambda: quotas.settle(unit, answered=answered))
        _lenient(lambda: self._admission.spending.settle(self._money, cost_usd=cost_usd, error=error))

    def _end(self) -> bool:
        first, self._ended = not self._ended, True
        return first


class DynamoAdmission(BudgetAdmission):
    """Admission by the accounts in the table, for every deployed function."""

    async def run[T](self, work: Callable[[], T]) -> T:
        """Run work in a thread, since boto3 blocks."""
        return await asyncio.to_thread(work)


def _lenient(work: Callable[[], None]) -> None:
    """Do bookkeeping and log a failure of the store, which costs no more than a reservation that is not given back."""
    try:
        work()
    except StoreError:
        _log.warning("A reservation could not be settled; it stays reserved.", exc_info=True)
