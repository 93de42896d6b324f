"""QUICK_VERIFY of an attempt of ours: proved, judged or skipped."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.work import desk, run
from touchstone.operations.steps import verify_attempt


@step
def handler(references: Step) -> dict[str, Any]:
    """Verify, and say where the pipeline goes on."""
    here = desk(references.tenant, patient=True)
    verified = run(verify_attempt(here, references.answer_id, number=references.number))
    return {"route": verified.route, "number": verified.number}
