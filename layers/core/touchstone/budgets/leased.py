"""Units of quotas that a process reserved together: it uses them one by one without asking the store."""

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from touchstone.budgets.account import QuotaKey
from touchstone.budgets.decision import LONGEST_LEASE, SHORTEST_LEASE, SINGLE_UNIT, LeaseRequest
from touchstone.judges.base import Purpose

JUST_BEGUN = timedelta(seconds=1)
"""The least time over which the rate of requests is measured: a process that began later is taken to have asked for as
long."""
CONTENDED_TRIES = 3
"""From this many tries of one write on, too many processes write the account."""


@dataclass(slots=True, kw_only=True)
class UnitLease:
    """Units that were reserved together as `id`. They count at the moment `at` (UTC) and may be taken until then.

    `left` is how many units were not taken, `given` how many were.
    """

    id: str
    at: datetime
    purpose: Purpose
    left: int
    given: int = 0


@dataclass(slots=True)
class _AccountLeases:
    """The leases of a process in one account, for one purpose.

    `lease` is the present one, `duration` how long the next one lasts, `requests` the moments of recent requests, and
    `ended` the ended leases whose unused units are not given back yet.
    """

    lease: UnitLease | None = None
    duration: timedelta = SHORTEST_LEASE
    requests: deque[datetime] = field(default_factory=deque)
    ended: list[UnitLease] = field(default_factory=list)


class UnitLeases:
    """The leases of a process; may be shared by threads. `most` is the most units of one lease; 1: no lease is made.

    A lease wants as many units as were asked for during the time of one lease that has just passed: a caller that asks
    once gets one. Where many functions write one account, a lease wants as many units as will be asked for while a
    longer lease lasts.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[tuple[QuotaKey, Purpose], _AccountLeases] = {}
        self._lock = threading.Lock()

    def take(self, key: QuotaKey, purpose: Purpose, now: datetime) -> tuple[str, datetime] | None:
        """Take a unit of the lease: its name, and when it counts. None if there is none: the store must be asked."""
        if self._most <= 1:
            return None
        with self._lock:
            leases = self._kept.setdefault((key, purpose), _AccountLeases())
            leases.requests.append(now)
            while leases.requests[0] <= now - LONGEST_LEASE:
                leases.requests.popleft()
            lease = leases.lease
            if lease is not None and (now > lease.at or lease.left == 0):
                self._end(leases)
                lease = None
            if lease is None:
                return None
            lease.left -= 1
            lease.given += 1
            return f"{lease.id}-{lease.given}", lease.at

    def next_request(self, key: QuotaKey, purpose: Purpose, now: datetime, *, tries: int) -> LeaseRequest:
        """How many units to reserve together now, and for how long; `tries` counts the tries of this write so far."""
        if self._most <= 1:
            return SINGLE_UNIT
        with self._lock:
            leases = self._kept[key, purpose]
            if leases.duration > SHORTEST_LEASE or tries >= CONTENDED_TRIES:
                # Many processes write, and each write counts: reserve as many units as will be asked for at the present
                # rate.
                since = max(JUST_BEGUN, now - leases.requests[0])
                return LeaseRequest(
                    max(1, min(self._most, ceil(len(leases.requests) * (LONGEST_LEASE / since)))), LONGEST_LEASE
                )
            lately = sum(moment > now - leases.duration for moment in leases.requests)
            return LeaseRequest(max(1, min(self._most, lately)), leases.duration)

    def adapt_duration(self, key: QuotaKey, purpose: Purpose, *, tries: int) -> None:
        """Adapt how long leases last to the `tries` of a write: twice as long after many tries, half after one."""
        if self._most <= 1:
            return
        with self._lock:
            leases = self._kept[key, purpose]
            if tries >= CONTENDED_TRIES:
                leases.duration = min(LONGEST_LEASE, leases.duration * 2)
            elif tries == 1:
                leases.duration = max(SHORTEST_LEASE, leases.duration / 2)

    def begin(self, key: QuotaKey, lease: UnitLease) -> None:
        """Keep a new lease: the units that were reserved beside the unit that the caller has."""
        with self._lock:
            leases = self._kept[key, lease.purpose]
            self._end(leases)
            leases.lease = lease

    def return_unit(self, key: QuotaKey, purpose: Purpose, reservation: str, now: datetime) -> bool:
        """Take back a unit whose call was never sent. False if its lease is over: the store must take it back.

        Each unit is returned once: a lease does not remember which of its units came back.
        """
        with self._lock:
            leases = self._kept.get((key, purpose))
            lease = None if leases is None else leases.lease
            if lease is None or now > lease.at or reservation.rpartition("-")[0] != lease.id:
                return False
            lease.left += 1
            return True

    def ended_leases(self, key: QuotaKey, *, all_of_them: bool = False) -> tuple[UnitLease, ...]:
        """The ended leases of an account with units that nobody took, which must be given back.

        `all_of_them` ends the other leases first.
        """
        with self._lock:
            found = [own for (one, _), own in self._kept.items() if one == key]
            if all_of_them:
                for own in found:
                    self._end(own)
            return tuple(lease for own in found for lease in own.ended)

    def forget_returned(self, key: QuotaKey, leases: tuple[UnitLease, ...]) -> None:
        """Forget leases whose units were given back."""
        with self._lock:
            for (one, _), own in self._kept.items():
                if one == key:
                    own.ended = [lease for lease in own.ended if lease not in leases]

    def accounts(self) -> Iterator[QuotaKey]:
        """The accounts in which the process has or had leases."""
        with self._lock:
            return iter(dict.fromkeys(key for key, _ in self._kept))

    @staticmethod
    def _end(leases: _AccountLeases) -> None:
        if leases.lease is not None and leases.lease.left:
            leases.ended.append(leases.lease)
        leases.lease = None
