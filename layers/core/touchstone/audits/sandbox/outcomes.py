"""The outcome of one proof, read from how its script ended and from the script itself.

A script that runs to its end with the target holds, also if its last statement leaves with the status 0. A script
that raises refutes only if it is the target that did not do as the script says:

- the exception came out of the target's code, or out of a call or an attribute of something that is the target's;
- the target has no such module, member or attribute;
- an `assert` about a value that depends on the target failed, or such a method of unittest;
- an `assert False` was reached, which it is only by what the target said or did not raise;
- the script raised by itself, because of such an exception.

Any other exception is the script's own fault and proves nothing: wrong syntax, a name that it does not define, an
import of something else, an exit before its end, an exception that it raises by itself.
"""

import ast
import builtins
import errno
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.audits.sandbox.record import Raised, Record
from touchstone.audits.sandbox.script.dependence import Function, ProofScript, Span, last_name
from touchstone.audits.sandbox.script.questions import ScriptQuestions

_BOUNDS = {
    errno.EAGAIN: "it may start no more processes",
    errno.EMFILE: "it may open no more files",
    errno.ENOSPC: "it may write no more",
    errno.EFBIG: "it may write no more to one file",
    errno.ENOMEM: "it may take no more memory",
    errno.EROFS: "it may not write there",
    errno.EACCES: "it may not use that",
    errno.EPERM: "it may not do that",
    errno.EAFNOSUPPORT: "it may open no such socket",
    errno.ENETUNREACH: "it reaches no network",
    errno.EADDRNOTAVAIL: "it reaches no network",
    errno.ECONNREFUSED: "it reaches no network",
}
_PYTHONS_OWN = frozenset({
    "builtins.SystemExit", "builtins.KeyboardInterrupt", "builtins.GeneratorExit", "asyncio.exceptions.CancelledError",
})  # fmt: skip
"""Exceptions of Python that no `except Exception` catches. What else is none of `Exception` is a library's own."""
_GROUPS = ("builtins.ExceptionGroup", "builtins.BaseExceptionGroup")
"""Of what is in a group of Python's, nothing is known: it may be a mistake of the script's."""
_LEAVING = frozenset({"exit", "fail", "importorskip", "skip", "xfail"})
"""Functions of a library by which a script ends itself, and says nothing of the library."""
_UNUSED = frozenset({"async_generator", "builtin_function_or_method", "coroutine", "function", "method", "module"})
"""What a script has in hand where it forgot to call or to await something."""
_PYTHONS_KINDS = frozenset(
    {*vars(builtins), *(each.__name__ for each in vars(types).values() if isinstance(each, type))}
)
"""The names of Python's own classes, which the target may have been given by the script."""
_REGISTERED = (
    " A name that the library added for the script may be one that the script made up: ask for what needs no such name."
)
SHOWN_CHARS = 300
"""How many characters of an exception's message a sentence quotes."""


@dataclass(frozen=True, slots=True)
class RunMeaning:
    """The meaning of a single run, before it is compared with the run without the target."""

    outcome: Literal["holds", "refuted", "error", "vacuous", "blocked"]
    reason: str


def read_record(record: Record, source: ProofScript, modules: Sequence[str]) -> RunMeaning:
    """What the end of a script means for the target, which is imported by the names in `modules`."""
    try:
        return _read(record, source, modules)
    except RecursionError:
        return RunMeaning("vacuous", "The script is nested too deeply for it to be read what decides its end.")


def _read(record: Record, source: ProofScript, modules: Sequence[str]) -> RunMeaning:
    if record.faults:
        said = (
            f"Inconclusive: the script, or the library that it uses, changed what it is judged by ({record.faults[0]})."
        )
        return RunMeaning("error", said + _REGISTERED * record.faults[0].endswith("was added"))
    questions = ScriptQuestions(source, modules)
    if record.end == "completed" or (record.left_at is not None and questions.endings.leaves_at_end(record.left_at)):
        if not questions.any():
            return RunMeaning("vacuous", "The script asks nothing of the target that could have come out otherwise.")
        why = questions.unasked(record)
        if why is None and record.unseen:
            why = f"A part of the script ended by {record.unseen[0]}, which the script did not see."
        if why is not None:
            return RunMeaning("vacuous", why)
        return RunMeaning("holds", "The script ran to its end.")
    if record.end == "exit" or not record.errors:
        return RunMeaning("error", "The script left before its end by SystemExit.")
    said = record.errors[0].message[:SHOWN_CHARS]
    for raised in record.errors:
        if (bound := _bound(raised)) is not None:
            return RunMeaning("blocked", f"The script met a bound of the sandbox ({bound}): {said}")
    reading = _Exception(record.errors, source, questions).reading(said)
    if reading.outcome == "refuted" and (why := questions.stand_ins.why()) is not None:
        return RunMeaning("vacuous", why)
    return reading


def same_end(one: Record, other: Record) -> bool:
    """Whether two runs ended alike: both at the end of the script, or by the same exception at the same place in it."""
    if (one.end, one.left_at) != (other.end, other.left_at) or len(one.errors) != len(other.errors):
        return False
    return all(
        first.types == second.types and first.name == second.name and _span(first) == _span(second)
        for first, second in zip(one.errors, other.errors, strict=True)
    )


def _bound(raised: Raised) -> str | None:
    if raised.is_a("MemoryError"):
        return "it may take no more memory"
    if "socket.gaierror" in raised.types:
        return "it reaches no network"
    if raised.is_a("OSError") and raised.errno is not None:
        return _BOUNDS.get(raised.errno)
    if raised.is_a("RuntimeError") and "can't start new thread" in raised.message:
        return "it may start no more threads"
    if "concurrent.futures.process.BrokenProcessPool" in raised.types:
        return "a process that it started was ended, or could not do here what it began with"
    return None


class _Exception:
    """An exception and its causes, interpreted with the help of the script."""

    def __init__(self, errors: Sequence[Raised], source: ProofScript, questions: ScriptQuestions) -> None:
        self._errors = errors
        self._source = source
        self._questions = questions

    def reading(self, said: str) -> RunMeaning:
        raised = self._errors[0]
        span = _span(raised)
        at = f" in line {span[0]}" if span is not None else ""
        name, lacks, _ = raised.message.removeprefix("AttributeError: '").partition("' object has no attribute")
        if lacks and self._questions.definitions.made_halfway(name):
            return RunMeaning("error", f"{name}.__init__ does not call that of its base{at}: {said}")
        if self._is_of_target(raised):
            return RunMeaning("refuted", f"The target showed otherwise{at}: {said}")
        statement = self._statement(raised)
        if isinstance(statement, ast.Assert) and raised.is_a("AssertionError") and self._source.depends(statement.test):
            if not (self._questions.decisions.decides(statement) and self._is_given(raised)):
                return RunMeaning("vacuous", f"It cannot be seen that the target decides what is asserted{at}: {said}")
            return RunMeaning("refuted", f"What the script asserts of the target does not hold{at}: {said}")
        own = isinstance(statement, ast.Raise | ast.Assert) and _innermost(raised) == "script"
        failed = raised.is_a("AssertionError") and self._is_given(raised)
        if failed and (self._is_unittests(raised) or (own and self._is_reached(raised))):
            return RunMeaning("refuted", f"What the script asserts of the target does not hold{at}: {said}")
        if own and any(map(self._is_of_target, self._errors[1:])):
            return RunMeaning("refuted", f"The target showed otherwise, and the script said so{at}: {said}")
        if isinstance(statement, ast.Assert) and own and failed:
            return RunMeaning("error", f"What is asserted{at} was not seen to come from the target: {said}")
        return RunMeaning("error", f"The script failed by its own fault{at}: {said}")

    def _is_of_target(self, raised: Raised) -> bool:
        place = _innermost(raised)
        if not raised.is_a("Exception") and (place == "script" or not _PYTHONS_OWN.isdisjoint(raised.types)):
            return False
        if isinstance(self._statement(raised), ast.Raise) or raised.types[0] in _GROUPS or self._is_left(raised):
            return False
        if place == "mock":
            return False  # the script told the mock what to raise
        if place == "script":
            return self._is_of_target_here(raised)
        if place == "target":
            return True
        # A library that the target uses raised it: it is the target's if the target's code is nearer than the script's.
        nearer = next((frame for frame in reversed(raised.frames) if frame.place in ("target", "script")), None)
        if nearer is None:
            return False
        if nearer.place == "target" or self._is_use_of_target(raised):
            return True
        return place == "bundle" and self._is_call_of_decorated(raised)

    def _is_left(self, raised: Raised) -> bool:
        """Whether the script left by a function of a library that is there for it, such as `pytest.skip`."""
        leaving = not raised.is_a("Exception") or raised.types[0].startswith("_pytest.outcomes.")
        node = self._node(raised)
        return leaving and isinstance(node, ast.Call) and last_name(node.func) in _LEAVING

    def _is_of_target_here(self, raised: Raised) -> bool:
        """Whether the target caused an exception whose innermost frame is the script's.

        A line of the script raised it, or code without a traceback that the line called.
        """
        if raised.is_a("NameError"):
            return False
        if raised.is_a("SyntaxError"):
            asked = isinstance(self._statement(raised), ast.Import | ast.ImportFrom) or self._is_call_of_target(raised)
            return raised.owner == "target" and asked
        if raised.is_a("ImportError"):
            return self._is_import_of_target(raised) or self._is_call_of_target(raised)
        if raised.is_a("AttributeError") and raised.owner in ("target", "bundle"):
            return self._is_use_of_target(raised) or (raised.owner == "target" and self._is_asking_by_name(raised))
        node = self._node(raised)
        if raised.is_a("AttributeError") and raised.owner == "script" and isinstance(node, ast.Attribute):
            return self._questions.origins.is_made_by_decorated(node.value)
        if self._is_unpacking_of_target(raised) or self._is_setting_of_target(raised):
            return True
        return self._is_call_of_target(raised) or self._is_item_of_target(raised)

    def _is_unpacking_of_target(self, raised: Raised) -> bool:
        """Whether a call of the target gave another number of values than the script unpacks, or none to unpack."""
        match self._node(raised), self._statement(raised):
            case (ast.Tuple() | ast.List()) as node, ast.Assign(
                targets=[target], value=ast.Call(func=function) as call
            ) if node is target and not self._source.gives_code(call):
                counted = raised.is_a("ValueError") or raised.is_a("TypeError")
                _, _, kind = raised.message.partition(" non-iterable ")
                given = counted and "unpack" in raised.message and kind.partition(" ")[0] not in _UNUSED
                return given and not self._questions.definitions.is_own(function) and self._of_target(function)
        return False

    def _is_setting_of_target(self, raised: Raised) -> bool:
        """Whether an object that came from the target, and is none of Python's, has no items to be set or deleted."""
        node, told = self._node(raised), raised.message.removeprefix("TypeError: '").replace("doesn't", "does not")
        name, refused, _ = told.partition("' object does not support item ")
        kind = name.rpartition(".")[2]
        if not refused or not raised.is_a("TypeError") or kind in _PYTHONS_KINDS:
            return False
        if self._questions.definitions.names(kind):
            return False
        return isinstance(node, ast.Subscript) and self._holds_target(node.value)

    def _holds_target(self, node: ast.AST) -> bool:
        """Whether an expression is of the target, or a name that is bound to nothing else, whatever is set in it."""
        values = self._source.bindings.get(node.id, []) if isinstance(node, ast.Name) else [node]
        bound = [each for each in values if not _is_set_inside(self._source.parents[id(each)])]
        return bool(bound) and all(map(self._of_target, bound))

    def _is_call_of_decorated(self, raised: Raised) -> bool:
        """Whether a call in the script is of a function of its own that only the target decorates."""
        match self._node(raised):
            case ast.Call(func=ast.Name(id=name)):
                made = self._source.bindings.get(name, [])
                lists = [each.decorator_list if isinstance(each, Function) else [] for each in made]
                return bool(lists) and all(each and all(map(self._of_target, each)) for each in lists)
        return False

    def _is_reached(self, raised: Raised) -> bool:
        """Whether a failure stands where the script gets only if the target does not do as the script says."""
        statement = self._statement(raised)
        fails = isinstance(statement, ast.Raise) or (isinstance(statement, ast.Assert) and _is_false(statement.test))
        return isinstance(statement, ast.stmt) and fails and self._questions.decisions.leads_to(statement)

    def _is_given(self, raised: Raised) -> bool:
        """Whether a function of the script that failed was given something of the target, or asks for it itself."""
        statement, spans = self._statement(raised), _spans(raised)
        if len(spans) == 1 or not isinstance(statement, ast.stmt):
            return True
        return self._questions.decisions.is_given(statement, self._source.node_at(spans[1]))

    def _is_unittests(self, raised: Raised) -> bool:
        """Whether a method of unittest raised it that the script gave something of the target to assert."""
        node, statement = self._node(raised), self._statement(raised)
        if not isinstance(node, ast.Call) or not isinstance(statement, ast.stmt) or _innermost(raised) != "elsewhere":
            return False
        if any(frame.place in ("target", "bundle") for frame in raised.frames):
            return False
        return self._questions.decisions.decides_call(node, statement)

    def _is_use_of_target(self, raised: Raised) -> bool:
        """Whether the exception came from a call, an item or an attribute of an object of the target."""
        if self._is_call_of_target(raised) or self._is_item_of_target(raised):
            return True
        node = self._node(raised)
        return raised.is_a("AttributeError") and isinstance(node, ast.Attribute) and self._of_target(node.value)

    def _is_import_of_target(self, raised: Raised) -> bool:
        statement = self._statement(raised)
        named: list[str] = []
        if isinstance(statement, ast.Import):
            named = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module is not None:
            named = [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
        name = raised.name
        return name is not None and any(
            self._questions.origins.is_in_target(name) and (one == name or one.startswith(name + ".")) for one in named
        )

    def _is_call_of_target(self, raised: Raised) -> bool:
        node = self._node(raised)
        if not isinstance(node, ast.Call):
            return False
        definitions = self._questions.definitions
        if raised.is_a("TypeError") and _innermost(raised) == "script" and definitions.says_how_called(node.func):
            return False
        return not definitions.is_own(node.func) and self._of_target(node.func)

    def _is_item_of_target(self, raised: Raised) -> bool:
        node = self._node(raised)
        return isinstance(node, ast.Subscript) and self._source.is_imported(node.value)

    def _is_asking_by_name(self, raised: Raised) -> bool:
        """Whether the script asked for the attribute by a function: `getattr`, or one of `operator`."""
        node = self._node(raised)
        if not isinstance(node, ast.Call) or not self._source.depends(node):
            return False
        return ast.unparse(node.func).startswith(("getattr", "operator.", "attrgetter"))

    def _of_target(self, node: ast.AST) -> bool:
        return self._questions.origins.is_of_target(node)

    def _statement(self, raised: Raised) -> ast.AST | None:
        span = _span(raised)
        return None if span is None else self._source.statement_at(span)

    def _node(self, raised: Raised) -> ast.AST | None:
        span = _span(raised)
        return None if span is None else self._source.node_at(span)


def _is_set_inside(node: ast.AST | None) -> bool:
    """Whether a statement sets items or attributes only, and binds no name anew."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return bool(targets) and all(isinstance(each, ast.Subscript | ast.Attribute) for each in targets)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _innermost(raised: Raised) -> str:
    return raised.frames[-1].place if raised.frames else "script"


def _span(raised: Raised) -> Span | None:
    """The innermost place of the script in a traceback; None if the script is not in it."""
    return next(iter(_spans(raised)), None)


def _spans(raised: Raised) -> list[Span]:
    """The places of the script in a traceback, from the innermost."""
    spans = [frame.span for frame in reversed(raised.frames) if frame.place == "script" and frame.span is not None]
    return [(span[0], span[1] or span[0], span[2] or 0, span[3] or 0) for span in spans if span[0] is not None]
