"""The public faces of the library's packages are complete, and importing one costs nothing."""

import ast
import inspect
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_args, get_type_hints

import pytest

import touchstone
from touchstone.lazy import homes_of
from touchstone.strict import Strict

FACES = [
    touchstone,
    *(
        import_module(found.name)
        for found in pkgutil.walk_packages(touchstone.__path__, "touchstone.")
        if found.ispkg and homes_of(import_module(found.name))
    ),
]
JOBS = [face for face in FACES if {"oracle", "quizzes", "surfaces"} & set(face.__name__.split("."))]
LOADED = "import json, sys, {package}; print(json.dumps(list(sys.modules)))"
MODULES_AMONG_NAMES = (
    "import {package} as face; print([n for n in face.__all__ if type(getattr(face, n)) is type(face)])"
)
HEAVY = {"google", "openai", "anthropic", "boto3", "botocore", "sympy", "numpy", "scipy", "aiohttp", "httpx", "jinja2"}


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.strip()


def test_every_job_has_a_face() -> None:
    named = {face.__name__.removeprefix("touchstone.") for face in FACES}
    assert named >= {
        "oracle",
        "quizzes",
        "surfaces",
        "surfaces.experiments",
        "judges",
        "checks",
        "statistics",
        "records",
    }


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_importing_it_imports_no_part_that_is_offered_and_nothing_heavy(face: ModuleType) -> None:
    loaded = set(json.loads(run(LOADED.format(package=face.__name__))))
    parts = {home for home in homes_of(face).values() if home.startswith(f"{face.__name__}.")}
    assert parts & loaded == set()
    assert HEAVY & {name.split(".")[0] for name in loaded} == set()


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_every_name_offered_is_there_and_none_is_a_module(face: ModuleType) -> None:
    there_already = {name for name in face.__all__ if name in vars(face)}
    assert homes_of(face).keys() | there_already == set(face.__all__)
    code = MODULES_AMONG_NAMES.format(package=face.__name__)
    shadowed = "these names become modules when their modules are imported: call the module otherwise"
    assert run(code) == "[]", shadowed
    assert run(f"import {', '.join(sorted(set(homes_of(face).values())))}; {code}") == "[]", shadowed


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_what_is_offered_is_what_type_checkers_read(face: ModuleType) -> None:
    source = ast.parse(Path(str(face.__file__)).read_text(encoding="utf-8"))
    (block,) = (each for each in source.body if isinstance(each, ast.If))
    imports = [each for each in block.body if isinstance(each, ast.ImportFrom)]
    assert len(imports) == len(block.body)
    assert homes_of(face) == {str(name.asname): str(each.module) for each in imports for name in each.names}


def _own_classes(hint: object, package: str) -> Iterator[str]:
    """The names of the package's own classes in a type."""
    if isinstance(hint, type) and hint.__module__.startswith(f"{package}."):
        yield hint.__name__
    for part in get_args(hint):
        yield from _own_classes(part, package)


@pytest.mark.parametrize("face", JOBS, ids=lambda face: face.__name__)
def test_whatever_an_offered_function_or_record_holds_is_offered(face: ModuleType) -> None:
    offered = [getattr(face, name) for name in face.__all__]
    holders = [one for one in offered if inspect.isfunction(one) or (inspect.isclass(one) and issubclass(one, Strict))]
    assert holders
    told = {
        name for one in holders for hint in get_type_hints(one).values() for name in _own_classes(hint, face.__name__)
    }
    assert told - set(face.__all__) == set()


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_a_name_that_is_not_offered_is_missing(face: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"{face.__name__}.*Nonsense"):
        getattr(face, "Nonsense")  # noqa: B009 - the name is wrong on purpose


def test_a_name_that_was_asked_for_is_looked_up_once() -> None:
    code = "import touchstone.checks as face; face.Finding; print('Finding' in vars(face))"
    assert run(code) == "True"


def test_numpy_is_imported_only_where_a_conclusion_is_drawn() -> None:
    code = "import sys, touchstone.surfaces.experiments.run; print('numpy' in sys.modules)"
    assert run(code) == "False"


def test_the_authorizers_part_loads_no_models() -> None:
    code = "import sys; from touchstone.records import Tokens; print('pydantic' in sys.modules)"
    assert run(code) == "False"


def test_a_type_of_a_budget_loads_neither_the_registry_nor_what_asks() -> None:
    code = "from touchstone.budgets import QuotaKey; import sys; print(*[m for m in sys.modules if '.judges.' in m])"
    assert run(code).split() == [f"touchstone.judges.{name}" for name in ("fence", "base")]
