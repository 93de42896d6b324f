"""SOLVE: one attempt at a problem."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.work import desk, run
from touchstone.operations.steps import solve_problem


@step
def handler(references: Step) -> dict[str, Any]:
    """Add attempt `number` to the record."""
    run(solve_problem(desk(references.tenant, patient=True), references.answer_id, number=references.number))
    return {}
