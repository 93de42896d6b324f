"""Several attempts at one quiz, and the one that is handed out."""

from collections.abc import Sequence

from touchstone.quizzes.model import QuizAttempt

MAX_RETRIES = 2
"""How often a quiz is written again; then the best attempt is handed out with what it still violates."""


def best_of(attempts: Sequence[QuizAttempt]) -> QuizAttempt:
    """The attempt with the fewest violations; of equals one that was judged, then the later one.

    Raises `ValueError` where there is none.
    """
    if not attempts:
        raise ValueError("There is no attempt to choose from.")
    return min(attempts, key=lambda one: (len(one.violations), not one.judged, -one.number))


def may_retry(attempt: QuizAttempt) -> bool:
    """Whether another attempt may follow this one."""
    return attempt.number <= MAX_RETRIES
