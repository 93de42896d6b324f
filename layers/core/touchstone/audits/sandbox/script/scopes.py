"""Who binds a name of a script, where another statement overwrites it, and what it holds there."""

import ast
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from touchstone.audits.sandbox.script.dependence import (
    Function,
    ProofScript,
    last_name,
    names_in,
    own_parts,
    set_by,
)

_LOOKS_PER_PART = 20
"""Most looks at a part of the script, on average, by which it is read what decides an assertion."""
_READING = frozenset({"items", "keys", "values", "get", "copy", "index", "count"})
"""Methods of a list or dictionary that change nothing of it."""
_CHANGING = frozenset({
    "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft", "insert",
    "intersection_update", "pop", "popitem", "popleft", "remove", "reverse", "setattr", "setdefault", "sort",
    "subtract", "symmetric_difference_update", "update",
})  # fmt: skip
"""Functions by which a script changes what an object holds, a list, a set, a dictionary or one of `collections`."""
_LOOKING = frozenset({"bool", "isinstance", "len", "print", "repr", "str", "type"})
"""Built-in functions that give nothing on of what a list or dictionary holds."""


class LooksLeft:
    """How many more looks at parts of a script are left, which bounds the time to read it."""

    def __init__(self, source: ProofScript) -> None:
        self._most = _LOOKS_PER_PART * len(source.nodes)
        self._left = 0

    def renew(self) -> None:
        """Begin anew, with all of them."""
        self._left = self._most

    def take(self) -> bool:
        """Take one, and tell whether it was left."""
        self._left -= 1
        return self._left >= 0

    def any_left(self) -> bool:
        """Whether any are left. If none is, the script was not read to the end."""
        return self._left > 0


class ScriptScopes:
    """The names of a script: by which statements they are bound, in which block and function, and to what.

    `looks` are shared with `ScriptTruths`, which asks for the scopes.
    """

    def __init__(self, source: ProofScript) -> None:
        self._source = source
        self.looks = LooksLeft(source)
        self._makers: dict[str, str] = {}
        self._instances: dict[str, bool] = {}

    def is_overwritten(self, name: str, at: ast.stmt) -> bool:
        """Whether the last statement before `at` that binds `name` binds it to nothing of the target.

        It is looked for in the function of `at`, from its block to those around it. What a loop binds later counts too.
        """
        node: ast.AST | None = at
        while node is not None and not isinstance(node, Function | ast.ClassDef):
            self.looks.take()
            if id(node) in self._places:
                block, number = self._places[id(node)]
                places, of_target, ever = self._bound_in.get((block, name), ([], [], False))
                if (last := bisect_left(places, number) - 1) >= 0:
                    return not of_target[last]
                if ever and isinstance(self._source.parents[id(node)], ast.For | ast.AsyncFor | ast.While):
                    return False
            node = self._source.parents[id(node)]
            for head in _heads(node):
                if name in names_in(head):
                    return not self._source.binds(head, name)
        return False

    @cached_property
    def _places(self) -> dict[int, tuple[int, int]]:
        """By the identity of a statement: that of its block, and its place there."""
        blocks = [
            getattr(node, field, None) for node in self._source.nodes for field in ("body", "orelse", "finalbody")
        ]
        return {
            id(each): (id(block), number)
            for block in blocks
            if isinstance(block, list)
            for number, each in enumerate(block)
        }

    @cached_property
    def _bound_in(self) -> dict[tuple[int, str], tuple[list[int], list[bool], bool]]:
        """By block and name: where statements bind the name, in order, whether to the target's, and if any do."""
        found: dict[tuple[int, str], dict[int, bool]] = {}
        for node in self._source.nodes:
            for name in (*names_in(node), *self._source.recorded(node)):
                of_target, part = self._source.binds(node, name), node
                if isinstance(node, ast.Call) and not of_target and not self._puts_in(node, name):
                    continue
                while (owner := self._source.parents[id(part)]) is not None:
                    if isinstance(part, Function) and name in self._locals[id(part)]:
                        break
                    if id(part) in self._places:
                        block, number = self._places[id(part)]
                        places = found.setdefault((block, name), {})
                        places[number] = places.get(number, False) or of_target
                    part = owner
        return {
            key: (sorted(places), [places[each] for each in sorted(places)], any(places.values()))
            for key, places in found.items()
        }

    def _puts_in(self, call: ast.Call, name: str) -> bool:
        """Whether a call of a method may put something of the script's in the place of what `name` holds.

        What a method of the target does to its own object is the target's doing, unless it is given code of the
        script's.
        """
        method, itself = last_name(call.func), isinstance(getattr(call.func, "value", None), ast.Name)
        if method in self._own_names or method.startswith("__") or self._source.gives_code(call):
            return True
        made = self._made(name)
        return made == "elsewhere" or (
            method in _CHANGING and not (itself and made == "instance" and self._is_instance(name))
        )

    def _is_instance(self, name: str) -> bool:
        """Whether all that `name` holds are calls of classes of the target, by their spelling.

        What is given to a method of it is bound to the name as well, but is nothing that it holds.
        """
        if name not in self._instances:
            values = self._source.bindings.get(name, ())
            made = [each for each in values if not isinstance(self._source.parents[id(each)], ast.Call)]
            self._instances[name] = bool(made) and all(
                isinstance(each, ast.Call) and self._is_class(each.func) for each in made
            )
        return self._instances[name]

    def _made(self, name: str) -> str:
        """By what calls the values of `name` are made: of classes of the target, as they are spelled, or `elsewhere`.

        `target` if all are the target's and some are of its functions, or if there are none.
        """
        if name not in self._makers:
            made = self._calls(name)
            of_target = all(
                self._source.is_imported(root)
                or ((inner := self._roots(first)) and all(map(self._source.is_imported, inner.values())))
                for first, root in self._roots(name).items()
            )
            classes = made and all(last_name(each)[:1].isupper() for each in made)
            self._makers[name] = "elsewhere" if not of_target else "instance" if classes else "target"
        return self._makers[name]

    def _calls(self, name: str) -> list[ast.expr]:
        """The functions by whose calls the values of a name are made."""
        return [each.func for each in self._source.bindings.get(name, ()) if isinstance(each, ast.Call)]

    def _roots(self, name: str) -> dict[str, ast.AST]:
        """What these functions begin by, each once."""
        roots = map(_root, self._calls(name))
        return {root.id if isinstance(root, ast.Name) else "": root for root in roots}

    def _is_class(self, node: ast.AST) -> bool:
        """Whether an expression is a class of the target, by its spelling there."""
        name = last_name(node)
        plain = name[:1].isupper() and name not in self._own_names and self._source.depends(node)
        return plain and (not isinstance(node, ast.Name) or name in self._imported_names)

    @cached_property
    def _imported_names(self) -> frozenset[str]:
        """The names that the script only imports, by no other name."""
        aliases = [each for each in self._source.nodes if isinstance(each, ast.alias) and each.asname is None]
        return frozenset(each.name for each in aliases if len(self._source.bindings.get(each.name, ())) == 1)

    @cached_property
    def _own_names(self) -> frozenset[str]:
        """The names of all that the script defines, sets as an attribute, gives by a keyword or has as a text.

        A method of one of these names may be the script's.
        """
        found: set[str] = set()
        for node in self._source.nodes:
            match node:
                case (
                    ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name)
                    | ast.Attribute(attr=name, ctx=ast.Store()) | ast.keyword(arg=str(name))
                    | ast.Constant(value=str(name))
                ):  # fmt: skip
                    found.add(name)
        return frozenset(found)

    @cached_property
    def _locals(self) -> dict[int, set[str]]:
        """By the identity of a function: the names that it binds for itself alone."""
        found: dict[int, set[str]] = {}
        for node in self._source.nodes:
            if isinstance(node, Function):
                parts = own_parts(node)
                shared = {one for each in parts if isinstance(each, ast.Global | ast.Nonlocal) for one in each.names}
                bound = {each.id for each in parts if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
                found[id(node)] = bound - shared
        return found

    @cached_property
    def is_rebound_unseen(self) -> bool:
        """Whether a name of the script may be bound to something that the syntax does not show."""
        for node in self._source.nodes:
            match node:
                case ast.ImportFrom(names=[ast.alias(name="*")]) if not self._source.is_import_of_target(node):
                    return True
                case ast.Call(func=ast.Name(id="exec"), args=[_]) | ast.alias(name="__main__"):
                    return True
                case ast.Constant(value="__main__"):
                    by = self._source.parents[id(node)]
                    if isinstance(by, ast.Subscript):
                        return True
                case ast.Subscript(value=ast.Call(func=ast.Name(id="globals" | "vars" | "locals")), ctx=ast.Store()):
                    return True
        return False

    def literal(self, node: ast.AST) -> ast.AST:
        """The value of a name that is bound once and to one value; anything else as it is.

        What a loop goes through, a `with` enters or several names share is not the value of a name.
        """
        values = self._source.bindings.get(node.id, []) if isinstance(node, ast.Name) else []
        if len(values) != 1:
            return node
        match self._source.parents[id(values[0])]:
            case ast.For() | ast.AsyncFor() | ast.comprehension() | ast.withitem():
                return node
            case ast.Assign(targets=targets) if not all(isinstance(each, ast.Name) for each in targets):
                return node
        return values[0]

    def same_as(self, node: ast.expr) -> ast.expr:
        """The name that a name stands for, if it is bound once and to that name; anything else as it is."""
        other = self.literal(node)
        by = self._source.parents[id(other)] if isinstance(other, ast.Name) and other is not node else None
        plain = isinstance(by, ast.Assign) and all(isinstance(each, ast.Name) for each in by.targets)
        return other if plain and isinstance(other, ast.Name) else node

    @cached_property
    def changed_later(self) -> frozenset[str]:
        """The names of what may be changed after it is made: a method of it is called, or it is given on."""
        returned = {
            part.id
            for node in self._source.nodes
            if isinstance(node, ast.Return) and isinstance(part := node.value, ast.Name)
        }
        return self.changed_inside | returned

    @cached_property
    def changed_inside(self) -> frozenset[str]:
        """The names of what may be changed before a function returns it."""
        found = set()
        for node in self._source.nodes:
            if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
                continue
            by = self._source.parents[id(node)]
            if deep := node.id in self._deep:
                while isinstance(by, ast.Subscript):
                    by = self._source.parents[id(by)]
            match by:
                case ast.Attribute(attr=name) if name in _READING and not deep:
                    pass
                case ast.Call(func=ast.Name(id=name)) if name not in self._source.bindings and (
                    not deep or name in _LOOKING
                ):
                    pass  # a built-in function
                case ast.For() | ast.AsyncFor() | ast.comprehension() if not deep:
                    pass
                case ast.Return() if self._is_local(node):
                    pass
                case (
                    ast.Attribute() | ast.Call() | ast.keyword() | ast.Starred() | ast.Assign() | ast.Return()
                    | ast.Lambda() | ast.Yield() | ast.List() | ast.Tuple() | ast.Dict() | ast.For() | ast.AsyncFor()
                    | ast.comprehension()
                ):  # fmt: skip
                    found.add(node.id)
        return frozenset(found)

    @cached_property
    def _deep(self) -> frozenset[str]:
        """The names of a list or dictionary of more than constants, which may then be changed within it."""
        found = set()
        for name, values in self._source.bindings.items():
            match values:
                case [ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts)] if not all(
                    isinstance(each, ast.Constant) for each in parts
                ):
                    found.add(name)
        return frozenset(found)

    def _is_local(self, node: ast.Name) -> bool:
        """Whether the function around a name binds it for itself alone."""
        around: ast.AST | None = node
        while around is not None and not isinstance(around, Function):
            around = self._source.parents[id(around)]
        return around is not None and node.id in self._locals[id(around)]

    @cached_property
    def flags(self) -> dict[str, list[ast.Try | ast.TryStar]]:
        """By name: each `try` that sets it to a constant."""
        found: dict[str, list[ast.Try | ast.TryStar]] = {}
        for node in self._source.nodes:
            if isinstance(node, ast.Try | ast.TryStar):
                for name in set_by(node):
                    found.setdefault(name, []).append(node)
        return found


def _root(node: ast.AST) -> ast.AST:
    """What a piece of syntax begins by, through all attributes, items and calls."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Await | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _heads(node: ast.AST | None) -> Sequence[ast.AST]:
    """The syntax by which a loop or a `with` binds names for its body."""
    return node.items if isinstance(node, ast.With | ast.AsyncWith) else [node] if isinstance(node, ast.For) else []
