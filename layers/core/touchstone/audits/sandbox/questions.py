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
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

from touchstone.audits.sandbox.dependence import (
    EXITS,
    Function,
    ProofScript,
    Span,
    names_in,
    own_parts,
    parameters_of,
    passed_to,
    set_by,
)
from touchstone.audits.sandbox.record import MOST_STRAYED, Record
from touchstone.audits.sandbox.unrun import PartsThatRan

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
_RESULTS = frozenset({"wasSuccessful", "failures", "errors"})
"""Attributes by which a result of unittest tells whether tests failed."""
_PASSED_OVER = frozenset({"expectedFailure", "skipTest", "SkipTest"})
"""Names of unittest by which a test that failed, or did not run, is none that failed."""
_ASSERTING = ("assert", "fail", "raises", "check_call")
"""How the names of functions begin that raise where something is not as it says."""
_EXPECTING = ("assertRaises", "raises", "suppress")
"""How the names of functions begin that a `with` calls, and that keep an exception to themselves."""
_MAKING = frozenset({
    "__init__", "__new__", "__slots__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__",
})  # fmt: skip
"""Names in a class by which it decides itself how it is called, and which attributes its instances have."""
_CALM = (
    ast.Expr, ast.Assign, ast.AnnAssign, ast.With, ast.AsyncWith, ast.Pass, ast.withitem, ast.alias, ast.keyword,
    ast.Constant, ast.Name, ast.UnaryOp, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Slice, ast.JoinedStr,
    ast.FormattedValue, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
"""Syntax that always runs, and raises nothing by itself."""
_MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock", "create_autospec"})
"""What makes a mock."""
_FORKS = frozenset({"os.fork", "os.forkpty"})
"""How a process starts that goes on with the script."""
_RAISING = frozenset({
    "check_returncode", "check_call", "check_output", "result", "get", "map", "starmap", "apply", "recv",
})  # fmt: skip
"""Functions that raise what another process failed with."""
_ENDS = frozenset({
    "exitcode", "returncode", "stdout", "stderr", "call", "communicate", "getoutput", "getstatusoutput", "poll",
    "system", "wait", "waitpid", "waitstatus_to_exitcode", "WEXITSTATUS",
})  # fmt: skip
"""Names that tell how another process ended, or what it said."""
_LOOKS_PER_PART = 20
"""Most looks at a part of the script, on average, by which it is read what decides an assertion."""
_MAX_DEPTH = 60
"""Deeper than any proof is written. Syntax below this depth is not looked at."""


class ScriptQuestions:
    """The questions of a script. `modules` are the names by which the target is imported."""

    def __init__(self, source: ProofScript, modules: Sequence[str]) -> None:
        self._source = source
        self._modules = modules
        self._depth = 0
        self._looks = 0
        self._settled: dict[str | int, bool] = {}
        """By what names a value: whether it is of the target."""
        self._told: dict[str, bool] = {}
        self._own: dict[str, list[ast.expr] | None] = {}
        self._calling: frozenset[str] = frozenset()
        """The calls of the script's own functions whose values are being looked at."""
        self._hidden: frozenset[str] = frozenset()
        """The names that a comprehension binds to nothing of the target, whose parts are being looked at."""

    def any(self) -> bool:
        """Whether the script asks the target anything."""
        return any(map(self._is_question, self._source.nodes))

    def unasked(self, record: Record) -> str | None:
        """Why an assertion of the script that ran to its end says nothing, as a sentence; None if none is found.

        The assertion cannot fail, or it never ran, or it failed and the script went on.
        """
        self._looks = _LOOKS_PER_PART * len(self._source.nodes)  # at all assertions together
        for node in self._source.nodes:
            match node:
                case ast.Assert(test=ast.Tuple(elts=[_, *_])):
                    return f"What is asserted in line {node.lineno} is always true: it is a tuple."
                case ast.Expr(value=value) if _asserts_nothing(value):
                    return f"What is asserted in line {node.lineno} is always true, whatever the target does."
                case ast.Assert(test=test) if self._source.depends(test) and self._is_always_true(node):
                    return f"What is asserted in line {node.lineno} is always true, whatever the target does."
                case ast.ClassDef(name=name) if self._is_unittests(node) and self._keeps_failures(node, record):
                    return f"Whether the tests of {name} failed is not seen: unittest keeps it to itself."
        if (why := self._undecided(record)) is not None:
            return why
        if failed := [line for line in record.failed if line not in self._input_lines]:
            return f"What is asserted in line {failed[0]} failed, and the script went on as if it had not."
        if self._fails_with_another and not _FORKS.isdisjoint(record.started):
            return self._stood_in()  # what did not run here may have run in the other process
        if not (self._fails_with_another or _FORKS.issuperset(record.started)):
            return "The script started another program, and does not fail if that does."
        return self._stood_in() or self._parts.missed(record)

    def _undecided(self, record: Record) -> str | None:
        """Why the end of a script says nothing of what it asks, as a sentence; None if nothing is found."""
        if (module := self._answering(record)) is not None:
            return f"That {module} has what the script asks it for says nothing: it has every name."
        if (line := self._strayed(record)) is not None:
            return f"What the script caught in line {line} is a mistake of its own, and nothing that the target did."
        if (line := self._printed()) is not None:
            return f"Whether something is raised in line {line} is only printed, and decides nothing."
        if (line := self._compared()) is not None:
            return f"What the script compares in line {line} decides nothing: the script asserts nothing."
        return None

    def _printed(self) -> int | None:
        """The line of a `try` that only prints whether the target raises, whatever else is asserted; else None."""
        failing = self._source.holding(each for each in self._source.nodes if self._could_fail(each))
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

    def _compared(self) -> int | None:
        """The line of a comparison of what the target gives, if the script asserts nothing; None if there is none."""
        nodes = self._source.nodes
        if any(map(self._could_fail, nodes)):
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

    def _could_fail(self, node: ast.AST) -> bool:
        """Whether a piece of syntax ends the script as failed where something is not as it says."""
        match node:
            case ast.Raise(exc=ast.Call(func=function)) | ast.Expr(value=ast.Call(func=function)) if (
                _last_name(function) in EXITS
            ):
                return any(self._truth(each, node) is not False for each in _status(node))
            case ast.Raise():
                return True
            case ast.Assert(test=test):
                return not (isinstance(test, ast.Constant) and test.value)
            case ast.Call(func=function):
                return _last_name(function).startswith(_ASSERTING) and not self.is_own(function)
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
                    waiting += [*given, *(self._returned(function) or ())]
        return self._source.is_last(span)

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
            if node is None or self._source.depends(node) or isinstance(self._source.statement_at(span), ast.Raise):
                continue
            names = {each.id for part in handled for each in ast.walk(part) if isinstance(each, ast.Name)}
            values = [value for name in names for value in self._source.bindings.get(name, ())]
            asked = any(map(self._source.depends, body)) and not any(map(self.is_of_target, values))
            if asked and not self._is_given(node, line):
                return line
        return record.strayed[-1][0] if len(record.strayed) >= MOST_STRAYED else None  # there may be more

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
                case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                    calls = [each.context_expr for each in items if isinstance(each.context_expr, ast.Call)]
                    if any(_last_name(each.func).startswith(_EXPECTING) for each in calls):
                        found[node.lineno] = (body, [])
        return found

    def _is_result(self, node: ast.AST) -> bool:
        """Whether an expression is a result of a statement, and not one of many that a part of it computes."""
        while not isinstance(node, ast.stmt):
            by = self._source.parents[id(node)]
            if by is None or isinstance(by, ast.comprehension | ast.Lambda | ast.IfExp | ast.Subscript):
                return False
            node = by
        return isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return | ast.If)

    @cached_property
    def _input_lines(self) -> frozenset[int]:
        """The lines of assertions about what the target gives to a function of the script that it decorates.

        That one fails is a part of what the script asks the target, such as a validator of pydantic.
        """
        return frozenset(
            each.lineno
            for node in self._source.nodes
            if isinstance(node, Function) and any(map(self._source.depends, node.decorator_list))
            for each in own_parts(node)
            if isinstance(each, ast.Assert) and not isinstance(each.test, ast.Constant)
            if not self._source.depends(each.test)
        )

    @cached_property
    def _fails_with_another(self) -> bool:
        """Whether the script fails if another process does that it started."""
        raising = [node for node in self._source.nodes if _raises_for_another(node)]
        return not all(map(self._is_caught, raising)) or bool(self._fails_by(_ENDS))

    def _is_caught(self, node: ast.AST) -> bool:
        """Whether what a statement raises for another process is caught there, and the script goes on."""
        while (owner := self._source.parents[id(node)]) is not None and not isinstance(node, Function):
            match owner:
                case ast.Try(body=body, handlers=handlers) if node in body:
                    if any(_catches_another(each) for each in handlers):
                        return True
                case ast.With(items=items) if any(
                    isinstance(each.context_expr, ast.Call) and _last_name(each.context_expr.func) == "suppress"
                    for each in items
                ):
                    return True
            node = owner
        return False

    def _is_always_true(self, assertion: ast.Assert) -> bool:
        return self._truth(assertion.test, assertion) is True and self._looks > 0

    def _stood_in(self) -> str | None:
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
            if any(isinstance(each, ast.Call) and _last_name(each.func) in _MOCKS for each in values)
        }
        uses = [each for each in self._source.nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
        mocks -= {each.id for each in uses if each.id in mocks and self._is_passed_on(each)}
        asserted = [
            {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in self._source.bindings}
            for node in (self._source.nodes if mocks else ())
            if isinstance(node, ast.Assert | ast.Call) and self._could_fail(node)
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
                patched = _last_name(function) == "patch" and self.is_in_target(name)
                return [name.rpartition(".")[2]] if patched else ()
            case ast.Call(func=ast.Attribute(attr="object", value=by), args=[owner, ast.Constant(value=str(name)), *_]):
                patched = _last_name(by) == "patch" and self._source.is_imported(owner)
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

    @cached_property
    def _parts(self) -> PartsThatRan:
        return PartsThatRan(self._source, self.is_of_target)

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

    def _keeps_failures(self, node: ast.ClassDef, record: Record) -> bool:
        """Whether a class of unittest has a test that the script does not call, and no result of tests is asked.

        A script that left with the status 0 by `unittest.main` has asked it.
        """
        tests = [each for each in node.body if isinstance(each, Function) and each.name.startswith(("test", "runTest"))]
        if any(_last_name(each) in _PASSED_OVER for each in ast.walk(node)):
            return True
        left = None if record.left_at is None else self._source.node_at(record.left_at)
        if isinstance(left, ast.Call) and _last_name(left.func) == "main":
            return ast.unparse(left.func).partition(".")[0] not in self._of_unittest
        return not self._is_result_asked and any(not self._parts.uses(each) for each in tests)

    @cached_property
    def _is_result_asked(self) -> bool:
        """Whether the script fails or not by a result of unittest: by whether it failed, or by failures and errors."""
        asked = self._fails_by(_RESULTS)
        return "wasSuccessful" in asked or {"failures", "errors"} <= asked

    def _fails_by(self, attributes: frozenset[str]) -> set[str]:
        """The attributes of these by which the script fails or not: an assertion tests them, or an `if` that raises."""
        nodes = self._source.nodes
        ends = [each for each in nodes if isinstance(each, ast.stmt) and self._could_fail(each)]
        failing = self._source.holding(ends)
        tests = [each.test for each in failing.values() if isinstance(each, ast.Assert | ast.If)]
        tests += [each for end in ends for each in _status(end)]
        names = {part.id for test in tests for part in ast.walk(test) if isinstance(part, ast.Name)}
        values = {
            id(each) for each in [*tests, *(value for name in names for value in self._source.bindings.get(name, []))]
        }
        return {
            name
            for name in attributes
            if not values.isdisjoint(self._source.holding(each for each in nodes if _last_name(each) == name))
        }

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

    def is_of_target(self, node: ast.AST) -> bool:
        """Whether `node` is an object of the target, or was obtained from such an object alone."""
        if self._key(node) not in self._settled:
            self._settle(node)
        return self._settled[self._key(node)]

    def _settle(self, node: ast.AST) -> None:
        """Find out of a piece of syntax, and of all that its value is got from, whether it is of the target.

        All are until one is found that is not; then what is got from it falls as well.
        """
        found = {self._key(node): node}
        users: dict[str | int, list[str | int]] = {}
        left: dict[str | int, int] = {}
        fallen = set()
        falling = []
        waiting = [node]
        while waiting:
            node = waiting.pop()
            every, parts = self._got_from(node)
            user = self._key(node)
            left[user] = 1 if every else len(parts)
            falling += [] if parts else [user]
            for part in parts:
                key = self._key(part)
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

    def _key(self, node: ast.AST) -> str | int:
        """What names the value of a piece of syntax: all uses of a name have one value."""
        match node:
            case ast.Name(id=name):
                return name
            case ast.Call(func=ast.Name(id=name)) if self.is_own(node.func):
                return f"{name}()"
        return id(node)

    def _got_from(self, node: ast.AST) -> tuple[bool, Sequence[ast.AST]]:  # noqa: C901, PLR0912 - one case a kind of syntax
        """What the value of a piece of syntax is got from: it is the target's where every part is, or where any is.

        What is the target's by itself is got from itself. What is got from nothing is not the target's.
        """
        match node:
            case ast.Name() if self._is_rebound_unseen:
                return True, []
            case ast.Name(id=name):
                return True, [value for value in self._source.bindings.get(name, []) if not _is_empty(value)]
            case ast.Import() | ast.ImportFrom():
                return True, [node] if self._source.is_import_of_target(node) else []
            case ast.ClassDef(bases=bases, decorator_list=decorators):
                return False, [*bases, *decorators]
            case ast.Attribute(attr=attribute, value=value):
                return True, [] if attribute in _ESCAPING_ATTRIBUTES or attribute in self._own_members else [value]
            case ast.Subscript(value=value) | ast.Await(value=value) | ast.Starred(value=value):
                return True, [value]
            case ast.NamedExpr(value=value) | ast.ListComp(elt=value) | ast.SetComp(elt=value):
                return True, [value]
            case ast.Call(func=ast.Lambda()):
                return True, []
            case ast.Call(func=function, args=arguments):
                if (returned := self._returned(function)) is None:
                    return False, [function, *arguments]
                key = self._key(node)
                return True, [value for value in returned if self._key(value) != key]
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return True, parts
            case ast.Dict(values=parts) | ast.BoolOp(values=parts):
                return True, parts
            case ast.IfExp(body=body, orelse=orelse):
                return True, [body, orelse]
        return True, []

    @cached_property
    def _is_rebound_unseen(self) -> bool:
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

    @cached_property
    def _own_members(self) -> frozenset[str]:
        """The attributes that the script's classes give a value of their own."""
        return frozenset(
            name
            for node in self._source.nodes
            if isinstance(node, ast.ClassDef)
            for each in node.body
            for name in names_in(each)
            if not self._source.depends(each)
        )

    @cached_property
    def _classes(self) -> list[ast.ClassDef]:
        return [node for node in self._source.nodes if isinstance(node, ast.ClassDef)]

    @cached_property
    def _methods(self) -> dict[str, list[Function]]:
        """By name: the methods of the script's classes."""
        found: dict[str, list[Function]] = {}
        for each in (part for node in self._classes for part in node.body):
            if isinstance(each, Function):
                found.setdefault(each.name, []).append(each)
        return found

    @cached_property
    def _of_own_classes(self) -> set[int]:
        """The identities of all syntax that uses a class of the script's, or an instance in its own methods."""
        methods = [each for several in self._methods.values() for each in several]
        return self._source.reached(self._classes, {one.arg for each in methods for one in each.args.args[:1]})

    @cached_property
    def _own_values(self) -> frozenset[str]:
        """The attributes of instances of the script's classes that hold, or may hold, nothing of the target's.

        They are methods that use nothing of it, and what a class that has nothing of it sets itself.
        """
        found = {name for name, several in self._methods.items() if not any(map(self._uses_target, several))}
        plain = [
            node for node in self._classes if not any(map(self._source.depends, [*node.bases, *node.decorator_list]))
        ]
        for node in plain:
            for each in ast.walk(node):
                if isinstance(each, ast.Assign) and not (self._source.depends(each.value) or _is_none(each.value)):
                    names = {part.id for part in ast.walk(each.value) if isinstance(part, ast.Name)}
                    places = [one for one in each.targets if isinstance(one, ast.Attribute | ast.Name)]
                    if names.isdisjoint(self._given_to.get(node.name, ())):
                        found |= {one.attr if isinstance(one, ast.Attribute) else one.id for one in places}
        return frozenset(found)

    @cached_property
    def _given_to(self) -> dict[str, set[str]]:
        """By the name of a class of the script's: the parameters of its `__init__` that are given the target's."""
        made = {
            node.name: each
            for node in self._classes
            for each in node.body
            if isinstance(each, Function) and each.name == "__init__"
        }
        found: dict[str, set[str]] = {}
        for call in self._source.nodes:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in made:
                given = passed_to(made[call.func.id], call, skipped=1)
                names = {name for name, value in given if self._source.depends(value)}
                if names:
                    found.setdefault(call.func.id, set()).update(names)
        return found

    def _uses_target(self, function: Function) -> bool:
        """Whether a method uses the target, or the instance of a class that the target makes or that is given of it."""
        names = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
        of = self._source.parents[id(function)]
        made = isinstance(of, ast.ClassDef) and (
            of.name in self._given_to or any(map(self._source.depends, [*of.bases, *of.decorator_list]))
        )
        own = {"super", *(each.arg for each in function.args.args[:1] if made)}
        return self._source.depends(function) or not names.isdisjoint(own)

    def is_in_target(self, name: str) -> bool:
        """Whether a module of that name belongs to the target."""
        return any(name == module or name.startswith(module + ".") for module in self._modules)

    def is_made_by_decorated(self, node: ast.AST) -> bool:
        """Whether a value is an instance of a class of the script's that the target decorates, such as one of attrs."""
        values = self._source.bindings.get(node.id, []) if isinstance(node, ast.Name) else [node]
        values = [each for each in values if not isinstance(each, ast.Constant)]  # no constant is of a class of it
        called = [each.func.id for each in values if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
        made = [each for name in called for each in self._source.bindings.get(name, ())]
        return 0 < len(values) == len(called) and all(
            isinstance(each, ast.ClassDef)
            and any(map(self.is_of_target, each.decorator_list))
            and not _makes_instances(each)
            for each in made
        )

    def says_how_called(self, function: ast.AST) -> bool:
        """Whether `function` is a class of the script's that says itself how it is called, or a method of one."""
        if isinstance(function, ast.Attribute):
            return function.attr in self._methods and id(function.value) in self._of_own_classes
        values = self._source.bindings.get(function.id, []) if isinstance(function, ast.Name) else []
        return any(isinstance(each, ast.ClassDef) and _makes_instances(each) for each in values)

    def is_own(self, function: ast.AST) -> bool:
        """Whether `function` is the name of a function that the script defines."""
        return self._returned(function) is not None

    def decides(self, assertion: ast.Assert) -> bool:
        """Whether the target decides the result of `assertion`."""
        self._looks = _LOOKS_PER_PART * len(self._source.nodes)
        return self._truth(assertion.test, assertion) == "asked" and self._looks > 0

    def decides_call(self, call: ast.Call, at: ast.stmt) -> bool:
        """Whether the target decides the result of a call of a method of unittest that asserts."""
        self._looks = _LOOKS_PER_PART * len(self._source.nodes)
        if not (isinstance(call.func, ast.Attribute) and call.func.attr.startswith("assert")):
            return False
        if isinstance(at, ast.With | ast.AsyncWith) and any(call is each.context_expr for each in at.items):
            return self._only_asks(at.body)
        match (call.func.attr, call.args):
            case ("assertTrue", [one, *_]):
                truth = self._truth(one, at)
            case ("assertFalse", [one, *_]):
                truth = self._truth(ast.UnaryOp(ast.Not(), one), at)
            case ("assertIsNone" | "assertIsNotNone", [one, *_]):
                truth = self._pair(one, ast.Is(), ast.Constant(None), at)
            case ("assertRaises" | "assertWarns", [_, function, *_]):
                return self.is_of_target(function)
            case ("assertRaisesRegex" | "assertWarnsRegex", [_, _, function, *_]):
                return self.is_of_target(function)
            case (_, [one, other, *_]):
                truth = self._pair(one, ast.Eq(), other, at)
            case _:
                return False
        return truth == "asked" and self._looks > 0

    def is_given(self, statement: ast.stmt, call: ast.AST | None) -> bool:
        """Whether a call gives a function something of the target, where a statement in it is about nothing else."""
        around = [*self._source.holding([statement]).values()]
        place = next((number for number, each in enumerate(around) if isinstance(each, Function)), None)
        if place is None or not isinstance(call, ast.Call) or any(map(_spreads, [*call.args, *call.keywords])):
            return True
        function = around[place]
        tests: list[ast.AST] = [each.test for each in around[:place] if isinstance(each, ast.If)]
        match statement:
            case ast.Expr(value=ast.Call(args=asserted)):
                tests += asserted
            case _:
                tests.append(statement)
        parts = [each for part in tests for each in ast.walk(part)]
        names = {each.id for each in parts if isinstance(each, ast.Name) and self._source.depends(each)}
        method = isinstance(around[place + 1], ast.ClassDef)
        if not isinstance(function, Function) or function.name != _last_name(call.func):
            return True
        if not names.issubset(parameters_of(function)[method:]):
            return True
        given = passed_to(function, call, skipped=int(method))
        return any(name in names and self._source.depends(value) for name, value in given)

    def leads_to(self, statement: ast.stmt) -> bool:
        """Whether the target decides that the script gets to a statement: by an `if`, or since it did not raise.

        What decides is the nearest `if` or `try` around the statement.
        """
        self._looks = _LOOKS_PER_PART * len(self._source.nodes)
        node: ast.AST | None = statement
        while (owner := self._source.parents[id(node)]) is not None:
            match owner:
                case ast.If(test=test, body=body):
                    passed_by = ast.UnaryOp(ast.Not(), test) if node in body else test
                    return self._truth(passed_by, owner) == "asked" and self._looks > 0
                case ast.Try(body=body, handlers=[_, *_], orelse=otherwise) if node in otherwise:
                    return self._only_asks(body)
                case ast.Try(body=body, handlers=[_, *_]) if node in body:
                    return self._only_asks(body[: body.index(node)])
                case ast.With() | ast.AsyncWith():
                    node = owner
                case _:
                    return False
        return False

    def _only_asks(self, block: Sequence[ast.stmt], *, also_given: bool = False) -> bool:
        """Whether a block asks the target, and nothing else in it could raise or be left out.

        What is given to a call of the target counts only with `also_given`: where it matters that something raised.
        """
        asks = False
        for statement in block:
            parts: list[ast.AST] = [statement]
            for each in parts:
                if not self._is_only_target(each, statement):
                    return False
                asks = asks or self._is_question(each)
                if isinstance(each, ast.Call) and self._source.depends(each.func) and not also_given:
                    parts.append(each.func)
                else:
                    parts += ast.iter_child_nodes(each)
        return asks and self._looks > 0

    def _is_only_target(self, node: ast.AST, at: ast.stmt) -> bool:
        """Whether nothing but the target could raise in a piece of syntax itself, without its parts."""
        match node:
            case ast.Call(func=function):
                return not self.is_own(function) and self._called(node, at) == "asked"
            case ast.Import() | ast.ImportFrom():
                return self._source.is_import_of_target(node)
            case ast.Attribute() | ast.Subscript() | ast.BinOp() | ast.Compare() | ast.Await():
                return self._source.depends(node)
        return isinstance(node, _CALM)

    def _truth(self, node: ast.expr, at: ast.stmt) -> Truth:
        self._depth += 1
        self._looks -= 1
        try:
            return "own" if self._depth > _MAX_DEPTH or self._looks < 0 else self._plain_truth(node, at)
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
            case ast.Name(id=name) if self._is_only_code(name):
                return True
            case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(op=how, values=values)):
                denied: list[ast.expr] = [ast.UnaryOp(ast.Not(), value) for value in values]
                return self._truth(ast.BoolOp(ast.Or() if isinstance(how, ast.And) else ast.And(), denied), at)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self._truth(operand, at)
                return not truth if isinstance(truth, bool) else truth
            case ast.BoolOp(op=how, values=values) if _contradict(values):
                return True if isinstance(how, ast.Or) else "own"
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

    def _is_only_code(self, name: str) -> bool:
        """Whether a name holds a function of the script's that is not called there, and nothing else."""
        values = self._source.bindings.get(name, [])
        return all(
            isinstance(each, ast.Lambda) or (isinstance(each, Function) and not each.decorator_list) for each in values
        ) and bool(values)

    def _pair(self, left: ast.expr, how: ast.cmpop, right: ast.expr, at: ast.stmt) -> Truth:
        left, right = self._same_as(left), self._same_as(right)
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
            return self._truth(function.body, at)
        if isinstance(function, ast.Name) and (returned := self._returned(function)) is not None:
            return self._ended(function, returned, at)
        if isinstance(function, ast.Name) and function.id not in self._source.bindings:
            match (function.id, node.args):
                case ("bool", [value]):
                    return self._truth(value, at)
                case ("map" | "filter" | "zip" | "iter" | "enumerate", [_, *_]):
                    return True
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

    def _ended(self, function: ast.Name, returned: Sequence[ast.expr], at: ast.stmt) -> Truth:
        """The truth value of a call of the script's own function. A recursive return adds nothing to it."""
        outside = self._calling
        self._calling = outside | {f"{function.id}()"}
        if self._calling == outside:
            return "own"
        try:
            ends = [value for value in returned if not _calls_one_of(value, self._calling)]
            parents = self._source.parents
            ways = [(value, parents.get(id(value))) for value in ends]
            truths: set[Truth] = {self._truth(value, by if isinstance(by, ast.stmt) else at) for value, by in ways}
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
        return all(self._truth(each.test, each) == "asked" for each in choices)

    def _carries(self, node: ast.AST, at: ast.stmt) -> bool:
        """Whether a value contains one that the script obtained from the target by a question."""
        self._looks -= 1
        if self._looks < 0:
            return False
        match node:
            case ast.Name(id=name):
                if name in self._hidden or not self._source.depends(node):
                    return False
                return not self._is_module(node) and not self._is_overwritten(name, at) and self._is_told(name)
            case ast.Attribute(attr=name, value=value):
                if name in self._own_values and id(value) in self._of_own_classes:
                    return False
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
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._gathers(node, at)
            case ast.Subscript(value=held, slice=ast.Constant(value=place)):
                plain = not isinstance(held, ast.Name) or held.id not in self._changed_later
                if plain and isinstance(parts := self._literal(held), ast.Tuple | ast.List | ast.Dict):
                    taken = _at_place(parts, place)
                    return taken is not None and self._carries(taken, at)
        return any(self._carries(part, at) for part in ast.iter_child_nodes(node))

    @cached_property
    def _changed_later(self) -> frozenset[str]:
        """The names of what may be changed after it is made: a method of it is called, or it is given on."""
        found = set()
        for node in self._source.nodes:
            if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
                continue
            match self._source.parents[id(node)]:
                case ast.Attribute(attr="items" | "keys" | "values" | "get" | "copy" | "index" | "count"):
                    pass
                case ast.Call(func=ast.Name(id=name)) if name not in self._source.bindings:
                    pass  # a built-in function
                case (
                    ast.Attribute() | ast.Call() | ast.keyword() | ast.Starred() | ast.Return() | ast.Assign()
                    | ast.List() | ast.Tuple() | ast.Dict()
                ):  # fmt: skip
                    found.add(node.id)
        return frozenset(found)

    def _literal(self, node: ast.AST) -> ast.AST:
        """The value of a name that is bound once; anything else as it is."""
        values = self._source.bindings.get(node.id, []) if isinstance(node, ast.Name) else []
        return values[0] if len(values) == 1 else node

    def _same_as(self, node: ast.expr) -> ast.expr:
        """The name that a name stands for, if it is bound once and to that name; anything else as it is."""
        other = self._literal(node)
        by = self._source.parents[id(other)] if isinstance(other, ast.Name) and other is not node else None
        plain = isinstance(by, ast.Assign) and all(isinstance(each, ast.Name) for each in by.targets)
        return other if plain and isinstance(other, ast.Name) else node

    def _is_told(self, name: str) -> bool:
        """Whether the target decides what a name holds that a `try` sets to a constant: nothing else raises there."""
        if name not in self._told:
            self._told[name] = False  # while it is looked for
            values = [each for each in self._source.bindings.get(name, []) if not isinstance(each, ast.Constant)]
            self._told[name] = any(map(self._source.depends, values)) or all(
                self._only_asks(each.body, also_given=True) for each in self._flags.get(name, ())
            )
        return self._told[name]

    @cached_property
    def _flags(self) -> dict[str, list[ast.Try | ast.TryStar]]:
        """By name: each `try` that sets it to a constant."""
        found: dict[str, list[ast.Try | ast.TryStar]] = {}
        for node in self._source.nodes:
            if isinstance(node, ast.Try | ast.TryStar):
                for name in set_by(node):
                    found.setdefault(name, []).append(node)
        return found

    def _gathers(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, at: ast.stmt) -> bool:
        """Whether what a comprehension makes carries a value of the target. Its names are its own."""
        outside = self._hidden
        own = [each.target for each in node.generators if not self._carries(each.iter, at)]
        self._hidden = outside | {part.id for each in own for part in ast.walk(each) if isinstance(part, ast.Name)}
        try:
            return any(self._carries(part, at) for part in ast.iter_child_nodes(node))
        finally:
            self._hidden = outside

    def _is_module(self, node: ast.AST) -> bool:
        """Whether `node` is the target's module itself and no part of it: a name that only imports bind."""
        return isinstance(node, ast.Name) and self._source.depends(node) and node.id in self._module_names

    @cached_property
    def _module_names(self) -> frozenset[str]:
        return frozenset(
            name
            for name, values in self._source.bindings.items()
            if all(isinstance(value, ast.Import) and not self._is_question(value) for value in values)
        )

    def _is_overwritten(self, name: str, at: ast.stmt) -> bool:
        """Whether the last statement before `at` that binds `name` binds it to nothing of the target.

        It is looked for in the function of `at`, from its block to those around it. What a loop binds later counts too.
        """
        node: ast.AST | None = at
        while node is not None and not isinstance(node, Function | ast.ClassDef):
            self._looks -= 1
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
            for name in names_in(node):
                of_target, part = self._source.binds(node, name), node
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

    def _returned(self, function: ast.AST) -> list[ast.expr] | None:
        """The expressions that a function of the script returns; None if the script does not define the function."""
        if not isinstance(function, ast.Name):
            return None
        if function.id not in self._own:
            values = self._source.bindings.get(function.id, [])
            made = [value for value in values if isinstance(value, Function | ast.Lambda)]
            self._own[function.id] = [each for value in made for each in _returned_by(value)] if made else None
        return self._own[function.id]


def _makes_instances(node: ast.ClassDef) -> bool:
    """Whether a class says itself what it is called with and which attributes its instances have."""
    return any(name in _MAKING for each in node.body for name in [getattr(each, "name", ""), *names_in(each)])


def _returned_by(function: Function | ast.Lambda) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    returned = [each.value for each in own_parts(function) if isinstance(each, ast.Return) and each.value]
    # What gets to the end of a function that returns something elsewhere returns None.
    return [*returned, *([ast.Constant(None)] if returned and not _always_leaves(function.body) else [])]


def _always_leaves(block: Sequence[ast.stmt]) -> bool:
    """Whether no way leads to the end of a block, as far as the syntax shows it."""
    match block[-1:]:
        case [ast.Return() | ast.Raise()]:
            return True
        case [ast.While(test=ast.Constant(value=True))]:
            return True
        case [ast.If(body=body, orelse=otherwise)]:
            return _always_leaves(body) and _always_leaves(otherwise)
        case [ast.With(body=body) | ast.AsyncWith(body=body)]:
            return _always_leaves(body)
        case [ast.Match(cases=cases)]:
            return all(_always_leaves(each.body) for each in cases)
        case [ast.Try(body=body, handlers=handlers, orelse=otherwise, finalbody=last)]:
            ways = [otherwise or body, *(each.body for each in handlers)]
            return all(map(_always_leaves, ways)) or _always_leaves(last)
    return False


def _last_name(node: ast.AST) -> str:
    """The name, or the attribute, that `node` is; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _blocks(node: ast.If | ast.Match) -> list[list[ast.stmt]]:
    return [node.body, node.orelse] if isinstance(node, ast.If) else [each.body for each in node.cases]


def _spreads(given: ast.AST) -> bool:
    """Whether an argument of a call may be several."""
    return isinstance(given, ast.Starred) or (isinstance(given, ast.keyword) and given.arg is None)


def _tells(block: Sequence[ast.stmt]) -> bool:
    """Whether a block prints something, or returns a constant."""
    return any(
        (isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and _last_name(each.value.func) == "print")
        or (isinstance(each, ast.Return) and isinstance(each.value, ast.Constant))
        for each in block
    )


def _asserts_nothing(node: ast.expr) -> bool:
    """Whether a statement is an assertion that is not called, or not given what to call."""
    if isinstance(node, ast.Attribute):
        return node.attr.startswith("assert")
    return isinstance(node, ast.Call) and _last_name(node.func) == "assertRaises" and len(node.args) == 1


def _called_in(block: Sequence[ast.stmt]) -> set[str]:
    """The names of what statements call that consist of a call alone."""
    return {
        _last_name(each.value.func) for each in block if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
    }


def _catches_only_failures(handlers: Sequence[ast.ExceptHandler]) -> bool:
    """Whether nothing but failed assertions is caught, which are told anyway."""
    return all(each.type is not None and _last_name(each.type) == "AssertionError" for each in handlers)


def _is_denied(node: ast.expr) -> bool:
    """Whether a truth value says that something is not as it should be, or each of those that are counted."""
    match node:
        case ast.GeneratorExp(elt=asked, generators=made) | ast.ListComp(elt=asked, generators=made):
            counted = isinstance(asked, ast.Constant) and made[-1].ifs
            return _is_denied(counted[-1] if counted else asked)
        case ast.Compare(ops=[how]):
            return isinstance(how, ast.NotEq | ast.IsNot | ast.NotIn)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _status(node: ast.stmt) -> Sequence[ast.expr]:
    """What a statement that leaves the script gives as its status; empty for any other."""
    match node:
        case ast.Raise(exc=ast.Call(func=function, args=args)) | ast.Expr(value=ast.Call(func=function, args=args)):
            return args if _last_name(function) in EXITS else ()
    return ()


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


def _heads(node: ast.AST | None) -> Sequence[ast.AST]:
    """The syntax by which a loop or a `with` binds names for its body."""
    return node.items if isinstance(node, ast.With | ast.AsyncWith) else [node] if isinstance(node, ast.For) else []


def _catches_another(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches what is raised for another process, and neither raises nor asserts anything."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {"" if each is None else _last_name(each) for each in caught}
    fails = any(isinstance(each, ast.Raise | ast.Assert) for each in ast.walk(handler))
    return not (fails or names.isdisjoint({"", "BaseException", "Exception", "SubprocessError", "CalledProcessError"}))


def _calls_one_of(node: ast.AST, calls: frozenset[str]) -> bool:
    """Whether `node` is just a call in `calls`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and f"{node.func.id}()" in calls


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


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


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
