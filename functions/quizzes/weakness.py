"""QUERY_WEAKNESS: what is known of a quiz's learner."""

from functions.composition.quizzes import desk
from functions.quizzes.step import References, step
from touchstone.operations.progress import StepProgress
from touchstone.operations.quizzes.retrieving import query


@step
def handler(references: References) -> StepProgress:
    """Keep it."""
    return query(desk(references.tenant), references.quiz_id)
