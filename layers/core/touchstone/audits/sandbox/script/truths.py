"""The truth value of an expression of a script: constant, decided by the target, or decided by something else."""

import ast
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from touchstone.audits.sandbox.script.definitions import OwnDefinitions
from touchstone.audits.sandbox.script.dependence import Function, ProofScript, own_parts
from touchstone.audits.sandbox.script.origins import SAME_FOR_ANY_MODULE, TargetOrigins
from touchstone.audits.sandbox.script.scopes import ScriptScopes

type Truth = bool | Literal["asked", "own"]
"""The truth value of an expression: known from the syntax (True or False), decided by a value of the target (`asked`),
or decided by something else (`own`)."""
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
}
_DENIALS = ((ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE))
_CALM = (
    ast.Expr, ast.Assign, ast.AnnAssign, ast.With, ast.AsyncWith, ast.Pass, ast.withitem, ast.alias, ast.keyword,
    ast.Constant, ast.Name, ast.UnaryOp, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Slice, ast.JoinedStr,
    ast.FormattedValue, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
"""Syntax that always runs, and raises nothing by itself."""
_MAX_DEPTH = 60
"""Deeper than any proof is written. Syntax below this depth is not looked at."""


class ScriptTruths:
    """What is known of the truth values of a script's expressions, and which blocks only the target makes raise."""

    def __init__(
        self, source: ProofScript, definitions: OwnDefinitions, scopes: ScriptScopes, origins: TargetOrigins
    ) -> None:
        self._source = source
        self._definitions = definitions
        self._scopes = scopes
        self._origins = origins
        self.looks = scopes.looks
        self._depth = 0
        self._told: dict[str, bool] = {}
        self._calling: frozenset[str] = frozenset()
        """The calls of the script's own functions whose values are being looked at."""
        self._hidden: frozenset[str] = frozenset()
        """The names that a comprehension binds to nothing of the target, whose parts are being looked at."""

    def truth(self, node: ast.expr, at: ast.stmt) -> Truth:
        """The truth value of an expression, where names hold what they do in the statement `at`."""
        self._depth += 1
        looked = self.looks.take()
        try:
            return self._plain_truth(node, at) if looked and self._depth <= _MAX_DEPTH else "own"
        finally:
            self._depth -= 1

    def _plain_truth(self, node: ast.expr, at: ast.stmt) -> Truth:  # noqa: C901, PLR0912 - one case a syntax
        match node:
            case ast.Constant(value=value):
                return bool(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return "own" if any(isinstance(part, ast.Starred) for part in parts) else bool(parts)
            case ast.Dict(keys=keys):
                return bool(keys)
            case ast.Lambda() | ast.GeneratorExp():
                return True
            case ast.JoinedStr(values=parts) if any(isinstance(each, ast.Constant) for each in parts):
                return True
            case ast.Name(id=name) if self._definitions.is_only_code(name):
                return True
            case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(op=how, values=values)):
                denied: list[ast.expr] = [ast.UnaryOp(ast.Not(), value) for value in values]
                return self.truth(ast.BoolOp(ast.Or() if isinstance(how, ast.And) else ast.And(), denied), at)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.truth(operand, at)
                return not truth if isinstance(truth, bool) else truth
            case ast.BoolOp(op=how, values=values) if _contradict(values):
                return True if isinstance(how, ast.Or) else "own"
            case ast.BoolOp(op=ast.And(), values=values):
                return _all(self.truth(value, at) for value in values)
            case ast.BoolOp(op=ast.Or(), values=values):
                return _any(self.truth(value, at) for value in values)
            case ast.Compare(left=left, ops=operators, comparators=others):
                pairs = zip([left, *others], operators, others, strict=False)
                return _all(self.pair(one, how, other, at) for one, how, other in pairs)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                ways = {self.truth(body, at), self.truth(orelse, at)}
                if len(ways) == 1 and ways != {"asked"}:
                    return ways.pop()
                return "own" if "own" in ways or self.truth(test, at) == "own" else "asked"
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self.truth(value, at)
            case ast.Subscript(
                value=ast.Tuple(elts=parts) | ast.List(elts=parts), slice=ast.Constant(value=int(place))
            ):
                return self.truth(parts[place], at) if place < len(parts) else "own"
            case ast.Call():
                return self._called(node, at)
        return "asked" if self._carries(node, at) else "own"

    def pair(self, left: ast.expr, how: ast.cmpop, right: ast.expr, at: ast.stmt) -> Truth:
        """The truth value of a comparison of two expressions."""
        left, right = self._scopes.same_as(left), self._scopes.same_as(right)
        match (left, how, right):
            case (ast.Call(func=ast.Name(id="len")), ast.GtE(), ast.Constant(value=0)):
                return True
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant) and type(how) in _COMPARED:
            try:
                return bool(_COMPARED[type(how)](left.value, right.value))
            except TypeError:
                return "own"
        if ast.dump(left) == ast.dump(right) and not any(isinstance(each, ast.Call) for each in ast.walk(left)):
            # The same on both sides; two calls of one function may well differ.
            return True if isinstance(how, ast.Eq | ast.Is | ast.LtE | ast.GtE) else "own"
        return "asked" if self._carries(left, at) or self._carries(right, at) else "own"

    def _called(self, node: ast.Call, at: ast.stmt) -> Truth:
        function, arguments = node.func, [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(function, ast.Lambda):
            return self.truth(function.body, at)
        if isinstance(function, ast.Name) and (returned := self._definitions.returned(function)) is not None:
            return self._ended(function, returned, at)
        if isinstance(function, ast.Name) and function.id not in self._source.bindings:
            match (function.id, node.args):
                case ("bool", [value]):
                    return self.truth(value, at)
                case ("map" | "filter" | "zip" | "iter" | "enumerate", [_, *_]):
                    return True
                case ("isinstance" | "issubclass", [_, ast.Name(id="object")]):
                    return True
                case ("all", [ast.Tuple(elts=parts) | ast.List(elts=parts)]):
                    return _all(self.truth(part, at) for part in parts)
                case ("any", [ast.Tuple(elts=parts) | ast.List(elts=parts)]):
                    return _any(self.truth(part, at) for part in parts)
            if function.id in SAME_FOR_ANY_MODULE:
                return "asked" if any(self._carries(argument, at) for argument in arguments) else "own"
        asked = self._carries(function, at) or any(
            self._carries(argument, at) or self._origins.is_module(argument) for argument in arguments
        )
        return "asked" if asked else "own"

    def _ended(self, function: ast.Name, returned: Sequence[ast.expr], at: ast.stmt) -> Truth:
        """The truth value of a call of the script's own function. A recursive return adds nothing to it."""
        outside = self._calling
        self._calling = outside | {f"{function.id}()"}
        if self._calling == outside:
            return "own"
        try:
            ends = [value for value in returned if self._origins.key(value) not in self._calling]
            parents = self._source.parents
            ways = [(value, parents.get(id(value))) for value in ends]
            truths: set[Truth] = {self.truth(value, by if isinstance(by, ast.stmt) else at) for value, by in ways}
        finally:
            self._calling = outside
        if not truths:
            return "own" if returned else False
        if len(truths) == 1:
            return truths.pop()
        return "own" if "own" in truths or not self._chooses(function.id) else "asked"

    def _chooses(self, name: str) -> bool:
        """Whether the target decides which of its values a function of the script returns."""
        made = [each for each in self._source.bindings[name] if isinstance(each, Function)]
        parts = [each for function in made for each in own_parts(function)]
        returning = self._source.holding(each for each in parts if isinstance(each, ast.Return))
        choices = [each for each in parts if id(each) in returning and isinstance(each, ast.If | ast.While)]
        return all(self.truth(each.test, each) == "asked" for each in choices)

    def _carries(self, node: ast.AST, at: ast.stmt) -> bool:
        """Whether a value contains one that the script obtained from the target by a question."""
        if not self.looks.take():
            return False
        match node:
            case ast.Name(id=name):
                if name in self._hidden or not self._source.depends(node):
                    return False
                return (
                    not self._origins.is_module(node)
                    and not self._scopes.is_overwritten(name, at)
                    and self._is_told(name)
                )
            case ast.Attribute(value=value):
                if self._definitions.holds_own(node):
                    return False
                return self._origins.is_module(value) or self._carries(value, at)
            case (
                ast.BinOp(op=ast.Mult(), left=ast.Constant(value=0))
                | ast.BinOp(op=ast.Mult(), right=ast.Constant(value=0))
            ):
                return False
            case ast.Call() | ast.BoolOp() | ast.Compare() | ast.IfExp() | ast.NamedExpr() | ast.Await():
                return self.truth(node, at) == "asked"
            case ast.Lambda():
                return False
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._gathers(node, at)
            case ast.Subscript(value=held, slice=ast.Constant(value=place)):
                plain = not isinstance(held, ast.Name) or held.id not in self._scopes.changed_later
                if plain and isinstance(parts := self._scopes.literal(held), ast.Tuple | ast.List | ast.Dict):
                    taken = at_place(parts, place)
                    return taken is not None and self._carries(taken, at)
        return any(self._carries(part, at) for part in ast.iter_child_nodes(node))

    def _gathers(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, at: ast.stmt) -> bool:
        """Whether what a comprehension makes carries a value of the target. Its names are its own."""
        outside = self._hidden
        own = [each.target for each in node.generators if not self._carries(each.iter, at)]
        self._hidden = outside | {part.id for each in own for part in ast.walk(each) if isinstance(part, ast.Name)}
        try:
            return any(self._carries(part, at) for part in ast.iter_child_nodes(node))
        finally:
            self._hidden = outside

    def _is_told(self, name: str) -> bool:
        """Whether the target decides what a name holds that a `try` sets to a constant: nothing else raises there."""
        if name not in self._told:
            self._told[name] = False  # while it is looked for
            values = [each for each in self._source.bindings.get(name, []) if not isinstance(each, ast.Constant)]
            self._told[name] = any(map(self._source.depends, values)) or all(
                self.only_asks(each.body, also_given=True) for each in self._scopes.flags.get(name, ())
            )
        return self._told[name]

    def only_asks(self, block: Sequence[ast.stmt], *, also_given: bool = False) -> bool:
        """Whether a block asks the target, and nothing else in it could raise or be left out.

        What is given to a call of the target counts only with `also_given`: where it matters that something raised.
        """
        asks = False
        for statement in block:
            parts: list[ast.AST] = [statement]
            for each in parts:
                if not self._is_only_target(each, statement):
                    return False
                asks = asks or self._origins.is_question(each)
                if isinstance(each, ast.Call) and self._source.depends(each.func) and not also_given:
                    parts.append(each.func)
                else:
                    parts += ast.iter_child_nodes(each)
        return asks and self.looks.any_left()

    def _is_only_target(self, node: ast.AST, at: ast.stmt) -> bool:
        """Whether nothing but the target could raise in a piece of syntax itself, without its parts."""
        match node:
            case ast.Call(func=function):
                return not self._definitions.is_own(function) and self._called(node, at) == "asked"
            case ast.Import() | ast.ImportFrom():
                return self._source.is_import_of_target(node)
            case ast.Attribute() | ast.Subscript() | ast.BinOp() | ast.Compare() | ast.Await():
                return self._source.depends(node)
        return isinstance(node, _CALM)


def at_place(parts: ast.Tuple | ast.List | ast.Dict, place: object) -> ast.expr | None:
    """The element of a literal at a constant place; None if the syntax does not show it."""
    if isinstance(parts, ast.Dict):
        found = [
            value
            for key, value in zip(parts.keys, parts.values, strict=True)
            if isinstance(key, ast.Constant) and key.value == place
        ]
        return found[-1] if found and all(isinstance(key, ast.Constant) for key in parts.keys) else None
    if not isinstance(place, int) or any(isinstance(part, ast.Starred) for part in parts.elts):
        return None
    return parts.elts[place] if -len(parts.elts) <= place < len(parts.elts) else None


def _contradict(values: Sequence[ast.expr]) -> bool:
    """Whether one value is the negation of another: together they give the same result, whatever the target says.

    Values that contain a call are left out, because two calls of one function may well differ.
    """
    cores = {_core(value) for value in values if not any(isinstance(each, ast.Call) for each in ast.walk(value))}
    return any((core, not held) in cores for core, held in cores)


def _core(node: ast.expr) -> tuple[str, bool]:
    """An expression without its negations, and whether it is affirmed (True) or negated (False)."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            core, held = _core(operand)
            return core, not held
        case ast.Compare(left=left, ops=[how], comparators=[right]):
            for plain, denied in _DENIALS:
                if isinstance(how, plain | denied):
                    return ast.dump(ast.Compare(left, [plain()], [right])), isinstance(how, plain)
    return ast.dump(node), True


def _all(truths: Iterable[Truth]) -> Truth:
    found = set(truths)
    if False in found:
        return False
    return "own" if "own" in found else "asked" if "asked" in found else True


def _any(truths: Iterable[Truth]) -> Truth:
    found = set(truths)
    if True in found:
        return True
    return "asked" if "asked" in found else "own" if "own" in found else False
