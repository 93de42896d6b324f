"""Why the end of a script is not decided by what it asks: it is only printed, compared in vain, or caught."""

import ast
from collections.abc import Sequence
from functools import cached_property

from touchstone.audits.sandbox.record import MOST_STRAYED, Record
from touchstone.audits.sandbox.script.dependence import Function, ProofScript, last_name, names_in, set_by
from touchstone.audits.sandbox.script.endings import ScriptEndings
from touchstone.audits.sandbox.script.origins import TargetOrigins
from touchstone.audits.sandbox.script.own_values import OwnValues

_EXPECTING = ("assertRaises", "raises", "suppress")
"""How the names of functions begin that a `with` calls, and that keep an exception to themselves."""


class UndecidedEnds:
    """The questions of a script whose answers decide nothing."""

    def __init__(self, source: ProofScript, origins: TargetOrigins, endings: ScriptEndings, values: OwnValues) -> None:
        self._source = source
        self._origins = origins
        self._endings = endings
        self._values = values

    def why(self, record: Record) -> str | None:
        """Why the end of a script says nothing of what it asks, as a sentence; None if nothing is found."""
        if (module := self._answering(record)) is not None:
            return f"That {module} has what the script asks it for says nothing: it has every name."
        if (line := self._strayed(record)) is not None:
            return f"What the script caught in line {line} is a mistake of its own, and nothing that the target did."
        if (line := self._printed()) is not None:
            return f"Whether something is raised in line {line} is only printed, and decides nothing."
        if (line := self._compared()) is not None:
            return f"What the script compares in line {line} decides nothing: the script asserts nothing."
        if (line := self._passed_over(record)) is not None:
            return f"The script ends the same with and without an exception in line {line}, and asserts nothing."
        if (line := self._own()) is not None:
            return f"What is asserted in line {line} is the script's own, and nothing of the target."
        return None

    def _answering(self, record: Record) -> str | None:
        """The module of the target that has every name, if the script compares nothing of it; None if there is none."""
        if not record.answering or any(map(self._compares, self._source.nodes)):
            return None
        asked = {alias.name for node in self._source.nodes if isinstance(node, ast.Import) for alias in node.names}
        asked |= {str(node.module) for node in self._source.nodes if isinstance(node, ast.ImportFrom)}
        return next((name for name in record.answering if name in asked), None)

    def _compares(self, node: ast.AST) -> bool:
        """Whether a piece of syntax compares something of the target, and not only with None."""
        none = any(isinstance(each, ast.Constant) and each.value is None for each in getattr(node, "comparators", ()))
        return isinstance(node, ast.Compare) and not none and self._source.depends(node)

    def _strayed(self, record: Record) -> int | None:
        """The line of an `except` that waits for what the target raises, and caught a mistake of the script's own.

        A `with` that expects an exception counts as well. None if there is none.
        """
        for line, span in record.strayed:
            node, body, handled = self._source.node_at(span), *self._catching.get(line, ([], []))
            statement = self._source.statement_at(span)
            if isinstance(statement, ast.Raise):
                if body and self._raises_itself(statement, line):
                    return line
                continue
            if node is None or self._source.depends(node):
                continue
            names = {each.id for part in handled for each in ast.walk(part) if isinstance(each, ast.Name)}
            values = [value for name in names for value in self._source.bindings.get(name, ())]
            asked = any(map(self._source.depends, body)) and not any(map(self._origins.is_of_target, values))
            if asked and not self._is_given(node, line):
                return line
        return record.strayed[-1][0] if len(record.strayed) >= MOST_STRAYED else None  # there may be more

    def _raises_itself(self, statement: ast.AST, line: int) -> bool:
        """Whether a statement stands in the block of the `with` in a line, or in an `if` there.

        What the `with` expects is asked of the target where only that expects it, as `pytest.raises` is of pytest.
        """
        while isinstance(owner := self._source.parents[id(statement)], ast.If):
            statement = owner
        if not isinstance(owner, ast.With | ast.AsyncWith) or owner.lineno != line:
            return False
        return not all(self._origins.is_of_target(each.func) for each in _expecting(owner))

    def _is_given(self, node: ast.AST, line: int) -> bool:
        """Whether a `with` around a piece of syntax, other than that in a line, gives its exceptions to the target."""
        around = self._source.holding([node]).values()
        return any(
            isinstance(each, ast.With | ast.AsyncWith)
            and each.lineno != line
            and any(map(self._source.depends, each.items))
            for each in around
        )

    @cached_property
    def _catching(self) -> dict[int, tuple[list[ast.stmt], list[ast.stmt]]]:
        """By the line of an `except`, or of a `with` that expects an exception: the block whose exceptions it catches.

        And what it does then.
        """
        found: dict[int, tuple[list[ast.stmt], list[ast.stmt]]] = {}
        for node in self._source.nodes:
            match node:
                case ast.Try(body=body, handlers=handlers) | ast.TryStar(body=body, handlers=handlers):
                    found |= {each.lineno: (body, each.body) for each in handlers}
                case ast.With(body=body) | ast.AsyncWith(body=body) if _expecting(node):
                    found[node.lineno] = (body, [])
        return found

    def _printed(self) -> int | None:
        """The line of a `try` that only prints whether the target raises, whatever else is asserted; else None."""
        failing = self._source.holding(each for each in self._source.nodes if self._endings.could_fail(each))
        checks = {each.name for each in failing.values() if isinstance(each, Function)}
        for node in self._source.nodes:
            match node:
                case ast.Try(body=body, handlers=[_, *_] as handlers, orelse=otherwise) if self._source.depends(node):
                    ways = [[*body, *otherwise], *(each.body for each in handlers)]
                    plain = all(isinstance(each, ast.Expr) for way in ways for each in way)
                    if _catches_only_failures(handlers) and not checks.isdisjoint(_called_in(body)):
                        continue
                    if plain and id(node) not in failing and all(map(_tells, ways)):
                        return node.lineno
        return None

    def _passed_over(self, record: Record) -> int | None:
        """The line of a `try` of which nothing is asserted, where nothing was raised, or anything would be caught.

        None if there is none, or if the script uses what the `try` made.
        """
        if any(map(self._endings.could_fail, self._source.nodes)):
            return None
        for node in self._source.nodes:
            if isinstance(node, ast.Try) and any(map(self._source.depends, node.body)):
                caught = [each for each in node.handlers if each.lineno not in record.unpassed]
                if any(map(_catches_all, caught)) or (node.handlers and not caught and not self._is_used(node)):
                    return node.lineno
        return None

    def _is_used(self, node: ast.Try) -> bool:
        """Whether what the block of a `try` makes is used elsewhere."""
        parts = [part for each in node.body for part in ast.walk(each)]
        made = {name for part in parts if not isinstance(part, ast.Call) for name in names_in(part)}
        made.update(name for part in parts for name in self._source.recorded(part))
        inside = {id(part) for part in ast.walk(node)}
        return any(isinstance(part, ast.Return | ast.Yield | ast.Break | ast.Continue) for part in parts) or any(
            isinstance(each, ast.Name) and each.id in made and id(each) not in inside for each in self._source.nodes
        )

    def _own(self) -> int | None:
        """The line of an assertion, if the script asserts nothing but values of its own; else None."""
        lines = []
        for node in self._source.nodes:
            match node:
                case ast.Assert(test=test) if not isinstance(self._values.held(test), ast.Constant):
                    asserted = [test]
                case ast.Call(func=ast.Attribute(attr=name), args=[_, *_] as asserted) if name[
                    6:7
                ].isupper() and self._endings.could_fail(node):
                    pass
                case _ if not isinstance(node, ast.Assert) and self._endings.could_fail(node):
                    return None
                case _:
                    continue
            if not all(map(self._values.is_own, asserted)):
                return None
            lines.append(node.lineno)
        return min(lines, default=None)

    def _compared(self) -> int | None:
        """The line of a comparison of what the target gives, if the script asserts nothing; None if there is none."""
        nodes = self._source.nodes
        if any(map(self._endings.could_fail, nodes)):
            return None
        for node in nodes:
            if not self._source.depends(node):
                continue
            match node:
                case ast.Compare() | ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "hasattr" | "callable")):
                    if self._is_result(node):
                        return node.lineno
                case ast.IfExp(test=asked) if self._source.depends(asked) and self._is_result(node):
                    return node.lineno
                case ast.If(test=asked) | ast.Match(subject=asked) if self._source.depends(asked):
                    if any(map(_tells, _blocks(node))):
                        return node.lineno
                case ast.Try(body=body, handlers=[_, *_] as handlers, orelse=otherwise):
                    ways = [otherwise or body, *(each.body for each in handlers)]
                    if set_by(node) or all(map(_tells, ways)):
                        return node.lineno
        return None

    def _is_result(self, node: ast.AST) -> bool:
        """Whether an expression is a result of a statement, and not one of many that a part of it computes."""
        while not isinstance(node, ast.stmt):
            by = self._source.parents[id(node)]
            if by is None or isinstance(by, ast.comprehension | ast.Lambda | ast.IfExp | ast.Subscript):
                return False
            node = by
        return isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return | ast.If)


def _expecting(node: ast.With | ast.AsyncWith) -> list[ast.Call]:
    """The calls by which a `with` keeps an exception to itself."""
    calls = [each.context_expr for each in node.items if isinstance(each.context_expr, ast.Call)]
    return [each for each in calls if last_name(each.func).startswith(_EXPECTING)]


def _blocks(node: ast.If | ast.Match) -> list[list[ast.stmt]]:
    return [node.body, node.orelse] if isinstance(node, ast.If) else [each.body for each in node.cases]


def _tells(block: Sequence[ast.stmt]) -> bool:
    """Whether a block prints something, or returns a constant."""
    return any(
        (isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and last_name(each.value.func) == "print")
        or (isinstance(each, ast.Return) and isinstance(each.value, ast.Constant))
        for each in block
    )


def _called_in(block: Sequence[ast.stmt]) -> set[str]:
    """The names of what statements call that consist of a call alone."""
    return {
        last_name(each.value.func) for each in block if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
    }


def _catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or last_name(handler.type) in ("Exception", "BaseException")


def _catches_only_failures(handlers: Sequence[ast.ExceptHandler]) -> bool:
    """Whether nothing but failed assertions is caught, which are told anyway."""
    return all(each.type is not None and last_name(each.type) == "AssertionError" for each in handlers)
