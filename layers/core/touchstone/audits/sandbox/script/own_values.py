"""Which values a script computes from its own constants and definitions alone, without the target.

Only what is surely so counts: a name is bound once, a function returns one value, and nothing changes a list or
dictionary after it is made.
"""

import ast
from collections.abc import Sequence

from touchstone.audits.sandbox.script.definitions import OwnDefinitions
from touchstone.audits.sandbox.script.dependence import Function, ProofScript, is_lazy, own_parts
from touchstone.audits.sandbox.script.scopes import ScriptScopes
from touchstone.audits.sandbox.script.truths import at_place

_COMPUTING = frozenset({
    "abs", "all", "any", "bool", "dict", "float", "int", "isinstance", "len", "list", "max", "min", "repr", "round",
    "set", "sorted", "str", "sum", "tuple", "type",
})  # fmt: skip
"""Built-in functions that compute a value of what they are given, and of nothing else."""
_COMPOSED = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List,
    ast.Set, ast.Dict,
)  # fmt: skip

_MOST_STEPS = 20
"""Through as many names and calls is it followed what a value is. No proof needs more."""
_MAX_DEPTH = 60
"""Deeper than any proof is written. Syntax below this depth is not looked at."""


class OwnValues:
    """The values of a script that are its own."""

    def __init__(self, source: ProofScript, definitions: OwnDefinitions, scopes: ScriptScopes) -> None:
        self._source = source
        self._definitions = definitions
        self._scopes = scopes
        self._found: dict[int, bool] = {}
        self._asking: dict[int, bool] = {}
        self._depth = 0

    def is_own(self, node: ast.AST) -> bool:
        """Whether the script alone decides the value of an expression."""
        if id(node) not in self._found:
            self._found[id(node)] = False  # while it is looked for
            self._depth += 1
            try:
                plain = self._depth <= _MAX_DEPTH and not self._scopes.is_rebound_unseen
                self._found[id(node)] = plain and self._decides(node)
            finally:
                self._depth -= 1
        return self._found[id(node)]

    def _decides(self, node: ast.AST) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Name():
                return (value := self.held(node)) is not node and self.is_own(value)
            case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name not in self._source.bindings:
                return self._computes(name, given)
            case ast.Call(func=ast.Attribute(value=ast.AST() as text), args=given) if self._is_text(text):
                return all(map(self.is_own, given))
            case ast.Call():
                return (value := self.held(node)) is not node and self.is_own(value)
            case ast.Subscript(value=several, slice=ast.Constant(value=place)):
                held = self.held(several)
                part = at_place(held, place) if isinstance(held, ast.Tuple | ast.List | ast.Dict) else None
                return part is not None and self.is_own(part)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[several]) if isinstance(
                held := self.held(several), ast.Dict
            ):
                return self.is_own(left) and all(each is not None and self.is_own(each) for each in held.keys)
        return isinstance(node, _COMPOSED) and all(
            self.is_own(each) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)
        )

    def _computes(self, name: str, given: Sequence[ast.expr]) -> bool:
        """Whether the value of a built-in function's call is the script's own."""
        match (name, given):
            case ("len", [several]) if isinstance(held := self.held(several), ast.List | ast.Tuple):
                return not any(isinstance(each, ast.Starred) for each in held.elts)
            case ("hasattr", [owner, ast.Constant(value=str(member))]):
                return self._has_method(ast.Attribute(owner, member))
            case ("callable", [ast.Attribute() as method]):
                return self._has_method(method)
        return name in _COMPUTING and all(map(self.is_own, given))

    def _is_text(self, node: ast.AST) -> bool:
        """Whether an expression is a text of the script's, or what a method of one returns."""
        match held := self.held(node):
            case ast.Constant(value=str()):
                return True
            case ast.Call(func=ast.Attribute(value=text)):
                return self._is_text(text)
        return isinstance(held, ast.JoinedStr)

    def held(self, node: ast.AST) -> ast.AST:
        """What an expression stands for, as long as it stands for one thing: a name, or a call of the script's own."""
        for _ in range(_MOST_STEPS):
            match node:
                case ast.Name(id=name):
                    value = self._scopes.literal(node)
                    if name in self._scopes.changed_inside and not isinstance(value, ast.Constant | ast.JoinedStr):
                        return node
                case ast.Call(func=function) if (returned := self._returned(function)) is not None:
                    value = returned
                case _:
                    return node
            if value is node:
                return node
            node = value
        return node

    def _returned(self, function: ast.AST) -> ast.AST | None:
        """The one value that a function of the script's, or a method, returns if it calls nothing of the target."""
        values = None
        if isinstance(function, ast.Name) and not any(map(self._asks, self._source.bindings.get(function.id, ()))):
            values = self._definitions.returned(function)
        elif isinstance(function, ast.Attribute) and self._has_method(function):
            values = self._definitions.returned_by_methods.get(function.attr)
        return values[0] if values is not None and len(values) == 1 else None

    def _has_method(self, node: ast.Attribute) -> bool:
        """Whether an attribute is a method of a class of the script's, or of an instance that the script made there."""
        owner = self._made(node.value)
        made = self._made(owner.func) if isinstance(owner, ast.Call) else owner
        return isinstance(made, ast.ClassDef) and self._definitions.has_method(node)

    def _made(self, node: ast.AST) -> ast.AST:
        """What a name holds that is bound once, whatever its methods are given since."""
        values = self._source.bindings.get(node.id, []) if isinstance(node, ast.Name) else []
        values = [each for each in values if not isinstance(self._source.parents[id(each)], ast.Call)]
        return values[0] if len(values) == 1 else node

    def _asks(self, made: ast.AST) -> bool:
        """Whether a function calls something of the target, is decorated, or does not run when it is called."""
        if id(made) not in self._asking:
            self._asking[id(made)] = isinstance(made, Function) and (
                is_lazy(made)
                or bool(made.decorator_list)
                or any(isinstance(each, ast.Call) and self._source.depends(each.func) for each in own_parts(made))
            )
        return self._asking[id(made)]
