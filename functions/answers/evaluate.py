"""DEEP_EVALUATE: one try at one record of today."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.work import bulk_evaluations, desk, run
from functions.observability import count_evaluation
from functions.pauses import seconds_until
from touchstone.operations.evaluating import evaluate_answer


@step
def handler(references: Step) -> dict[str, Any]:
    """Evaluate, or say how long the record waits."""
    outcome = run(evaluate_answer(desk(references.tenant), references.answer_id))
    count_evaluation(outcome)
    wait_seconds = seconds_until(outcome.until)
    if outcome.state == "deferred":
        from touchstone.operations.draining import SOON

        if wait_seconds <= SOON.total_seconds():
            bulk_evaluations().wake()
    return {"state": outcome.state, "request_id": outcome.request_id, "wait_seconds": wait_seconds}
