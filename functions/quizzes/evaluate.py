"""EVALUATE_CONTENT: what is wrong with an attempt's script, pinyin, language, words and teaching."""

from functions.composition.quizzes import desk
from functions.composition.work import run
from functions.quizzes.step import References, step
from touchstone.operations.progress import StepProgress
from touchstone.operations.quizzes.making import evaluate


@step
def handler(references: References) -> StepProgress:
    """Check it and have it judged."""
    return run(evaluate(desk(references.tenant), references.quiz_id))
