"""Clocks for tests."""

import asyncio
import os
import threading
from datetime import datetime, timedelta

from touchstone.budgets.days import PROVIDER_ZONES, next_reset
from touchstone.clock import OFFSET_VARIABLE, system_clock

CALL_SECONDS = 0.05
"""What a call in flight gets to end while another waits for quota. One on loopback takes some hundredths."""
MIDNIGHT = timedelta(seconds=6)
"""So long before and after a provider's midnight no test begins: in a day's first seconds nothing is sent."""
HOURS_AHEAD = 3
"""A test may let so many hours pass and stay within the day in which it began, whichever provider it asks."""
_moving = threading.Lock()


def seconds_to_quiet(now: datetime) -> float:
    """How long a test waits that would begin at some provider's midnight; 0 at any other time."""
    left = (next_reset(provider, now - MIDNIGHT) + MIDNIGHT - now for provider in PROVIDER_ZONES)
    return max((one.total_seconds() for one in left if one <= 2 * MIDNIGHT), default=0.0)


def set_back_from_midnight(now: datetime) -> timedelta:
    """By how much a clock is set back that shows `now`, so that no provider's day begins or ends while a test runs.

    A day's last hours would let a test pass into the next day's quotas, and nothing is sent in a day's first seconds.
    """

    def is_near_midnight(moment: datetime) -> bool:
        soon = moment + timedelta(hours=HOURS_AHEAD)
        return any(next_reset(provider, moment - timedelta(minutes=1)) <= soon for provider in PROVIDER_ZONES)

    return next(back for hours in range(24) if not is_near_midnight(now - (back := timedelta(hours=hours))))


class StandingClock:
    """A clock that stands until it is moved."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **parts: float) -> None:
        """Move on by so many days, hours, minutes, seconds …"""
        self.now += timedelta(**parts)


class JumpingClock(StandingClock):
    """A clock that stands while anybody works, and jumps to whom wakes next once all `workers` sleep."""

    def __init__(self, now: datetime, *, workers: int) -> None:
        super().__init__(now)
        self._workers = workers
        self._asleep: list[tuple[datetime, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        """Sleep in the clock's own time."""
        woken = asyncio.get_running_loop().create_future()
        self._asleep.append((self.now + timedelta(seconds=seconds), woken))
        self._jump()
        await woken

    def leave(self) -> None:
        """One worker less: it has done its part."""
        self._workers -= 1
        self._jump()

    def _jump(self) -> None:
        if self._asleep and len(self._asleep) >= self._workers:
            self.now = max(self.now, min(wakes for wakes, _ in self._asleep))
            for sleeper in [each for each in self._asleep if each[0] <= self.now]:
                self._asleep.remove(sleeper)
                sleeper[1].set_result(None)


def later(seconds: float) -> None:
    """Let the functions' clock go ahead, in a test that puts the environment back."""
    with _moving:
        _forward(seconds)


async def wait(delay: float) -> None:
    """Wait for quota: the functions' clock goes ahead to the end of the wait, once calls in flight had time to end."""
    until = system_clock() + timedelta(seconds=delay)
    await asyncio.sleep(min(delay, CALL_SECONDS))
    with _moving:  # of several that wait in threads, each finds the clock as the one before has left it
        _forward(max(0.0, (until - system_clock()).total_seconds()))


def _forward(seconds: float) -> None:
    os.environ[OFFSET_VARIABLE] = str(float(os.environ.get(OFFSET_VARIABLE, "0")) + seconds)
