"""A store that fails between taking a line and asking a judge for it: nothing was tried, and nothing is lost."""

from typing import Any

import pytest

from tests.support.faults import FAULTS, run_deployed
from touchstone.budgets import Quotas
from touchstone.errors import StoreError

TIMES = 5
LINES = 6


@pytest.mark.parametrize("fault", ["none", "8 s"])
@pytest.mark.parametrize("admitted", [0, 1, 5])
def test_r27_five_store_faults_before_a_call_count_for_nothing(
    aws: None, sdks: None, monkeypatch: pytest.MonkeyPatch, admitted: int, fault: str
) -> None:
    """So many lines were admitted before; where the judge is slow, their calls are under way meanwhile."""
    asked, reserve = list[None](), Quotas.reserve

    def reserved(*given: Any, **named: Any) -> Any:
        asked.append(None)
        if admitted < len(asked) <= admitted + TIMES:
            raise StoreError("The store is away.")
        return reserve(*given, **named)

    monkeypatch.setattr(Quotas, "reserve", reserved)
    outcome = run_deployed("gemini", FAULTS[fault], count=LINES)
    assert len(asked) >= TIMES + LINES
    assert outcome.missed == [], outcome
