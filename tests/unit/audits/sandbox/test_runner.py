"""What the runner tells of a script's end, and of what the script changed: its parts, outside the sandbox."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from touchstone.audits.sandbox import runner
from touchstone.audits.sandbox.record import Record
from touchstone.audits.sandbox.runner import World

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
def world(site: str) -> World:
    made = World(site, ("runlib",), os.path.join(site, "proof.py"))  # noqa: PTH118
    assert made.enter() == {}
    return made


def ended(world: World, script: str) -> list[dict[str, Any]]:
    """What is told of the exception that a script ends by."""
    try:
        exec(compile(textwrap.dedent(script), world.script, "exec"), {"__name__": "__main__"})  # noqa: S102
    except BaseException as error:  # noqa: BLE001
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        return world.described(error)
    raise AssertionError("it did not raise")


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
def test_an_exception_is_told_by_whose_it_is_and_where(world: World, script: str, told: dict[str, Any]) -> None:
    first = ended(world, script)[0]
    found = first | {"places": [frame["place"] for frame in first["frames"]], "span": first["frames"][0].get("span")}
    assert {key: found[key] for key in told} == told


def test_what_is_told_can_be_read_outside(world: World) -> None:
    chain = ended(
        world, "import runlib\ntry:\n    runlib.act()\nexcept ValueError as error:\n    raise KeyError from error"
    )
    record = Record.model_validate_json(json.dumps({"end": "raised", "errors": chain, "faults": []}))
    assert [raised.types[0] for raised in record.errors] == ["builtins.KeyError", "builtins.ValueError"]


def test_a_chain_of_causes_is_bounded(world: World) -> None:
    script = """
        error = None
        for number in range(100):
            new = ValueError(number)
            new.__cause__ = error
            error = new
        raise error
    """
    assert len(ended(world, script)) == runner.MAX_CHAIN


def test_an_exception_that_hides_its_context_has_none(world: World) -> None:
    assert len(ended(world, "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError from None")) == 1


def test_a_long_message_and_a_deep_traceback_are_cut(world: World) -> None:
    told = ended(world, "def deep(left):\n    deep(left - 1) if left else int('x' * 10000)\ndeep(200)")[0]
    assert len(told["message"]) <= runner.MAX_MESSAGE_CHARS
    assert len(told["frames"]) == runner.MAX_FRAMES


def test_a_library_that_was_only_used_is_as_it_was(world: World) -> None:
    import runlib  # type: ignore[import-not-found]
    import runlib.later  # type: ignore[import-not-found]

    runlib._cache = object()
    runlib.counter = 1
    assert world.faults() == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("runlib.other = runlib.act", "runlib.other was replaced"),
        ("runlib.LIMIT = 4", "runlib.LIMIT was replaced"),
        ("del runlib.Thing.act", "runlib.Thing.act was replaced"),
        ("runlib.extra = mine", "runlib.extra is the script's own"),
        ("runlib.Thing.extra = property(mine)", "runlib.Thing.extra is the script's own"),
        ("runlib.Thing.extra = staticmethod(mine)", "runlib.Thing.extra is the script's own"),
        ("import rundep\nrundep.extra = Mine", "rundep.extra is the script's own"),
        ("from unittest import mock\nrunlib.extra = mock.MagicMock()", "runlib.extra is the script's own"),
        ("import sys\nsys.modules['runlib'] = Mine", "runlib is another"),
        ("runlib.__getattr__ = mine", "runlib: an invented attribute of it is there"),
    ],
)
def test_a_change_of_the_library_is_found(world: World, change: str, fault: str) -> None:
    assert world.faults() == []
    script = f"import runlib\ndef mine(*given): return 1\nclass Mine: pass\n{change}"
    exec(compile(script, world.script, "exec"), {"__name__": "__main__"})  # noqa: S102
    assert fault in world.faults()


def test_a_module_that_cannot_be_imported_is_named_with_the_reason(site: str) -> None:
    world = World(site, ("runlib", "runbroken"), "/tmp/proof.py")  # noqa: S108
    assert world.enter() == {"runbroken": "ZeroDivisionError: division by zero"}


def test_without_a_target_there_is_nothing_to_enter_or_to_find() -> None:
    world = World(None, ("runlib",), "/tmp/proof.py")  # noqa: S108
    assert (world.enter(), world.faults()) == ({}, [])
    assert world.place_of_file("/target/runlib/x.py") == "elsewhere"


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (b'token{"end": "completed"}', {"end": "completed"}),
        (b'{"end": "completed"}', None),
        (b'guess{"end": "completed"}', None),
        (b"token[]", None),
        (b"token{", None),
        (b"", None),
    ],
)
def test_only_a_record_with_the_token_counts(line: bytes, record: object) -> None:
    inside, outside = os.pipe()
    os.write(outside, line)
    os.close(outside)
    assert runner._received(inside, "token") == record
    os.close(inside)


def test_a_silent_pipe_is_not_waited_for() -> None:
    inside, outside = os.pipe()
    os.set_blocking(inside, False)
    assert runner._received(inside, "token") is None
    os.close(inside)
    os.close(outside)


def test_the_runner_needs_nothing_but_the_standard_library() -> None:
    code = f"import runpy; runpy.run_path({runner.__file__!r}, run_name='runner')"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)
