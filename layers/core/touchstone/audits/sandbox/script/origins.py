"""What of a script comes from the target, and where the script asks the target for something."""

import ast
from collections.abc import Sequence
from functools import cached_property

from touchstone.audits.sandbox.script.definitions import OwnDefinitions, makes_instances
from touchstone.audits.sandbox.script.dependence import ProofScript
from touchstone.audits.sandbox.script.scopes import ScriptScopes

SAME_FOR_ANY_MODULE = frozenset(
    {"print", "str", "repr", "type", "id", "bool", "callable", "isinstance", "format", "hash", "issubclass"}
)
"""Built-in functions that return the same for any module."""
_ESCAPING_ATTRIBUTES = frozenset({
    "__globals__", "__builtins__", "__subclasses__", "__mro__", "__base__", "__bases__", "__reduce__", "__reduce_ex__",
    "__getattribute__", "__code__", "gi_frame", "f_back",
})  # fmt: skip
"""Attributes that lead from an object of a library to objects that are not the library's."""


class TargetOrigins:
    """Which values of a script are the target's. `modules` are the names by which the target is imported."""

    def __init__(
        self, source: ProofScript, modules: Sequence[str], definitions: OwnDefinitions, scopes: ScriptScopes
    ) -> None:
        self._source = source
        self._modules = modules
        self._definitions = definitions
        self._scopes = scopes
        self._settled: dict[str | int, bool] = {}
        """By what names a value: whether it is of the target."""

    def is_in_target(self, name: str) -> bool:
        """Whether a module of that name belongs to the target."""
        return any(name == module or name.startswith(module + ".") for module in self._modules)

    def is_question(self, node: ast.AST) -> bool:
        """Whether a piece of syntax asks the target for something."""
        depends = self._source.depends
        match node:
            case ast.Import(names=names):
                return any(self.is_in_target(name.name) and name.name not in self._modules for name in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                members = [f"{module}.{name.name}" for name in names]
                return any(self.is_in_target(member) and member not in self._modules for member in members)
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Await(value=value):
                return depends(value)
            case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.comprehension(iter=value):
                return depends(value)
            case ast.withitem(context_expr=value):
                return depends(value)
            case ast.Call(func=ast.Name(id=name)) if name in SAME_FOR_ANY_MODULE and name not in self._source.bindings:
                return False
            case ast.Call(func=function, args=arguments, keywords=keywords):
                return depends(function) or any(map(depends, [*arguments, *(one.value for one in keywords)]))
        return False

    def is_module(self, node: ast.AST) -> bool:
        """Whether `node` is the target's module itself and no part of it: a name that only imports bind."""
        return isinstance(node, ast.Name) and self._source.depends(node) and node.id in self._module_names

    @cached_property
    def _module_names(self) -> frozenset[str]:
        return frozenset(
            name
            for name, values in self._source.bindings.items()
            if all(isinstance(value, ast.Import) and not self.is_question(value) for value in values)
        )

    def is_made_by_decorated(self, node: ast.AST) -> bool:
        """Whether a value is an instance of a class of the script's that the target decorates, such as one of attrs."""
        values = self._source.bindings.get(node.id, []) if isinstance(node, ast.Name) else [node]
        values = [each for each in values if not isinstance(each, ast.Constant)]  # no constant is of a class of it
        called = [each.func.id for each in values if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
        made = [each for name in called for each in self._source.bindings.get(name, ())]
        return 0 < len(values) == len(called) and all(
            isinstance(each, ast.ClassDef)
            and any(map(self.is_of_target, each.decorator_list))
            and not makes_instances(each)
            for each in made
        )

    def is_of_target(self, node: ast.AST) -> bool:
        """Whether `node` is an object of the target, or was obtained from such an object alone."""
        if self.key(node) not in self._settled:
            self._settle(node)
        return self._settled[self.key(node)]

    def _settle(self, node: ast.AST) -> None:
        """Find out of a piece of syntax, and of all that its value is got from, whether it is of the target.

        All are until one is found that is not; then what is got from it falls as well.
        """
        found = {self.key(node): node}
        users: dict[str | int, list[str | int]] = {}
        left: dict[str | int, int] = {}
        fallen = set()
        falling = []
        waiting = [node]
        while waiting:
            node = waiting.pop()
            every, parts = self._got_from(node)
            user = self.key(node)
            left[user] = 1 if every else len(parts)
            falling += [] if parts else [user]
            for part in parts:
                key = self.key(part)
                users.setdefault(key, []).append(user)
                if key in self._settled:
                    falling += [] if self._settled[key] else [key]
                elif key not in found:
                    found[key] = part
                    waiting.append(part)
        for key in falling:
            if key not in fallen:
                fallen.add(key)
                for user in users.get(key, ()):
                    left[user] -= 1
                    falling += [user] if left[user] <= 0 else []
        self._settled |= {key: key not in fallen for key in found}

    def key(self, node: ast.AST) -> str | int:
        """What names the value of a piece of syntax: all uses of a name have one value."""
        match node:
            case ast.Name(id=name):
                return name
            case ast.Call(func=ast.Name(id=name)) if self._definitions.is_own(node.func):
                return f"{name}()"
        return id(node)

    def _got_from(self, node: ast.AST) -> tuple[bool, Sequence[ast.AST]]:  # noqa: C901, PLR0912 - one case a kind of syntax
        """What the value of a piece of syntax is got from: it is the target's where every part is, or where any is.

        What is the target's by itself is got from itself. What is got from nothing is not the target's.
        """
        match node:
            case ast.Name() if self._scopes.is_rebound_unseen:
                return True, []
            case ast.Name(id=name):
                return True, [value for value in self._source.bindings.get(name, []) if not _is_empty(value)]
            case ast.Import() | ast.ImportFrom():
                return True, [node] if self._source.is_import_of_target(node) else []
            case ast.ClassDef(bases=bases, decorator_list=decorators):
                return False, [*bases, *decorators]
            case ast.Attribute(attr=name, value=value):
                kept = name not in _ESCAPING_ATTRIBUTES and name not in self._definitions.own_members
                return True, [value] if kept else []
            case ast.Subscript(value=value) | ast.Await(value=value) | ast.Starred(value=value):
                return True, [value]
            case ast.NamedExpr(value=value) | ast.ListComp(elt=value) | ast.SetComp(elt=value):
                return True, [value]
            case ast.Call(func=ast.Lambda()):
                return True, []
            case ast.Call(func=function, args=arguments):
                if (returned := self._definitions.returned(function)) is None:
                    return False, [function, *arguments]
                key = self.key(node)
                return True, [value for value in returned if self.key(value) != key]
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return True, parts
            case ast.Dict(values=parts) | ast.BoolOp(values=parts):
                return True, parts
            case ast.IfExp(body=body, orelse=orelse):
                return True, [body, orelse]
        return True, []


def _is_empty(node: ast.AST) -> bool:
    """Whether `node` is an empty list or dictionary, which the script fills later."""
    return not (getattr(node, "elts", None) or getattr(node, "keys", None)) and isinstance(node, ast.List | ast.Dict)
