"""The end of a verification that did not come back: nobody decided, and the record says so."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition import answers
from functions.observability import count_verdict
from touchstone.operations.finishing import OUT_OF_TIME, finish_skipped


@step
def handler(references: Step) -> dict[str, Any]:
    """Finish the record as unverified, unless it is finished."""
    record = answers().get(tenant=references.tenant, answer_id=references.answer_id)
    record = finish_skipped(answers(), record, reason="timed_out", sentence=OUT_OF_TIME)
    count_verdict(record)
    return {"answer_id": record.id, "verification_status": record.verification_status}
