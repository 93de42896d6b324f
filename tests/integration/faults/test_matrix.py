"""A batch against every provider and every fault, here and deployed: all of it, in made-up time."""

from pathlib import Path

import pytest

from tests.support.faults import COUNT, FAULTS, PROVIDERS, run_deployed, run_locally

DEPLOYED = [
    *((PROVIDERS[number % len(PROVIDERS)], fault) for number, fault in enumerate(FAULTS)),
    *((PROVIDERS[(number + 2) % len(PROVIDERS)], fault) for number, fault in enumerate(("day", "spent", "rpm"))),
]
"""Each fault once, each provider by turns, and what is refused once more: `tests.bench.faults` runs them all."""
LINES = 12
"""Enough for every fault, which is in proportion to the lines: half of them spend a day."""
LOCAL = [
    (provider, fault, COUNT if provider == PROVIDERS[(number + 1) % len(PROVIDERS)] else LINES)
    for number, fault in enumerate(FAULTS)
    for provider in PROVIDERS
]
"""Each fault by each provider, and by one of them, by turns, with so many lines that some fail again and again."""
CHUNK_LINES = 5
"""Three functions at once."""
SMALL_CHUNK_LINES = 6
TEN_CHUNKS = 10 * SMALL_CHUNK_LINES


@pytest.mark.parametrize(("provider", "fault", "lines"), LOCAL)
def test_r24_r25_r26_every_line_is_scored_here(
    tmp_path: Path, sdks: None, provider: str, fault: str, lines: int
) -> None:
    outcome = run_locally(provider, FAULTS[fault], tmp_path, count=lines)
    assert outcome.missed == [], outcome


@pytest.mark.parametrize(("provider", "fault"), DEPLOYED)
def test_r24_r25_r26_every_line_is_scored_in_a_deployment(aws: None, sdks: None, provider: str, fault: str) -> None:
    outcome = run_deployed(provider, FAULTS[fault], count=LINES, chunk_lines=CHUNK_LINES)
    assert outcome.missed == [], outcome


def test_r24_ten_functions_at_once_are_refused_three_times_a_minute_in_all(aws: None, sdks: None) -> None:
    outcome = run_deployed("compatible", FAULTS["spent"], count=TEN_CHUNKS, chunk_lines=SMALL_CHUNK_LINES)
    assert outcome.missed == [], outcome
    assert outcome.refused > 0
