"""What one proof comes to, read from how its script ended and from the script itself.

A script that runs to its end with the target holds. One that raises refutes only where the target is what did not do
as the script says:

- the exception came out of the target's code, or out of a call or an attribute of something of the target's;
- the target has no such module, member or attribute;
- an `assert` about a value that depends on the target failed;
- the script raised by itself, because of such an exception.

All else is the script's own fault and proves nothing: its syntax, a name that it does not define, an import of
something else, an exit before its end, an exception that it raises by itself.
"""

import ast
import errno
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.audits.sandbox.dependence import Source, Span
from touchstone.audits.sandbox.record import Raised, Record

type Outcome = Literal["holds", "refuted", "error", "vacuous", "timeout", "blocked"]
"""`holds`: the script ran to its end, and cannot without the target. `refuted`: the target itself showed otherwise.

`error`: the script's own fault, or it changed what it was to be judged by. `vacuous`: it ends the same with the target
hidden. `timeout`: it was stopped for its time. `blocked`: it met another bound of the sandbox. The last four prove
nothing either way.
"""

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
SHOWN_CHARS = 300
"""How much of an exception's message a sentence quotes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a record means, before it is compared with that of the run without the target."""

    outcome: Literal["holds", "refuted", "error", "blocked"]
    reason: str


def read_record(record: Record, source: Source, modules: Sequence[str]) -> Reading:
    """What the end of a script means for the target that is imported by `modules`."""
    if record.faults:
        return Reading("error", f"Inconclusive: the script changed what it is judged by ({record.faults[0]}).")
    if record.end == "completed":
        return Reading("holds", "The script ran to its end.")
    if record.end == "exit" or not record.errors:
        return Reading("error", "The script left before its end by SystemExit.")
    said = record.errors[0].message[:SHOWN_CHARS]
    for raised in record.errors:
        if (bound := _bound(raised)) is not None:
            return Reading("blocked", f"The script met a bound of the sandbox ({bound}): {said}")
    return _Exception(record.errors, source, modules).reading(said)


def same_end(one: Record, other: Record) -> bool:
    """Whether two runs ended alike: both to the end, or by the same exception at the same place of the script."""
    if one.end != other.end or len(one.errors) != len(other.errors):
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
    return None


class _Exception:
    """An exception with those that it came from, in the light of the script."""

    def __init__(self, errors: Sequence[Raised], source: Source, modules: Sequence[str]) -> None:
        self._errors = errors
        self._source = source
        self._modules = modules

    def reading(self, said: str) -> Reading:
        raised = self._errors[0]
        span = _span(raised)
        at = f" in line {span[0]}" if span is not None else ""
        if self._is_of_target(raised):
            return Reading("refuted", f"The target showed otherwise{at}: {said}")
        statement = self._source.statement_at(span) if span is not None else None
        if isinstance(statement, ast.Assert) and raised.is_a("AssertionError") and self._source.depends(statement.test):
            return Reading("refuted", f"What the script asserts of the target does not hold{at}: {said}")
        own = isinstance(statement, ast.Raise | ast.Assert) and _innermost(raised) == "script"
        if own and any(map(self._is_of_target, self._errors[1:])):
            return Reading("refuted", f"The target showed otherwise, and the script said so{at}: {said}")
        return Reading("error", f"The script failed by its own fault{at}: {said}")

    def _is_of_target(self, raised: Raised) -> bool:
        if not raised.is_a("Exception"):
            return False
        place = _innermost(raised)
        if place == "script":
            return self._is_of_target_here(raised)
        if place == "target":
            return True
        # Raised by what the target is built on: the target's where its own code is nearer than the script's.
        nearer = next((frame for frame in reversed(raised.frames) if frame.place in ("target", "script")), None)
        if nearer is None:
            return False
        here = self._is_call_of_target(raised) or self._is_item_of_target(raised)
        return (
            nearer.place == "target" or here or (raised.is_a("AttributeError") and self._is_at(raised, ast.Attribute))
        )

    def _is_of_target_here(self, raised: Raised) -> bool:
        """Of an exception that the script's own line raised, or code without a traceback that it called."""
        if raised.is_a("NameError"):
            return False
        if raised.is_a("SyntaxError"):
            return raised.owner == "target"
        if raised.is_a("ImportError"):
            return self._is_in_target(raised.name)
        if raised.is_a("AttributeError") and raised.owner in ("target", "bundle"):
            return raised.owner == "target" or self._is_at(raised, ast.Attribute)
        return self._is_call_of_target(raised) or self._is_item_of_target(raised)

    def _is_in_target(self, name: str | None) -> bool:
        return name is not None and any(name == module or name.startswith(module + ".") for module in self._modules)

    def _is_call_of_target(self, raised: Raised) -> bool:
        node = self._node(raised)
        return isinstance(node, ast.Call) and self._source.depends(node.func)

    def _is_item_of_target(self, raised: Raised) -> bool:
        node = self._node(raised)
        return isinstance(node, ast.Subscript) and self._source.is_imported(node.value)

    def _is_at(self, raised: Raised, kind: type[ast.AST]) -> bool:
        node = self._node(raised)
        return isinstance(node, kind) and self._source.depends(node)

    def _node(self, raised: Raised) -> ast.AST | None:
        span = _span(raised)
        return None if span is None else self._source.node_at(span)


def _innermost(raised: Raised) -> str:
    return raised.frames[-1].place if raised.frames else "script"


def _span(raised: Raised) -> Span | None:
    """Where the script was, at its innermost."""
    for frame in reversed(raised.frames):
        if frame.place == "script" and frame.span is not None and frame.span[0] is not None:
            first, last, begin, end = frame.span
            return (first, last or first, begin or 0, end or 0)
    return None
