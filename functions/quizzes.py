"""The steps of quizzes: one function for each state of the machine `quiz`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.composition.contexts import of_quizzes
from functions.observability import note
from functions.steps import StepReferences, Work, references_handler, step_handler

if TYPE_CHECKING:
    from touchstone.operations.jobs.context import StepProgress
    from touchstone.operations.quizzes.context import QuizContext


class QuizReferences(StepReferences):
    """The quiz of a step."""

    named_by = "quiz_id"

    quiz_id: str


_step = step_handler(QuizReferences, of_quizzes, counted_as="Quiz")


@_step
def retrieve(context: QuizContext, about: QuizReferences) -> StepProgress:
    """RETRIEVE_CONTENT: stores the chapter that a quiz is about, and starts the quiz's time."""
    from touchstone.operations.quizzes import making

    return making.retrieve(context, about.quiz_id)


@_step
def weakness(context: QuizContext, about: QuizReferences) -> StepProgress:
    """QUERY_WEAKNESS: stores what is known of a quiz's learner."""
    from touchstone.operations.quizzes import making

    return making.query(context, about.quiz_id)


@_step
def generate(context: QuizContext, about: QuizReferences) -> Work[StepProgress]:
    """GENERATE_QUIZ: has a model write one more attempt at a quiz, or says why no model wrote it."""
    from touchstone.operations.quizzes import making

    return making.generate(context, about.quiz_id)


@_step
def validate(context: QuizContext, about: QuizReferences) -> StepProgress:
    """VALIDATE_STRUCTURE: finds what is wrong with an attempt as an exercise. No model is asked."""
    from touchstone.operations.quizzes import making

    return making.validate(context, about.quiz_id)


@_step
def evaluate(context: QuizContext, about: QuizReferences) -> Work[StepProgress]:
    """EVALUATE_CONTENT: checks an attempt's script, pinyin, language, words and teaching, and has it judged."""
    from touchstone.operations.quizzes import making

    return making.evaluate(context, about.quiz_id)


@references_handler(QuizReferences)
def finish(about: QuizReferences) -> dict[str, Any]:
    """FINISH: ends a quiz with its best attempt, also if its steps broke off. Logs its state to be counted."""
    from touchstone.operations.quizzes import making

    run = making.finish(of_quizzes(about.tenant), about.quiz_id)
    note("quiz", state=run.state, attempts=len(run.attempts))
    return {"state": run.state}
