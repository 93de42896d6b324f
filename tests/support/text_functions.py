"""The public functions of the package that take text, and which of them the doors of the hostile corpus go through.

`python -m tests.support.text_functions` sends ordinary texts through every door, and prints the functions reached, as
JSON.
"""

import functools
import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from types import CodeType, FunctionType
from typing import Any, ForwardRef, TypeAliasType, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

import touchstone
from tests.support.hostile_doors import DOORS
from touchstone.errors import TouchstoneError

_DEPTH = 2
"""How deep within records a text is looked for."""


def text_functions() -> Iterator[tuple[str, str]]:
    """The public functions that take a text: module without `touchstone.`, and name.

    What a face offers takes a text also where that stands within a record, as the questions of a quiz do.
    """
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(touchstone.__path__, "touchstone.")
        if not any(part.startswith("_") for part in info.name.split("."))
    ]
    offered = {
        id(getattr(module, name)) for module in (touchstone, *modules) for name in getattr(module, "__all__", ())
    }
    for module in modules:
        for name, value in vars(module).items():
            function = function_of(value)
            if name.startswith("_") or function is None or function.__module__ != module.__name__:
                continue
            if takes_text(function, depth=_DEPTH if id(value) in offered else 0):
                yield module.__name__.removeprefix("touchstone."), function.__qualname__


def function_of(value: object) -> FunctionType | None:
    """The function that was written, where a value is one, cached or wrapped."""
    value = inspect.unwrap(value) if callable(value) else value
    return value if inspect.isfunction(value) else None


def takes_text(function: FunctionType, *, depth: int) -> bool:
    """Whether a parameter is a text or holds one, in records up to `depth` within one another."""
    hints = function.__annotations__
    return any(_holds_text(hint, depth) for name, hint in hints.items() if name != "return")


def _holds_text(hint: Any, depth: int) -> bool:
    if hint in (str, bytes) or isinstance(hint, str | ForwardRef):
        return True
    if isinstance(hint, TypeAliasType):
        return _holds_text(hint.__value__, depth)
    if any(_holds_text(part, depth) for part in get_args(hint) if not isinstance(part, str)):
        return True
    is_record = isinstance(hint, type) and (issubclass(hint, BaseModel) or is_dataclass(hint))
    return depth > 0 and is_record and any(_holds_text(part, depth - 1) for part in _fields(hint))


@functools.cache
def _fields(record: type) -> tuple[Any, ...]:
    with suppress(NameError, TypeError):
        return tuple(get_type_hints(record).values())
    return (str,)


ORDINARY = (
    "Compute 3/4 + 1/6.",
    "A text. 一篇文章。學 (xué) shì nǐ3",
    "So x = 2, since 3 m + 20 cm = 3.2 m and 2 * 3 = 6, y is -2.5e3; 三百二十 公里.",
    "Solve 2x + 3 = 7 for x.",
    "x^2 + 2x + 1",
    "2x + 1 < 7 or x = 3",
    "(1, 3] ∪ {4, 5}",
    "[[1, 2], [3, 4]]",
    "3 : 4",
    "2 km/h",
    "10:30 am",
    "{1, 2}",
)
"""What people write: together these reach whatever hostile texts may reach as well."""


def reached() -> set[str]:
    """The functions that run while ordinary texts go through the doors, as `module:name`."""
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
    sys.monitoring.free_tool_id(sys.monitoring.COVERAGE_ID)
    return seen


if __name__ == "__main__":
    print(json.dumps(sorted(reached())))
