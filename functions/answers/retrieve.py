"""RETRIEVE: an earlier verified solution of the very same problem."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.work import desk, run
from touchstone.operations.steps import retrieve_solution


@step
def handler(references: Step) -> dict[str, Any]:
    """Say whether the problem was answered before; then the record holds that answer."""
    return {"found": run(retrieve_solution(desk(references.tenant), references.answer_id))}
