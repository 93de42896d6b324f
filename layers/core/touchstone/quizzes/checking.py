"""Checking a quiz of the user's own: by all rules that a program decides, and by a judge if one is to be asked."""

from collections.abc import Iterable

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.material import Quiz
from touchstone.quizzes.content import check_content
from touchstone.quizzes.judging import judge_attempt
from touchstone.quizzes.model import MadeQuiz, QuizAttempt
from touchstone.quizzes.outcome import in_order, outcome
from touchstone.quizzes.structure import validate_structure

SECONDS = 30.0


def apply_checks(
    quiz: Quiz,
    *,
    ui_language: str | None = None,
    taught: Iterable[str] | None = None,
    known: Iterable[str] | None = None,
) -> QuizAttempt:
    """The quiz as a first attempt, with every rule applied that needs no judge and whose facts are known.

    If `ui_language` is None, the language of the questions is not checked. `taught` is what a question may test; None
    means that this is not checked. `known` is all that the learner has met; None means that quoted words are not
    checked. Raises `SettingsError` if the tables of OpenCC and pypinyin are not installed.
    """
    content = check_content(quiz, ui_language=ui_language, taught=taught, known=known)
    return QuizAttempt(
        number=1,
        quiz=quiz,
        violations=in_order(quiz, (*validate_structure(quiz), *content.violations)),
        checks_run=("structure", *content.checks_run),
    )


async def check_quiz(
    quiz: Quiz,
    *,
    ui_language: str | None = None,
    taught: Iterable[str] | None = None,
    known: Iterable[str] | None = None,
    evaluator: Judge | None = None,
    seconds: float = SECONDS,
    use_cache: bool = True,
) -> MadeQuiz:
    """Apply every rule whose facts are known. Ask the evaluator, if there is one and the structure is sound.

    The state is `clean` only if every rule was applied, those of the judge included. Without a judge, or without a
    `ui_language`, a quiz in which nothing was found is `unchecked`, and `checks_run` names the rules that it passed.
    Raises `SettingsError` if the tables of the checks are not installed; never for a judge that fails.
    """
    attempt = apply_checks(quiz, ui_language=ui_language, taught=taught, known=known)
    if evaluator is None or attempt.structural:
        return outcome([attempt])
    found = await judge_attempt(
        attempt, ui_language=ui_language, evaluator=evaluator, deadline=Deadline.after(seconds), use_cache=use_cache
    )
    return outcome([found.attempt], unchecked=found.unchecked, spends=found.spends)
