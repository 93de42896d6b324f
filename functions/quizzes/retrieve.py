"""RETRIEVE_CONTENT: the chapter that a quiz is about."""

from functions.composition.quizzes import desk
from functions.quizzes.step import References, step
from touchstone.operations.progress import StepProgress
from touchstone.operations.quizzes.retrieving import retrieve


@step
def handler(references: References) -> StepProgress:
    """Keep it, and let the quiz's time begin."""
    return retrieve(desk(references.tenant), references.quiz_id)
