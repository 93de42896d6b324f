"""DEEP_EVALUATE: one try at one record of today."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.work import desk, run
from functions.observability import count_evaluation
from touchstone.operations.evaluating import evaluate_answer


@step
def handler(references: Step) -> dict[str, Any]:
    """Evaluate, or say until when the record waits."""
    outcome = run(evaluate_answer(desk(references.tenant), references.answer_id))
    count_evaluation(outcome)
    return {
        "state": outcome.state,
        "request_id": outcome.request_id,
        "until": None if outcome.until is None else outcome.until.isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
