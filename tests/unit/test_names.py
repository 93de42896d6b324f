"""A public class has a name that no other has: who reads it, or searches for it, finds one thing."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("layers/core/touchstone", "functions", "infra")


@cache
def public_classes() -> dict[str, list[str]]:
    """By name, the modules that define a public class of that name."""
    found: dict[str, list[str]] = defaultdict(list)
    for module in sorted(path for top in PRODUCT for path in (ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(module.relative_to(ROOT)))
    return found


def test_no_two_public_classes_have_one_name() -> None:
    assert {name: places for name, places in public_classes().items() if len(places) > 1} == {}


def test_the_search_finds_the_classes_of_every_part_of_the_product() -> None:
    places = {place.split("/")[0] for modules in public_classes().values() for place in modules}
    assert places == {"layers", "functions", "infra"}
