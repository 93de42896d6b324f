"""What is asked when a script has ended, and the frame in which it runs.

The questions of `last_texts` and `last_controls` can be answered only by code of the script or the target. So each of
the two has its own namespace and knows only where to put its answer, because the code that it asks can see its frame.
"""

import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from touchstone.audits.sandbox.inside.exceptions import chain_of, text_of

type Leave = Callable[[object, BaseException | None, object], None]
"""The function that a `with` calls when its block is left: with the class of the exception, the exception, and its
traceback."""


def last_texts(texts: list[str]) -> Leave:
    """A function that asks an exception and its causes for their messages."""

    def ask(_kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            texts.extend(text_of(one) for one in chain_of(error))

    return ask


def last_controls(names: dict[str, ModuleType], faults: list[str]) -> Leave:
    """A function that repeats controls of the target, whose results must be the same as before the script.

    The controls try things that must work and things that must fail.
    """

    def tried() -> dict[str, str]:
        """The results of the controls, by what was tried."""
        invented = "touchstone_" + os.urandom(8).hex()
        ends = {}
        for name, module in names.items():
            try:
                ends[name] = "is there" if importlib.import_module(name) is module else "is another"
            except BaseException as error:  # noqa: BLE001
                ends[name] = f"raises {type(error).__name__}"
            for what, act in (
                ("an invented attribute of it", lambda module=module: getattr(module, invented)),
                ("an invented module of it", lambda name=name: importlib.import_module(f"{name}.{invented}")),
            ):
                try:
                    act()
                    ends[f"{name}: {what}"] = "is there"
                except BaseException as error:  # noqa: BLE001
                    ends[f"{name}: {what}"] = f"raises {type(error).__name__}"
        return ends

    before = tried()

    def ask(_kind: object, _error: BaseException | None, _trace: object) -> None:
        faults.extend(f"{name} {end}" for name, end in tried().items() if before.get(name) != end)

    return ask


def once(leave: Leave) -> Any:
    """An object for a `with` statement that calls `leave` when its block is left.

    It gives `leave` away when the block is entered. From then on only the block's own stack holds `leave`. The script
    can find the class, but the class leads to nothing.
    """
    kept = [leave]
    return type("Once", (), {"__enter__": lambda _: None, "__exit__": property(lambda _: kept.pop())})()


def run_last(held: list[Any]) -> None:  # pragma: no cover - runs in the sandbox alone
    """Run the script with no other frame on the stack than this one, which holds nothing.

    Only the stack of this call holds the code that reports the end.
    """
    with held.pop(), held.pop(), held.pop():
        exec(held.pop(), held.pop())  # noqa: S102
