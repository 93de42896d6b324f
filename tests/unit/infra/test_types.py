"""The types of the CDK: mypy reads those of its modules that the stack is made of, and leaves the others out."""

import ast
import tomllib
from collections.abc import Iterator

from infra.layers import ROOT


def imported() -> Iterator[str]:
    """The modules of the CDK that the stack and its tests import."""
    for folder in ("infra", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            if "aws_cdk" in (text := path.read_text(encoding="utf-8")):
                yield from imported_by(ast.parse(text))


def imported_by(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "aws_cdk":
            yield str(node.module)
            yield from (f"aws_cdk.{one.name}" for one in node.names if one.name.startswith("aws_"))


def test_mypy_reads_every_module_of_the_cdk_that_is_used_and_no_other() -> None:
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
    [read] = [each["module"] for each in overrides if each.get("follow_imports") == "normal"]
    assert set(read) == set(imported()), "a module that is not read has no types: mend the list in pyproject.toml"
