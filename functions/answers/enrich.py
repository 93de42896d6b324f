"""ENRICH: what helps the learner, and the end of a solved problem."""

from typing import Any

from functions.answers.step import Step, step
from functions.composition.work import desk, run
from functions.observability import count_verdict
from touchstone.operations.steps import enrich_and_finish


@step
def handler(references: Step) -> dict[str, Any]:
    """Finish the record, and say whether a deep evaluation is to be started."""
    record = run(
        enrich_and_finish(desk(references.tenant, patient=True), references.answer_id, skipped=references.skip)
    )
    count_verdict(record)
    return {"evaluate": record.evaluation.state == "waiting"}
