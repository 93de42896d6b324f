"""Measurements of a quiz as records, and requests for them."""

from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from tests.support.quizzes import measurement, question
from tests.support.records import a_spend
from touchstone.surfaces.measurement import (
    AnyMeasurementRequest,
    Measurement,
    MeasurementRequest,
    measured,
    new_measurement,
)
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem
from touchstone.surfaces.names import MetricName

_REQUEST: TypeAdapter[AnyMeasurementRequest] = TypeAdapter(MeasurementRequest)


def a_request(**changes: Any) -> AnyMeasurementRequest:
    return _REQUEST.validate_python(measurement(**changes))


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
CORRECTNESS: MetricName = "quiz_answer_correctness"
WITHOUT_KEY = question(3) | {"answers": []}


def item(name: str, label: str) -> ItemLabel:
    return ItemLabel(item=name, label=label, value=0.0, reason="Because.")


def a_measurement(metric: MetricName = CORRECTNESS, *labels: ItemLabel, **result: Any) -> Measurement:
    """A quiz of which a metric is over: q1 is right, q2 unscored, q3 has no key."""
    material = {"questions": [question(1), question(2), WITHOUT_KEY]}
    begun = new_measurement(
        a_request(**measurement(material=material)),
        tenant="acme",
        measurement_id="01M7YCR9J0YEPNXK2F1F80QC0C",
        now=NOW,
    )
    given: dict[str, Any] = {
        "score": 50.0,
        "items": labels or (item("q1", "CORRECT"), item("q3", "ERROR")),
        "unscored": (UnscoredItem(item="q2", reason="unreadable"),),
        "spends": (
            a_spend(purpose=metric, model="strong"),
            a_spend(purpose=metric, model="strong", failure="unreadable"),
            a_spend(purpose="topics", model="strong", prompt_version="1" * 16),
        ),
    }
    return measured(begun, MetricResult(metric=metric, **(given | result)), now=NOW)
