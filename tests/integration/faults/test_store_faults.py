"""A store that fails between taking a line and asking a judge for it: nothing was tried, and nothing is lost."""

from typing import Any

import pytest

from tests.support.faults import FAULTS, run_deployed
from touchstone.budgets import Quotas
from touchstone.errors import StoreError

TIMES = 5
LINES = 6


def test_r27_five_store_faults_before_a_call_count_for_nothing(
    aws: None, sdks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, reserve = list[None](), Quotas.reserve

    def reserved(*given: Any, **named: Any) -> Any:
        if len(failed) < TIMES:
            failed.append(None)
            raise StoreError("The store is away.")
        return reserve(*given, **named)

    monkeypatch.setattr(Quotas, "reserve", reserved)
    outcome = run_deployed("gemini", FAULTS["none"], count=LINES)
    assert len(failed) == TIMES
    assert outcome.missed == [], outcome
