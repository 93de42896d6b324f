"""What is counted of a try at a deep evaluation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions import observability
from functions.observability import METRICS, count_evaluation, metrics
from touchstone.operations.answers.evaluating import TryOutcome

REFUSED = TryOutcome(state="deferred", request_id="r", reason="misconfigured", tried=True)


@pytest.fixture(autouse=True)
def _nothing_counted() -> Iterator[None]:
    metrics.clear_metrics()
    yield
    metrics.clear_metrics()


@pytest.mark.parametrize(
    ("outcome", "reasons", "measured"),
    [
        (TryOutcome(state="done", request_id="r", tried=True), [], set[str]()),
        (REFUSED, ["misconfigured"], {"Misconfigured"}),
        (TryOutcome(state="deferred", request_id="r", reason="misconfigured"), [], set[str]()),
    ],
)
def test_r15_a_try_that_brought_nothing_is_counted_by_its_reason(
    outcome: TryOutcome, reasons: list[str], measured: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[tuple[str, dict[str, object]]] = []
    monkeypatch.setattr(observability, "note", lambda what, **fields: noted.append((what, fields)))
    count_evaluation(outcome)
    assert noted[0] == ("step", {"step": "Evaluation", "state": outcome.state})
    assert [fields["reason"] for what, fields in noted if what == "undecided"] == reasons
    assert set(metrics.metric_set) == measured


def test_eight_metrics_at_most_are_published_and_by_one_function_alone() -> None:
    assert len(METRICS) <= 8
    functions = Path(observability.__file__).parent
    publishing = [path.name for path in functions.rglob("*.py") if "add_metric(" in path.read_text(encoding="utf-8")]
    assert publishing == ["observability.py"]
