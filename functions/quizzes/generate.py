"""GENERATE_QUIZ: one more attempt at a quiz."""

from functions.composition.quizzes import desk
from functions.composition.work import run
from functions.quizzes.step import References, step
from touchstone.operations.progress import StepProgress
from touchstone.operations.quizzes.making import generate


@step
def handler(references: References) -> StepProgress:
    """Have it written, or say why nobody did."""
    return run(generate(desk(references.tenant), references.quiz_id))
