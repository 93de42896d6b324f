"""How a script ends: what ends it as failed, and whether it left on purpose with the status 0."""

import ast
from collections.abc import Sequence
from functools import cached_property

from touchstone.audits.sandbox.script.definitions import OwnDefinitions
from touchstone.audits.sandbox.script.dependence import EXITS, Function, ProofScript, Span, last_name
from touchstone.audits.sandbox.script.truths import ScriptTruths

_ASSERTING = ("assert", "fail", "raises", "check_call")
"""How the names of functions begin that raise where something is not as it says."""
_RAISING = frozenset({
    "check_returncode", "check_call", "check_output", "result", "get", "map", "starmap", "apply", "recv",
})  # fmt: skip
"""Functions that raise what another process failed with."""
_ENDS = frozenset({
    "exitcode", "returncode", "stdout", "stderr", "call", "communicate", "getoutput", "getstatusoutput", "poll",
    "system", "wait", "waitpid", "waitstatus_to_exitcode", "WEXITSTATUS",
})  # fmt: skip
"""Names that tell how another process ended, or what it said."""


class ScriptEndings:
    """The ends of a script: by what it fails, also for another process, and where it leaves."""

    def __init__(self, source: ProofScript, definitions: OwnDefinitions, truths: ScriptTruths) -> None:
        self._source = source
        self._definitions = definitions
        self._truths = truths

    def could_fail(self, node: ast.AST) -> bool:
        """Whether a piece of syntax ends the script as failed where something is not as it says."""
        match node:
            case ast.Raise(exc=ast.Call(func=function)) | ast.Expr(value=ast.Call(func=function)) if (
                last_name(function) in EXITS
            ):
                return any(self._truths.truth(each, node) is not False for each in _status(node))
            case ast.Raise():
                return True
            case ast.Assert(test=test):
                return not (isinstance(test, ast.Constant) and test.value)
            case ast.Call(func=function):
                return last_name(function).startswith(_ASSERTING) and not self._definitions.is_own(function)
        return False

    def fails_by(self, attributes: frozenset[str]) -> set[str]:
        """The attributes of these by which the script fails or not: an assertion tests them, or an `if` that raises."""
        nodes = self._source.nodes
        ends = [each for each in nodes if isinstance(each, ast.stmt) and self.could_fail(each)]
        failing = self._source.holding(ends)
        tests = [each.test for each in failing.values() if isinstance(each, ast.Assert | ast.If)]
        tests += [each for end in ends for each in _status(end)]
        names = {part.id for test in tests for part in ast.walk(test) if isinstance(part, ast.Name)}
        values = {
            id(each) for each in [*tests, *(value for name in names for value in self._source.bindings.get(name, []))]
        }
        named: dict[str, list[ast.AST]] = {}
        for each in nodes:
            if (name := last_name(each)) in attributes:
                named.setdefault(name, []).append(each)
        return {name for name, parts in named.items() if not values.isdisjoint(self._source.holding(parts))}

    @cached_property
    def fails_with_another(self) -> bool:
        """Whether the script fails if another process does that it started."""
        raising = [node for node in self._source.nodes if _raises_for_another(node)]
        return not all(map(self._is_caught, raising)) or bool(self.fails_by(_ENDS))

    def _is_caught(self, node: ast.AST) -> bool:
        """Whether what a statement raises for another process is caught there, and the script goes on."""
        while (owner := self._source.parents[id(node)]) is not None and not isinstance(node, Function):
            match owner:
                case ast.Try(body=body, handlers=handlers) if node in body:
                    if any(_catches_another(each) for each in handlers):
                        return True
                case ast.With(items=items) if any(
                    isinstance(each.context_expr, ast.Call) and last_name(each.context_expr.func) == "suppress"
                    for each in items
                ):
                    return True
            node = owner
        return False

    def leaves_at_end(self, span: Span) -> bool:
        """Whether the script left with the status 0 at its end, and the status is no number made of what is true.

        `int(ok)` is 0 where the script means to fail.
        """
        statement = self._source.statement_at(span)
        waiting: list[ast.AST] = [*_status(statement)] if isinstance(statement, ast.stmt) else []
        seen: set[int] = set()
        for each in waiting:
            if id(each) in seen:
                continue
            seen.add(id(each))
            match each:
                case ast.Call(func=ast.Name(id="int" | "sum"), args=[counted]) if _is_denied(counted):
                    pass
                case ast.BinOp() | ast.UnaryOp() | ast.Call(func=ast.Name(id="int" | "sum")) if self._source.depends(
                    each
                ):
                    return False
                case ast.Name(id=name):
                    values = self._source.bindings.get(name, ())
                    waiting += [one for one in values if not isinstance(self._source.parents[id(one)], ast.AugAssign)]
                case ast.IfExp(body=body, orelse=otherwise):
                    waiting += [body, otherwise]
                case ast.Call(func=function, args=given):
                    waiting += [*given, *(self._definitions.returned(function) or ())]
        return self._source.is_last(span)


def _status(node: ast.stmt) -> Sequence[ast.expr]:
    """What a statement that leaves the script gives as its status; empty for any other."""
    match node:
        case ast.Raise(exc=ast.Call(func=function, args=args)) | ast.Expr(value=ast.Call(func=function, args=args)):
            return args if last_name(function) in EXITS else ()
    return ()


def _is_denied(node: ast.expr) -> bool:
    """Whether a truth value says that something is not as it should be, or each of those that are counted."""
    match node:
        case ast.GeneratorExp(elt=asked, generators=made) | ast.ListComp(elt=asked, generators=made):
            counted = isinstance(asked, ast.Constant) and made[-1].ifs
            return _is_denied(counted[-1] if counted else asked)
        case ast.Compare(ops=[how]):
            return isinstance(how, ast.NotEq | ast.IsNot | ast.NotIn)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _raises_for_another(node: ast.AST) -> bool:
    """Whether a call raises what another process failed with."""
    match node:
        case ast.keyword(arg="check", value=ast.Constant(value=True)):
            return True
        case ast.Call(func=ast.Attribute(attr="get"), args=[_, *_]):
            return False  # of a dictionary
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _RAISING
        case ast.Call(func=ast.Name(id=name)):
            return name in ("check_call", "check_output")
    return False


def _catches_another(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches what is raised for another process, and neither raises nor asserts anything."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {"" if each is None else last_name(each) for each in caught}
    fails = any(isinstance(each, ast.Raise | ast.Assert) for each in ast.walk(handler))
    return not (fails or names.isdisjoint({"", "BaseException", "Exception", "SubprocessError", "CalledProcessError"}))
