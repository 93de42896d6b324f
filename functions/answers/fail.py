"""The end of a problem whose way broke off: with what was answered so far, or with nothing."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.stores import answers
from functions.observability import count_verdict
from touchstone.operations.finishing import fail_or_finish
from touchstone.references import Reference


@step
def handler(references: Step) -> dict[str, Any]:
    """Finish the record with the attempts it has; without one, write into it that there is no answer.

    A reason that stands there already is kept. Says whether a deep evaluation is to be started.
    """
    failure = f"The problem could not be solved ({references.error or 'unknown'}); ask again later."
    record = answers().get(Reference(references.tenant, "answer", references.answer_id))
    record = fail_or_finish(answers(), record, failure=failure)
    count_verdict(record)
    return {"answer_id": record.id, "stage": record.stage, "evaluate": record.evaluation.state == "waiting"}
