"""A batch of sixty lines against every provider and every fault, here and deployed: all of it, in made-up time."""

from pathlib import Path

import pytest

from tests.support.faults import FAULTS, PROVIDERS, run_deployed, run_locally

DEPLOYED = [
    *((PROVIDERS[number % len(PROVIDERS)], fault) for number, fault in enumerate(FAULTS)),
    *((PROVIDERS[(number + 2) % len(PROVIDERS)], fault) for number, fault in enumerate(("day", "spent", "rpm"))),
]
"""Each fault once, each provider by turns, and what is refused once more: `tests.bench.faults` runs them all."""
TEN_CHUNKS = 250


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_r24_r25_r26_every_line_is_scored_here(tmp_path: Path, sdks: None, provider: str, fault: str) -> None:
    outcome = run_locally(provider, FAULTS[fault], tmp_path)
    assert outcome.missed == [], outcome


@pytest.mark.parametrize(("provider", "fault"), DEPLOYED)
def test_r24_r25_r26_every_line_is_scored_in_a_deployment(aws: None, sdks: None, provider: str, fault: str) -> None:
    outcome = run_deployed(provider, FAULTS[fault])
    assert outcome.missed == [], outcome


def test_r24_ten_functions_at_once_are_refused_three_times_a_minute_in_all(aws: None, sdks: None) -> None:
    outcome = run_deployed("compatible", FAULTS["spent"], count=TEN_CHUNKS)
    assert outcome.missed == [], outcome
    assert outcome.refused > 0
