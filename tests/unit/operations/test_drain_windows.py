"""The line of deferred evaluations as a drain takes it, window by window: each request once, and none left out."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from touchstone.operations.answers import draining
from touchstone.operations.answers.draining import _Line
from touchstone.records import PendingEvaluation

WINDOW = 4
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


class _Backlog:
    """Deferred requests; a result begins with the request that it was asked for behind, while that is deferred."""

    def __init__(self, count: int) -> None:
        self.deferred = [_pending(number) for number in range(count)]
        self.reads = 0

    def oldest_deferred(self, *, limit: int, behind: str | None) -> tuple[PendingEvaluation, ...]:
        self.reads += 1
        return tuple([one for one in self.deferred if behind is None or one.request_id >= behind][:limit])


def _pending(number: int) -> PendingEvaluation:
    return PendingEvaluation(
        tenant=f"t{number % 2}",
        answer_id=f"a{number:03}",
        request_id=f"r{number:03}",
        requested_at=NOON,
        state="deferred",
        due=None,
    )


def _all_of(line: _Line, limit: int) -> Sequence[str]:
    taken: list[str] = []
    while due := line.next(limit):
        assert len(due) <= limit
        taken += [one.request_id for one in due]
    return taken


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draining, "WINDOW", WINDOW)


@pytest.mark.parametrize("limit", [1, 3, WINDOW, 20])
@pytest.mark.parametrize("count", [0, 1, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW - 1, 2 * WINDOW, 3 * WINDOW])
def test_every_request_comes_once_and_in_order_though_none_is_over_meanwhile(count: int, limit: int) -> None:
    backlog: Any = _Backlog(count)
    assert _all_of(_Line(backlog), limit) == [f"r{number:03}" for number in range(count)]


def test_what_is_over_meanwhile_costs_the_next_window_nothing() -> None:
    backlog: Any = _Backlog(3 * WINDOW)
    line, taken = _Line(backlog), list[str]()
    while due := line.next(WINDOW):
        taken += [one.request_id for one in due]
        backlog.deferred = [one for one in backlog.deferred if one not in due]
    assert taken == [f"r{number:03}" for number in range(3 * WINDOW)]


def test_several_drains_share_every_request_and_none_takes_that_of_another() -> None:
    taken = [_all_of(_Line(_Backlog(40), shard=shard, shards=3), 5) for shard in range(3)]  # type: ignore[arg-type] # the part that is used
    assert sorted(one for each in taken for one in each) == [f"r{number:03}" for number in range(40)]
    assert all(taken)


def test_one_step_reads_no_more_windows_than_it_has_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draining, "MAX_READS", 2)
    backlog: Any = _Backlog(5 * WINDOW)
    assert len(_all_of(_Line(backlog), 20)) == 2 * WINDOW - 1, "the second window begins with the end of the first"
    assert backlog.reads == 2


def test_what_was_not_reached_comes_first_again() -> None:
    backlog: Any = _Backlog(2 * WINDOW)
    line = _Line(backlog)
    line.give_back(line.next(3)[1:])
    assert _all_of(line, 2) == [f"r{number:03}" for number in range(1, 2 * WINDOW)]
