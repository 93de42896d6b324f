"""Marks in the code of a script, by which Python tells which assertions passed or failed, and what was caught."""

import builtins
import sys
from _ast import (
    And,
    Assert,
    Assign,
    AsyncWith,
    BoolOp,
    Call,
    Constant,
    ExceptHandler,
    Expr,
    For,
    GeneratorExp,
    If,
    IfExp,
    Lambda,
    ListComp,
    Load,
    Name,
    Not,
    Or,
    Pass,
    Raise,
    Return,
    Try,
    UnaryOp,
    While,
    With,
    arguments,
)
from sys import exception
from types import CodeType
from typing import Any

from touchstone.audits.sandbox.inside.objects import BUILT_IN
from touchstone.audits.sandbox.inside.syntax import ONLY_SYNTAX, called_name, parts_of, position_of, walked

PASSED_MARK, FAILED_MARK, MET_MARK = "assertion passed", "assertion failed", "one of all"
"""Names in the code of the marks of an assertion. No name of a script has a space."""
CAUGHT_MARK = "something caught"
"""The name in the code of the mark of an `except`."""
CAUGHT = "touchstone.caught"
"""The audit event by which an `except` tells what it caught."""
MISTAKES = (NameError, AttributeError, TypeError, ValueError)
"""The exceptions by which a script's own mistakes show, and which a script expects of a library as well."""
TOLD_OF = (AssertionError, BaseExceptionGroup, *MISTAKES)
IN_CODE = {
    "built-in isinstance": isinstance, "exceptions told of": TOLD_OF, "built-in audit": sys.audit,
    "built-in exception": exception,
}  # fmt: skip
"""Constants in the code of a script, each by the text in whose place it is put. No name of the script leads to them."""


def marked(text: str, script: str) -> tuple[Any, dict[str, set[int]]]:
    """The syntax of a script with marks, and the lines where each mark is to be met, by its name.

    Raises what Python raises for wrong syntax.

    A mark is a call of a function that does nothing: that it started tells that an assertion passed, or failed.
    `assert x` becomes `assert x and not passed() or failed()`, and in it `all(y for …)` becomes `all(not met() and y
    for …)`. `raise AssertionError` has a mark of the second kind. So has the `raise` of an exception of Python's that
    ends what a `try` did, which only prints or notes it. Each `except` begins by a mark and by telling what it caught,
    and each `with` tells what leaves its block, which it may keep to itself.
    """
    tree = compile(text, script, "exec", ONLY_SYNTAX, dont_inherit=True)
    lines: dict[str, set[int]] = {PASSED_MARK: set(), MET_MARK: set(), CAUGHT_MARK: set()}
    told: set[int] = set()
    parts: list[Any] = [tree]
    for each in parts:
        parts += parts_of(each)
        if type(each) is Assert:
            lines[PASSED_MARK].add(each.lineno)
            for one in _all_of_several(each.test):
                lines[MET_MARK].add(each.lineno)
                where = position_of(one.elt)
                one.elt = BoolOp(And(), [UnaryOp(Not(), _mark(MET_MARK, each), **where), one.elt], **where)
            where = position_of(each.test)
            passed = BoolOp(And(), [each.test, UnaryOp(Not(), _mark(PASSED_MARK, each), **where)], **where)
            each.test = BoolOp(Or(), [passed, _mark(FAILED_MARK, each)], **where)
        elif type(each) is Try:
            alone = len(each.handlers) == 1
            told |= {
                id(one) for one in _own_raises(each.body) if any(_only_tells(by, one, alone) for by in each.handlers)
            }
        elif type(each) is Raise and each.exc is not None and (id(each) in told or _is_failure(each.exc)):
            each.exc = BoolOp(Or(), [_mark(FAILED_MARK, each), each.exc], **position_of(each.exc))
        elif type(each) is ExceptHandler:
            lines[CAUGHT_MARK].add(each.lineno)
            each.body[:0] = [Expr(_mark(CAUGHT_MARK, each), **position_of(each)), _telling(each)]
        elif type(each) in (With, AsyncWith):
            where = position_of(each)
            told_on = ExceptHandler(None, None, [_telling(each), Raise(None, None, **where)], **where)
            each.body = [Try(each.body, [told_on], [], [], **where)]
    return tree, lines


def _all_of_several(test: Any) -> list[Any]:
    """The comprehensions of which `all` takes the values in an assertion, in any way: `all` of nothing is true."""
    parts = [test]
    for each in parts:
        either = type(each) is IfExp or (type(each) is BoolOp and type(each.op) is Or)
        parts += [] if either else parts_of(each)
    called = [
        each.args[0] for each in parts if type(each) is Call and len(each.args) == 1 and called_name(each) == "all"
    ]
    return [each for each in called if type(each) in (GeneratorExp, ListComp)]


def _mark(name: str, at: Any) -> Any:
    """`(lambda: 0 and name)()`, of which Python keeps the name, though it is never asked for."""
    where = position_of(at)
    value = BoolOp(And(), [Constant(0, **where), Name(name, Load(), **where)], **where)
    return Call(Lambda(arguments([], [], None, [], [], None, []), value, **where), [], [], **where)


def _telling(at: Any) -> Any:
    """`isinstance(exception(), TOLD_OF) and audit(CAUGHT, exception(), <line>)`, of constants of the code."""
    where = position_of(at)
    # In an `if`, because Python warns where it sees that a text is called.
    yes, no = Constant(1, **where), Constant(0, **where)
    asked, kinds, audit, caught = (IfExp(yes, Constant(name, **where), no, **where) for name in IN_CODE)
    error = Call(caught, [], [], **where)
    told = Call(audit, [Constant(CAUGHT, **where), error, Constant(at.lineno, **where)], [], **where)
    return Expr(BoolOp(And(), [Call(asked, [error, kinds], [], **where), told], **where), **where)


def completed(code: CodeType) -> CodeType:
    """Code with the constants of `IN_CODE` in their places."""
    return code.replace(
        co_consts=tuple(
            completed(each) if type(each) is CodeType else IN_CODE.get(each, each) if type(each) is str else each
            for each in code.co_consts
        )
    )


def _is_failure(raised: Any) -> bool:
    """Whether what is raised is an `AssertionError`."""
    return called_name(raised) == "AssertionError"


def _own_raises(body: list[Any]) -> list[Any]:
    """The `raise` statements of a block, without its first and those in functions, classes and `with` blocks."""
    parts = body[type(body[0]) is Raise :]
    for each in parts:
        for name in ("body", "orelse") if type(each) in (If, For, While) else ():
            parts += getattr(each, name)
    return [each for each in parts if type(each) is Raise and each.exc is not None]


def _only_tells(handler: Any, raised: Any, alone: bool) -> bool:
    """Whether an `except` catches what a `raise` of an exception of Python's raises, and only prints or logs it.

    Or notes it, where no other `except` stands beside it (`alone`), so that nothing tells it from one of the target.
    """
    name, caught = called_name(raised.exc), handler.type
    return (
        (alone or name in BUILT_IN.values())
        and (caught is None or called_name(caught) in ("Exception", "BaseException", name))
        and all(
            type(each) is Pass or (type(each) is Expr and _prints(each.value)) or (alone and _notes(each, handler.name))
            for each in handler.body
        )
    )


def _notes(statement: Any, caught: str | None) -> bool:
    """Whether a statement only keeps or returns a constant or the exception `caught`, or asserts something of it."""
    if type(statement) is Assert:
        named = [each.id for each in walked(statement.test) if type(each) is Name]
        return caught in named and all(one == caught or hasattr(builtins, one) for one in named)
    kept = statement.value if type(statement) in (Assign, Return) else statement
    return kept is None or type(kept) is Constant or (type(kept) is Name and kept.id == caught)


def _prints(node: Any) -> bool:
    """Whether an expression only tells a reader something, by Python itself."""
    by = node.func if type(node) is Call else None
    return getattr(by, "id", "") == "print" or getattr(getattr(by, "value", None), "id", "") in ("traceback", "logging")
