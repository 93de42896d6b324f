"""Writing a quiz, checking it, writing it again: the order of the steps, and the result.

    generate ─> structure ─┬─> evaluate (checks, then judge) ─┬─> finish
        ↑                  │ errors                           │ violations
        └──────────────────┴──────────────────────────────────┘  at most 2 retries

The loop here takes these decisions in one process. A deployment that runs each step in a place of its own takes the
same ones: `validate_attempt` and `evaluate_attempt` make an attempt, `next_step` says what follows, and `outcome` is
the result of all attempts.
"""

from typing import Literal

from touchstone.clock import Deadline
from touchstone.errors import InputError
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.quizzes.curriculum import Chapter, Curriculum
from touchstone.quizzes.generation import generate_quiz
from touchstone.quizzes.judging import SECONDS, evaluate_attempt, validate_attempt
from touchstone.quizzes.learner import LearnerProfile, weakest
from touchstone.quizzes.model import Content, MadeQuiz, QuizAttempt, QuizRequest, Weakness
from touchstone.quizzes.outcome import may_retry, outcome, stopped_by, unanswered_of

RETRY_SECONDS = 8.0
"""Seconds of a pass that is clean at once. With less time left, no other attempt begins."""

type Step = Literal["evaluate", "generate", "finish"]

DEFAULT_UI_LANGUAGE = "en"


async def make_quiz(
    request: QuizRequest,
    *,
    generator: Judge,
    evaluator: Judge | None,
    curriculum: Curriculum | None = None,
    learner: LearnerProfile | None = None,
    seconds: float = SECONDS,
) -> MadeQuiz:
    """Make a quiz in this process.

    ```python
    made = await make_quiz(QuizRequest(chapter=chapter, ui_language="en"), generator=judge, evaluator=another)
    made.state  # "clean", "violations", "unchecked" or "failed"
    ```

    `evaluator` None means that no judge can be asked, so that the quiz is `unchecked`. `curriculum` and `learner` are
    those that the request names by their ids. Raises `InputError` if one of them is missing, or the curriculum has no
    such chapter; `SettingsError` if the tables of the checks are not installed; never for a model that fails.
    """
    deadline = Deadline.after(seconds)
    content = retrieve_content(request, curriculum)
    weakness = query_weakness(request, content, learner)
    attempts: list[QuizAttempt] = []
    spends: list[Spend] = []
    while True:
        before = attempts[-1] if attempts else None
        new = await generate_quiz(request, content, weakness, judge=generator, deadline=deadline, before=before)
        spends += new.spends
        if isinstance(new, NotScored):
            return outcome(attempts, failed=unanswered_of(new), spends=spends)
        attempt = validate_attempt(len(attempts) + 1, new.quiz, request)
        step = next_step(attempt, seconds_left=deadline.remaining)
        if step == "evaluate":
            found = await evaluate_attempt(
                attempt, content, weakness, evaluator=evaluator, deadline=deadline, use_cache=request.use_cache
            )
            attempt = found.attempt
            spends += found.spends
            if found.unchecked is not None:
                return outcome([*attempts, attempt], unchecked=found.unchecked, spends=spends)
            step = next_step(attempt, seconds_left=deadline.remaining)
        attempts.append(attempt)
        if step == "finish":
            return outcome(attempts, stopped=stopped_by(attempt), spends=spends)


def next_step(attempt: QuizAttempt, *, seconds_left: float) -> Step:
    """The step after an attempt whose structure was validated, or that was evaluated.

    An attempt with errors in its structure is written again at once. So is an attempt in which a check found something,
    although no judge saw it. An attempt on which the judge failed is the last one: the caller knows of that failure and
    does not ask here.
    """
    if not attempt.structural and attempt.checks_run == ("structure",):
        return "evaluate"
    if attempt.violations and may_retry(attempt) and seconds_left >= RETRY_SECONDS:
        return "generate"
    return "finish"


def retrieve_content(request: QuizRequest, curriculum: Curriculum | None = None) -> Content:
    """The chapter that is asked for, and what its learner has met by then.

    For a chapter that is given whole, that is the chapter itself. `curriculum` is the one that the request names.
    Raises `InputError` if it is needed and not given, or has no such chapter.
    """
    if isinstance(request.chapter, Chapter):
        return Content(chapter=request.chapter, known=request.chapter.items)
    if curriculum is None:
        raise InputError(f"The curriculum {request.curriculum} is not at hand.", where="curriculum")
    return Content(chapter=curriculum.chapter(request.chapter), known=curriculum.known_words(request.chapter))


def query_weakness(request: QuizRequest, content: Content, learner: LearnerProfile | None = None) -> Weakness:
    """The language of the questions, and the learner's weak points among what was taught by then.

    `learner` is the profile that the request names by its id. A profile in the request itself takes its place. Without
    a profile there are no weak points. Raises `InputError` if the request names a learner by an id and no profile is
    given.
    """
    if isinstance(request.learner, LearnerProfile):
        learner = request.learner
    elif request.learner is not None and learner is None:
        raise InputError(f"The profile of the learner {request.learner} is not at hand.", where="learner")
    elif request.learner is None:
        learner = None
    language = request.ui_language or (DEFAULT_UI_LANGUAGE if learner is None else learner.ui_language)
    points = () if learner is None else weakest(learner, content.known)
    return Weakness(ui_language=language, weak_points=points)
