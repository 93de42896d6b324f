"""The public functions and methods of the package that take a text, found by walking the package and its annotations.

A function that a face offers takes a text also where that stands within a record, as the questions of a quiz do.
"""

import ast
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, ForwardRef, Literal, TypeAliasType, get_args, get_origin, get_type_hints

from pydantic import BaseModel

import touchstone

DEPTH = 2
"""How deep within records a text is looked for, in what a face offers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFunction:
    """A function or method: where it stands, its parameters that hold a text, and its class where it is a method."""

    module: str
    name: str
    called: Callable[..., Any]
    hints: Mapping[str, Any]
    texts: tuple[str, ...]
    owner: type | None

    @property
    def place(self) -> str:
        """Its name as tables have it: module without `touchstone.`, a colon, and the qualified name."""
        return f"{self.module.removeprefix('touchstone.')}:{self.name}"


def text_functions() -> list[TextFunction]:
    """All of them, by their places."""
    modules = public_modules()
    offered = {
        id(vars(module).get(name)) for module in (touchstone, *modules) for name in getattr(module, "__all__", ())
    }
    found = [one for module in modules for one in _of_module(module, offered)]
    return sorted(found, key=lambda one: one.place)


def public_modules() -> list[ModuleType]:
    """Every public module of the package, imported, with the names that only its annotations use."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(touchstone.__path__, "touchstone.")
        if not any(part.startswith("_") for part in found.name.split("."))
    ]
    for module in modules:
        _import_for_types(module)
    return modules


def _import_for_types(module: ModuleType) -> None:
    """Run what stands under `if TYPE_CHECKING`, without which annotations cannot be read."""
    for node in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            block = compile(ast.Module(node.body, []), str(module.__file__), "exec")
            exec(block, vars(module))  # noqa: S102 -- the package's own lines


def _of_module(module: ModuleType, offered: set[int]) -> Iterator[TextFunction]:
    for name, value in list(vars(module).items()):
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value):
            for member, kept in list(vars(value).items()):
                if not member.startswith("_"):
                    yield from _of(module, f"{name}.{member}", kept, owner=value, depth=0)
        else:
            yield from _of(module, name, value, owner=None, depth=DEPTH if id(value) in offered else 0)


def _of(module: ModuleType, name: str, value: Any, *, owner: type | None, depth: int) -> Iterator[TextFunction]:
    function = written(value)
    if (
        function is None
        or function.__module__ != module.__name__
        or function.__name__ != name.rsplit(".", maxsplit=1)[-1]
    ):
        return
    own = {one.__name__: one for one in (*getattr(owner, "__type_params__", ()), *function.__type_params__)}
    found = get_type_hints(function, localns=own or None, include_extras=True)
    hints = {key: hint for key, hint in found.items() if key != "return"}
    texts = tuple(key for key, hint in hints.items() if holds_text(hint, depth))
    if texts:
        bound = isinstance(value, classmethod | staticmethod)
        called = getattr(owner, function.__name__) if owner is not None and bound else value
        yield TextFunction(
            module=module.__name__,
            name=name,
            called=called,
            hints=hints,
            texts=texts,
            owner=None if bound else owner,
        )


def written(value: Any) -> FunctionType | None:
    """The function as it was written, where a value is one, cached, wrapped or bound to a class."""
    if isinstance(value, classmethod | staticmethod):
        value = value.__func__
    value = inspect.unwrap(value) if callable(value) else value
    return value if inspect.isfunction(value) else None


def holds_text(hint: Any, depth: int) -> bool:
    """Whether what a hint allows is a text or holds one, in records up to `depth` within one another."""
    if hint in (str, bytes) or isinstance(hint, str | ForwardRef):
        return True
    if isinstance(hint, TypeAliasType):
        return holds_text(hint.__value__, depth)
    if get_origin(hint) in (Literal, Callable, type) or str(get_origin(hint)) == str(Callable):
        return False
    if any(holds_text(part, depth) for part in get_args(hint) if not isinstance(part, str)):
        return True
    is_record = isinstance(hint, type) and (issubclass(hint, BaseModel) or is_dataclass(hint))
    return depth > 0 and is_record and any(holds_text(part, depth - 1) for part in fields_of(hint).values())


@functools.cache
def fields_of(record: type) -> Mapping[str, Any]:
    """What the fields of a record hold, by their names; nothing where that cannot be told."""
    with suppress(NameError, TypeError):
        hints = get_type_hints(record, include_extras=True)
        names = list(record.model_fields) if issubclass(record, BaseModel) else _names(record)
        return {name: hints[name] for name in names}
    return {}


def _names(record: Any) -> list[str]:
    return [one.name for one in fields(record)]
