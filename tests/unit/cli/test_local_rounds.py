"""Rounds over lines that nobody decided yet: how often, how long apart, and when it is enough."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.support.clocks import StandingClock
from touchstone.cli.batches.local_rounds import TRIES, Lines, rounds
from touchstone.cli.terminal import waiting
from touchstone.errors import JudgeError, LimitError, QuotaExceededError

BEGUN = datetime(2026, 11, 23, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 24, 8, tzinfo=UTC)
"""In California."""
LINES = dict.fromkeys(range(1, 11), b"{}")
type Fate = Callable[[int, datetime], str | None]


class _House:
    """Lines whose fate is told by a function; notes how many were asked at which moment."""

    def __init__(self, fate: Fate, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = StandingClock(BEGUN)
        self.asked: list[tuple[datetime, int]] = []
        self.failures: list[JudgeError | LimitError] = []
        self._fate = fate

        async def rest(seconds: float) -> None:
            self.clock.forward(seconds=seconds)

        monkeypatch.setattr(waiting, "rest", rest)

    async def run(self, *, wait: bool, lines: Lines = LINES) -> None:
        await rounds(lines, self._do, failures=self.failures, wait=wait, clock=self.clock)

    async def _do(self, lines: Lines) -> Mapping[int, str]:
        self.asked.append((self.clock.now, len(lines)))
        found = {number: self._fate(number, self.clock.now) for number in lines}
        if "quota" in found.values():
            self.failures.append(QuotaExceededError("The day is spent.", window="day", until=MIDNIGHT))
        return {number: why for number, why in found.items() if why is not None}


async def test_lines_that_are_done_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    house = _House(lambda *_: None, monkeypatch)
    await house.run(wait=True)
    assert house.asked == [(BEGUN, 10)]


async def test_one_stubborn_line_is_asked_so_often_and_left(monkeypatch: pytest.MonkeyPatch) -> None:
    house = _House(lambda number, _: "timed_out" if number == 3 else None, monkeypatch)
    await house.run(wait=False)
    assert [count for _, count in house.asked] == [10, *[1] * (TRIES - 1)]
    assert house.clock.now - BEGUN < timedelta(minutes=1)


@pytest.mark.parametrize("reason", ["overloaded", "unreadable", "timed_out", "misconfigured"])
async def test_where_nothing_was_decided_nothing_is_repeated(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    house = _House(lambda *_: reason, monkeypatch)
    await house.run(wait=False)
    assert house.asked == [(BEGUN, 10)]


async def test_a_spent_day_is_waited_for_only_where_one_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for wait in (False, True):
        house = _House(lambda number, now: "quota" if number > 4 and now < MIDNIGHT else None, monkeypatch)
        await house.run(wait=wait)
        assert house.asked == [(BEGUN, 10), (MIDNIGHT, 6)][: 1 + wait]


async def test_an_outage_is_asked_about_ever_less_often_and_for_a_week(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    house = _House(lambda *_: "overloaded", monkeypatch)
    await house.run(wait=True)
    moments = [moment for moment, _ in house.asked]
    pauses = [(later - earlier).total_seconds() for earlier, later in pairwise(moments)]
    assert pauses[:7] == [60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 3600.0]
    assert set(pauses[7:]) == {3600.0}
    assert timedelta(days=6, hours=22) < moments[-1] - BEGUN <= timedelta(days=7)
    assert "Nothing more is waited for after 7 days." in capsys.readouterr().err


async def test_an_outage_of_hours_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    back = BEGUN + timedelta(hours=3)
    house = _House(lambda _, now: "overloaded" if now < back else None, monkeypatch)
    await house.run(wait=True)
    assert back <= house.asked[-1][0] <= back + timedelta(hours=1)


async def test_lines_that_nobody_can_read_are_asked_so_often_in_all_and_the_others_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fate(number: int, now: datetime) -> str | None:
        if number == 1:
            return "quota" if now < MIDNIGHT else None
        return "unreadable"

    house = _House(fate, monkeypatch)
    await house.run(wait=True)
    assert [count for _, count in house.asked] == [10] * TRIES + [1]
    assert house.asked[-1][0] == MIDNIGHT


async def test_who_needs_a_person_is_not_waited_for_but_the_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fate(number: int, now: datetime) -> str | None:
        if number == 1:
            return "misconfigured"
        return "quota" if number == 2 and now < MIDNIGHT else None

    house = _House(fate, monkeypatch)
    await house.run(wait=True)
    assert house.asked == [(BEGUN, 10), (MIDNIGHT, 1)]
