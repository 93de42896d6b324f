"""ENRICH: what helps the learner, and the end of a solved problem."""

from typing import Any

from functions.answers.step import Step, counted_step
from functions.composition import desk, run
from functions.observability import count_verdict
from touchstone.operations.steps import enrich_and_finish


@counted_step
def handler(references: Step) -> dict[str, Any]:
    """Finish the record, and say whether a deep evaluation is to be started."""
    record = run(enrich_and_finish(desk(references.tenant), references.answer_id))
    count_verdict(record)
    return {"evaluate": record.evaluation.state == "waiting"}
