"""Whatever a stranger writes, at the largest size that its door admits: a second and 200 MB at most, linear time.

The functions are found, not listed, so a new one is fed as well. See `tests.support.hostile_functions` for which.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import touchstone
from tests.support.hostile import MAX_MEGABYTES, MIN_SECONDS, MOST_GROWTH
from tests.support.hostile_doors import DOORS
from tests.support.hostile_functions import NEEDED, NOT_FED, OURS, ROOMS, SIZES, is_within

MAX_SECONDS = 5.0
"""Of a processor. On an idle machine the slowest takes less than one; machines differ, and others run beside it.

What grows faster than its text is found by its growth, on any machine.
"""
FOLDER = Path(touchstone.__file__).parent

pytestmark = pytest.mark.timeout(900)

type Ask = Callable[[str, str], Any]


def rooms() -> Iterator[str]:
    """The modules of the package, those of its packages each by itself, so that no row takes long."""
    for path in sorted(FOLDER.iterdir()):
        if path.stem in ROOMS:
            continue
        if path.suffix == ".py" and not path.name.startswith("_"):
            yield path.stem
        elif (path / "__init__.py").exists():
            inner = {one.stem for one in path.iterdir() if one.suffix == ".py" or (one / "__init__.py").exists()}
            yield from (f"{path.name}.{name}" for name in sorted(inner) if not name.startswith("_"))


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Asks the process that feeds functions."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.hostile_runs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as feeding:
        asking, telling = feeding.stdin, feeding.stdout
        assert asking is not None
        assert telling is not None

        def asked(what: str, name: str) -> Any:
            print(json.dumps([what, name]), file=asking, flush=True)
            return json.loads(telling.readline())

        yield asked
        asking.close()


@pytest.fixture(scope="module")
def found(ask: Ask) -> list[dict[str, Any]]:
    functions: list[dict[str, Any]] = ask("found", "")
    assert len(functions) > 800
    assert sum(one["fed"] for one in functions) > 400
    return functions


def too_much(cost: dict[str, Any]) -> bool:
    """Whether a function took longer, grew faster or kept more than it may, or came to no end."""
    return (
        "fault" in cost
        or cost["seconds"] > MAX_SECONDS * cost["slowness"]
        or cost["seconds"] > MOST_GROWTH * max(cost["half_seconds"], MIN_SECONDS)
        or cost["megabytes"] > MAX_MEGABYTES
    )


@pytest.mark.parametrize("door", DOORS)
def test_no_text_keeps_a_door_busy(door: str, ask: Ask) -> None:
    cost = ask("door", door)
    assert not too_much(cost), cost


@pytest.mark.parametrize("room", list(rooms()))
def test_no_text_keeps_a_function_busy(room: str, ask: Ask) -> None:
    assert {place: cost for place, cost in ask("room", room).items() if too_much(cost)} == {}


def test_every_function_that_takes_a_text_is_fed_or_says_why_not(found: list[dict[str, Any]]) -> None:
    left = {one["place"]: one["unmade"] for one in found if not one["fed"] and not one["reason"]}
    assert left == {}, "open a door for it, or say in hostile_functions why it needs none"


def test_no_reason_is_kept_that_no_function_needs(found: list[dict[str, Any]]) -> None:
    used = {one["used"] for one in found}
    assert {*ROOMS, *NEEDED, *NOT_FED} - used == set()
    assert set(OURS) - {name for one in found for name in one["texts"]} == set()
    places = [one["place"] for one in found]
    assert [name for name in SIZES if not any(is_within(place, name) for place in places)] == []


def test_a_new_function_is_found_and_fed_without_anyones_help(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "newcomer.py").write_text(NEWCOMER)
    costs = ask("newcomer", str(tmp_path))
    assert costs["unmade"] == ["newcomer:kept"]
    assert {place: too_much(cost) for place, cost in costs["fed"].items()} == {
        "newcomer:Reader.greedy": True,
        "newcomer:quick": False,
        "newcomer:slow": True,
    }


NEWCOMER = """
from dataclasses import dataclass


class Store: ...


def quick(text: str) -> int:
    return len(text)


def slow(text: str, *, often: int) -> int:
    return sum(1 for _ in range(50_000 + len(text) ** 3 // 40_000_000_000)) if text.startswith("[[") else 0


@dataclass
class Reader:
    def greedy(self, texts: list[str]) -> str:
        return texts[0] * (400 if texts[0].startswith("[[") else 1)


def kept(store: Store, text: str) -> None: ...
"""
"""A module with what is fed and too slow or too large, what is fed and neither, and what nobody can feed.

What is slow takes a millisecond of a short text too: it stands out there as well where the machine is busy.
"""
