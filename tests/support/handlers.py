"""The deployed handlers, by the names that `infra.grants` gives them: where each is in the code."""

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from infra.grants import GRANTS

HANDLERS = (*GRANTS, "functions.sandbox")


def place_of(name: str) -> tuple[Any, str]:
    """The module and the attribute of a handler: `functions.oracle.rank` is a function, `functions.sweep` a module."""
    package, _, last = name.rpartition(".")
    owner: Any = importlib.import_module(package)
    if not hasattr(owner, "__path__") and hasattr(owner, last):
        return owner, last
    assert find_spec(name) is not None, f"There is no handler {name}"
    return importlib.import_module(name), "handler"


def handler_of(name: str) -> Callable[..., Any]:
    """The handler, as its module has it by now."""
    return getattr(*place_of(name))  # type: ignore[no-any-return] # a module's attribute
