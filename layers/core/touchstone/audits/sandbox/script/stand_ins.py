"""Where a script puts code of its own, or a mock, in the place of the target, and asks that."""

import ast
from collections.abc import Iterable
from functools import cached_property

from touchstone.audits.sandbox.script.dependence import Function, ProofScript, last_name
from touchstone.audits.sandbox.script.endings import ScriptEndings
from touchstone.audits.sandbox.script.origins import TargetOrigins

_MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock", "create_autospec"})
"""What makes a mock."""


class StandIns:
    """What a script puts in the target's place."""

    def __init__(self, source: ProofScript, origins: TargetOrigins, endings: ScriptEndings) -> None:
        self._source = source
        self._origins = origins
        self._endings = endings

    def why(self) -> str | None:
        """Which member of the target the script puts its own code in the place of, and then asks, as a sentence."""
        put = {name for node in self._source.nodes for name in self._put_by(node)}
        kept = {id(node.value) for node in self._source.nodes if isinstance(node, ast.Assign)}
        if (mock := self._only_mock()) is not None:
            return f"What the script asks as {mock} is its own, which it put in the target's place."
        for node in self._source.nodes if put else ():
            match node:
                case ast.Attribute(attr=name, value=owner, ctx=ast.Load()) if name in put and id(node) not in kept:
                    if self._source.depends(owner):
                        return f"What the script asks as {name} is its own, which it put in the target's place."
        return None

    def _only_mock(self) -> str | None:
        """The name of a mock that the target is never given, if all that is asserted is of such; else None."""
        mocks = {
            name
            for name, values in self._source.bindings.items()
            if any(isinstance(each, ast.Call) and last_name(each.func) in _MOCKS for each in values)
        }
        uses = [each for each in self._source.nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
        mocks -= {each.id for each in uses if each.id in mocks and self._is_passed_on(each)}
        asserted = [
            {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in self._source.bindings}
            for node in (self._source.nodes if mocks else ())
            if isinstance(node, ast.Assert | ast.Call) and self._endings.could_fail(node)
        ]
        return min(mocks) if all(names and names <= mocks for names in asserted) and asserted else None

    def _is_passed_on(self, mock: ast.Name) -> bool:
        """Whether a mock itself is used, or a part of it is given to the target or kept."""
        part: ast.AST | None = mock
        by = self._source.parents[id(mock)]
        if not isinstance(by, ast.Attribute):
            return True
        while isinstance(by, ast.Attribute | ast.keyword | ast.List | ast.Tuple | ast.Dict):
            by, part = self._source.parents[id(by)], by
        if isinstance(by, ast.Call):
            return part is not by.func and self._source.depends(by.func)
        read = isinstance(getattr(part, "ctx", None), ast.Load)
        return read and isinstance(by, ast.Assign | ast.Return | ast.For)

    def _put_by(self, node: ast.AST) -> Iterable[str]:
        """The members of the target in whose place a piece of syntax puts code of the script's, or a mock."""
        match node:
            case ast.Assign(targets=targets, value=value) if self._is_own_code(value):
                places = [each for each in targets if isinstance(each, ast.Attribute)]
                return [place.attr for place in places if self._source.is_imported(place.value)]
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), value]):
                return [name] if self._source.is_imported(owner) and self._is_own_code(value) else ()
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
                patched = last_name(function) == "patch" and self._origins.is_in_target(name)
                return [name.rpartition(".")[2]] if patched else ()
            case ast.Call(func=ast.Attribute(attr="object", value=by), args=[owner, ast.Constant(value=str(name)), *_]):
                patched = last_name(by) == "patch" and self._source.is_imported(owner)
                return [name] if patched else ()
        return ()

    def _is_own_code(self, node: ast.AST) -> bool:
        """Whether a value is a function or a class of the script's that has nothing of the target's."""
        if isinstance(node, ast.Lambda):
            return not self._source.depends(node)
        return isinstance(node, ast.Name) and node.id in self._own_code

    @cached_property
    def _own_code(self) -> frozenset[str]:
        """The names of functions and classes of the script's that have nothing of the target's."""
        return frozenset(
            name
            for name, values in self._source.bindings.items()
            if any(
                isinstance(value, Function | ast.ClassDef | ast.Lambda) and not self._source.depends(value)
                for value in values
            )
        )
