"""The public face of experiments is complete, and importing it costs nothing."""

import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import get_args, get_type_hints

import pytest

import touchstone.surfaces.experiments as face
from touchstone.strict import Strict

WITHOUT_EFFECT = (
    "import sys, touchstone.surfaces.experiments;"
    "print(*[name for name in sys.modules if name.startswith('touchstone.surfaces.experiments.') or name == 'numpy'])"
)
WITHOUT_NUMPY = "import sys, touchstone.surfaces.experiments.run; print('numpy' in sys.modules)"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.strip()


def test_importing_experiments_imports_none_of_its_parts() -> None:
    assert run(WITHOUT_EFFECT) == ""


def test_numpy_is_imported_only_where_a_conclusion_is_drawn() -> None:
    assert run(WITHOUT_NUMPY) == "False"


def test_every_name_offered_is_there_and_none_is_a_module() -> None:
    assert sorted(face._HOMES) == sorted(face.__all__)
    assert [name for name in face.__all__ if inspect.ismodule(getattr(face, name))] == []


def _own_classes(hint: object) -> Iterator[str]:
    if isinstance(hint, type) and hint.__module__.startswith("touchstone.surfaces.experiments."):
        yield hint.__name__
    for part in get_args(hint):
        yield from _own_classes(part)


def test_whatever_an_offered_function_or_record_holds_is_offered() -> None:
    offered = [getattr(face, name) for name in face.__all__]
    holders = [one for one in offered if inspect.isfunction(one) or (inspect.isclass(one) and issubclass(one, Strict))]
    told = {name for one in holders for hint in get_type_hints(one).values() for name in _own_classes(hint)}
    assert told - set(face.__all__) == set()


def test_a_name_that_is_not_offered_is_missing() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        getattr(face, "Nonsense")  # noqa: B009 - the name is wrong on purpose
