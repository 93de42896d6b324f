"""The end of a problem that could not be answered."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition import answers
from functions.observability import count_verdict


@step
def handler(references: Step) -> dict[str, Any]:
    """Write into the record that there is no answer; a reason that stands there already is kept."""
    failure = f"The problem could not be solved ({references.error or 'unknown'}); ask again later."
    record = answers().fail(tenant=references.tenant, answer_id=references.answer_id, failure=failure)
    count_verdict(record)
    return {"answer_id": record.id, "stage": record.stage}
