"""The parts of code, as syntax and compiled. `ast` is not imported, since that takes as long as a short script."""

from _ast import (
    Assign,
    AsyncFunctionDef,
    Attribute,
    Call,
    ClassDef,
    Constant,
    FunctionDef,
    Global,
    Load,
    Name,
    Store,
    Subscript,
    alias,
)
from types import CodeType
from typing import Any

from touchstone.audits.sandbox.inside.shared import Holder

ONLY_SYNTAX = 0x400
"""`ast.PyCF_ONLY_AST`, without the time that the import of `ast` takes."""


def parts_of(node: Any) -> list[Any]:
    held = [getattr(node, field, None) for field in node._fields]
    return [one for some in held for one in (some if type(some) is list else [some]) if hasattr(one, "_fields")]


def walked(tree: Any) -> list[Any]:
    """A part of a syntax and all parts below it."""
    parts = [tree]
    for each in parts:
        parts += parts_of(each)
    return parts


def position_of(node: Any) -> dict[str, Any]:
    return {name: getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}


def called_name(node: Any) -> str:
    """The name, or the attribute, that is meant or called; empty for anything else."""
    named = node.func if type(node) is Call else node
    return str(getattr(named, "id", getattr(named, "attr", "")))


def set_names(tree: Any) -> set[str]:
    """The names of the attributes that code sets."""
    parts = walked(tree)
    calls = [each for each in parts if type(each) is Call and called_name(each) in ("setattr", "__setattr__")]
    words = [one for each in calls for one in each.args[-2:-1]]
    words += [each.slice for each in parts if type(each) is Subscript and type(each.ctx) is Store]
    return {each.attr for each in parts if type(each) is Attribute and type(each.ctx) is Store} | {
        str(one.value) for one in words if type(one) is Constant
    }


def set_on(tree: Any) -> set[tuple[str, ...]]:
    """What code sets: the name of what it is set on, which is empty for a global name of a function, and its own.

    Also, as a third, the name of what it is set to, where that is another part of what it is set on.
    """
    found: set[tuple[str, ...]] = set()
    for each in walked(tree):
        if type(each) is Global:
            found |= {("", name) for name in each.names}
        elif type(each) is Attribute and type(each.ctx) is Store and type(each.value) is Name:
            found.add((each.value.id, each.attr))
        elif type(each) is Assign and type(each.value) is Attribute and type(each.value.value) is Name:
            on: list[Any] = [one for one in each.targets if type(one) is Attribute and type(one.value) is Name]
            found |= {(one.value.id, one.attr, each.value.attr) for one in on if one.value.id == each.value.value.id}
    return found


def bound_in(tree: Any) -> tuple[dict[str, int], list[Holder]]:
    """How often a file binds each name, and its functions and methods that nothing else in it binds or wraps."""
    parts = walked(tree)
    bound = [each.id for each in parts if type(each) is Name and type(each.ctx) is not Load]
    bound += [(each.asname or each.name).partition(".")[0] for each in parts if type(each) is alias]
    bound += [one for each in parts if type(each) is Global for one in each.names]
    bound += [each.name for each in parts if type(each) is not alias and type(getattr(each, "name", None)) is str]
    times: dict[str, int] = {}
    for each in bound:
        times[str(each)] = times.get(str(each), 0) + 1
    found = [("", one) for one in tree.body]
    for each in tree.body:
        if type(each) is ClassDef and not each.decorator_list and times[each.name] == 1:
            found += [(each.name, one) for one in each.body]
    return times, [
        (owner, one.name)
        for owner, one in found
        if type(one) in (FunctionDef, AsyncFunctionDef)
        and not one.decorator_list
        and one.name[:2] != "__"
        and times[one.name] == 1
    ]


def all_code(code: CodeType) -> list[CodeType]:
    found = [code]
    for each in found:
        found += [one for one in each.co_consts if type(one) is CodeType]
    return found
