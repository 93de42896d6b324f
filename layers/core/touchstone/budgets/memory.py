"""The budgets without AWS: in memory, for the library and the command line, for as long as the process lives."""

import secrets
import threading
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, date, datetime

from touchstone.budgets.account import DayTally, QuotaKey, QuotaState
from touchstone.budgets.admission import BudgetAdmission
from touchstone.budgets.days import day_of
from touchstone.budgets.decision import DEFAULT_FRESH_SHARE
from touchstone.budgets.ledger import ID_BYTES, Change, QuotaLedger
from touchstone.budgets.money import billed, micros
from touchstone.budgets.spending import SpendReservation, ceiling_reached
from touchstone.clock import Clock, system_clock
from touchstone.errors import JudgeError


class MemoryQuotas(QuotaLedger):
    """The accounts of quotas in memory; may be shared by threads."""

    def __init__(self, *, clock: Clock = system_clock, fresh_share: float = DEFAULT_FRESH_SHARE) -> None:
        super().__init__(clock=clock, fresh_share=fresh_share)
        self._states: dict[QuotaKey, QuotaState] = {}
        self._tallies: dict[tuple[QuotaKey, date], DayTally] = {}
        self._released: set[str] = set()
        self._lock = threading.Lock()

    def _state(self, key: QuotaKey, now: datetime) -> QuotaState:
        today = day_of(key.provider, now)
        state = self._states.get(key, QuotaState(day=today))
        # The day has a tally already if a clock that was set ahead or back has been set right.
        return state.on_day(today, self._tallies.get((key, today), DayTally()))

    def _change(self, key: QuotaKey, change: Change, *, mark: str | None = None) -> datetime:
        with self._lock:
            now = self.clock()
            if mark is None or mark not in self._released:
                state = self._states[key] = change(self._state(key, now), now)
                self._tallies[key, state.day] = state.tally
                if mark is not None:
                    self._released.add(mark)
            return now


class MemorySpending:
    """The tenants' spending of each day in memory; may be shared by threads."""

    def __init__(self, *, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._committed: dict[tuple[str, date], int] = defaultdict(int)
        self._lock = threading.Lock()

    def reserve(self, tenant: str, usd: float | None, ceiling: float | None) -> SpendReservation:
        """Hold back `usd` US dollars, or raise `SpendingCeilingError` if `ceiling` would be passed."""
        amount, today = 0 if usd is None else micros(usd, where="usd"), self._clock().astimezone(UTC).date()
        with self._lock:
            committed = self._committed[tenant, today] + amount
            if ceiling is not None and amount and committed > micros(ceiling, where="ceiling"):
                raise ceiling_reached(tenant, ceiling, today)
            self._committed[tenant, today] = committed
        return SpendReservation(
            id=secrets.token_hex(ID_BYTES), tenant=tenant, day=today, amount=amount, unpriced=usd is None
        )

    def settle(self, reservation: SpendReservation, *, cost_usd: float | None, error: JudgeError | None = None) -> None:
        """Count what the call cost in place of the money that was held back for it; `BudgetPermit` asks once."""
        self._end(reservation, billed(reservation.amount, cost_usd, error))

    def release(self, reservation: SpendReservation) -> None:
        """Free the money that was held back for a call that was never sent."""
        self._end(reservation, 0)

    def ceiling(self, tenant: str) -> float | None:  # noqa: ARG002 - tenants have ceilings of their own in a table
        """None: without a table only the default ceiling holds."""
        return None

    def _end(self, reservation: SpendReservation, actual: int) -> None:
        with self._lock:
            self._committed[reservation.tenant, reservation.day] += actual - reservation.amount


class MemoryAdmission(BudgetAdmission):
    """Admission by accounts in memory: the limits of this process only, not of other processes that use the same key.

    `ceiling_usd` None: no ceiling. `fresh_share` 0 is the default here, since nobody else's requests wait. `slow_start`
    is the parameter of `BudgetAdmission`.
    """

    def __init__(
        self,
        *,
        ceiling_usd: float | None = None,
        clock: Clock = system_clock,
        fresh_share: float = 0.0,
        slow_start: bool = False,
    ) -> None:
        quotas, spending = MemoryQuotas(clock=clock, fresh_share=fresh_share), MemorySpending(clock=clock)
        super().__init__(quotas, spending, ceiling_usd=ceiling_usd, slow_start=slow_start)

    async def run[T](self, work: Callable[[], T]) -> T:
        """Run work at once: nothing blocks."""
        return work()
