"""FINISH: the end of a quiz, also of one whose steps broke off."""

from collections.abc import Mapping
from typing import Any

from functions.composition.quizzes import desk
from functions.observability import note, publishing
from functions.quizzes.step import references_of
from touchstone.operations.quizzes.making import finish


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Keep the best attempt as what came of it, and count how quizzes end."""
    references = references_of(event)
    run = finish(desk(references.tenant), references.quiz_id)
    note("quiz", state=run.state, attempts=len(run.attempts))
    return {"state": run.state}
