"""What a batch of sixty lines comes to against each provider and each fault, here and deployed."""

import argparse
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.aws import in_process, one_request_at_a_time
from tests.support.faults import FAULTS, PROVIDERS, Fault, Outcome, run_deployed, run_locally

WAYS = ("local", "deployed")
HEADING = (
    f"{'way':<8} {'provider':<10} {'fault':<11} {'scored':>8} {'calls':>6} {'repeats':>7} {'refused':>7}"
    f" {'a minute':>8} {'longest call':>12} {'longest':>12} {'in all':>8}  missed"
)


def main() -> None:
    """Print a line for each, with the bars it missed; exit 1 where any did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", nargs="+", default=WAYS, choices=WAYS)
    parser.add_argument("--provider", nargs="+", default=PROVIDERS, choices=PROVIDERS)
    parser.add_argument("--fault", nargs="+", default=list(FAULTS), choices=list(FAULTS))
    chosen = parser.parse_args()
    logging.disable()
    print(HEADING, flush=True)
    missed = 0
    for way in chosen.way:
        for provider in chosen.provider:
            for name in chosen.fault:
                outcome = _runs(way)(provider, FAULTS[name])
                print(_line(outcome), flush=True)
                missed += bool(outcome.missed)
    raise SystemExit(1 if missed else 0)


def _runs(way: str) -> Callable[[str, Fault], Outcome]:
    return _locally if way == "local" else _deployed


def _locally(provider: str, fault: Fault) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        return run_locally(provider, fault, Path(folder))


def _deployed(provider: str, fault: Fault) -> Outcome:
    with pytest.MonkeyPatch.context() as patch, in_process(patch):
        one_request_at_a_time(patch)
        return run_deployed(provider, fault)


def _line(found: Outcome) -> str:
    return (
        f"{found.way:<8} {found.provider:<10} {found.fault:<11} {f'{found.scored}/{found.lines}':>8} {found.calls:>6}"
        f" {found.repeats:>7} {found.refused:>7} {found.refused_a_minute:>8} {found.longest_call:>10.1f} s"
        f" {f'{found.longest:.0f}/{found.allowed:.0f} s':>12} {found.waited:>6.0f} s  {'; '.join(found.missed) or '-'}"
    )


if __name__ == "__main__":
    main()
