"""Whether the target decides how an assertion of a script comes out, and that the script gets to a statement."""

import ast

from touchstone.audits.sandbox.script.definitions import always_leaves
from touchstone.audits.sandbox.script.dependence import Function, ProofScript, last_name, parameters_of, passed_to
from touchstone.audits.sandbox.script.origins import TargetOrigins
from touchstone.audits.sandbox.script.truths import ScriptTruths


class TargetDecisions:
    """What the target decides in a script. Each answer has all looks for itself."""

    def __init__(self, source: ProofScript, origins: TargetOrigins, truths: ScriptTruths) -> None:
        self._source = source
        self._origins = origins
        self._truths = truths
        self._looks = truths.looks

    def decides(self, assertion: ast.Assert) -> bool:
        """Whether the target decides the result of `assertion`."""
        self._looks.renew()
        return self._truths.truth(assertion.test, assertion) == "asked" and self._looks.any_left()

    def decides_call(self, call: ast.Call, at: ast.stmt) -> bool:
        """Whether the target decides the result of a call of a method of unittest that asserts."""
        self._looks.renew()
        if not (isinstance(call.func, ast.Attribute) and call.func.attr.startswith("assert")):
            return False
        if isinstance(at, ast.With | ast.AsyncWith) and any(call is each.context_expr for each in at.items):
            return self._truths.only_asks(at.body)
        match (call.func.attr, call.args):
            case ("assertTrue", [one, *_]):
                truth = self._truths.truth(one, at)
            case ("assertFalse", [one, *_]):
                truth = self._truths.truth(ast.UnaryOp(ast.Not(), one), at)
            case ("assertIsNone" | "assertIsNotNone", [one, *_]):
                truth = self._truths.pair(one, ast.Is(), ast.Constant(None), at)
            case ("assertRaises" | "assertWarns", [_, function, *_]):
                return self._origins.is_of_target(function)
            case ("assertRaisesRegex" | "assertWarnsRegex", [_, _, function, *_]):
                return self._origins.is_of_target(function)
            case (_, [one, other, *_]):
                truth = self._truths.pair(one, ast.Eq(), other, at)
            case _:
                return False
        return truth == "asked" and self._looks.any_left()

    def leads_to(self, statement: ast.stmt) -> bool:
        """Whether the target decides that the script gets to a statement: by an `if`, or since it did not raise.

        What decides is the nearest `if` or `try` around the statement.
        """
        self._looks.renew()
        node: ast.AST | None = statement
        while (owner := self._source.parents[id(node)]) is not None:
            match owner:
                case ast.If(test=test, body=body):
                    passed_by = ast.UnaryOp(ast.Not(), test) if node in body else test
                    return self._truths.truth(passed_by, owner) == "asked" and self._looks.any_left()
                case ast.Try(body=body, handlers=[_, *_], orelse=otherwise) if node in otherwise:
                    return self._truths.only_asks(body)
                case ast.Try(body=body, handlers=[_, *_]) if node in body:
                    return self._truths.only_asks(body[: body.index(node)])
                case ast.With() | ast.AsyncWith():
                    node = owner
                case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) if node in body[1:]:
                    return self._is_left_before(body[body.index(node) - 1])
                case _:
                    return False
        return False

    def _is_left_before(self, statement: ast.stmt) -> bool:
        """Whether the target decides that a statement, the last one before another, does not leave the function."""
        match statement:
            case ast.If(test=test, body=body, orelse=[]) if always_leaves(body):
                return self._truths.truth(test, statement) == "asked" and self._looks.any_left()
            case ast.Try(body=body, handlers=[_, *_] as handlers, orelse=[], finalbody=[]):
                return all(always_leaves(each.body) for each in handlers) and self._truths.only_asks(body)
        return False

    def is_given(self, statement: ast.stmt, call: ast.AST | None) -> bool:
        """Whether a call gives a function something of the target, where a statement in it is about nothing else."""
        around = [*self._source.holding([statement]).values()]
        place = next((number for number, each in enumerate(around) if isinstance(each, Function)), None)
        if place is None or not isinstance(call, ast.Call) or any(map(_spreads, [*call.args, *call.keywords])):
            return True
        function = around[place]
        tests: list[ast.AST] = [each.test for each in around[:place] if isinstance(each, ast.If)]
        if isinstance(function, Function) and isinstance(statement, ast.Raise) and statement in function.body[1:]:
            before = function.body[function.body.index(statement) - 1]
            tests += [before] if isinstance(before, ast.If | ast.Try) else []
        match statement:
            case ast.Expr(value=ast.Call(args=asserted)):
                tests += asserted
            case _:
                tests.append(statement)
        parts = [each for part in tests for each in ast.walk(part)]
        names = {each.id for each in parts if isinstance(each, ast.Name) and self._source.depends(each)}
        method = isinstance(around[place + 1], ast.ClassDef)
        if not isinstance(function, Function) or function.name != last_name(call.func):
            return True
        if not names.issubset(parameters_of(function)[method:]):
            return True
        given = passed_to(function, call, skipped=int(method))
        return any(name in names and self._source.depends(value) for name, value in given)


def _spreads(given: ast.AST) -> bool:
    """Whether an argument of a call may be several."""
    return isinstance(given, ast.Starred) or (isinstance(given, ast.keyword) and given.arg is None)
