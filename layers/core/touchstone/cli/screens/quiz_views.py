"""Quizzes that were made or checked: how the command shows them, and their exit codes."""

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.tables import columns, time_column
from touchstone.cli.terminal.words import View, cost_of
from touchstone.figures import counted

CODES: Mapping[object, Exit] = {
    "violations": Exit.VERDICT,
    "unchecked": Exit.UNDECIDED,
    "failed": Exit.UNDECIDED,
}
IN_WORK = frozenset({"generating", "checking"})


def exit_of(view: View) -> Exit:
    """The exit code of a quiz. While it is in work it is `DONE`: this command has nothing left to do."""
    return CODES.get(view.get("state"), Exit.DONE)


def is_over(view: View) -> bool:
    """Whether the quiz is finished, so that it does not change any more."""
    return view.get("state") not in IN_WORK


def sentences(view: View) -> Iterator[str]:
    """The outcome in sentences: the violations that are left, the rules that were not applied and why, and the cost."""
    violations = view.get("violations") or ()
    for violation in violations:
        yield _violation(violation)
    yield _state(view, len(violations))
    if view.get("state") == "unchecked":
        applied = ", ".join(view.get("checks_run") or ()) or "nothing"
        yield f"Unchecked: {_because(view.get('unchecked'))} Applied: {applied}."
    if view.get("failed") and view.get("quiz"):
        yield f"A further attempt brought nothing: {_because(view['failed'])}"
    if view.get("stopped") == "time":
        yield "There was no time for another attempt."
    attempts = view.get("attempts") or ()
    if len(attempts) > 1:
        told = "; ".join(f"{one['number']}: {_found(one)}" for one in attempts)
        yield f"Attempts: {told}. Shown is {view.get('attempt')}."
    yield f"Cost: {cost_of(view)}, {view.get('tokens', 0):,} tokens."


def plain(quiz: Mapping[str, Any]) -> dict[str, Any]:
    """A quiz in the form of a file: without empty fields, except that `answers` always stays."""
    questions = quiz.get("questions", ())
    return {
        "questions": [{name: value for name, value in one.items() if value or name == "answers"} for one in questions]
    }


def _state(view: View, violations: int) -> str:
    match view.get("state"):
        case "clean":
            return "Clean: every rule was applied and none is broken."
        case "violations":
            return f"It still violates the rules in {counted(violations, 'place')}, named above."
        case "unchecked":
            found = "nothing was found by the others" if not violations else f"{violations} found by the others"
            return f"Not every rule was applied, so this is no clean quiz; {found}."
        case "failed":
            return f"There is no quiz: {_because(view.get('failed'))}"
        case _:
            return f"It is in work; see it with: touchstone quiz show {view.get('id')}"


def _violation(violation: View) -> str:
    advice = f" → {violation['suggestion']}" if violation.get("suggestion") else ""
    place = " ".join(str(part) for part in (violation.get("question_id"), violation.get("field")) if part)
    return f"{place or 'the quiz'}: {violation['rule']} {' '.join(str(violation['detail']).split())}{advice}"


def _because(why: View | None) -> str:
    """A reason and the sentences about it."""
    if not why:
        return "no rule was broken, but no judge was asked, or there was a rule that could not be applied."
    details = " ".join(str(detail) for detail in why.get("details") or ())
    return f"{why.get('reason')}. {details}".strip()


def _found(attempt: View) -> str:
    number = attempt["violations"]
    return counted(number, "violation") if number else "none"


QUIZZES = (
    time_column("created (UTC)", "created_at"),
    *columns("id", "kind", "state", "curriculum", "chapter"),
    *columns("questions", "violations", right=True),
)
