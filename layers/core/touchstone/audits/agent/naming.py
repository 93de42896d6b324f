"""Find the definition of a dotted name, through imports and base classes, from the syntax alone."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from touchstone.audits.agent.library import Library, Module

MAX_HOPS = 40
"""How many imports and base classes are followed for one name: more means that they form a circle."""
MAX_STEPS = 5_000
"""How many names are looked up for one name: a library can be made so that there is no end of them."""

type Function = ast.FunctionDef | ast.AsyncFunctionDef
type Definition = ast.ClassDef | Function | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class FoundName:
    """The place of a definition: `node` in `module`. `node` is None if the name is that of the module itself.

    `name` is the full name at the place of the definition.
    """

    name: str
    module: Module
    node: Definition | None


class Names:
    """Looks up names of a library. Each instance is for one question, and all its look-ups share `MAX_STEPS`."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._left = MAX_STEPS

    def find(self, name: str) -> FoundName | None:
        """The definition of the dotted name.

        None if the sources do not show it, as for a name that is made at run time.
        """
        try:
            return self._find(name.split("."), MAX_HOPS)
        except RecursionError:  # from thousands of branches, each inside the one before
            return None

    def bases(self, found: FoundName) -> Iterator[FoundName]:
        """The base classes of a class that the sources show, nearest first, each once."""
        yield from self._bases(found, {found.name}, MAX_HOPS)

    def members(self, found: FoundName) -> list[str]:
        """The names that a module or class itself binds, in order."""
        body = found.module.tree.body if found.node is None else getattr(found.node, "body", [])
        names: dict[str, None] = {}
        for statement in _flat(body):
            names.update(dict.fromkeys(_bound(statement)))
        return list(names)

    def _find(self, parts: Sequence[str], hops: int) -> FoundName | None:
        self._left -= 1
        if self._left < 0:
            return None
        for length in range(len(parts), 0, -1):
            module = self._library.module(".".join(parts[:length]))
            if module is not None:
                return self._within(FoundName(module.name, module, None), parts[length:], hops)
        return None

    def _within(self, found: FoundName, rest: Sequence[str], hops: int) -> FoundName | None:
        self._left -= 1
        for at, name in enumerate(rest):
            if hops <= 0 or self._left < 0:
                return None
            below = self._member(found, name, hops)
            if isinstance(below, str):
                return self._find([*below.split("."), *rest[at + 1 :]], hops - 1)
            if below is None:
                return None
            found = below
        return found

    def _member(self, found: FoundName, name: str, hops: int) -> FoundName | str | None:
        """The meaning of `name` in a module or class; None if it is not known.

        It is a definition, or the full name from which `name` is imported.
        """
        match found.node:
            case None:
                return self._of_module(found.module, name, hops)
            case ast.ClassDef():
                owners = chain([found], self._bases(found, {found.name}, hops - 1))
                return next((one for owner in owners if (one := _own(owner, name)) is not None), None)
            case _:
                return None

    def _of_module(self, module: Module, name: str, hops: int) -> FoundName | str | None:
        for statement in reversed(list(_flat(module.tree.body))):
            if isinstance(statement, _DEFINITIONS) and name in _bound(statement):
                return FoundName(f"{module.name}.{name}", module, statement)
            if isinstance(statement, ast.ImportFrom | ast.Import):
                origin = _origin(module, statement, name)
                if origin is not None and origin != f"{module.name}.{name}":
                    return origin
        for statement in _flat(module.tree.body):
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                found = self._find([*_source(module, statement).split("."), name], hops - 1)
                if found is not None:
                    return found
        return None

    def _bases(self, found: FoundName, seen: set[str], hops: int) -> Iterator[FoundName]:
        if not isinstance(found.node, ast.ClassDef) or hops <= 0:
            return
        above: list[FoundName] = []
        for expression in found.node.bases:
            dotted = source_text(expression.value if isinstance(expression, ast.Subscript) else expression)
            start = FoundName(found.module.name, found.module, None)
            base = self._within(start, dotted.split("."), hops - 1)
            if base is not None and base.name not in seen and isinstance(base.node, ast.ClassDef):
                seen.add(base.name)
                above.append(base)
                yield base
        for base in above:
            yield from self._bases(base, seen, hops - 1)


def _own(found: FoundName, name: str) -> FoundName | None:
    """The definition of `name` in the body of a class itself; None if it has none."""
    for statement in reversed(list(_flat(getattr(found.node, "body", [])))):
        if isinstance(statement, _DEFINITIONS) and name in _bound(statement):
            return FoundName(f"{found.name}.{name}", found.module, statement)
    return None


def source_text(node: ast.AST) -> str:
    """A piece of syntax as text, or an ellipsis if it is nested too deeply."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return "…"


_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.AnnAssign)


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, and in place of `if`, `try` and `with` the statements inside them."""
    for statement in body:
        match statement:
            case ast.If(body=then, orelse=otherwise):
                yield from _flat(then)
                yield from _flat(otherwise)
            case ast.Try(body=then, handlers=handlers, orelse=otherwise):
                for handler in handlers:
                    yield from _flat(handler.body)
                yield from _flat(then)
                yield from _flat(otherwise)
            case ast.With(body=then):
                yield from _flat(then)
            case _:
                yield statement


def _bound(statement: ast.stmt) -> tuple[str, ...]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return (name,)
        case ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            bound = (alias.asname or alias.name.partition(".")[0] for alias in names)
            return tuple(name for name in bound if name != "*")
        case _:
            return ()


def _origin(module: Module, statement: ast.Import | ast.ImportFrom, name: str) -> str | None:
    for alias in statement.names:
        if (alias.asname or alias.name.partition(".")[0]) != name or alias.name == "*":
            continue
        if isinstance(statement, ast.ImportFrom):
            return f"{_source(module, statement)}.{alias.name}"
        return alias.name if alias.asname else name
    return None


def _source(module: Module, statement: ast.ImportFrom) -> str:
    """The full name of the module from which a statement imports."""
    if not statement.level:
        return statement.module or ""
    package = module.package.split(".")
    above = package[: len(package) - statement.level + 1]
    return ".".join([*above, *([statement.module] if statement.module else [])])
