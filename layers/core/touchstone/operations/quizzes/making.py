"""The steps of a quiz: find its chapter and learner, write it, check its structure, evaluate it, and end it.

Every step may be repeated: a repeat finds the stored result, and of several at once exactly one asks a model. Each step
says what comes next, and uses up the quiz's remaining time. `abandoned_after` is how long the batch that carries the
quiz may leave it before another try: then a call that failed for a passing reason is put off. If `abandoned_after` is
None, somebody waits for the quiz, and each failure ends it.

A function runs one of these steps and loads only the part of the job that this step needs: writing, structure and
evaluation are imported where they are done.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from touchstone.errors import (
    InputError,
    JudgeError,
    LimitError,
    MisconfiguredError,
    NotFoundError,
    SettingsError,
    StoreError,
)
from touchstone.judges.base import Judge, WorkJudge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.operations.jobs.after_failure import ANY_PROVIDER, Postponement, postpone, with_judge
from touchstone.operations.jobs.context import StepProgress
from touchstone.operations.jobs.traced import traced
from touchstone.operations.quizzes.context import QuizContext
from touchstone.quizzes import run as steps
from touchstone.quizzes.learner import LearnerProfile
from touchstone.quizzes.model import Content, QuizRequest, Unanswered
from touchstone.quizzes.outcome import SECONDS, unanswered_of
from touchstone.quizzes.retrieval import query_weakness, retrieve_content
from touchstone.quizzes.run import Asking, QuizRun

if TYPE_CHECKING:
    from touchstone.quizzes.generation import GeneratedQuiz
    from touchstone.quizzes.judging import JudgedAttempt

logger = logging.getLogger(__name__)


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


@traced
async def generate(context: QuizContext, quiz_id: str, *, abandoned_after: timedelta | None = None) -> StepProgress:
    """GENERATE_QUIZ: write one more attempt, given the violations of the one before. A repeat asks nobody."""
    from touchstone.quizzes.generation import generate_quiz

    awaited = abandoned_after is None
    run, ours = _begun(context, quiz_id, "generate", awaited=awaited)
    if not ours:
        return progress_of(context, run, at="generate")

    async def write(judge: Judge) -> GeneratedQuiz | NotScored:
        request, content, weakness = run.request, run.content, run.weakness
        if not isinstance(request, QuizRequest) or content is None or weakness is None:
            raise TypeError("A quiz is written from a chapter and for a learner; neither was retrieved.")
        return await generate_quiz(
            request.model_copy(update={"use_cache": True}),
            content,
            weakness,
            judge=judge,
            deadline=context.time_left(run),
            before=run.attempts[-1] if run.attempts else None,
        )

    number = len(run.attempts) + 1
    with _held(context, run, "generate"):
        tried = await with_judge(
            context, lambda: WorkJudge(context.generator(_cache_scope(run)), run.created_at), write
        )
        found = tried.found
        if isinstance(found, NotScored):
            failure = None if tried.provider == ANY_PROVIDER else found.error
            off = _put_off(context, run, failure, provider=tried.provider, abandoned_after=abandoned_after)
            if off is not None:
                _keep_waiting(context, run, "generate", off, found.spends)
                return StepProgress(state="waiting", until=off.waiting.until, reason=found.reason)
            why, spends = unanswered_of(found), found.spends
            after = context.quizzes.change(
                run.ref, lambda one: steps.not_generated(one, why, number=number, spends=spends)
            )
            return progress_of(context, after, reason=found.reason)
        written = found
        after = context.quizzes.change(
            run.ref, lambda one: steps.generated(one, written.quiz, number=number, spends=written.spends)
        )
    return progress_of(context, after)


def validate(context: QuizContext, quiz_id: str) -> StepProgress:
    """VALIDATE_STRUCTURE: find structural faults in the last attempt. It asks no model and takes milliseconds."""
    from touchstone.quizzes.structure import validate_structure

    run = context.quiz(quiz_id)
    if run.step(context.clock()) == "validate":
        request = run.request if isinstance(run.request, QuizRequest) else None
        violations = validate_structure(run.attempts[-1].quiz, request)
        run = context.quizzes.change(run.ref, lambda one: steps.validated(one, violations, now=context.clock()))
    return progress_of(context, run)


@traced
async def evaluate(context: QuizContext, quiz_id: str, *, abandoned_after: timedelta | None = None) -> StepProgress:
    """EVALUATE_CONTENT: run the checks that need the tables, and ask the judge, who sees only the questions.

    In two cases the checks run without a judge, and the quiz does not count as unchecked for that: if the structure of
    a submitted quiz is broken, and if the quiz is to be written again because of what a check found. If the judge
    fails, the quiz is stored as unchecked, with the findings of the checks. A repeat asks nobody.
    """
    awaited = abandoned_after is None
    run, ours = _begun(context, quiz_id, "evaluate", awaited=awaited)
    if not ours:
        return progress_of(context, run, at="evaluate")
    evaluator, nobody = (None, None) if run.attempts[-1].structural else _evaluator(context, run)
    with _held(context, run, "evaluate"):
        found = await _judged(context, run, evaluator)
        context.paid(found.spends)
        unchecked = found.unchecked and (nobody or found.unchecked)
        provider = ANY_PROVIDER if evaluator is None else evaluator.provider
        off = _put_off(context, run, found.failure, provider=provider, abandoned_after=abandoned_after)
        if off is not None:
            _keep_waiting(context, run, "evaluate", off, found.spends)
            return StepProgress(state="waiting", until=off.waiting.until, reason=off.waiting.reason)
        after = context.quizzes.change(
            run.ref, lambda one: steps.evaluated(one, found.attempt, unchecked=unchecked, spends=found.spends)
        )
    return progress_of(context, after, reason=None if unchecked is None else unchecked.reason)


def finish(context: QuizContext, quiz_id: str) -> QuizRun:
    """End a quiz with its best attempt, also if its steps broke off. A repeat changes nothing."""
    run = context.quizzes.change(context.ref("quiz", quiz_id), lambda one: steps.finished(one, now=context.clock()))
    made = run.made
    if made.unchecked is not None and run.unchecked is None and made.quiz is not None:
        ids = json.dumps([question.id for question in made.quiz.questions])
        logger.warning("A quiz was not judged (%s). Its questions: %s", made.unchecked.reason, ids)
    return run


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


def progress_of(
    context: QuizContext, run: QuizRun, *, at: Asking | None = None, reason: str | None = None
) -> StepProgress:
    """What comes next. `at` names a step whose call somebody else is making; the caller waits until it ends."""
    now = context.clock()
    ahead = run.step(now)
    if at is not None and ahead == at and run.call is not None and run.call.until > now:
        return StepProgress(state="waiting", until=run.call.until)
    return StepProgress(state=ahead, reason=reason)


def _begun(context: QuizContext, quiz_id: str, asking: Asking, *, awaited: bool) -> tuple[QuizRun, bool]:
    """Begin a call. Return the run, and whether the caller is to make the call: of many at once, exactly one is.

    `awaited`: see `call_begun`.
    """
    run, changed = context.quizzes.begin(
        context.ref("quiz", quiz_id), lambda one: steps.call_begun(one, asking, now=context.clock(), awaited=awaited)
    )
    return run, changed and run.failed is None and run.unchecked is None  # at its third try an awaited quiz gives up


def _keep_waiting(
    context: QuizContext, run: QuizRun, asking: Asking, off: Postponement, spends: Sequence[Spend]
) -> None:
    """Store that a call brought nothing, how it ended, and what the quiz waits for."""
    context.quizzes.change(
        run.ref,
        lambda one: steps.put_off(one, asking, off.waiting, ended=off.ended, now=context.clock(), spends=spends),
    )


def _put_off(
    context: QuizContext,
    run: QuizRun,
    failure: JudgeError | LimitError | None,
    *,
    provider: str,
    abandoned_after: timedelta | None,
) -> Postponement | None:
    """How a quiz waits after this failure of `provider`. None if the failure ends the quiz, or if somebody waits."""
    if failure is None or abandoned_after is None:
        return None
    return postpone(
        failure,
        run.trying,
        sentence=str(failure),
        provider=provider,
        now=context.clock(),
        abandoned_after=abandoned_after,
    )


async def _judged(context: QuizContext, run: QuizRun, evaluator: Judge | None) -> JudgedAttempt:
    """The last attempt of a run after its checks and the judge's evaluation."""
    from touchstone.quizzes import judging

    deadline = context.time_left(run)
    if run.content is not None and run.weakness is not None:
        own = run.kind == "check"
        return await judging.evaluate_attempt(
            run.attempts[-1], run.content, run.weakness, evaluator=evaluator, deadline=deadline, always_ask=own
        )
    taught = None if run.content is None else run.content.chapter.items
    known = None if run.content is None else run.content.known
    language = run.request.ui_language
    checked = judging.apply_checks(run.attempts[-1].quiz, ui_language=language, taught=taught, known=known)
    if checked.structural:
        return judging.JudgedAttempt(attempt=checked, unchecked=None)
    return await judging.judge_attempt(checked, ui_language=language, evaluator=evaluator, deadline=deadline)


def _evaluator(context: QuizContext, run: QuizRun) -> tuple[Judge | None, Unanswered | None]:
    """The judge that evaluates, or the reason why none can be asked."""
    try:
        return WorkJudge(context.evaluator(_cache_scope(run)), run.created_at), None
    except (SettingsError, MisconfiguredError) as error:
        return None, Unanswered(reason="misconfigured", details=(str(error),))


def _cache_scope(run: QuizRun) -> str | None:
    """Which stored replies a quiz may use: None for all; the quiz's own id if it is to be made without the cache."""
    return None if run.request.use_cache else run.id


@contextmanager
def _held(context: QuizContext, run: QuizRun, asking: Asking) -> Iterator[None]:
    """Release the hold of a call that ends without a stored result, so that a repeat need not wait for it."""
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            context.quizzes.change(run.ref, lambda one: steps.call_broken(one, asking, now=context.clock()))
        raise


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
