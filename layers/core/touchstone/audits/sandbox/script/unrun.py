"""What of a script never ran, so that what is asserted there says nothing.

The runner tells which functions did not run, and which assertions did not pass. One that did not takes nothing from a
proof if it is one of several ways, and another way asserted something.
"""

import ast
from collections.abc import Callable, Sequence
from functools import cached_property

from touchstone.audits.sandbox.record import Record
from touchstone.audits.sandbox.script.dependence import Function, ProofScript, is_lazy, own_parts


class PartsThatRan:
    """The assertions and functions of a script. `is_of_target` says whether a value is the target's."""

    def __init__(self, source: ProofScript, is_of_target: Callable[[ast.AST], bool]) -> None:
        self._source = source
        self._is_of_target = is_of_target

    def uses(self, function: Function) -> list[ast.expr]:
        """Where the name of a function is used so that the function may run.

        A call of a coroutine or of a generator whose value is dropped runs nothing of it.
        """
        lost = self._dropped if is_lazy(function) else frozenset()
        return [each for each in self._uses.get(function.name, ()) if id(each) not in lost]

    def missed(self, record: Record) -> str | None:
        """What of the script asks the target something and never ran, as a sentence; None if nothing is found."""
        lines = frozenset(record.idle)
        idle = [each for each in self._source.nodes if isinstance(each, Function) and _first_line(each) in lines]
        here = ", in the process that is watched" if record.started else ""
        calls = {name: each for name, uses in self._uses.items() for each in uses if id(each) in self._dropped}
        for node in idle:
            if node.name in calls and is_lazy(node) and self._source.depends(node):
                call = f"What is in {node.name} never ran: the call in line {calls[node.name].lineno}"
                return (
                    f"{call} is not awaited." if isinstance(node, ast.AsyncFunctionDef) else f"{call} is not iterated."
                )
        for node in idle:
            if _is_test(node) or self._asserts(node):
                return f"What is asserted in {node.name} never ran{here}."
        line = self._unpassed(frozenset(record.unpassed))
        return None if line is None else f"What is asserted in line {line} never ran to its end{here}."

    def _unpassed(self, lines: frozenset[int]) -> int | None:
        """The line of the first assertion about the target in `lines`, where none passed; None if there is none."""
        asserted = [each for each in self._source.nodes if isinstance(each, ast.Assert)]
        passed = self._source.holding(each for each in asserted if each.lineno not in lines)
        nodes = self._source.nodes if lines else ()
        asserting = {id(node): [way for way in _ways(node) if not way.isdisjoint(passed)] for node in nodes}
        for each in asserted:
            if each.lineno in lines and self._source.depends(each.test) and not self._is_one_of(asserting, each):
                return each.lineno
        return None

    def _is_one_of(self, asserting: dict[int, list[frozenset[int]]], node: ast.AST) -> bool:
        """Whether a statement is in one of several ways of which another is `asserting`."""
        owner = self._source.parents[id(node)]
        while owner is not None and not isinstance(node, Function):
            if any(id(node) not in way for way in asserting[id(owner)]):
                return True
            node, owner = owner, self._source.parents[id(owner)]
        return False

    def _asserts(self, function: Function) -> bool:
        """Whether a function asserts by a method, of the target, or alone of what a decorator of the target gives it.

        Where the script asserts something else of the target, such as a validator that does not run may be its point.
        """
        decorated = any(map(self._source.depends, function.decorator_list)) and not self._asserts_of_target
        return any(
            decorated
            if isinstance(each, ast.Assert)
            else isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr.startswith("assert")
            and self._source.depends(each)
            for each in own_parts(function)
        )

    @cached_property
    def _asserts_of_target(self) -> bool:
        return any(isinstance(each, ast.Assert) and self._source.depends(each.test) for each in self._source.nodes)

    @cached_property
    def _uses(self) -> dict[str, list[ast.expr]]:
        """By the name of a function: where it is used."""
        found: dict[str, list[ast.expr]] = {node.name: [] for node in self._source.nodes if isinstance(node, Function)}
        for node in self._source.nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name in found:
                    found[name].append(node)
                case ast.Attribute(attr=name, value=value) if name in found and not self._is_of_target(value):
                    found[name].append(node)
        return found

    @cached_property
    def _dropped(self) -> frozenset[int]:
        """The functions of calls whose value is not used, by the identity of their syntax."""
        nodes = self._source.nodes
        closed = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr == "close"}
        used = {
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in closed
        }
        found = set()
        for node in nodes:
            match node:
                case ast.Expr(value=ast.Call(func=function)) | ast.Assert(test=ast.Call(func=function)):
                    found.add(id(function))
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)) if name not in used:
                    found.add(id(function))
        return frozenset(found)


def _ways(node: ast.AST) -> list[frozenset[int]]:
    """The ways that a statement may go, each as the identities of its syntax."""
    match node:
        case ast.If(body=body, orelse=otherwise):
            ways: Sequence[Sequence[ast.AST]] = [body, otherwise]
        case ast.Try(body=body, handlers=handlers, orelse=otherwise):
            ways = [body, *([each] for each in handlers), otherwise]
        case ast.Match(cases=cases):
            ways = [[each] for each in cases]
        case _:
            return []
    return [frozenset(map(id, way)) for way in ways]


def _is_test(function: Function) -> bool:
    """Whether a function is a test that itself asserts something, by a statement or by a method of unittest."""
    return function.name.startswith("test") and any(
        isinstance(each, ast.Assert) or (isinstance(each, ast.Attribute) and each.attr.startswith("assert"))
        for each in own_parts(function)
    )


def _first_line(function: Function) -> int:
    """The line with which Python says that a function begins."""
    return min(each.lineno for each in (function, *function.decorator_list))
