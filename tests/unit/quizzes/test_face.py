"""The public face of the job of quizzes is complete, and importing it costs nothing."""

import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import get_args, get_type_hints

import pytest

import touchstone.quizzes as face

WITHOUT_EFFECT = "import sys, touchstone.quizzes; print(*[name for name in sys.modules if '.quizzes.' in name])"
MODULES_AMONG_NAMES = (
    "import touchstone.quizzes as face; print([n for n in face.__all__ if type(getattr(face, n)) is type(face)])"
)


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.strip()


def test_importing_the_quizzes_imports_none_of_its_parts() -> None:
    assert run(WITHOUT_EFFECT) == ""


def test_every_name_offered_is_there_and_none_is_a_module() -> None:
    parts = sorted(set(face._HOMES.values()))
    assert run(MODULES_AMONG_NAMES) == "[]"
    assert run(f"import {', '.join(parts)}; {MODULES_AMONG_NAMES}") == "[]"
    assert sorted(face._HOMES) == sorted(face.__all__)


def _own_classes(hint: object) -> Iterator[str]:
    """The names of the job's own classes in a type."""
    if isinstance(hint, type) and hint.__module__.startswith("touchstone.quizzes."):
        yield hint.__name__
    for part in get_args(hint):
        yield from _own_classes(part)


def test_whatever_an_offered_function_takes_or_gives_is_offered() -> None:
    functions = [value for name in face.__all__ if inspect.isfunction(value := getattr(face, name))]
    assert len(functions) >= 4
    told = {name for function in functions for hint in get_type_hints(function).values() for name in _own_classes(hint)}
    assert told - set(face.__all__) == set()


def test_what_is_handed_in_and_out_is_offered_with_all_its_parts() -> None:
    told = {
        name
        for kind in (face.QuizRequest, face.MadeQuiz, face.Attempt, face.Curriculum, face.Chapter, face.LearnerProfile)
        for hint in get_type_hints(kind).values()
        for name in _own_classes(hint)
    }
    assert told - set(face.__all__) == set()


def test_a_name_that_is_not_offered_is_missing() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        getattr(face, "Nonsense")  # noqa: B009 - the name is wrong on purpose
