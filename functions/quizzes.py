"""The steps of quizzes: a function a state of the machine `quiz`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.composition.contexts import of_quizzes
from functions.observability import note
from functions.steps import StepReferences, Work, parsing, stepping

if TYPE_CHECKING:
    from touchstone.operations.context import StepProgress
    from touchstone.operations.quizzes.context import QuizContext


class QuizReferences(StepReferences):
    """Which quiz."""

    quiz_id: str

    @property
    def about(self) -> str:
        """The quiz."""
        return self.quiz_id


_step = stepping(QuizReferences, of_quizzes, counted_as="Quiz")


@_step
def retrieve(context: QuizContext, about: QuizReferences) -> StepProgress:
    """RETRIEVE_CONTENT: keeps the chapter that a quiz is about, and lets the quiz's time begin."""
    from touchstone.operations.quizzes import retrieving

    return retrieving.retrieve(context, about.quiz_id)


@_step
def weakness(context: QuizContext, about: QuizReferences) -> StepProgress:
    """QUERY_WEAKNESS: keeps what is known of a quiz's learner."""
    from touchstone.operations.quizzes import retrieving

    return retrieving.query(context, about.quiz_id)


@_step
def generate(context: QuizContext, about: QuizReferences) -> Work[StepProgress]:
    """GENERATE_QUIZ: has one more attempt at a quiz written, or says why nobody did."""
    from touchstone.operations.quizzes import making

    return making.generate(context, about.quiz_id)


@_step
def validate(context: QuizContext, about: QuizReferences) -> StepProgress:
    """VALIDATE_STRUCTURE: what is wrong with an attempt as an exercise; nobody is asked."""
    from touchstone.operations.quizzes import making

    return making.validate(context, about.quiz_id)


@_step
def evaluate(context: QuizContext, about: QuizReferences) -> Work[StepProgress]:
    """EVALUATE_CONTENT: checks an attempt's script, pinyin, language, words and teaching, and has it judged."""
    from touchstone.operations.quizzes import making

    return making.evaluate(context, about.quiz_id)


@parsing(QuizReferences)
def finish(about: QuizReferences) -> dict[str, Any]:
    """FINISH, also of a quiz whose steps broke off: keeps the best attempt, and counts how quizzes end."""
    from touchstone.operations.quizzes import making

    run = making.finish(of_quizzes(about.tenant), about.quiz_id)
    note("quiz", state=run.state, attempts=len(run.attempts))
    return {"state": run.state}
