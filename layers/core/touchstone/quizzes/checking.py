"""Checking a quiz of the user's own: all rules that a program decides, and a judge's where one is asked."""

from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.material import Quiz
from touchstone.quizzes.content import check_content
from touchstone.quizzes.model import RULES, Rule, Violation
from touchstone.quizzes.structure import validate_structure


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What the checks found in a quiz, and the rules that they applied."""

    violations: tuple[Violation, ...]
    checks_run: tuple[Rule, ...]


def apply_checks(
    quiz: Quiz,
    *,
    ui_language: str | None = None,
    taught: Iterable[str] | None = None,
    known: Iterable[str] | None = None,
) -> Applied:
    """Apply every rule that needs no judge, each where what it needs is known (see `check_content`)."""
    content = check_content(quiz, ui_language=ui_language, taught=taught, known=known)
    found = [*validate_structure(quiz), *content.violations]
    order = {question.id: at for at, question in enumerate(quiz.questions)}
    found.sort(key=lambda one: (order[one.question_id or ""], RULES.index(one.rule)))
    return Applied(violations=tuple(found), checks_run=("structure", *content.checks_run))
