"""A clock for tests."""

from datetime import datetime, timedelta


class StandingClock:
    """A clock that stands until it is moved."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **parts: float) -> None:
        """Move on by so many days, hours, minutes, seconds …"""
        self.now += timedelta(**parts)
