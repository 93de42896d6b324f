"""A backlog of deep evaluations beside a provider's quota of a day: at once, and by the provider's batches.

    uv run python -m tests.bench.batches [--count 1000] [--kills] [--ceiling 5] [--at-once]

The real handlers run over moto and the machines from their definitions, in made-up time, hour by hour as the schedules
have it, with the quota of 250 a day that the registry has for Gemini. Shown is how long it took, what it cost there,
and which units of the day batches used. `--at-once` works the same backlog off without batches, to compare.
`--kills` lets whoever does the work die at every so many-th moment before or after a call to AWS or to the provider's
batch API, and checks that each evaluation is stored once and all sums are equal. It ends with 1 where a bar is missed.
"""

import argparse
import io
import sys
import time

import pytest

from tests.bench.cost import logging_to
from tests.support.aws import in_process
from tests.support.backlogs import PROVIDER, WorkedOff, killed_at_every, line_up_a_day, work_off
from tests.support.batching import batching_house
from tests.support.providers import ProviderServer

COUNT = 1_000
MOST_COST = 0.51
"""Of what the same calls cost at once."""
STRIDES = (499, 1_009, 2_003)
"""Moments between two deaths. A step that puts fifty results away must be able to end in between."""


def worked_off(count: int, *, batches: bool = True, stride: int | None = None, ceiling: str | None = None) -> WorkedOff:
    """One run."""
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
        return work_off(house, records, None if stride is None else killed_at_every(house, stride))


def shown(name: str, found: WorkedOff, count: int, seconds: float) -> str:
    """One line of the table."""
    at_once = "+".join(str(found.days[day]) for day in sorted(found.days) if found.days[day]) or "0"
    cost = found.spent_usd / found.full_usd
    return (
        f"{name:<24} {count:>5} done on day {found.day} after {found.hours:>3} h; asked at once {at_once}; "
        f"{found.batches} batches; units used by batches {found.used}; calls {found.calls}; "
        f"${found.spent_usd:.4f} = {cost:.3f} x; {found.kills} deaths; {seconds:.0f} s"
    )


def main() -> int:
    """Print the lines."""
    parser = argparse.ArgumentParser(description="A backlog beside a quota of a day.")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--ceiling", default=None, help="the tenant's ceiling a day, in US dollars")
    parser.add_argument("--kills", action="store_true", help="with processes that die")
    parser.add_argument("--at-once", action="store_true", help="also without batches")
    options = parser.parse_args()
    runs: list[tuple[str, bool, int | None]] = [("by batches", True, None)]
    if options.kills:
        runs += [(f"a death in {stride}", True, stride) for stride in STRIDES]
    if options.at_once:
        runs.append(("at once", False, None))
    missed = False
    for name, batches, stride in runs:
        begun = time.monotonic()
        found = worked_off(options.count, batches=batches, stride=stride, ceiling=options.ceiling)
        print(shown(name, found, options.count, time.monotonic() - begun), flush=True)
        if batches:
            held = found.day == 1 or stride is not None  # each death costs an hour until somebody looks
            held = held and found.used == 0 and found.spent_usd <= MOST_COST * found.full_usd
            missed = missed or not held or found.calls > options.count * (1 + found.kills)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
