"""Writing a quiz, checking it, writing it again: the order of the steps, and the result.

    generate ─> structure ─┬─> evaluate (checks, then judge) ─┬─> finish
        ↑                  │ errors                           │ violations
        └──────────────────┴──────────────────────────────────┘  at most 2 retries

The loop here takes these decisions in one process. A deployment that runs each step in a place of its own takes the
same ones: `validate_attempt` and `evaluate_attempt` make an attempt, `next_step` says what follows, and `outcome` is
the result of all attempts.
"""

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.quizzes.curriculum import Curriculum
from touchstone.quizzes.generation import generate_quiz
from touchstone.quizzes.judging import evaluate_attempt, validate_attempt
from touchstone.quizzes.learner import LearnerProfile
from touchstone.quizzes.model import MadeQuiz, QuizAttempt, QuizRequest
from touchstone.quizzes.outcome import SECONDS, next_step, outcome, stopped_by, unanswered_of
from touchstone.quizzes.retrieval import query_weakness, retrieve_content


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
