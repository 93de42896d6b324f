"""What is counted of a try at a deep evaluation."""

from collections.abc import Iterator

import pytest

from functions.observability import count_evaluation, metrics
from touchstone.operations.evaluating import Outcome

REFUSED = Outcome(state="deferred", request_id="r", reason="misconfigured", tried=True)


@pytest.fixture(autouse=True)
def _nothing_counted() -> Iterator[None]:
    metrics.clear_metrics()
    yield
    metrics.clear_metrics()


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [
        (Outcome(state="done", request_id="r", tried=True), {"Evaluation_done"}),
        (REFUSED, {"Evaluation_deferred", "PutBack_misconfigured"}),
        (Outcome(state="deferred", request_id="r", reason="misconfigured"), {"Evaluation_deferred"}),
    ],
)
def test_r15_a_try_that_brought_nothing_is_counted_by_its_reason(outcome: Outcome, counted: set[str]) -> None:
    count_evaluation(outcome)
    assert set(metrics.metric_set) == counted
