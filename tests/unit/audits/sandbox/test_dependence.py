"""Which expressions depend on the target: however the value got there, and not where it did not."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.audits.sandbox.script.dependence import ProofScript

MODULES = ("space.lib",)


def asserted(script: str) -> bool:
    """Whether the test of the script's last `assert` depends on the target."""
    source = ProofScript(script, MODULES)
    tests = [node.test for node in source.nodes if isinstance(node, ast.Assert)]
    return source.depends(tests[-1])


@pytest.mark.parametrize(
    "script",
    [
        "import space.lib\nassert space.lib.x",
        "import space.lib.deep as d\nassert d",
        "from space import lib\nassert lib",
        "from space.lib import x as y\nassert y",
        "from space.lib.deep import x\nz = x\nassert z + 1",
        "from space.lib import x\na, (b, *c) = x\nassert c",
        "from space.lib import x\nz: int = x\nassert z",
        "from space.lib import x\nz = 0\nz += x\nassert z",
        "from space.lib import x\nassert (z := x) and z",
        "from space.lib import x\nif (z := x): pass\nassert z",
        "from space.lib import x\nfor z in x: pass\nassert z",
        "from space.lib import x\nassert [z for z in x if z]",
        "from space.lib import x\nwith x() as z: pass\nassert z",
        "from space.lib import x\nasync def f():\n  async with x() as z:\n    async for y in z:\n      assert y",
        "from space.lib import x\ndef f():\n    return x\nassert f()",
        "from space.lib import x\ndef f(a, /, b, *c, d, **e):\n    assert e\nf(**x)",
        "from space.lib import x\nclass C:\n    def f(self, a):\n        assert a\nC().f(x)",
        "from space.lib import x\nclass C(x): pass\nassert C",
        "from space.lib import x\nz = []\nz.append(x)\nassert z",
        "from space.lib import x\nclass C: pass\nc = C()\nc.a = x\nassert c.a",
        "from space.lib import x\nz = {}\nz['a'] = x\nassert z",
        "from space.lib import x\ntry:\n    x()\nexcept Exception as e:\n    assert 'no' in str(e)",
        "from space.lib import x\nmatch x:\n    case {'a': z, **rest}:\n        assert rest",
        "from space.lib import x\nmatch x:\n    case [1, *z]:\n        assert z",
        "import importlib.metadata as m\nassert m.version('lib') == '1'",
        "from importlib import import_module\nlib = import_module('space.lib')\nassert lib",
        "import pkgutil\nassert list(pkgutil.iter_modules())",
    ],
)
def test_a_value_that_came_from_the_target_depends_on_it(script: str) -> None:
    assert asserted(script)


@pytest.mark.parametrize(
    "script",
    [
        "import space.lib\nassert False",
        "from space.lib import x\ny = 1\nassert y",
        "import os\nassert os",
        "from space import other\nassert other",
        "import space.library\nassert space",
        "from . import lib\nassert lib",
        "from .space.lib import x\nassert x",
        "from space.lib import x\nfor z in range(3): pass\nassert z",
        "from space.lib import x\ndef f(a): return a\nassert f(1)",
        "from space.lib import x\ntry:\n    1 / 0\nexcept Exception as e:\n    assert e",
    ],
)
def test_a_value_of_the_script_s_own_does_not(script: str) -> None:
    assert not asserted(script)


def test_a_piece_of_syntax_is_found_by_where_it_stands() -> None:
    source = ProofScript("x = f(1)\nassert (\n    '號' in g(x)[2]\n)", MODULES)
    assert ast.unparse(source.node_at((1, 1, 4, 8)) or ast.Pass()) == "f(1)"
    assert ast.unparse(source.node_at((3, 3, 13, 17)) or ast.Pass()) == "g(x)"
    assert isinstance(source.statement_at((3, 3, 13, 17)), ast.Assert)
    assert source.node_at((9, 9, 0, 1)) is None


def test_of_a_statement_and_the_expression_that_it_consists_of_the_expression_is_meant() -> None:
    assert isinstance(ProofScript("f(1)", MODULES).node_at((1, 1, 0, 4)), ast.Call)


def test_only_what_was_imported_itself_counts_as_imported() -> None:
    source = ProofScript("from space.lib import x\ny = x", MODULES)
    assert source.is_imported(ast.parse("x.a.b", mode="eval").body)
    assert not source.is_imported(ast.parse("y.a", mode="eval").body)
    assert not source.is_imported(ast.parse("x().a", mode="eval").body)


@given(st.text(max_size=200))
def test_any_text_can_be_asked_about(text: str) -> None:
    source = ProofScript(text, MODULES)
    assert not any(map(source.depends, source.nodes)) or "lib" in text or "pkgutil" in text
