"""The first steps of a quiz: find its chapter, and what is known of its learner."""

from touchstone.errors import InputError, NotFoundError
from touchstone.operations.context import StepProgress
from touchstone.operations.quizzes.context import QuizContext
from touchstone.operations.quizzes.making import progress_of
from touchstone.quizzes import run as steps
from touchstone.quizzes.learner import LearnerProfile
from touchstone.quizzes.loop import SECONDS
from touchstone.quizzes.model import Content, QuizRequest, Unanswered
from touchstone.quizzes.retrieval import query_weakness, retrieve_content
from touchstone.quizzes.run import QuizRun


def retrieve(context: QuizContext, quiz_id: str, *, seconds: float = SECONDS, awaited: bool = True) -> StepProgress:
    """Start the quiz's time of `seconds`, and store its chapter. A repeat changes neither.

    If nobody waits for the quiz (`awaited` False) and its time is over, the time starts anew: the process that had it
    died.
    """
    run = context.quizzes.change(
        context.ref("quiz", quiz_id),
        lambda one: steps.started(one, now=context.clock(), seconds=seconds, awaited=awaited),
    )
    if not run.over and run.content is None and run.request.chapter is not None:
        try:
            content = _content(context, run)
            run = context.quizzes.change(run.ref, lambda one: steps.retrieved(one, content))
        except (NotFoundError, InputError) as error:  # it existed when the request was accepted
            run = _lacking(context, run, error)
    return progress_of(context, run)


def query(context: QuizContext, quiz_id: str) -> StepProgress:
    """Store what is known of the learner of a quiz that is to be made. A repeat finds it stored."""
    run = context.quiz(quiz_id)
    if isinstance(run.request, QuizRequest) and not run.over and run.weakness is None and run.content is not None:
        try:
            weakness = query_weakness(run.request, run.content, _learner(context, run.request))
            run = context.quizzes.change(run.ref, lambda one: steps.queried(one, weakness))
        except NotFoundError as error:
            run = _lacking(context, run, error)
    return progress_of(context, run)


def _content(context: QuizContext, run: QuizRun) -> Content:
    named = run.request.curriculum
    curriculum = None if named is None else context.curricula.get(tenant=context.tenant, document_id=named).document
    if isinstance(run.request, QuizRequest):
        return retrieve_content(run.request, curriculum)
    # A check names its chapter as a request does, and may name none.
    return retrieve_content(
        QuizRequest.model_validate({"chapter": run.request.chapter, "curriculum": named}), curriculum
    )


def _learner(context: QuizContext, request: QuizRequest) -> LearnerProfile | None:
    if not isinstance(request.learner, str):
        return request.learner
    return context.learners.get(tenant=context.tenant, document_id=request.learner).document


def _lacking(context: QuizContext, run: QuizRun, error: NotFoundError | InputError) -> QuizRun:
    """Store that something the quiz names no longer exists."""
    why = Unanswered(reason="not_found", details=(str(error),))
    return context.quizzes.change(run.ref, lambda one: steps.reference_missing(one, why))
