"""Writing a quiz, checking it, writing it again: who comes after whom, and what comes of it.

    generate ─> structure ─┬─> evaluate (checks, then judge) ─┬─> finish
        ↑                  │ errors                           │ violations
        └──────────────────┴──────────────────────────────────┘  at most 2 retries

The same decisions are taken by the loop here, in one process, and by whoever carries each step to a place of its own:
`begun` and `judged` make an attempt, `next_step` says what follows, `outcome` what came of all.
"""

from typing import Literal

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.quizzes.curriculum import Curriculum
from touchstone.quizzes.generation import generate_quiz
from touchstone.quizzes.judging import begun, judged
from touchstone.quizzes.learner import LearnerProfile
from touchstone.quizzes.model import MadeQuiz, QuizAttempt, QuizRequest
from touchstone.quizzes.outcome import may_retry, outcome, stopped_by, unanswered_of
from touchstone.quizzes.retrieval import query_weakness, retrieve_content

SECONDS = 30.0
"""How long making a quiz may take in all."""
RETRY_SECONDS = 8.0
"""What a pass takes that is clean at once: with less left no other attempt begins."""

type Step = Literal["evaluate", "generate", "finish"]


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

    `evaluator` None: nobody can be asked, so that the quiz is `unchecked`. `curriculum` and `learner` are those that
    the request names by their ids. Raises `InputError` where one is missing or has no such chapter, `SettingsError`
    where the tables of the checks are not installed; nothing for a model that fails.
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
        attempt = begun(len(attempts) + 1, new.quiz, request)
        step = next_step(attempt, seconds_left=deadline.remaining)
        if step == "evaluate":
            found = await judged(
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
    """What follows on an attempt, after its structure was looked at or after it was evaluated.

    With errors in its structure it goes straight back, and so it does with what a check found, though no judge saw it.
    An attempt on which the judge failed is the last one: whoever asks knows of that.
    """
    if not attempt.structural and attempt.checks_run == ("structure",):
        return "evaluate"
    if attempt.violations and may_retry(attempt) and seconds_left >= RETRY_SECONDS:
        return "generate"
    return "finish"
