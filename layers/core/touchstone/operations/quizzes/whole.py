"""All steps of a quiz in one process, as its state machine would take them."""

from datetime import timedelta

from touchstone.operations.progress import StepProgress
from touchstone.operations.quizzes.desk import QuizDesk
from touchstone.operations.quizzes.making import evaluate, finish, generate, validate
from touchstone.operations.quizzes.retrieving import query, retrieve
from touchstone.quizzes.run import QuizRun


async def make_whole(desk: QuizDesk, quiz_id: str, *, seconds: float, left_for: timedelta | None = None) -> QuizRun:
    """Make or check a quiz within `seconds`, unless its time began before. `left_for`: as the steps say.

    One at which somebody else is, who may have broken off, is left as it is, and so is one that was put off.
    """
    retrieve(desk, quiz_id, seconds=seconds, awaited=left_for is None)
    said = query(desk, quiz_id)
    while (after := await _step(desk, quiz_id, said.state, left_for)) is not None:
        said = after
    if said.state == "waiting":
        return desk.quiz(quiz_id)
    return finish(desk, quiz_id)


async def _step(desk: QuizDesk, quiz_id: str, ahead: str, left_for: timedelta | None) -> StepProgress | None:
    """The step that is ahead; None where there is none to be taken now."""
    match ahead:
        case "generate":
            return await generate(desk, quiz_id, left_for=left_for)
        case "validate":
            return validate(desk, quiz_id)
        case "evaluate":
            return await evaluate(desk, quiz_id, left_for=left_for)
        case _:
            return None
