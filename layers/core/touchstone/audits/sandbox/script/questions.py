"""What a script asks of the target, read from its syntax: can an end of the script be attributed to the target at all?

An import of the library is no question, because it was imported before the script began. A question is a member or
module that the script looks up, a call, or an assertion about a value that came from the target and could have been
different.

Whatever cannot be recognised as a question is none. Examples: an object of the library passes through a name that also
holds something else; a constant decides a truth value beforehand; a function of the script returns no value of the
target. Such an end is not attributed to the target, and the proof says nothing either way.
"""

import ast
from collections.abc import Sequence
from functools import cached_property

from touchstone.audits.sandbox.record import Record
from touchstone.audits.sandbox.script.decisions import TargetDecisions
from touchstone.audits.sandbox.script.definitions import OwnDefinitions
from touchstone.audits.sandbox.script.dependence import Function, ProofScript, last_name, own_parts
from touchstone.audits.sandbox.script.endings import ScriptEndings
from touchstone.audits.sandbox.script.origins import TargetOrigins
from touchstone.audits.sandbox.script.own_values import OwnValues
from touchstone.audits.sandbox.script.scopes import ScriptScopes
from touchstone.audits.sandbox.script.stand_ins import StandIns
from touchstone.audits.sandbox.script.truths import ScriptTruths
from touchstone.audits.sandbox.script.undecided import UndecidedEnds
from touchstone.audits.sandbox.script.unittests import UnittestResults
from touchstone.audits.sandbox.script.unrun import PartsThatRan

_FORKS = frozenset({"os.fork", "os.forkpty"})
"""How a process starts that goes on with the script."""


class ScriptQuestions:
    """The questions of a script. `modules` are the names by which the target is imported.

    Its `definitions`, `origins`, `decisions`, `endings` and `stand_ins` answer what else is asked about the script.
    """

    def __init__(self, source: ProofScript, modules: Sequence[str]) -> None:
        self._source = source
        self._scopes = scopes = ScriptScopes(source)
        self.definitions = OwnDefinitions(source)
        self.origins = TargetOrigins(source, modules, self.definitions, scopes)
        self._truths = ScriptTruths(source, self.definitions, scopes, self.origins)
        self.decisions = TargetDecisions(source, self.origins, self._truths)
        self.endings = ScriptEndings(source, self.definitions, self._truths)
        self.stand_ins = StandIns(source, self.origins, self.endings)
        self._undecided = UndecidedEnds(source, self.origins, self.endings, OwnValues(source, self.definitions, scopes))
        self._parts = PartsThatRan(source, self.origins.is_of_target)
        self._unittests = UnittestResults(source, self.endings, self._parts)

    def any(self) -> bool:
        """Whether the script asks the target anything."""
        return any(map(self.origins.is_question, self._source.nodes))

    def unasked(self, record: Record) -> str | None:
        """Why an assertion of the script that ran to its end says nothing, as a sentence; None if none is found.

        The assertion cannot fail, or it never ran, or it failed and the script went on.
        """
        self._truths.looks.renew()  # at all assertions together
        for node in self._source.nodes:
            match node:
                case ast.Assert(test=ast.Tuple(elts=[_, *_])):
                    return f"What is asserted in line {node.lineno} is always true: it is a tuple."
                case ast.Expr(value=value) if _asserts_nothing(value):
                    return f"What is asserted in line {node.lineno} is always true, whatever the target does."
                case ast.Assert(test=test) if self._source.depends(test) and self._is_always_true(node):
                    return f"What is asserted in line {node.lineno} is always true, whatever the target does."
                case (
                    ast.Assert(test=ast.Compare(left=one, ops=[ast.Eq() | ast.Is()], comparators=[other]))
                    | ast.Call(func=ast.Attribute(attr="assertEqual"), args=[one, other])
                ) if self._is_default(one, other) or self._is_default(other, one):
                    return f"What is asserted in line {node.lineno} is the default that the script gives itself."
                case (
                    ast.Assert(test=test, msg=ast.expr() as said)
                    | ast.Call(func=ast.Attribute(attr="assertTrue" | "assertFalse"), args=[test, said])
                ) if self._is_meant_to_be_compared(test, said):
                    return f"What follows the comma in line {node.lineno} is only a message, and compared with nothing."
                case ast.ClassDef(name=name) if self._unittests.keeps_failures(node, record):
                    return f"Whether the tests of {name} failed is not seen: unittest keeps it to itself."
        if (why := self._undecided.why(record)) is not None:
            return why
        if failed := [line for line in record.failed if line not in self._input_lines]:
            return f"What is asserted in line {failed[0]} failed, and the script went on as if it had not."
        if self.endings.fails_with_another and not _FORKS.isdisjoint(record.started):
            return self.stand_ins.why()  # what did not run here may have run in the other process
        if not (self.endings.fails_with_another or _FORKS.issuperset(record.started)):
            return "The script started another program, and does not fail if that does."
        return self.stand_ins.why() or self._parts.missed(record)

    def _is_meant_to_be_compared(self, test: ast.expr, said: ast.expr) -> bool:
        """Whether an assertion's message was meant to be compared with what is asserted, as in `assertTrue(f(3), 9)`.

        It is a literal that is no text, and what is asserted is no comparison.
        """
        if isinstance(self._scopes.literal(test), ast.Compare | ast.BoolOp | ast.UnaryOp):
            return False
        try:
            return not isinstance(ast.literal_eval(self._scopes.literal(said)), str | None)
        except (ValueError, TypeError):
            return False

    def _is_default(self, asked: ast.expr, other: ast.expr) -> bool:
        """Whether a value may be what the script itself gives where the target has none: `getattr(box, "lid", 5) == 5`.

        One that is false tells that there is none. The `get` of an instance may itself be what is asked about.
        """
        match self._scopes.literal(asked):
            case ast.Call(func=ast.Name(id="getattr"), args=[_, _, given]):
                pass
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[_, given]):
                made = self._scopes.literal(owner)
                if isinstance(made, ast.Call) and last_name(made.func)[:1].isupper():
                    return False
            case ast.BoolOp(op=ast.Or(), values=[*_, given]):
                pass
            case _:
                return False
        match (self._scopes.literal(given), self._scopes.literal(other)):
            case (ast.Constant(value=value), ast.Constant(value=wanted)):
                return bool(value) and value == wanted
        return False

    def _is_always_true(self, assertion: ast.Assert) -> bool:
        return self._truths.truth(assertion.test, assertion) is True and self._truths.looks.any_left()

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


def _asserts_nothing(node: ast.expr) -> bool:
    """Whether a statement is an assertion that is not called, or not given what to call."""
    if isinstance(node, ast.Attribute):
        return node.attr.startswith("assert")
    return isinstance(node, ast.Call) and last_name(node.func) == "assertRaises" and len(node.args) == 1
