"""Units that a function reserves together: as exact as one by one, for a fraction of the writes."""

import threading
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from tests.bench.scale import KEY, load
from tests.support.simulated import SimulatedTable, SimulatedWorld
from touchstone.budgets import Quotas
from touchstone.budgets.decision import SHORTEST_LEASE, SLOW_START_CALLS
from touchstone.errors import MinuteQuotaError, QuotaExceededError
from touchstone.judges.base import QuotaLimits

LARGE = QuotaLimits(per_day=1_000_000, per_minute=2_000)
MOST = 20
"""A hundredth of a minute."""


@pytest.fixture
def world() -> SimulatedWorld:
    return SimulatedWorld()


@pytest.fixture
def stored(world: SimulatedWorld) -> SimulatedTable:
    return SimulatedTable(world=world)


def quotas_of(stored: Any, *, most: int = 100) -> Quotas:
    """The ledger in one function, alone in its world: whoever sleeps there has the next turn."""
    world = stored.world

    def forward(seconds: float) -> None:
        world.seconds += seconds

    world.sleep = forward
    return Quotas(stored, clock=world.now, sleep=forward, most_leased=most)


@pytest.mark.parametrize("room", [1.6, 0.5])
def test_many_functions_write_little_never_pass_the_limit_and_leave_nothing_reserved(room: float) -> None:
    run = load(60, seconds=45.0, room=room)
    assert run.failed == 0
    assert run.writes_a_call <= 1.2
    assert run.most_a_minute <= (run.limits.per_minute or 0)
    assert run.used == run.sent.total
    assert bool(run.waited) is (room < 1)


def test_so_many_functions_that_reserve_unit_by_unit_write_twice_a_call() -> None:
    """What the simulation is held to: measured so of the ledger as it was, 2.1 writes each at 100 calls a second."""
    run = load(100, seconds=25.0, leased=1)
    assert 1.6 < run.writes_a_call < 2.6


@pytest.mark.parametrize(
    "limits", [QuotaLimits(per_day=1_000, per_minute=15), QuotaLimits(per_day=None, per_minute=199)]
)
def test_under_a_small_limit_each_unit_is_reserved_alone(stored: SimulatedTable, limits: QuotaLimits) -> None:
    quotas = quotas_of(stored)
    for number in range(15):
        quotas.reserve(KEY, limits, purpose="fresh")
        assert quotas.usage(KEY, limits).used == stored.written == number + 1


def test_a_function_reserves_as_many_as_it_asked_for_of_late_and_no_more_than_its_part(
    stored: SimulatedTable, world: SimulatedWorld
) -> None:
    quotas = quotas_of(stored)
    counted = []
    for _ in range(60):
        quotas.reserve(KEY, LARGE, purpose="fresh")
        counted.append(quotas.usage(KEY, LARGE).used)
    assert counted[:8] == [1, 3, 3, 7, 7, 7, 7, 15]
    assert max(after - before for before, after in pairwise(counted)) == MOST
    world.seconds += SHORTEST_LEASE.total_seconds() + 1
    quotas.reserve(KEY, LARGE, purpose="fresh")
    assert quotas.usage(KEY, LARGE).used == 61  # what was left over came back with the next write
    quotas.end_leases()
    assert quotas.usage(KEY, LARGE).used == 61


def test_with_a_slow_start_units_are_reserved_together_once_it_is_over(stored: SimulatedTable) -> None:
    """As drains and batches have it: alone while the provider has yet to show what it takes, then as anybody."""
    quotas = quotas_of(stored)
    for _ in range(SLOW_START_CALLS):
        unit = quotas.reserve(KEY, LARGE, purpose="backlog", slow_start=True)
        assert unit.watched
        quotas.settle(unit, answered=True)
    assert stored.written >= 2 * SLOW_START_CALLS
    before = stored.written
    assert not any(quotas.reserve(KEY, LARGE, purpose="backlog", slow_start=True).watched for _ in range(100))
    assert stored.written - before < 20


def test_a_call_that_was_never_sent_leaves_its_unit_to_the_next_one(stored: SimulatedTable) -> None:
    quotas = quotas_of(stored)
    units = [quotas.reserve(KEY, LARGE, purpose="backlog") for _ in range(4)]
    before = stored.written
    quotas.release(units[-1])
    assert stored.written == before
    quotas.end_leases()
    usage = quotas.usage(KEY, LARGE)
    assert (usage.used, usage.backlog_used) == (3, 3)
    quotas.release(units[0])
    quotas.release(units[0])
    assert quotas.usage(KEY, LARGE).used == 2


def test_r24_after_a_refusal_nothing_is_taken_from_a_lease(stored: SimulatedTable, world: SimulatedWorld) -> None:
    quotas = quotas_of(stored)
    units = [quotas.reserve(KEY, LARGE, purpose="fresh") for _ in range(9)]
    assert quotas.usage(KEY, LARGE).used == 15
    quotas.learn(units[-1], MinuteQuotaError("Too many.", retry_after=5.0))
    assert quotas.usage(KEY, LARGE).used == 9
    with pytest.raises(QuotaExceededError):
        quotas.reserve(KEY, LARGE, purpose="fresh")
    world.seconds += 20.0
    before = stored.written
    again = quotas.reserve(KEY, LARGE, purpose="fresh")
    assert again.watched
    assert stored.written == before + 1


def test_no_lease_lasts_over_the_provider_s_midnight(stored: SimulatedTable, world: SimulatedWorld) -> None:
    quotas = quotas_of(stored)
    key = type(KEY)("gemini", "g", "0" * 12)
    midnight = datetime.fromisoformat("2026-11-24T08:00:00+00:00")
    world.seconds = (midnight - timedelta(seconds=12) - world.now()).total_seconds()
    for number in range(8):
        unit = quotas.reserve(key, LARGE, purpose="fresh")
        assert unit.expires_at < midnight
        assert quotas.usage(key, LARGE).used == number + 1


def test_threads_that_ask_at_once_share_one_write(stored: SimulatedTable) -> None:
    quotas = quotas_of(stored)
    for _ in range(MOST):
        quotas.reserve(KEY, LARGE, purpose="fresh")
    begun, before = threading.Barrier(12), stored.written
    units: list[str] = []

    def ask() -> None:
        begun.wait()
        units.append(quotas.reserve(KEY, LARGE, purpose="fresh").id)

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(units)) == 12
    assert stored.written - before <= 1
