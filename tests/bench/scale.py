"""How far the quota ledger carries, on a made-up clock and a table as slow as AWS's.

    uv run python -m tests.bench.scale [--quick]

The real `Quotas` run in as many functions as a load needs, each making ten calls a second, as one with twenty in flight
and a judge of two seconds does. Shown is what a call costs in writes, what failed, and how many were sent in any minute
against the limit; then how long a backlog takes that several drains work off. `--quick` does the smallest of each.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from tests.support.simulated import SentCalls, SimulatedTable, SimulatedWorld
from touchstone.budgets import QuotaKey, Quotas, Reservation
from touchstone.errors import QuotaExceededError, StoreError
from touchstone.judges.base import Purpose, QuotaLimits

CALLS_A_SECOND = 10.0
"""Of one function: twenty side by side, and a judge of two seconds."""
LEASED = 200
"""As a deployment has it by default."""
ROOM = 1.6
"""The limit, as a part of the load: where there is room, none waits."""
RAMP_SECONDS = 20.0
"""Over which the functions of a load begin."""
NEVER_SENT = 50
"""One call in so many is given back instead of sent."""
DRAIN_CALLS = 20
"""Side by side in one drain."""
DAY = 86_400
KEY = QuotaKey("openai", "gpt-simulated", "0" * 12)


@dataclass(kw_only=True)
class LedgerRun:
    """What one load did to the ledger."""

    table: SimulatedTable
    sent: SentCalls = field(default_factory=SentCalls)
    limits: QuotaLimits
    asked: int = 0
    waited: int = 0
    failed: int = 0

    @property
    def writes_a_call(self) -> float:
        """Writes of the table, those that were refused among them, for each call."""
        return self.table.written / max(1, self.asked)

    @property
    def most_a_minute(self) -> int:
        """The most calls that were sent in any minute."""
        return self.sent.most_a_minute()

    @property
    def used(self) -> int:
        """The units of the day that count as used."""
        return int(self.table.items[KEY.pk, "CURRENT"]["used"])


def quotas_in(run: LedgerRun, *, leased: int = LEASED) -> Quotas:
    """The ledger as one function has it."""
    world = run.table.world
    return Quotas(cast("Any", run.table), clock=world.now, sleep=world.sleep, most_leased=leased)


def one_function(run: LedgerRun, *, calls: int, every: float, leased: int, purpose: Purpose = "fresh") -> None:
    """Make calls at a steady rate, and one after its unit is free where the limit was met."""
    quotas, world = quotas_in(run, leased=leased), run.table.world
    due = world.seconds
    for number in range(calls):
        due += every * world.chance.uniform(0.5, 1.5)
        world.sleep(due - world.seconds)
        run.asked += 1
        while True:
            try:
                unit = quotas.reserve(KEY, run.limits, purpose=purpose)
                break
            except QuotaExceededError as refused:
                run.waited += 1
                world.sleep(_wait(refused, world) + world.chance.uniform(0.0, 3.0))
            except StoreError:
                run.failed += 1
                return
        if number % NEVER_SENT == NEVER_SENT - 1:
            quotas.release(unit)
        else:
            assert world.now() < unit.expires_at
            run.sent.note(world.seconds)
    quotas.end_leases()


def load(calls_a_second: int, *, seconds: float, room: float = ROOM, leased: int = LEASED) -> LedgerRun:
    """So many calls a second, by as many functions as they need."""
    world = SimulatedWorld()
    run = LedgerRun(
        table=SimulatedTable(world=world),
        limits=QuotaLimits(per_day=50_000_000, per_minute=round(calls_a_second * 60 * room)),
    )
    functions = max(1, round(calls_a_second / CALLS_A_SECOND))
    every = functions / calls_a_second
    work = partial(one_function, run, calls=round(seconds / every), every=every, leased=leased)
    world.run([(RAMP_SECONDS * number / functions, work) for number in range(functions)])
    return run


def drains(count: int, *, per_minute: int, judge_seconds: float, seconds: float) -> LedgerRun:
    """A backlog without an end, worked off by so many drains side by side, each with the slow start that they have."""
    world = SimulatedWorld()
    run = LedgerRun(table=SimulatedTable(world=world), limits=QuotaLimits(per_day=None, per_minute=per_minute))

    def drain() -> None:
        quotas = quotas_in(run)
        while world.seconds < seconds:
            taken = 0
            watched: list[Reservation] = []
            until = world.seconds + 1.0
            for _ in range(DRAIN_CALLS):
                try:
                    unit = quotas.reserve(KEY, run.limits, purpose="backlog", slow_start=True)
                except QuotaExceededError as refused:
                    run.waited += 1
                    until = world.seconds + _wait(refused, world)
                    break
                except StoreError:
                    run.failed += 1
                    return
                run.asked += 1
                run.sent.note(world.seconds)
                taken += 1
                if unit.watched:
                    watched.append(unit)
            # A round ends with its slowest; one that got nothing waits until there is a unit.
            world.sleep(judge_seconds if taken else max(1.0, until - world.seconds))
            for unit in watched:
                quotas.settle(unit, answered=True)
        quotas.end_leases()

    world.run([(float(number), drain) for number in range(count)])
    return run


def _wait(refused: QuotaExceededError, world: SimulatedWorld) -> float:
    """Seconds until a unit may be free."""
    return 60.0 if refused.until is None else (refused.until - world.now()).total_seconds()


def shown(what: str, run: LedgerRun) -> str:
    """A line of the report."""
    limit = run.limits.per_minute or 0
    return (
        f"{what:<44} {run.writes_a_call:6.3f} writes a call, {run.table.refused:5} of them refused, "
        f"{run.failed} failed, {run.waited} waited, at most {run.most_a_minute:,} of {limit:,} in a minute, "
        f"{run.used - run.sent.total} units counted and not sent"
    )


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description="How far the quota ledger carries.")
    parser.add_argument("--quick", action="store_true", help="the smallest of each alone")
    quick = parser.parse_args().quick
    for rate, seconds in ((100, 120.0), (1_000, 90.0), (10_000, 40.0))[: 1 if quick else 3]:
        print(shown(f"{rate:,} calls/s with room", load(rate, seconds=seconds)), flush=True)
        print(shown(f"{rate:,} calls/s against half of it", load(rate, seconds=seconds / 2, room=0.5)), flush=True)
    print(shown("100 calls/s, each unit alone", load(100, seconds=60.0, leased=1)), flush=True)
    work: Callable[..., LedgerRun] = partial(drains, per_minute=2_000, judge_seconds=10.0)
    for count in (1, 12)[: 1 if quick else 2]:
        seconds = 900.0
        run = work(count, seconds=seconds)
        a_day = round(run.sent.total / seconds * DAY)
        print(shown(f"{count} drains, a judge of 10 s: {a_day:,} a day", run), flush=True)


if __name__ == "__main__":
    main()
