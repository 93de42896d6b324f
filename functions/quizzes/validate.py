"""VALIDATE_STRUCTURE: what is wrong with an attempt as an exercise."""

from functions.composition.quizzes import desk
from functions.quizzes.step import References, step
from touchstone.operations.progress import StepProgress
from touchstone.operations.quizzes.making import validate


@step
def handler(references: References) -> StepProgress:
    """Look at it; nobody is asked."""
    return validate(desk(references.tenant), references.quiz_id)
