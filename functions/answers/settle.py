"""The end of a verification that did not come back: nobody decided, and the record says so."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.stores import answers
from functions.observability import count_verdict
from touchstone.operations.finishing import finish_skipped, sentence_of
from touchstone.references import Reference


@step
def handler(references: Step) -> dict[str, Any]:
    """Finish the record as unverified, unless it is finished."""
    record = answers().get(Reference(references.tenant, "answer", references.answer_id))
    reason = references.skip or "timed_out"
    record = finish_skipped(answers(), record, reason=reason, sentence=sentence_of(reason))
    count_verdict(record)
    return {"answer_id": record.id, "verification_status": record.verification_status}
