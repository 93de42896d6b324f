"""What follows an attempt at a quiz, the result of all attempts, and the attempt that is handed out."""

from collections.abc import Iterable, Sequence
from typing import Literal

from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend
from touchstone.material import Quiz
from touchstone.quizzes.model import RULES, MadeQuiz, QuizAttempt, QuizState, Stopped, Unanswered, Violation

SECONDS = 30.0
"""The most seconds for making a quiz, or for checking one."""
RETRY_SECONDS = 8.0
"""Seconds of a pass that is clean at once. With less time left, no other attempt begins."""
MAX_RETRIES = 2
"""How often a quiz is written again at most. Then the best attempt is handed out, with what it still violates."""

type Step = Literal["evaluate", "generate", "finish"]


def best_of(attempts: Sequence[QuizAttempt]) -> QuizAttempt:
    """The attempt with the fewest violations. Of equal attempts, a judged one comes first, then the later one.

    Raises `ValueError` if there is no attempt.
    """
    if not attempts:
        raise ValueError("There is no attempt to choose from.")
    return min(attempts, key=lambda one: (len(one.violations), not one.judged, -one.number))


def may_retry(attempt: QuizAttempt) -> bool:
    """Whether another attempt may follow this one."""
    return attempt.number <= MAX_RETRIES


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


def outcome(
    attempts: Sequence[QuizAttempt],
    *,
    unchecked: Unanswered | None = None,
    failed: Unanswered | None = None,
    stopped: Stopped | None = None,
    spends: Sequence[Spend] = (),
) -> MadeQuiz:
    """The result of all attempts, which are given in their order.

    `unchecked` is why the last attempt was not judged; that attempt is then handed out. `failed` is why there is no
    further attempt. `stopped` is why none follows although another would have been allowed.
    """
    if not attempts:
        return MadeQuiz(state="failed", quiz=None, failed=failed, spends=tuple(spends))
    chosen = best_of(attempts) if unchecked is None else attempts[-1]
    return MadeQuiz(
        state="unchecked" if unchecked is not None else state_of(chosen),
        quiz=chosen.quiz,
        attempt=chosen.number,
        attempts=tuple(attempts),
        violations=chosen.violations,
        checks_run=chosen.checks_run,
        unchecked=unchecked,
        failed=failed,
        stopped=stopped,
        spends=tuple(spends),
    )


def stopped_by(last: QuizAttempt) -> Stopped | None:
    """What kept another attempt from following the one at which `next_step` ended: the time, or None if nothing did."""
    return "time" if last.violations and may_retry(last) else None


def state_of(attempt: QuizAttempt) -> QuizState:
    """The state of an attempt. It is `clean` only if every rule was applied and none is broken."""
    if attempt.violations:
        return "violations"
    return "clean" if set(attempt.checks_run) == set(RULES) else "unchecked"


def in_order(quiz: Quiz, violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """The violations in order: those of the quiz as a whole, then question by question, by the order of the rules."""
    places = {question.id: at for at, question in enumerate(quiz.questions)}
    return tuple(sorted(violations, key=lambda one: (places.get(one.question_id or "", -1), RULES.index(one.rule))))


def unanswered_of(failure: NotScored) -> Unanswered:
    """A failure as a record keeps it."""
    return Unanswered(reason=failure.reason, details=failure.details)
