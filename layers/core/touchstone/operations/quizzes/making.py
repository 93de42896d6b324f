"""The steps of a quiz that write it, look at its structure, evaluate it, and end it.

Every step may be repeated: what is stored is found done, and of several at once one asks. Each says what comes next,
and takes what is left of the quiz's time. `left_for` is how long whoever carries the quiz to another try may leave it:
then a call that failed for a reason that may pass is put off. None: somebody waits, and each failure is an end.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

from touchstone.errors import JudgeError, LimitError, MisconfiguredError, SettingsError, StoreError
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.operations.context import StepProgress
from touchstone.operations.quizzes.context import QuizContext
from touchstone.operations.traced import traced
from touchstone.operations.trying import NOBODY, PutOff, put_off, with_judge
from touchstone.quizzes import run as steps
from touchstone.quizzes.checking import apply_checks
from touchstone.quizzes.generation import GeneratedQuiz, generate_quiz
from touchstone.quizzes.judging import JudgedAttempt, asked, judged
from touchstone.quizzes.model import QuizRequest, Unanswered
from touchstone.quizzes.outcome import unanswered_of
from touchstone.quizzes.run import Asking, QuizRun
from touchstone.quizzes.structure import validate_structure

logger = logging.getLogger(__name__)


@traced
async def generate(context: QuizContext, quiz_id: str, *, left_for: timedelta | None = None) -> StepProgress:
    """GENERATE_QUIZ: one more attempt, with what the one before violates as data. A repeat asks nobody."""
    awaited = left_for is None
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
        tried = await with_judge(context, lambda: context.generator(_apart(run)), write)
        found = tried.found
        if isinstance(found, NotScored):
            failure = None if tried.provider == NOBODY else found.error
            off = _put_off(context, run, failure, provider=tried.provider, left_for=left_for)
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
    """VALIDATE_STRUCTURE: what is wrong with the last attempt as an exercise. It asks nobody and takes milliseconds."""
    run = context.quiz(quiz_id)
    if run.step(context.clock()) == "validate":
        request = run.request if isinstance(run.request, QuizRequest) else None
        violations = validate_structure(run.attempts[-1].quiz, request)
        run = context.quizzes.change(run.ref, lambda one: steps.validated(one, violations, now=context.clock()))
    return progress_of(context, run)


@traced
async def evaluate(context: QuizContext, quiz_id: str, *, left_for: timedelta | None = None) -> StepProgress:
    """EVALUATE_CONTENT: the checks that need the tables, and the judge, who sees the questions alone.

    Of a quiz of somebody's own whose structure is broken the checks alone are made, and no judge is missed; so it is of
    one that is written again for what a check found. Where the judge fails the quiz is left unchecked, with what the
    checks found. A repeat asks nobody.
    """
    awaited = left_for is None
    run, ours = _begun(context, quiz_id, "evaluate", awaited=awaited)
    if not ours:
        return progress_of(context, run, at="evaluate")
    evaluator, nobody = (None, None) if run.attempts[-1].structural else _evaluator(context, run)
    with _held(context, run, "evaluate"):
        found = await _judged(context, run, evaluator)
        context.paid(found.spends)
        unchecked = found.unchecked and (nobody or found.unchecked)
        provider = NOBODY if evaluator is None else evaluator.provider
        off = _put_off(context, run, found.failure, provider=provider, left_for=left_for)
        if off is not None:
            _keep_waiting(context, run, "evaluate", off, found.spends)
            return StepProgress(state="waiting", until=off.waiting.until, reason=off.waiting.reason)
        after = context.quizzes.change(
            run.ref, lambda one: steps.evaluated(one, found.attempt, unchecked=unchecked, spends=found.spends)
        )
    return progress_of(context, after, reason=None if unchecked is None else unchecked.reason)


def finish(context: QuizContext, quiz_id: str) -> QuizRun:
    """End a quiz with the best of what there is, also where its steps broke off; a repeat changes nothing."""
    run = context.quizzes.change(context.ref("quiz", quiz_id), lambda one: steps.finished(one, now=context.clock()))
    made = run.made
    if made.unchecked is not None and run.unchecked is None and made.quiz is not None:
        ids = json.dumps([question.id for question in made.quiz.questions])
        logger.warning("A quiz was not judged (%s). Its questions: %s", made.unchecked.reason, ids)
    return run


def progress_of(
    context: QuizContext, run: QuizRun, *, at: Asking | None = None, reason: str | None = None
) -> StepProgress:
    """What comes next. `at`: the step that found somebody else at its call, for whom it is to wait."""
    now = context.clock()
    ahead = run.step(now)
    if at is not None and ahead == at and run.call is not None and run.call.until > now:
        return StepProgress(state="waiting", until=run.call.until)
    return StepProgress(state=ahead, reason=reason)


def _begun(context: QuizContext, quiz_id: str, asking: Asking, *, awaited: bool) -> tuple[QuizRun, bool]:
    """Begin a call, and whether it is to be made: of many at once exactly one is. `awaited`: see `call_begun`."""
    run, changed = context.quizzes.begin(
        context.ref("quiz", quiz_id), lambda one: steps.call_begun(one, asking, now=context.clock(), awaited=awaited)
    )
    return run, changed and run.failed is None and run.unchecked is None  # a third try gives up instead


def _keep_waiting(context: QuizContext, run: QuizRun, asking: Asking, off: PutOff, spends: Sequence[Spend]) -> None:
    """Keep that a call brought nothing, how it ended, and for what the quiz waits."""
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
    left_for: timedelta | None,
) -> PutOff | None:
    """How a quiz waits after this failure of `provider`; None where it is an end, or somebody waits."""
    if failure is None or left_for is None:
        return None
    return put_off(
        failure, run.trying, sentence=str(failure), provider=provider, now=context.clock(), left_for=left_for
    )


async def _judged(context: QuizContext, run: QuizRun, evaluator: Judge | None) -> JudgedAttempt:
    """The last attempt of a run, checked and judged."""
    deadline = context.time_left(run)
    if run.content is not None and run.weakness is not None:
        own = run.kind == "check"
        return await judged(
            run.attempts[-1], run.content, run.weakness, evaluator=evaluator, deadline=deadline, all_at_once=own
        )
    taught = None if run.content is None else run.content.chapter.items
    known = None if run.content is None else run.content.known
    language = run.request.ui_language
    checked = apply_checks(run.attempts[-1].quiz, ui_language=language, taught=taught, known=known)
    if checked.structural:
        return JudgedAttempt(attempt=checked, unchecked=None)
    return await asked(checked, ui_language=language, evaluator=evaluator, deadline=deadline)


def _evaluator(context: QuizContext, run: QuizRun) -> tuple[Judge | None, Unanswered | None]:
    """Who judges, or why nobody can be asked."""
    try:
        return context.evaluator(_apart(run)), None
    except (SettingsError, MisconfiguredError) as error:
        return None, Unanswered(reason="misconfigured", details=(str(error),))


def _apart(run: QuizRun) -> str | None:
    """Whose replies a quiz may be made with: those of everybody, unless it is to be made anew."""
    return None if run.request.use_cache else run.id


@contextmanager
def _held(context: QuizContext, run: QuizRun, asking: Asking) -> Iterator[None]:
    """Give a call back that ends without a result being stored, so that a repeat need not wait for it."""
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            context.quizzes.change(run.ref, lambda one: steps.call_broken(one, asking, now=context.clock()))
        raise
