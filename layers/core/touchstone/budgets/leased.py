"""Units of quotas that a process reserved together: it takes them one by one, without asking the store."""

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from touchstone.budgets.account import QuotaKey
from touchstone.budgets.decision import ALONE, LONGEST_LEASE, SHORTEST_LEASE, Wanted
from touchstone.judges.base import Purpose

JUST_BEGUN = timedelta(seconds=1)
"""Whoever began less long ago is taken to ask as often as if it were so long."""
CONTENDED_TRIES = 3
"""Tries of one write from which on too many write the account."""


@dataclass(slots=True, kw_only=True)
class UnitLease:
    """Units that were reserved together as `id` and count at the moment `at` (UTC), until which they may be taken.

    `left` of them were not taken; `given` is the number of those that were.
    """

    id: str
    at: datetime
    purpose: Purpose
    left: int
    given: int = 0


@dataclass(slots=True)
class _OfKey:
    """What a process has of one account, for one purpose."""

    lease: UnitLease | None = None
    lasting: timedelta = SHORTEST_LEASE
    asked: deque[datetime] = field(default_factory=deque)
    over: list[UnitLease] = field(default_factory=list)


class UnitLeases:
    """The leases of a process; may be shared by threads. `most` is how many units one holds at most; 1: none is made.

    As many are wanted as were asked for in the time of a lease that has just passed: whoever asks once gets one. Where
    many functions write one account, as many as a longer lease will need.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[tuple[QuotaKey, Purpose], _OfKey] = {}
        self._lock = threading.Lock()

    def take(self, key: QuotaKey, purpose: Purpose, now: datetime) -> tuple[str, datetime] | None:
        """A unit of a lease: its name, and when it counts. None: there is none, so that the store is to be asked."""
        if self._most <= 1:
            return None
        with self._lock:
            kept = self._kept.setdefault((key, purpose), _OfKey())
            kept.asked.append(now)
            while kept.asked[0] <= now - LONGEST_LEASE:
                kept.asked.popleft()
            lease = kept.lease
            if lease is not None and (now > lease.at or lease.left == 0):
                self._end(kept)
                lease = None
            if lease is None:
                return None
            lease.left -= 1
            lease.given += 1
            return f"{lease.id}-{lease.given}", lease.at

    def wanted(self, key: QuotaKey, purpose: Purpose, now: datetime, *, tries: int) -> Wanted:
        """How many units are to be reserved together, and for how long, where it is tried for so many times now."""
        if self._most <= 1:
            return ALONE
        with self._lock:
            kept = self._kept[key, purpose]
            if kept.lasting > SHORTEST_LEASE or tries >= CONTENDED_TRIES:
                # Many write, and each write counts: as many as will be asked for, if it goes on as it began.
                since = max(JUST_BEGUN, now - kept.asked[0])
                return Wanted(max(1, min(self._most, ceil(len(kept.asked) * (LONGEST_LEASE / since)))), LONGEST_LEASE)
            lately = sum(moment > now - kept.lasting for moment in kept.asked)
            return Wanted(max(1, min(self._most, lately)), kept.lasting)

    def written(self, key: QuotaKey, purpose: Purpose, *, tries: int) -> None:
        """So many tries it took to write: leases last twice as long where others write as often, half where not."""
        if self._most <= 1:
            return
        with self._lock:
            kept = self._kept[key, purpose]
            if tries >= CONTENDED_TRIES:
                kept.lasting = min(LONGEST_LEASE, kept.lasting * 2)
            elif tries == 1:
                kept.lasting = max(SHORTEST_LEASE, kept.lasting / 2)

    def begin(self, key: QuotaKey, lease: UnitLease) -> None:
        """Keep what was reserved beside the unit that its asker has."""
        with self._lock:
            kept = self._kept[key, lease.purpose]
            self._end(kept)
            kept.lease = lease

    def put_back(self, key: QuotaKey, purpose: Purpose, reservation: str, now: datetime) -> bool:
        """Take a unit back whose call was never sent, where its lease goes on; whether it does."""
        with self._lock:
            kept = self._kept.get((key, purpose))
            lease = None if kept is None else kept.lease
            if lease is None or now > lease.at or reservation.rpartition("-")[0] != lease.id:
                return False
            lease.left += 1
            return True

    def over(self, key: QuotaKey, *, all_of_them: bool = False) -> tuple[UnitLease, ...]:
        """Leases of an account with units that nobody took, which are to be given back.

        Those that are over; `all_of_them` ends the others as well.
        """
        with self._lock:
            found = [kept for (one, _), kept in self._kept.items() if one == key]
            if all_of_them:
                for kept in found:
                    self._end(kept)
            return tuple(lease for kept in found for lease in kept.over)

    def given_back(self, key: QuotaKey, leases: tuple[UnitLease, ...]) -> None:
        """Forget leases whose units were given back."""
        with self._lock:
            for (one, _), kept in self._kept.items():
                if one == key:
                    kept.over = [lease for lease in kept.over if lease not in leases]

    def accounts(self) -> Iterator[QuotaKey]:
        """The accounts of which the process has or had leases."""
        with self._lock:
            return iter(dict.fromkeys(key for key, _ in self._kept))

    @staticmethod
    def _end(kept: _OfKey) -> None:
        if kept.lease is not None and kept.lease.left:
            kept.over.append(kept.lease)
        kept.lease = None
