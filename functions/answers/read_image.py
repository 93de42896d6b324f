"""OCR: the text of a problem in a picture."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.work import desk, run
from touchstone.operations.steps import read_problem


@step
def handler(references: Step) -> dict[str, Any]:
    """Read the picture's problem into the record."""
    run(read_problem(desk(references.tenant, patient=True), references.answer_id))
    return {}
