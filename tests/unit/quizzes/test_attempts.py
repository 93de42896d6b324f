"""Which of several attempts is handed out."""

import pytest

from tests.support.course_quizzes import quiz
from touchstone.quizzes.model import RULES, QuizAttempt, Violation
from touchstone.quizzes.outcome import MAX_RETRIES, best_of, may_retry

ONE = Violation(question_id="q1", rule="pedagogical_quality", detail="Weak.", decided_by="judge", finding="judged")


def attempt(number: int, violations: int, *, judged: bool = True) -> QuizAttempt:
    ran = RULES if judged else ("structure",)
    return QuizAttempt(number=number, quiz=quiz(), violations=(ONE,) * violations, checks_run=ran)


@pytest.mark.parametrize(
    ("attempts", "best"),
    [
        ([attempt(1, 3), attempt(2, 1), attempt(3, 2)], 2),
        ([attempt(1, 1), attempt(2, 2), attempt(3, 4)], 1),
        ([attempt(1, 2), attempt(2, 2), attempt(3, 2)], 3),
        ([attempt(1, 2), attempt(2, 2, judged=False)], 1),
        ([attempt(1, 2, judged=False), attempt(2, 3)], 1),
        ([attempt(1, 0, judged=False), attempt(2, 0)], 2),
    ],
)
def test_the_fewest_violations_then_one_that_was_judged_then_the_later(attempts: list[QuizAttempt], best: int) -> None:
    assert best_of(attempts).number == best
    assert best_of(attempts[::-1]).number == best


def test_there_is_none_of_none() -> None:
    with pytest.raises(ValueError, match="no attempt"):
        best_of([])


def test_a_quiz_is_written_three_times_at_most() -> None:
    assert [may_retry(attempt(number, 1)) for number in (1, 2, 3)] == [True, True, False]
    assert MAX_RETRIES == 2
