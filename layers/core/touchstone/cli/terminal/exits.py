"""The exit codes of the command, on which a script can rely, and the code of each error."""

from enum import IntEnum

from touchstone.errors import JudgeError, LimitError, StoreError, TouchstoneError

INTERRUPTED = 130
"""The exit code of an interrupted command, by the shell's convention: 128 plus the number of the signal."""


class Exit(IntEnum):
    """Exit codes, which docs/how-to/command.md lists."""

    DONE = 0
    """Done; if there is a verdict, it is `verified`."""
    VERDICT = 1
    """Decided against: `caution`, refuted, different, a submission that misses a criterion or the total asked for or
    that its contest eliminated, a score or a kappa below the one asked for, a variant worse than its baseline, a
    challenge that was rejected, a batch with lines that failed, a quiz that breaks rules, a model that is about to end,
    counters that were wrong, an export without the objects that were deleted while it went on."""
    INPUT = 2
    """The command line, a file, a setting or the token is wrong. Nothing was done; if there are several files, the
    others were done."""
    UNDECIDED = 3
    """Nobody could decide: `unverified`, `unscored`, `unresolved`, `unchecked`, or no answer, quiz or dimensions
    could be produced; a batch with lines that another try may still decide, whatever else is wrong with it."""
    SERVICE = 4
    """The service or the network failed; it is safe to repeat the command."""
    UNEXPECTED = 70
    """A fault of the command itself."""


class ServiceError(TouchstoneError):
    """The API could not be reached, or failed, or asks for a pause before the next request; the sentence says which."""

    reason = "service"


class NoJudgeError(TouchstoneError):
    """No judge or model can be asked, since no key is set; the sentence says which key to set."""

    reason = "nobody"


def code_of(error: TouchstoneError) -> Exit:
    """The exit code of an error."""
    match error:
        case ServiceError() | StoreError() | LimitError() | JudgeError():
            return Exit.SERVICE
        case NoJudgeError():
            return Exit.UNDECIDED
        case _:
            return Exit.INPUT
