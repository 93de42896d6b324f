"""What of a script ran, as Python itself tells: its functions, its assertions, and what ended unseen."""

import importlib
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from touchstone.audits.sandbox.inside.marks import FAILED_MARK
from touchstone.audits.sandbox.inside.objects import full_name, is_among, mro_of
from touchstone.audits.sandbox.inside.shared import MAX_FAULTS, MAX_TOLD, OBSERVER, Json
from touchstone.audits.sandbox.inside.syntax import all_code

ABOUT_COROUTINES = (
    "iscoroutine(", "isawaitable(", "__await__", "Coroutine", "Awaitable", "CO_COROUTINE", "'coroutine'", '"coroutine"',
)  # fmt: skip
"""Words of a script that looks at a coroutine, and may well not await it."""


def seen_of(
    code: CodeType, asserted: Json, unseen: tuple[list[Any], list[Any]], futures: dict[str, CodeType]
) -> Callable[[set[int]], Json]:  # pragma: no cover - runs in the sandbox alone
    """A function that tells what ended unseen, which assertions failed, and what of the script never ran.

    It is given the lines of what failed and was caught.

    Python itself takes from a dictionary what started, and tells of each once.
    """
    watched = all_code(code)[1:]
    left = dict.fromkeys([*watched, *futures.values()], sys.monitoring.DISABLE)
    start = sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(OBSERVER, "proof")
    sys.monitoring.register_callback(OBSERVER, start, left.pop)
    for each in left:
        sys.monitoring.set_local_events(OBSERVER, each, start)

    def classes(ended: list[Any]) -> list[type]:
        found = [
            tuple.__getitem__(one, 0)
            for one in ended[:MAX_TOLD]
            if is_among(tuple, mro_of(type(one))) and tuple.__len__(one)
        ]
        return [kind for kind in found if is_among(type, mro_of(type(kind)))]

    def lines(mark: str) -> set[int]:
        """The lines at which a mark of that name started."""
        return {each.co_firstlineno for each in watched if mark in each.co_names and each not in left}

    def told(caught: set[int]) -> Json:
        failed = [kind for kind in classes(unseen[1]) if is_among(AssertionError, mro_of(kind))]
        ended = [full_name(kind).removeprefix("builtins.") for kind in [*classes(unseen[0]), *failed]]
        ran = {name for name, each in futures.items() if each not in left}
        if "default_exception_handler" in ran or ("set_exception" in ran and not ran & {"result", "exception"}):
            ended.append("an exception of a future")
        if "_warn_unawaited_coroutine" in ran:
            ended.append("a coroutine that nobody awaited")
        idle = {each.co_firstlineno for each in watched if each in left and each.co_name[0] != "<"}
        return {
            "unseen": ended[:MAX_FAULTS],
            "failed": sorted(lines(FAILED_MARK) | caught)[:MAX_TOLD],
            "unpassed": sorted(set().union(*(asserted[mark] - lines(mark) for mark in asserted)))[:MAX_TOLD],
            "idle": sorted(idle)[:MAX_TOLD],
        }

    return told


def futures_of(script: str) -> dict[str, CodeType]:
    """Python's own functions that are told of an exception in a future, and that a script asks for it, by name.

    Also that which is told of a coroutine that nobody awaited, unless the script looks at coroutines.
    """
    found: list[Any] = []
    if not any(word in script for word in ABOUT_COROUTINES):
        found.append(importlib.import_module("warnings")._warn_unawaited_coroutine)  # noqa: SLF001
    if "concurrent" in script:
        future = importlib.import_module("concurrent.futures").Future
        found += [future.set_exception, future.result, future.exception]
    if "asyncio" in script:
        found.append(importlib.import_module("asyncio").BaseEventLoop.default_exception_handler)
    return {each.__name__: each.__code__ for each in found}
