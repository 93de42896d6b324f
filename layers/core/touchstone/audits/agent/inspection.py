"""What the sources say about one name: its signature, docstring, fields, members and code."""

import ast
import difflib
from collections.abc import Iterator

from touchstone.audits.agent.bounds import OUTPUT_CHARS, bounded, short
from touchstone.audits.agent.library import Library
from touchstone.audits.agent.naming import FoundName, Function, Names, source_text
from touchstone.errors import InputError

MAX_NAME_CHARS = 300
DOCSTRING_CHARS = 2_500
FIELD_CHARS = 300
MAX_FIELDS = 80
MAX_MEMBERS = 120
NEAR = 5
"""How many similar names are offered if a name does not exist."""


def inspect_fqn(library: Library, name: str) -> str:
    """A description of a name in words, for the writer of a script.

    Raises InputError if the sources do not define the name. Names that are made at run time are not found here; a
    script shows them.
    """
    if len(name) > MAX_NAME_CHARS:
        raise InputError(f"A name has {MAX_NAME_CHARS} characters at most.", where="name")
    names = Names(library)
    found = names.find(name)
    if found is None:
        raise InputError(_not_found(names, name), where="name")
    lines = [f"{_kind(found)} {found.name}", _place(found)]
    match found.node:
        case None:
            lines += _described(ast.get_docstring(found.module.tree)) + _members(names, found)
        case ast.ClassDef() as node:
            lines += _class(names, found, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef() as node:
            lines += [f"signature: {signature(node)}", *_described(ast.get_docstring(node))]
    if found.node is not None:
        lines += ["source:", found.module.source_of(found.node)]
    return bounded("\n".join(lines), OUTPUT_CHARS, hint=f"read_file shows more of {found.module.path}")


def signature(node: Function) -> str:
    """A function's name, parameters and result, as written in the source."""
    result = f" -> {source_text(node.returns)}" if node.returns is not None else ""
    before = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{before}{node.name}({source_text(node.args)}){result}"


def _kind(found: FoundName) -> str:
    match found.node:
        case None:
            return "module"
        case ast.ClassDef():
            return "class"
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return "function"
        case _:
            return "value"


def _place(found: FoundName) -> str:
    if found.node is None:
        return f"in {found.module.path}"
    return f"in {found.module.path}, lines {found.node.lineno} to {found.node.end_lineno}"


def _described(docstring: str | None) -> list[str]:
    return ["docstring:", bounded(docstring, DOCSTRING_CHARS)] if docstring else []


def _members(names: Names, found: FoundName) -> list[str]:
    bound = [each for each in names.members(found) if not each.startswith("_")]
    more = f" … and {len(bound) - MAX_MEMBERS} more" if len(bound) > MAX_MEMBERS else ""
    return [f"names: {', '.join(bound[:MAX_MEMBERS])}{more}"] if bound else []


def _class(names: Names, found: FoundName, node: ast.ClassDef) -> list[str]:
    above = list(names.bases(found))
    lines = [f"bases: {', '.join(map(source_text, node.bases)) or 'object'}"]
    lines += [f"decorator: @{source_text(each)}" for each in node.decorator_list]
    constructor = names.find(f"{found.name}.__init__")
    if constructor is not None and isinstance(constructor.node, ast.FunctionDef):
        lines.append(f"constructor: {constructor.name}: {signature(constructor.node)}")
    lines += _described(ast.get_docstring(node))
    fields = list(_fields([found, *above]))
    if fields:
        lines += [
            f"fields{' of a pydantic model' if _is_model(above) else ''}, inherited ones last:",
            *fields[:MAX_FIELDS],
        ]
    if len(fields) > MAX_FIELDS:
        lines.append(f"  … and {len(fields) - MAX_FIELDS} more")
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    if methods:
        lines += ["methods:", *(f"  {short(signature(each), FIELD_CHARS)}" for each in methods[:MAX_MEMBERS])]
    return lines


def _is_model(above: list[FoundName]) -> bool:
    return any(base.name.startswith("pydantic.") for base in above)


def _fields(classes: list[FoundName]) -> Iterator[str]:
    """Yield the annotated names of a class and its bases as written, each once, and the `model_config` of a model."""
    seen: set[str] = set()
    for each in classes:
        if each.name.startswith(("pydantic.", "typing.")):
            continue
        origin = "" if each is classes[0] else f"  (from {each.name})"
        for statement in getattr(each.node, "body", []):
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name)) if name not in seen:
                    shown = source_text(statement)
                case ast.Assign(targets=[ast.Name(id="model_config" as name)]) if name not in seen:
                    shown = source_text(statement)
                case _:
                    continue
            seen.add(name)
            yield f"  {short(shown, FIELD_CHARS)}{origin}"


def _not_found(names: Names, name: str) -> str:
    """The message for a name that does not exist: how far it leads, and which names look like it."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        found = names.find(".".join(parts[:length]))
        if found is None:
            continue
        near = difflib.get_close_matches(parts[length], names.members(found), n=NEAR, cutoff=0.5)
        offered = f" Near it are {', '.join(near)}." if near else ""
        return (
            f"The sources define no {parts[length]!r} in {found.name}.{offered} It may be made at run time: a script "
            "shows whether it is there."
        )
    return "No source of a module of that name is in the bundle; search_ranked_targets finds names."
