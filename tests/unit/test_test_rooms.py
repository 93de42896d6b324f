"""No test imports another test: what tests share stands in `tests/support`, which imports no test either."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
BENCH = "tests.bench"
"""Measurements are programs of their own: they share modules, and tests run them."""
SHARED = ("tests.support", BENCH)


def imported(source: str, package: str) -> Iterator[str]:
    """The modules of `tests` that a file imports, wherever in it; `package` is the one that it is in."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{module}.{one.name}" for one in node.names] if module in ("tests", package) else [module]
        yield from (name for name in names if name.partition(".")[0] == "tests")


def strays(source: str, package: str) -> list[str]:
    """What a file of a package imports and must not."""
    allowed = SHARED[:1] if package.startswith(SHARED[0]) else SHARED
    return [
        name for name in imported(source, package) if not f"{name}.".startswith(tuple(f"{one}." for one in allowed))
    ]


def test_no_test_imports_another() -> None:
    files = sorted(TESTS.rglob("*.py"))
    assert len(files) > 500
    found = {
        str(path.relative_to(TESTS)): stray
        for path in files
        if (stray := strays(path.read_text(encoding="utf-8"), ".".join(path.relative_to(TESTS.parent).parts[:-1])))
    }
    assert found == {}, "move what is shared to tests/support"


@pytest.mark.parametrize(
    ("source", "package", "stray"),
    [
        ("from tests.unit.quizzes.samples import quiz", "tests.unit.cli", ["tests.unit.quizzes.samples"]),
        ("from tests.unit.cli.conftest import Command", "tests.unit.cli", ["tests.unit.cli.conftest"]),
        ("def test() -> None:\n    import tests.cloud.test_intake", "tests.cloud", ["tests.cloud.test_intake"]),
        ("from tests import real", "tests.unit", ["tests.real"]),
        ("from . import test_cost", "tests.unit.infra", ["tests.unit.infra.test_cost"]),
        ("from .test_cost import PRICES", "tests.unit.infra", ["tests.unit.infra.test_cost"]),
        ("from ..cli import every", "tests.unit.infra", ["tests.unit.cli"]),
        ("from tests.bench import cost", "tests.support", ["tests.bench"]),
        ("from tests.bench import cost", "tests.unit.infra", []),
        ("from tests.support import replies\nimport touchstone", "tests.cloud", []),
    ],
)
def test_an_import_of_a_test_is_seen(source: str, package: str, stray: list[str]) -> None:
    assert strays(source, package) == stray
