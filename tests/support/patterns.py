"""Every pattern that the package compiles, and in which ways it is run."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import functions
import touchstone
from tests.support.pumping import STYLES

RUNS = {"match": "match", "fullmatch": "fullmatch", "search": "search"} | dict.fromkeys(
    ("finditer", "findall", "sub", "subn", "split"), "finditer"
)
"""The functions of `re` that run a pattern, by the style that costs the same."""
_DEPTH = 4
"""How deep within containers and classes a pattern is looked for."""


@dataclass(frozen=True, slots=True)
class Used:
    """A pattern, where it was found first, and the styles in which it is run; all of them where that is not seen."""

    where: str
    pattern: re.Pattern[str]
    styles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A call whose pattern is made when it runs, so that nobody can say beforehand what it is."""

    module: str
    call: str


def all_modules() -> list[ModuleType]:
    """Every module of the library and of the doors, imported."""
    names = [
        found.name
        for root in (touchstone, functions)
        for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
    ]
    return [touchstone, functions, *map(importlib.import_module, names)]


def patterns_of(modules: list[ModuleType]) -> tuple[list[Used], list[Opaque]]:
    """The patterns of the modules, each once, and the calls whose patterns cannot be told."""
    found: dict[tuple[str, int], tuple[str, re.Pattern[str], set[str]]] = {}
    opaque: list[Opaque] = []

    def add(where: str, pattern: re.Pattern[str], styles: set[str]) -> None:
        found.setdefault((pattern.pattern, pattern.flags), (where, pattern, set()))[2].update(styles)

    for module in modules:
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for name, value in list(vars(module).items()):
            if isinstance(value, dict) and value and all(isinstance(each, re.Pattern) for each in value.values()):
                for key, pattern in value.items():
                    add(f"{module.__name__}.{name}[{key!r}]", pattern, _styles_of(tree, name, key))
                continue
            styles = _styles_of(tree, name) if isinstance(value, re.Pattern) else set(STYLES)
            for pattern in _within(value):
                add(f"{module.__name__}.{name}", pattern, styles)
        later = {id(node) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) for node in ast.walk(each)}
        for call in _calls(tree):
            if (made := _made(call, module)) is None:
                opaque.append(Opaque(module.__name__, ast.unparse(call)))
            elif call.func.attr in RUNS:  # type: ignore[attr-defined]
                add(f"{module.__name__}:{call.lineno}", made, {RUNS[call.func.attr]})  # type: ignore[attr-defined]
            elif id(call) in later:  # a pattern that is compiled on first use
                add(f"{module.__name__}:{call.lineno}", made, set(STYLES))
    used = [Used(where, pattern, tuple(sorted(styles))) for where, pattern, styles in found.values()]
    return used, opaque


def _within(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """The patterns that a value is or holds."""
    inner: list[object] = []
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, Mapping):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    elif isinstance(value, type):
        inner = list(vars(value).values()) if value.__module__.startswith(("touchstone", "functions")) else []
    elif is_dataclass(value):
        lazy = [name for name, each in vars(type(value)).items() if isinstance(each, cached_property)]
        inner = [getattr(value, name, None) for name in (*(field.name for field in fields(value)), *lazy)]
    if depth < _DEPTH:
        for part in inner:
            yield from _within(part, depth + 1)


def _styles_of(tree: ast.Module, name: str, key: object = None) -> set[str]:
    """How a module runs the pattern that it has under a name, or a name and a key; in every style if it hands it on."""
    styles: set[str] = set()
    seen: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=(ast.Name(id=own) as held), attr=style) if key is None and own == name:
                seen.add(held)
            case ast.Attribute(
                value=ast.Subscript(value=ast.Name(id=own), slice=ast.Constant(value=each)) as held, attr=style
            ) if own == name and each == key:
                seen.add(held)
            case _:
                continue
        styles |= {RUNS[style]} if style in RUNS else set()
    handed_on = any(_is_loaded(node, name, key) and node not in seen for node in ast.walk(tree))
    return set(STYLES) if handed_on else styles


def _is_loaded(node: ast.AST, name: str, key: object) -> bool:
    """Whether the pattern under a name, or a name and a key, is taken there."""
    match node:
        case ast.Name(id=own, ctx=ast.Load()):
            return key is None and own == name
        case ast.Subscript(value=ast.Name(id=own), slice=place):
            return key is not None and own == name and not (isinstance(place, ast.Constant) and place.value != key)
    return False


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls of `re` that take a pattern."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if name in RUNS or name == "compile":
                yield node


def _made(call: ast.Call, module: ModuleType) -> re.Pattern[str] | None:
    """The pattern of a call, where the module's own names make it."""
    flags = next((word.value for word in call.keywords if word.arg == "flags"), None)
    if flags is None and getattr(call.func, "attr", "") in (
        "compile",
        "match",
        "fullmatch",
        "search",
        "findall",
        "finditer",
    ):
        taken = 1 if getattr(call.func, "attr", "") == "compile" else 2
        flags = call.args[taken] if len(call.args) > taken else None
    try:
        source = _value(call.args[0], module)
        made: re.Pattern[str] = re.compile(source, _value(flags, module) if flags else 0)
    except NameError:
        return None
    return made


def _value(node: ast.expr, module: ModuleType) -> Any:
    return eval(compile(ast.Expression(node), str(module.__file__), "eval"), dict(vars(module)))  # noqa: S307
