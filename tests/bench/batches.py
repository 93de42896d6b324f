"""A backlog of deep evaluations beside a provider's quota of a day: at once, and by the provider's batches.

    uv run python -m tests.bench.batches [--count 1000] [--kills] [--each 2] [--ceiling 5] [--at-once]

The real handlers run over moto and the machines from their definitions, in made-up time, hour by hour as the schedules
have it, with the quota of 250 a day that the registry has for Gemini. Shown is how long it took, what it cost there, of
what the list says of the same calls at once, and which units of the day batches used. `--at-once` works the same
backlog off without batches, to compare: what it cost then is what the others are held against, too.
`--kills` lets whoever does the work die at every so many-th moment before or after a call to AWS or to the provider's
batch API, and checks that each evaluation is stored once and all sums are equal. `--each` takes every such moment in
turn instead, one death a run, with so many evaluations. It ends with 1 where a bar is missed.
"""

import argparse
import io
import sys
import time
from collections.abc import Container

import pytest

from tests.bench.cost import logging_to
from tests.support.aws import in_process
from tests.support.backlogs import PROVIDER, WorkedOff, killed_at, line_up_a_day, work_off
from tests.support.batching import batching_house
from tests.support.providers import ProviderServer

COUNT = 1_000
MOST_MOMENTS = 100_000
"""More than there are before and after all calls of any run."""
MOST_COST = 0.51
"""Of what the same calls cost at once."""
AT_ONCE = "at once"
STRIDES = (499, 1_009)
"""Moments between two deaths. A step that puts fifty results away must be able to end in between: whoever dies
each time before that loses nothing, pays nothing and comes to no end."""


def worked_off(
    count: int, *, batches: bool = True, at: Container[int] | None = None, ceiling: str | None = None
) -> WorkedOff:
    """One run; whoever does the work dies `at` these moments."""
    variables = {"TOUCHSTONE_BATCHES": "on" if batches else "off", "TOUCHSTONE_TENANT_SHARE": "1"}
    if ceiling is not None:
        variables["TOUCHSTONE_DAILY_CEILING_USD"] = ceiling
    with (
        ProviderServer() as server,
        pytest.MonkeyPatch.context() as patch,
        in_process(patch),
        batching_house(server, patch, provider=PROVIDER, **variables) as house,
        logging_to(io.StringIO()),
    ):
        records = line_up_a_day(house, count)
        return work_off(house, records, None if at is None else killed_at(house, at))


def shown(name: str, found: WorkedOff, count: int, seconds: float) -> str:
    """One line of the table."""
    at_once = "+".join(str(found.days[day]) for day in sorted(found.days) if found.days[day]) or "0"
    cost = found.spent_usd / found.full_usd
    return (
        f"{name:<24} {count:>5} done on day {found.day} after {found.hours:>3} h; asked at once {at_once}; "
        f"{found.batches} batches; units used by batches {found.used}; calls {found.calls}; "
        f"${found.spent_usd:.4f} = {cost:.3f} x; {found.kills} deaths; {seconds:.0f} s"
    )


def each_in_turn(count: int, *, ceiling: str | None) -> bool:
    """Every moment of one run in turn, a run and a death for each; whether all bars were held."""
    begun, held, moments, twice = time.monotonic(), True, 0, 0
    for moment in range(1, MOST_MOMENTS):
        try:
            found = worked_off(count, at=(moment,), ceiling=ceiling)
        except AssertionError as error:
            print(f"a death at moment {moment}: {error}", flush=True)
            held, moments = False, moment
            continue
        if not found.kills:
            break
        moments = moment
        twice += found.calls > count
        held = held and _within(found, count)
    print(
        f"each moment in turn      {count:>5} evaluations; {moments} deaths, one a run; a batch was paid twice after "
        f"{twice} of them; {time.monotonic() - begun:.0f} s"
    )
    return held


def _within(found: WorkedOff, count: int) -> bool:
    """Whether no unit of the day was used by batches, and each death made no more than one batch be paid twice."""
    return (
        found.used == 0 and found.spent_usd <= MOST_COST * found.full_usd and found.calls <= count * (1 + found.kills)
    )


def main() -> int:
    """Print the lines."""
    parser = argparse.ArgumentParser(description="A backlog beside a quota of a day.")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--ceiling", default=None, help="the tenant's ceiling a day, in US dollars")
    parser.add_argument("--kills", action="store_true", help="with processes that die")
    parser.add_argument("--each", type=int, metavar="COUNT", help="every moment in turn, with so many evaluations")
    parser.add_argument("--at-once", action="store_true", help="also without batches")
    options = parser.parse_args()
    if options.each is not None:
        return int(not each_in_turn(options.each, ceiling=options.ceiling))
    runs: list[tuple[str, bool, int | None]] = [("by batches", True, None)]
    if options.kills:
        runs += [(f"a death in {stride}", True, stride) for stride in STRIDES]
    if options.at_once:
        runs.append((AT_ONCE, False, None))
    missed, cost = False, dict[str, float]()
    for name, batches, stride in runs:
        begun = time.monotonic()
        at = None if stride is None else range(stride, 10**9, stride)
        found = worked_off(options.count, batches=batches, at=at, ceiling=options.ceiling)
        cost[name] = found.spent_usd
        print(shown(name, found, options.count, time.monotonic() - begun), flush=True)
        if batches:
            held = found.day == 1 or stride is not None  # each death costs an hour until somebody looks
            missed = missed or not held or not _within(found, options.count)
    at_once = cost.pop(AT_ONCE, None)
    if at_once is not None:
        for name, usd in cost.items():
            print(f"{name:<24} {usd / at_once:.3f} x what the same backlog cost at once")
            missed = missed or usd > MOST_COST * at_once
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
