"""All steps of a quiz in one process, in the order in which its state machine takes them."""

from datetime import timedelta

from touchstone.operations.context import StepProgress
from touchstone.operations.quizzes.context import QuizContext
from touchstone.operations.quizzes.making import evaluate, finish, generate, validate
from touchstone.operations.quizzes.retrieving import query, retrieve
from touchstone.quizzes.run import QuizRun


async def make_whole(
    context: QuizContext, quiz_id: str, *, seconds: float, abandoned_after: timedelta | None = None
) -> QuizRun:
    """Make or check a quiz within `seconds`, or within the time left if its time began before.

    `abandoned_after`: as in `making`. A quiz whose call somebody else is making (who may have crashed) is left as it
    is, and so is a quiz that was put off.
    """
    retrieve(context, quiz_id, seconds=seconds, awaited=abandoned_after is None)
    said = query(context, quiz_id)
    while (after := await _step(context, quiz_id, said.state, abandoned_after)) is not None:
        said = after
    if said.state == "waiting":
        return context.quiz(quiz_id)
    return finish(context, quiz_id)


async def _step(
    context: QuizContext, quiz_id: str, ahead: str, abandoned_after: timedelta | None
) -> StepProgress | None:
    """Take the next step. None if there is no step to take now."""
    match ahead:
        case "generate":
            return await generate(context, quiz_id, abandoned_after=abandoned_after)
        case "validate":
            return validate(context, quiz_id)
        case "evaluate":
            return await evaluate(context, quiz_id, abandoned_after=abandoned_after)
        case _:
            return None
