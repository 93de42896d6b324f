"""What the runner tells of a script's end, and of what the script changed: its parts, outside the sandbox."""

import ast
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from touchstone.audits.sandbox import inside
from touchstone.audits.sandbox.inside import changes, child, ends, shared, start
from touchstone.audits.sandbox.inside.exceptions import chain_of, text_of
from touchstone.audits.sandbox.inside.last import Leave, last_controls
from touchstone.audits.sandbox.inside.world import new_world
from touchstone.audits.sandbox.record import Record
from touchstone.audits.sandbox.runner import runner_code

LIBRARY = """
import enum
LIMIT = 3
_cache = None
def act(): return other()
def other(): raise ValueError("no")
class Thing:
    kind = "thing"
    def act(self): return 1
    @property
    def size(self): return 2
class Awkward(Exception):
    def __str__(self): raise RuntimeError("unspeakable")
    @classmethod
    def set(cls, to): cls.size = to
class Whole:
    parts = []
class Half(Whole): pass
def fill(number):
    global fullness
    fullness = number
    global depth, width
    depth = width = number
    Awkward.set(number)
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A folder with a library `runlib` and what it stands on; both are forgotten afterwards."""
    (tmp_path / "runlib").mkdir()
    (tmp_path / "runlib" / "__init__.py").write_text(LIBRARY)
    (tmp_path / "runlib" / "later.py").write_text("def later(): pass\n")
    (tmp_path / "rundep.py").write_text("class Part: pass\ndef depended(): raise KeyError('x')\n")
    (tmp_path / "runbroken.py").write_text("1 / 0\n")
    path = list(sys.path)
    yield str(tmp_path)
    sys.path[:] = path
    for name in [each for each in sys.modules if each.partition(".")[0] in ("runlib", "rundep", "runbroken")]:
        del sys.modules[name]


@pytest.fixture
def world(site: str) -> SimpleNamespace:
    made = new_world(site, ("runlib",), os.path.join(site, "proof.py"))  # noqa: PTH118
    assert made.enter() == {}
    return made


def ended(world: SimpleNamespace, script: str) -> list[dict[str, Any]]:
    """What is told of the exception that a script ends by."""
    try:
        exec(world.compiled(textwrap.dedent(script)), {"__name__": "__main__"})  # noqa: S102
    except BaseException as error:  # noqa: BLE001
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        told: list[dict[str, Any]] = world.described(error, [text_of(one) for one in chain_of(error)])
        return told
    raise AssertionError("it did not raise")


def changed(world: SimpleNamespace, controls: Leave, faults: list[str]) -> list[str]:
    """What is found to be changed, by both who look for it."""
    faults.clear()
    controls(None, None, None)
    found: list[str] = world.faults()
    return [*found, *faults]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("import runlib\nrunlib.act()", {"places": ["script", "target", "target"], "span": (2, 2, 0, 12)}),
        ("import rundep\nrundep.depended()", {"places": ["script", "bundle"]}),
        ("import runlib\nrunlib.nothing", {"name": "nothing", "owner": "target"}),
        ("import runlib\nrunlib.Thing().nothing", {"name": "nothing", "owner": "target"}),
        ("import runlib\nrunlib.Thing.nothing", {"owner": "target"}),
        ("import runlib\nrunlib.act.nothing", {"owner": "target"}),
        ("import runlib\nclass Mine(runlib.Thing): pass\nMine().nothing", {"owner": "target"}),
        ("import rundep\nrundep.Part.nothing", {"owner": "bundle"}),
        ("class Mine: pass\nMine().nothing", {"owner": "script"}),
        ("import os\nos.nothing", {"owner": "elsewhere"}),
        ("import types\ntypes.ModuleType(None or 'x').nothing", {"owner": "elsewhere"}),
        ("from runlib import nothing", {"name": "runlib", "name_from": "nothing"}),
        ("import runlib.nothing", {"name": "runlib.nothing", "name_from": None}),
        ("undefined", {"name": "undefined"}),
        ("open('/nowhere/at/all')", {"errno": 2}),
        ("raise OSError('odd')", {"errno": None}),
        ("compile('(', 'x', 'exec')", {"owner": "elsewhere"}),
        ("raise AttributeError('by hand')", {"name": None, "owner": "elsewhere"}),
        ("import runlib\nraise runlib.Awkward", {"message": "Awkward: "}),
        ("import json\njson.loads('{')", {"places": ["script", "elsewhere", "elsewhere", "elsewhere"]}),
    ],
)
def test_an_exception_is_told_by_whose_it_is_and_where(
    world: SimpleNamespace, script: str, told: dict[str, Any]
) -> None:
    first = ended(world, script)[0]
    found = first | {"places": [frame["place"] for frame in first["frames"]], "span": first["frames"][0].get("span")}
    assert {key: found[key] for key in told} == told


def test_what_is_told_can_be_read_outside(world: SimpleNamespace) -> None:
    chain = ended(
        world, "import runlib\ntry:\n    runlib.act()\nexcept ValueError as error:\n    raise KeyError from error"
    )
    record = Record.model_validate_json(json.dumps({"end": "raised", "errors": chain, "faults": []}))
    assert [raised.types[0] for raised in record.errors] == ["builtins.KeyError", "builtins.ValueError"]


def test_a_chain_of_causes_is_bounded(world: SimpleNamespace) -> None:
    script = """
        error = None
        for number in range(100):
            new = ValueError(number)
            new.__cause__ = error
            error = new
        raise error
    """
    assert len(ended(world, script)) == shared.MAX_CHAIN


def test_an_exception_that_hides_its_context_has_none(world: SimpleNamespace) -> None:
    assert len(ended(world, "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError from None")) == 1


def test_a_long_message_and_a_deep_traceback_are_cut(world: SimpleNamespace) -> None:
    told = ended(world, "def deep(left):\n    deep(left - 1) if left else int('x' * 10000)\ndeep(200)")[0]
    assert len(told["message"]) <= shared.MAX_MESSAGE_CHARS
    assert len(told["frames"]) == ends.MAX_FRAMES


def test_a_library_that_was_only_used_is_as_it_was(world: SimpleNamespace) -> None:
    import runlib  # type: ignore[import-not-found]
    import runlib.later  # type: ignore[import-not-found]

    runlib._cache = object()
    runlib._counter = 1
    faults: list[str] = []
    assert changed(world, last_controls(world.names, faults), faults) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("runlib.other = runlib.act", "runlib.other was replaced"),
        ("runlib.LIMIT = 4", "runlib.LIMIT was replaced"),
        ("del runlib.Thing.act", "runlib.Thing.act was replaced"),
        ("runlib.extra = 3", "runlib.extra was added"),
        ("runlib.Thing.extra = ()", "runlib.Thing.extra was added"),
        ("runlib.Thing.__module__ = 'other'\nrunlib.Thing.extra = ()", "runlib.Thing.extra was added"),
        ("runlib.Thing.__module__ = 'other'\ndel runlib.Thing.act", "runlib.Thing.act was replaced"),
        ("runlib.Awkward.size = 3", "runlib.Awkward.size was added"),
        ("setattr(runlib, 'fullness', 3)", "runlib.fullness was added"),
        ("setattr(runlib.Half, 'par' + 'ts', [1])", "runlib.Half.parts was added"),
        ("runlib.act.__defaults__ = (1,)", "runlib.act was changed"),
        (
            "import sys, types\nsys.modules['runlib.x'] = types.ModuleType('runlib.x')",
            "runlib.x is no module of the bundle",
        ),
        ("runlib.extra = mine", "runlib.extra is the script's own"),
        ("runlib.Thing.extra = property(mine)", "runlib.Thing.extra is the script's own"),
        ("runlib.Thing.extra = staticmethod(mine)", "runlib.Thing.extra is the script's own"),
        ("import rundep\nrundep.extra = Mine", "rundep.extra is the script's own"),
        ("from unittest import mock\nrunlib.extra = mock.MagicMock()", "runlib.extra is the script's own"),
        ("import sys\nsys.modules['runlib'] = Mine", "runlib is another"),
        ("runlib.__getattr__ = mine", "runlib: an invented attribute of it is there"),
    ],
)
def test_a_change_of_the_library_is_found(world: SimpleNamespace, change: str, fault: str) -> None:
    faults: list[str] = []
    controls = last_controls(world.names, faults)
    assert changed(world, controls, faults) == []
    script = f"import runlib\ndef mine(*given): return 1\nclass Mine: pass\n{change}"
    exec(world.compiled(script), {"__name__": "__main__"})  # noqa: S102
    assert fault in changed(world, controls, faults)


def test_what_a_library_adds_to_itself_is_looked_up_in_its_file_once(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import runlib

    read: list[str] = []

    def opened(path: str, mode: str) -> IO[Any]:
        read.append(path)
        return Path(path).open(mode)

    monkeypatch.setattr(changes, "open", opened, raising=False)
    runlib.fill(100)
    runlib._hidden = 1
    assert (world.faults(), len(read)) == ([], 1)


def test_a_library_may_put_anything_in_the_place_of_another(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert new_world(site, ("runlib",), "/tmp/proof.py").enter() == {}  # noqa: S108


def test_a_module_that_cannot_be_imported_is_named_with_the_reason(site: str) -> None:
    world = new_world(site, ("runlib", "runbroken"), "/tmp/proof.py")  # noqa: S108
    assert world.enter() == {"runbroken": "ZeroDivisionError: division by zero"}


def test_without_a_target_there_is_nothing_to_enter_or_to_find() -> None:
    world = new_world(None, ("runlib",), "/tmp/proof.py")  # noqa: S108
    assert (world.enter(), world.faults()) == ({}, [])
    assert world.place_of_file("/target/runlib/x.py") == "elsewhere"


TELLING = """
import os, sys
said, drawn = int(sys.argv[1]), int(sys.argv[2])
{first}
os.write(said, b"token")
os.write(said, {start} + b'{{"end": "completed"}}')
"""


@pytest.mark.parametrize(
    ("first", "begin", "told"),
    [
        ("", "os.read(drawn, 64)", b'{"end": "completed"}'),
        ("", "b''", b""),
        ("", "b'0' * 32", b""),
        ("os.write(said, b'{}')", "os.read(drawn, 64)", b""),
        ("os.close(said); os._exit(0)", "b''", b""),
        ("os.write(said, b'x' * 65536); os._exit(0)", "b''", b""),
    ],
)
def test_only_what_follows_the_end_and_holds_what_was_drawn_then_counts(first: str, begin: str, told: bytes) -> None:
    inside, outside = os.pipe()
    asked, answered = os.pipe()
    code = TELLING.format(first=first, start=begin)
    command = [sys.executable, "-I", "-c", code, str(outside), str(asked)]
    with subprocess.Popen(command, pass_fds=[outside, asked]) as child:
        os.close(outside)
        os.close(asked)
        assert start._heard(child.pid, inside, answered, b"token") == told


def test_what_is_told_is_a_record_or_nothing() -> None:
    told = [start._record(said) for said in (b'{"end": "completed"}', b"[]", b"{", b"")]
    assert told == [{"end": "completed"}, None, None, None]


def test_what_is_told_is_written_as_json_by_nothing_that_could_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    value: dict[str, Any] = {"a": [None, True, False, -3, 'x"\n號\ud800', (1,)], "b": {}}
    with monkeypatch.context() as patched:
        patched.setattr(json, "dumps", None)
        patched.setattr("json.encoder.JSONEncoder", None)
        written = child._json(value)
    assert json.loads(written) == value | {"a": [*value["a"][:-1], [1]]}


def test_the_runner_needs_nothing_but_the_standard_library() -> None:
    code = "import marshal, sys; exec(marshal.loads(sys.stdin.buffer.read()[16:]), {'__name__': 'runner'})"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], input=runner_code(), check=True)


def test_no_file_of_the_runner_takes_the_place_of_another_s_names() -> None:
    files = [Path(str(each)) for each in Path(inside.__file__).parent.glob("*.py")]
    made = [name for file in files for name in _bound(ast.parse(file.read_text()))]
    assert sorted(made) == sorted(set(made))


def _bound(tree: ast.Module) -> set[str]:
    """The names that a file binds, apart from its imports."""
    named = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    targets = [one for each in tree.body if isinstance(each, ast.Assign) for one in each.targets]
    targets += [each.name for each in tree.body if isinstance(each, ast.TypeAlias)]
    return named | {one.id for each in targets for one in ast.walk(each) if isinstance(one, ast.Name)}
