"""Feed hostile texts to the functions of the package, in processes that are forked off this one.

`python -m tests.support.hostile_runs` reads requests from its input, one a line, and answers each with a line of JSON.
"""

import gc
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from types import CodeType
from typing import Any

from pydantic import ValidationError

import touchstone
from tests.support.hostile import MAX_MEGABYTES, Door, cost_of, prepare
from tests.support.hostile_doors import DOORS
from tests.support.hostile_functions import SIZES, commands_of, is_within, judged, size_of
from tests.support.text_functions import text_functions
from touchstone.errors import TouchstoneError

MOST_SECONDS = 60
"""Of processor time for one function and all texts, after which it is ended: then it is faulty."""

MOST_WAITED = 300
"""Seconds after which a function that waits for something is ended."""


def apart(work: Callable[[], Any], functions: int = 1) -> Any:
    """What work on so many functions comes to in a process of its own without a network, or how it failed."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        _alone(functions)
        try:
            said = work()
        except BaseException as error:  # noqa: BLE001 -- told to whoever asked
            said = {"fault": repr(error)[:500]}
        with os.fdopen(writing, "w") as told:
            json.dump(said, told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    _, status = os.waitpid(child, 0)
    return json.loads(said) if said else {"fault": f"ended with status {status}"}


def _alone(functions: int) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (functions * MOST_SECONDS, functions * MOST_SECONDS))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(tempfile.gettempdir())
    socket.socket.connect = _refuse  # type: ignore[method-assign]
    time.sleep = lambda _seconds: None  # whoever tries again later does so at once
    signal.alarm(functions * MOST_WAITED)


def _refuse(*_: object) -> None:
    raise OSError("no network here")


class Feeding:
    """The functions of the package, found once, and what is asked about them."""

    def __init__(self) -> None:
        self.commands = commands_of()
        self.functions = [judged(one, self.commands) for one in text_functions()]
        for size in {*SIZES.values(), *(size for size, _ in DOORS.values())}:
            prepare(size)
        gc.collect()
        gc.freeze()  # what is collected in a process forked off this one is its own

    def door(self, name: str) -> Any:
        """What hostile texts cost at one door."""
        size, opened = DOORS[name]
        return apart(lambda: asdict(cost_of([opened()], size)))

    def room(self, name: str) -> dict[str, Any]:
        """What they cost each function of a room that is fed as it stands.

        They share a process. One that does not end there, or more memory than one may take, has each fed by itself.
        """
        fed = {
            one.function.place: one.doors for one in self.functions if one.doors and is_within(one.function.place, name)
        }
        told = apart(lambda: {place: asdict(cost_of(fed[place], size_of(place))) for place in fed}, len(fed))
        if "fault" in told or sum(cost["megabytes"] for cost in told.values()) > MAX_MEGABYTES:
            return {place: self._fed(place, doors) for place, doors in fed.items()}
        return dict(told)

    def _fed(self, place: str, doors: Sequence[Door]) -> Any:
        return apart(lambda: asdict(cost_of(doors, size_of(place))))

    def found(self, _: str = "") -> list[dict[str, Any]]:
        """Every function, whether it is fed or why it is not, and whether a door leads to it."""
        reached = set(apart(self._reached))
        return [
            {
                "place": one.function.place,
                "fed": bool(one.doors) or one.function.place in reached,
                "reason": one.reason,
                "used": one.used,
                "texts": one.function.texts,
                "unmade": one.unmade,
            }
            for one in self.functions
        ]

    def _reached(self) -> list[str]:
        """The functions that run while ordinary texts go through the doors."""
        seen: set[str] = set()

        def started(code: CodeType, _: int) -> object:
            if (at := code.co_filename.rfind("/touchstone/")) >= 0:
                module = code.co_filename[at + 12 :].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                seen.add(f"{module}:{code.co_qualname}")
            return sys.monitoring.DISABLE

        doors = [opened() for _, opened in DOORS.values()]
        sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "doors")
        sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, sys.monitoring.events.PY_START, started)
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, sys.monitoring.events.PY_START)
        for door in doors:
            for text in ORDINARY:
                with suppress(TouchstoneError, ValidationError):
                    door(text)
        return sorted(seen)

    def newcomer(self, folder: str) -> Any:
        """What is found in, and what it costs of, a module that somebody adds to the package."""
        return apart(lambda: self._newcomer(folder))

    def _newcomer(self, folder: str) -> dict[str, Any]:
        touchstone.__path__.append(folder)
        added = [judged(one, self.commands) for one in text_functions() if is_within(one.place, "newcomer")]
        return {
            "unmade": [one.function.place for one in added if one.unmade and not one.reason],
            "fed": {one.function.place: self._fed(one.function.place, one.doors) for one in added if one.doors},
        }


ORDINARY = (
    "A text. 一篇文章。學 (xué) shì nǐ3",
    "So x = 2, since 3 m + 20 cm = 3.2 m and 2 * 3 = 6, y is -2.5e3; 三百二十 公里.",
    "2x + 1 < 7 or x = 3",
    "(1, 3] ∪ {4, 5}",
    "10:30 am",
)
"""What people write: together these reach whatever hostile texts may reach as well."""


if __name__ == "__main__":
    feeding = Feeding()
    for line in sys.stdin:
        asked, name = json.loads(line)
        print(json.dumps(getattr(feeding, asked)(name)), flush=True)
