"""A quiz with those faults corrected that have one right correction: the text that a check suggests for a place."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from touchstone.material import Question, Quiz
from touchstone.quizzes.forms import indices_for_author
from touchstone.quizzes.model import Violation

_FIELD = re.compile(r"(?P<name>[a-z_]+)(?:\[(?P<at>\d+)\])?(?:\.(?P<part>[a-z]+))?")


_DOUBTFUL = frozenset({"extra_syllable"})
"""Findings that are rather a sign that characters are missing."""


def is_correctable(violation: Violation) -> bool:
    """Whether a violation has one right correction: a check's suggestion for a span.

    The question is not known here. `corrected` also leaves violations that may be meant in their question.
    """
    return (
        violation.decided_by == "check"
        and violation.rule != "structure"
        and violation.question_id is not None
        and violation.field is not None
        and violation.span is not None
        and violation.suggestion is not None
        and violation.finding not in _DOUBTFUL
    )


def corrected(quiz: Quiz, violations: Iterable[Violation]) -> Quiz:
    """The quiz with all correctable violations among these corrected. The others leave it as it is.

    Violations that may be meant, since the question is about the form itself (`indices_for_author`), leave it as it is
    too.

    The violations are those of this very quiz. An answer that equals a choice to the letter is corrected with it. A
    question that would grow too long (an apostrophe for every other syllable) stays as it is.
    """
    found: dict[str | None, list[Violation]] = defaultdict(list)
    for violation in filter(is_correctable, violations):
        found[violation.question_id].append(violation)
    left = {question.id: indices_for_author(question, found[question.id]) for question in quiz.questions}
    return rewritten(
        quiz, (one for key, told in found.items() for at, one in enumerate(told) if at not in left.get(key or "", ()))
    )


def rewritten(quiz: Quiz, violations: Iterable[Violation]) -> Quiz:
    """The quiz with each of these violations corrected. All of them are correctable."""
    found: dict[str, dict[str, list[Violation]]] = defaultdict(lambda: defaultdict(list))
    for violation in violations:
        found[violation.question_id or ""][violation.field or ""].append(violation)
    return Quiz(questions=tuple(_corrected(question, found[question.id]) for question in quiz.questions))


def _corrected(question: Question, by_field: dict[str, list[Violation]]) -> Question:
    values: dict[str, Any] = question.model_dump()
    for field, violations in by_field.items():
        name, at, part = _path(field)
        if at is None:
            values[name] = _rewritten(values[name], violations)
        elif part is not None:
            values[name] = _with(
                values[name], int(at), lambda old, p=part, v=violations: {**old, p: _rewritten(old[p], v)}
            )
        else:
            values[name] = _with(values[name], int(at), lambda old, v=violations: _rewritten(old, v))
    renamed = dict(zip(question.choices, values["choices"], strict=True))
    values["answers"] = [renamed.get(old, new) for old, new in zip(question.answers, values["answers"], strict=True)]
    try:
        return Question.model_validate(values)
    except ValidationError:
        return question


def _path(field: str) -> tuple[str, str | None, str | None]:
    place = _FIELD.fullmatch(field)
    if place is None:
        raise ValueError(f"{field} is no path inside a question.")
    return place["name"], place["at"], place["part"]


def _with(values: Sequence[Any], at: int, change: Any) -> list[Any]:
    return [change(value) if place == at else value for place, value in enumerate(values)]


def _rewritten(text: str, violations: Iterable[Violation]) -> str:
    """The text with each span replaced. If two spans overlap, the first counts."""
    changes = sorted({(one.span, one.suggestion) for one in violations if one.span and one.suggestion is not None})
    rewritten, before = "", 0
    for (start, stop), suggestion in changes:
        if start >= before:
            rewritten += text[before:start] + suggestion
            before = stop
    return rewritten + text[before:]
