"""What a script asks of the target, read from its syntax: can an end of the script be attributed to the target at all?

An import of the library is no question, because it was imported before the script began. A question is a member or
module that the script looks up, a call, or an assertion about a value that came from the target and could have been
different.

Whatever cannot be recognised as a question is none. Examples: an object of the library passes through a name that also
holds something else; a constant decides a truth value beforehand; a function of the script returns no value of the
target. Such an end is not attributed to the target, and the proof says nothing either way.
"""

import ast
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

from touchstone.audits.sandbox.dependence import ProofScript, names_in

type Truth = bool | Literal["asked", "own"]
"""The truth value of an expression: known from the syntax (True or False), decided by a value of the target (`asked`),
or decided by something else (`own`)."""

_SAME_FOR_ANY_MODULE = frozenset(
    {"print", "str", "repr", "type", "id", "bool", "callable", "isinstance", "format", "hash", "issubclass"}
)
"""Built-in functions that return the same for any module."""
_ESCAPING_ATTRIBUTES = frozenset({
    "__globals__", "__builtins__", "__subclasses__", "__mro__", "__base__", "__bases__", "__reduce__", "__reduce_ex__",
    "__getattribute__", "__code__", "gi_frame", "f_back",
})  # fmt: skip
"""Attributes that lead from an object of a library to objects that are not the library's."""
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
_BY_TEXT = frozenset({"getattr", "eval", "exec"})
"""Built-in functions that find a function of the script by a text."""
_RESULTS = frozenset({"wasSuccessful", "failures", "errors"})
"""Attributes by which a result of unittest tells whether tests failed."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
"""What a `def` makes."""
_MOST_LOOKS = 4_000_000
"""Most steps by which it is read from the syntax which functions ran."""
_MAX_DEPTH = 60
"""Deeper than any proof is written. Syntax below this depth is not looked at."""


class ScriptQuestions:
    """The questions of a script. `modules` are the names by which the target is imported."""

    def __init__(self, source: ProofScript, modules: Sequence[str]) -> None:
        self._source = source
        self._modules = modules
        self._blocks = [
            block
            for node in source.nodes
            for block in (getattr(node, field, None) for field in ("body", "orelse", "finalbody", "handlers"))
            if isinstance(block, list)
        ]
        self._depth = 0
        self._calling: frozenset[str] = frozenset()
        """The calls of the script's own functions whose values are being looked at."""

    def any(self) -> bool:
        """Whether the script asks the target anything."""
        return any(map(self._is_question, self._source.nodes))

    def unasked(self) -> str | None:
        """Why an assertion of the script that ran to its end says nothing, as a sentence; None if none is found.

        The assertion cannot fail, or it never ran, or the failure was kept from the script.
        """
        made = sum(isinstance(node, Function | ast.ClassDef) for node in self._source.nodes)
        if made * made * len(self._source.nodes) > _MOST_LOOKS:
            return "Whether what is asserted ran is not seen: the script has too many functions and classes."
        for node in self._source.nodes:
            match node:
                case ast.Assert(test=ast.Tuple(elts=[_, *_])):
                    return f"What is asserted in line {node.lineno} is always true: it is a tuple."
                case ast.ClassDef(name=name) if self._is_unittests(node) and self._keeps_failures(node):
                    return f"Whether the tests of {name} failed is not seen: unittest keeps it to itself."
        return self._never_ran()

    def _is_unittests(self, node: ast.ClassDef) -> bool:
        """Whether a base of a class is the `TestCase` of unittest, or one of its kinds."""
        return any(
            ast.unparse(base).partition(".")[0] in self._of_unittest
            and (isinstance(base, ast.Name) or "TestCase" in base.attr)
            for base in node.bases
            if isinstance(base, ast.Name | ast.Attribute)
        )

    @cached_property
    def _of_unittest(self) -> frozenset[str]:
        """The names by which the script knows unittest and its parts."""
        return frozenset(
            alias.asname or alias.name.partition(".")[0]
            for each in self._source.nodes
            if isinstance(each, ast.Import)
            or (isinstance(each, ast.ImportFrom) and str(each.module).partition(".")[0] == "unittest")
            for alias in each.names
            if isinstance(each, ast.ImportFrom) or alias.name.partition(".")[0] == "unittest"
        )

    def _keeps_failures(self, node: ast.ClassDef) -> bool:
        """Whether a class of unittest has a test that the script does not call, and no result of tests is asked."""
        tests = [each for each in node.body if isinstance(each, Function) and each.name.startswith(("test", "runTest"))]
        asked = {name for test in self._deciding() for name in self._attributes(test)}
        return not asked & _RESULTS and any(not self._mentions(each, self._source.nodes) for each in tests)

    def _deciding(self) -> Iterable[ast.expr]:
        """The expressions by which the script fails or not."""
        for node in self._source.nodes:
            if isinstance(node, ast.Assert) or (
                isinstance(node, ast.If) and any(isinstance(each, ast.Raise | ast.Assert) for each in ast.walk(node))
            ):
                yield node.test

    def _attributes(self, node: ast.AST) -> Iterable[str]:
        """The attributes in an expression, and in what its names are bound to."""
        parts = list(ast.walk(node))
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        parts += [part for name in names for value in self._source.bindings.get(name, []) for part in ast.walk(value)]
        return [part.attr for part in parts if isinstance(part, ast.Attribute)]

    def _never_ran(self) -> str | None:
        """Which function of the script asserts something of the target and never ran, as a sentence."""
        alive = self._source.nodes
        looked_up = {each.id for each in alive if isinstance(each, ast.Name)}
        attributes = {each.attr for each in alive if isinstance(each, ast.Attribute)}
        if looked_up & {"globals", "vars", "locals"} or attributes & {"__dict__", "getmembers"}:
            return None  # any function may be called by a name that the syntax does not show
        if "dir" in looked_up and "getattr" in looked_up:
            return None
        inside = {id(each): node for node in alive if isinstance(node, ast.ClassDef) for each in node.body}
        dead = [
            node
            for node in alive
            if isinstance(node, Function)
            and not _is_decorated(node)
            and not self._may_be_called(node, inside.get(id(node)))
        ]
        called: list[Function] | None = None
        while called is None or called:
            alive = _without(self._source.nodes, dead)
            called = [node for node in dead if self._mentions(node, alive)]
            dead = [node for node in dead if node not in called]
        for node in dead:
            calls = self._mentions(node, self._source.nodes, dropped=True)
            if calls and self._source.depends(node):
                line = calls[0].lineno
                if isinstance(node, ast.AsyncFunctionDef):
                    return f"What is in {node.name} never ran: the call in line {line} is not awaited."
                return f"What is in {node.name} never ran: the call in line {line} is not iterated."
            if any(
                isinstance(each, ast.Assert) and (node.name.startswith("test") or self._source.depends(each.test))
                for each in ast.walk(node)
            ):
                return f"What is asserted in {node.name} never ran: nothing calls it."
        return None

    def _may_be_called(self, node: ast.AST, owner: ast.ClassDef | None) -> bool:
        """Whether other code than the script's may call a method, because it has the class or an instance of it."""
        if owner is None:
            return False
        name = getattr(node, "name", "")
        if owner.decorator_list or owner.keywords or self._is_unittests(owner):
            return True
        uses = [each for each in self._source.nodes if isinstance(each, ast.Name) and each.id == owner.name]
        if any(ast.unparse(base) != "object" for base in owner.bases):
            return bool(uses) or not name.startswith("test")
        if name.startswith("__"):
            return bool(uses)
        kept, names = set(), {owner.name}
        for each in self._source.nodes:
            match each:
                case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call(func=ast.Name(id=owner.name) as used)):
                    names.add(target)
                    kept.add(id(used))
                case ast.Expr(value=ast.Call(func=ast.Name() as used)):
                    kept.add(id(used))
                case ast.Attribute(value=ast.Name() as used) | ast.Attribute(value=ast.Call(func=ast.Name() as used)):
                    kept.add(id(used))
        return any(
            isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id in names and id(each) not in kept
            for each in self._source.nodes
        )

    def _mentions(self, function: Function, nodes: Iterable[ast.AST], *, dropped: bool = False) -> list[ast.expr]:
        """Where the name of a function is used, or stands in a text of a script that looks names up.

        A call of a coroutine or of a generator whose value is dropped runs nothing of it: such calls are left out, or,
        if `dropped`, are all that is returned.
        """
        lost = self._dropped if _is_lazy(function) else frozenset()
        found: list[ast.expr] = []
        for node in nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name == function.name:
                    found.append(node)
                case ast.Attribute(attr=name, value=value) if name == function.name and not self.is_of_target(value):
                    found.append(node)
                case ast.Constant(value=str(text)) if self._looks_names_up and function.name in text:
                    found.append(node)
        return [node for node in found if (id(node) in lost) == dropped]

    @cached_property
    def _looks_names_up(self) -> bool:
        """Whether the script may find a function by a text."""
        return any(isinstance(node, ast.Name) and node.id in _BY_TEXT for node in self._source.nodes)

    @cached_property
    def _dropped(self) -> frozenset[int]:
        """The functions of calls whose value is not used, by the identity of their syntax."""
        closed = {
            id(node.value) for node in self._source.nodes if isinstance(node, ast.Attribute) and node.attr == "close"
        }
        used = {
            node.id
            for node in self._source.nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in closed
        }
        found = set()
        for node in self._source.nodes:
            match node:
                case ast.Expr(value=ast.Call(func=function)) | ast.Assert(test=ast.Call(func=function)):
                    found.add(id(function))
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)) if name not in used:
                    found.add(id(function))
        return frozenset(found)

    def _is_question(self, node: ast.AST) -> bool:
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
            case ast.Call(func=ast.Name(id=name)) if name in _SAME_FOR_ANY_MODULE and name not in self._source.bindings:
                return False
            case ast.Call(func=function, args=arguments, keywords=keywords):
                return depends(function) or any(map(depends, [*arguments, *(one.value for one in keywords)]))
        return False

    def is_of_target(  # noqa: C901, PLR0912 - one case a kind of syntax
        self, node: ast.AST, seen: frozenset[str] = frozenset()
    ) -> bool:
        """Whether `node` is an object of the target, or was obtained from such an object alone."""

        def is_of(part: ast.AST) -> bool:
            return self.is_of_target(part, seen)

        match node:
            case ast.Name(id=name):
                if name in seen:
                    return True
                values = [value for value in self._source.bindings.get(name, []) if not _is_empty(value)]
                return bool(values) and all(self.is_of_target(value, seen | {name}) for value in values)
            case ast.Import() | ast.ImportFrom():
                return self._source.is_import_of_target(node)
            case ast.ClassDef(bases=bases):
                return any(map(is_of, bases))
            case ast.Attribute(attr=attribute, value=value):
                return attribute not in _ESCAPING_ATTRIBUTES and is_of(value)
            case ast.Subscript(value=value) | ast.Await(value=value) | ast.Starred(value=value):
                return is_of(value)
            case ast.NamedExpr(value=value) | ast.ListComp(elt=value) | ast.SetComp(elt=value):
                return is_of(value)
            case ast.Call(func=function, args=arguments):
                if (returned := self._returned(function)) is not None:
                    inside = seen | {f"{ast.unparse(function)}()"}
                    if inside == seen:
                        return False
                    ends = [value for value in returned if not _calls_one_of(value, inside)]
                    return bool(ends) and all(self.is_of_target(value, inside) for value in ends)
                return is_of(function) or (not isinstance(function, ast.Lambda) and any(map(is_of, arguments)))
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return bool(parts) and all(map(is_of, parts))
            case ast.Dict(values=parts) | ast.BoolOp(values=parts):
                return bool(parts) and all(map(is_of, parts))
            case ast.IfExp(body=body, orelse=orelse):
                return is_of(body) and is_of(orelse)
        return False

    def is_in_target(self, name: str) -> bool:
        """Whether a module of that name belongs to the target."""
        return any(name == module or name.startswith(module + ".") for module in self._modules)

    def is_own(self, function: ast.AST) -> bool:
        """Whether `function` is the name of a function that the script defines."""
        return self._returned(function) is not None

    def decides(self, assertion: ast.Assert) -> bool:
        """Whether the target decides the result of `assertion`."""
        return self._truth(assertion.test, assertion) == "asked"

    def _truth(self, node: ast.expr, at: ast.stmt) -> Truth:
        self._depth += 1
        try:
            return "own" if self._depth > _MAX_DEPTH else self._plain_truth(node, at)
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
            case ast.Lambda():
                return True
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self._truth(operand, at)
                return not truth if isinstance(truth, bool) else truth
            case ast.BoolOp(values=values) if _contradict(values):
                return "own"
            case ast.BoolOp(op=ast.And(), values=values):
                return _all(self._truth(value, at) for value in values)
            case ast.BoolOp(op=ast.Or(), values=values):
                return _any(self._truth(value, at) for value in values)
            case ast.Compare(left=left, ops=operators, comparators=others):
                pairs = zip([left, *others], operators, others, strict=False)
                return _all(self._pair(one, how, other, at) for one, how, other in pairs)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                ways = {self._truth(body, at), self._truth(orelse, at)}
                if len(ways) == 1 and ways != {"asked"}:
                    return ways.pop()
                return "own" if "own" in ways or self._truth(test, at) == "own" else "asked"
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self._truth(value, at)
            case ast.Subscript(
                value=ast.Tuple(elts=parts) | ast.List(elts=parts), slice=ast.Constant(value=int(place))
            ):
                return self._truth(parts[place], at) if place < len(parts) else "own"
            case ast.Call():
                return self._called(node, at)
        return "asked" if self._carries(node, at) else "own"

    def _pair(self, left: ast.expr, how: ast.cmpop, right: ast.expr, at: ast.stmt) -> Truth:
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant) and type(how) in _COMPARED:
            try:
                return bool(_COMPARED[type(how)](left.value, right.value))
            except TypeError:
                return "own"
        if ast.dump(left) == ast.dump(right) and not any(isinstance(each, ast.Call) for each in ast.walk(left)):
            return "own"  # equal on both sides; two calls of one function may well differ
        return "asked" if self._carries(left, at) or self._carries(right, at) else "own"

    def _called(self, node: ast.Call, at: ast.stmt) -> Truth:
        function, arguments = node.func, [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(function, ast.Lambda):
            return self._truth(function.body, at)
        if (returned := self._returned(function)) is not None:
            return self._ended(function, returned, at)
        if isinstance(function, ast.Name) and function.id not in self._source.bindings:
            match (function.id, node.args):
                case ("bool", [value]):
                    return self._truth(value, at)
                case ("all", [ast.Tuple(elts=parts) | ast.List(elts=parts)]):
                    return _all(self._truth(part, at) for part in parts)
                case ("any", [ast.Tuple(elts=parts) | ast.List(elts=parts)]):
                    return _any(self._truth(part, at) for part in parts)
            if function.id in _SAME_FOR_ANY_MODULE:
                return "asked" if any(self._carries(argument, at) for argument in arguments) else "own"
        asked = self._carries(function, at) or any(
            self._carries(argument, at) or self._is_module(argument) for argument in arguments
        )
        return "asked" if asked else "own"

    def _ended(self, function: ast.expr, returned: Sequence[ast.expr], at: ast.stmt) -> Truth:
        """The truth value of a call of the script's own function. A recursive return adds nothing to it."""
        outside = self._calling
        self._calling = outside | {f"{ast.unparse(function)}()"}
        if self._calling == outside:
            return "own"
        try:
            ends = [value for value in returned if not _calls_one_of(value, self._calling)]
            truths: set[Truth] = {self._truth(value, at) for value in ends}
        finally:
            self._calling = outside
        if not truths:
            return "own" if returned else False
        return truths.pop() if len(truths) == 1 else "own" if "own" in truths else "asked"

    def _carries(self, node: ast.AST, at: ast.stmt) -> bool:
        """Whether a value contains one that the script obtained from the target by a question."""
        match node:
            case ast.Name(id=name):
                return self._source.depends(node) and not self._is_module(node) and not self._is_overwritten(name, at)
            case ast.Attribute(value=value):
                return self._is_module(value) or self._carries(value, at)
            case (
                ast.BinOp(op=ast.Mult(), left=ast.Constant(value=0))
                | ast.BinOp(op=ast.Mult(), right=ast.Constant(value=0))
            ):
                return False
            case ast.Call() | ast.BoolOp() | ast.Compare() | ast.IfExp() | ast.NamedExpr() | ast.Await():
                return self._truth(node, at) == "asked"
            case ast.Lambda():
                return False
            case ast.Subscript(value=ast.Tuple() | ast.List() | ast.Dict() as parts, slice=ast.Constant(value=place)):
                taken = _at_place(parts, place)
                return taken is not None and self._carries(taken, at)
        return any(self._carries(part, at) for part in ast.iter_child_nodes(node))

    def _is_module(self, node: ast.AST) -> bool:
        """Whether `node` is the target's module itself and no part of it: a name that only imports bind."""
        if not isinstance(node, ast.Name) or not self._source.depends(node):
            return False
        values = self._source.bindings.get(node.id, [])
        return bool(values) and all(isinstance(value, ast.Import) and not self._is_question(value) for value in values)

    def _is_overwritten(self, name: str, at: ast.stmt) -> bool:
        """Whether the last statement before `at` that binds `name` binds it to nothing of the target."""
        for block in self._blocks:
            if at in block:
                for statement in reversed(block[: block.index(at)]):
                    bound = [node for node in ast.walk(statement) if name in names_in(node)]
                    if bound:
                        return not any(name in self._source.bound_by(node) for node in bound)
        return False

    def _returned(self, function: ast.AST) -> list[ast.expr] | None:
        """The expressions that a function of the script returns; None if the script does not define the function."""
        if not isinstance(function, ast.Name):
            return None
        found: list[ast.expr] = []
        own = False
        for value in self._source.bindings.get(function.id, []):
            if isinstance(value, Function):
                own = True
                found += [each.value for each in ast.walk(value) if isinstance(each, ast.Return) and each.value]
            elif isinstance(value, ast.Lambda):
                own = True
                found.append(value.body)
        return found if own else None


def _without(nodes: Iterable[ast.AST], functions: Iterable[ast.AST]) -> list[ast.AST]:
    """The nodes that are not inside a function."""
    inside = {id(each) for function in functions for each in ast.walk(function)}
    return [node for node in nodes if id(node) not in inside]


def _is_decorated(function: Function) -> bool:
    """Whether a decorator is given the function, which may call it."""
    return any(ast.unparse(each) not in ("staticmethod", "classmethod") for each in function.decorator_list)


def _is_lazy(function: Function) -> bool:
    """Whether a call runs nothing of the function yet: it is a coroutine or a generator."""
    parts: list[ast.AST] = [*function.body]
    for each in parts:
        if not isinstance(each, Function | ast.Lambda | ast.ClassDef):
            parts += ast.iter_child_nodes(each)
    return isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(each, ast.Yield | ast.YieldFrom) for each in parts
    )


def _calls_one_of(node: ast.AST, calls: frozenset[str]) -> bool:
    """Whether `node` is just a call in `calls`."""
    return isinstance(node, ast.Call) and f"{ast.unparse(node.func)}()" in calls


def _at_place(parts: ast.Tuple | ast.List | ast.Dict, place: object) -> ast.expr | None:
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


def _is_empty(node: ast.AST) -> bool:
    """Whether `node` is an empty list or dictionary, which the script fills later."""
    return not (getattr(node, "elts", None) or getattr(node, "keys", None)) and isinstance(node, ast.List | ast.Dict)


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
