"""ANALYZE: subject, difficulty, knowledge points, language."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.work import desk, run
from touchstone.operations.steps import analyze_problem


@step
def handler(references: Step) -> dict[str, Any]:
    """Sort the problem of a record."""
    run(analyze_problem(desk(references.tenant, patient=True), references.answer_id))
    return {}
