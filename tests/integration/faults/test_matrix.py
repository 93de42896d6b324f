"""A batch of sixty lines against every provider and every fault, here and deployed: all of it, in made-up time."""

from pathlib import Path

import pytest

from tests.support.faults import FAULTS, PROVIDERS, run_deployed, run_locally

PAIRS = [(provider, fault) for provider in PROVIDERS for fault in FAULTS]


@pytest.mark.parametrize(("provider", "fault"), PAIRS)
def test_every_line_is_scored_here(tmp_path: Path, sdks: None, provider: str, fault: str) -> None:
    outcome = run_locally(provider, FAULTS[fault], tmp_path)
    assert outcome.missed == [], outcome


@pytest.mark.parametrize(("provider", "fault"), PAIRS)
def test_every_line_is_scored_in_a_deployment(aws: None, sdks: None, provider: str, fault: str) -> None:
    outcome = run_deployed(provider, FAULTS[fault])
    assert outcome.missed == [], outcome
