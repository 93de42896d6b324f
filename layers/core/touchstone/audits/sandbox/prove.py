"""Runs one proof: its script with the target, and again without it, and decides the outcome from both runs."""

from pathlib import Path
from typing import Protocol

from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS, MAX_SCRIPT_CHARS, Limits
from touchstone.audits.sandbox.outcomes import RunMeaning, read_record, same_end
from touchstone.audits.sandbox.record import Record
from touchstone.audits.sandbox.result import Outcome, ProofResult
from touchstone.audits.sandbox.running import Breach, Run, run
from touchstone.audits.sandbox.script.dependence import ProofScript
from touchstone.errors import InputError, TooLargeError

_SIGABRT, _SIGKILL, _SIGXCPU = 6, 9, 24
_REACHED_INTO = (
    "Inconclusive: the script, or the library that it uses, reached into the interpreter that tells its end; the last "
    "line of stderr names what was used. If the library used it, write a proof that needs nothing of the kind."
)
_BREACHES: dict[Breach | None, tuple[Outcome, str]] = {
    "wall": ("timeout", "The script was stopped after {limits.wall_seconds:g} s."),
    "cpu": ("timeout", "The script was stopped after {limits.cpu_seconds:g} s of processor time."),
    "memory": ("blocked", "The script took more than {limits.memory_bytes} bytes of memory."),
    "processes": ("blocked", "The script started more than {limits.processes} processes."),
}


class Installed(Protocol):
    """An installed target: the folder from which Python imports it, and the names by which it is imported."""

    @property
    def requirement(self) -> str: ...
    @property
    def site(self) -> Path: ...
    @property
    def modules(self) -> tuple[str, ...]: ...


def prove(script: str, bundle: Installed, *, sandbox: Sandbox, limits: Limits = DEFAULT_LIMITS) -> ProofResult:
    """Run `script` in a sandbox with the target of `bundle`, and decide its outcome.

    If the script holds or refutes, it is run again in a sandbox without the target. If it then still holds, it is run a
    third time, with an empty module in the target's place. Each run has a sandbox of its own. Blocks until all runs are
    over. Raises InputError if the script cannot be run at all, and SettingsError if the sandbox cannot be made.
    """
    if len(script) > MAX_SCRIPT_CHARS:
        raise TooLargeError(f"The script has {len(script)} characters; the longest that is run has {MAX_SCRIPT_CHARS}.")
    if "\0" in script or any("\ud800" <= character <= "\udfff" for character in script):
        raise InputError("The script holds a character that no Python file can (U+0000 or half of a surrogate pair).")
    source = ProofScript(script, bundle.modules)
    ran = run(script, site=bundle.site, modules=bundle.modules, sandbox=sandbox, limits=limits)
    outcome, reason = _meaning(ran, source, bundle.modules, limits)
    hidden_outcome: Outcome | None = None
    if outcome in ("holds", "refuted"):
        hidden = run(script, site=None, modules=bundle.modules, sandbox=sandbox, limits=limits)
        hidden_outcome, _ = _meaning(hidden, source, bundle.modules, limits)
        first, second = _record(ran), _record(hidden)
        if first is not None and second is not None and same_end(first, second):
            outcome, reason = "vacuous", "The script ends the same with the target hidden."
        elif outcome == "holds" and first is not None and _holds_of_nothing(script, bundle, first, sandbox, limits):
            outcome, reason = "vacuous", "The script ends the same with an empty module in the target's place."
        if hidden_outcome == "refuted":
            hidden_outcome = "error"  # a target that is not there cannot refute anything
    record = _record(ran)
    return ProofResult(
        outcome=outcome,
        reason=reason,
        stdout=ran.stdout.text,
        stdout_cut=ran.stdout.cut,
        stderr=ran.stderr.text,
        stderr_cut=ran.stderr.cut,
        exception=record.errors[0].message if record is not None and record.errors else None,
        hidden_outcome=hidden_outcome,
        wall_seconds=round(ran.wall_seconds, 3),
        cpu_seconds=round(ran.cpu_seconds, 3),
        trusted=sandbox.trusted,
    )


def _holds_of_nothing(script: str, bundle: Installed, record: Record, sandbox: Sandbox, limits: Limits) -> bool:
    """Whether the script ends as in `record` if the target can be imported but is empty."""
    ran = run(script, site=None, modules=bundle.modules, empty=True, sandbox=sandbox, limits=limits)
    found = _record(ran)
    return found is not None and same_end(record, found)


def check_import(bundle: Installed, *, sandbox: Sandbox) -> None:
    """Import the target once, in `sandbox`. Raises InputError with the reason if it cannot be imported."""
    ran = run("", site=bundle.site, modules=bundle.modules, sandbox=sandbox, limits=DEFAULT_LIMITS)
    if (why := _unimportable(ran, bundle.modules)) is not None:
        raise InputError(f"{bundle.requirement} cannot be imported in the sandbox. {why}", where="requirement")


def _unimportable(ran: Run, modules: tuple[str, ...]) -> str | None:
    """Why the target could not be imported; None if at least one of its modules could."""
    if ran.breach == "import":
        return "The target did not come to the end of its import."
    if ran.ready is None:
        return "The target ended the interpreter when it was imported."
    if len(ran.ready.failures) == len(modules):
        name, why = next(iter(ran.ready.failures.items()))
        return f"The target itself cannot be imported: {name}: {why}"
    return None


def _record(ran: Run) -> Record | None:
    return ran.over.record if ran.over is not None else None


def _meaning(ran: Run, source: ProofScript, modules: tuple[str, ...], limits: Limits) -> tuple[Outcome, str]:
    if (why := _unimportable(ran, modules)) is not None:
        return "error", why
    if ran.breach is not None:
        outcome, sentence = _BREACHES[ran.breach]
        return outcome, sentence.format(limits=limits)
    if ran.over is None:
        return "error", "The script ended the process that watched it."
    if ran.over.signal is not None:
        if ran.over.signal in (_SIGKILL, _SIGXCPU) and ran.over.cpu_seconds >= limits.cpu_seconds:
            return "timeout", _BREACHES["cpu"][1].format(limits=limits)
        why = f"The script's process was ended by signal {ran.over.signal}"
        if ran.over.signal == _SIGABRT:
            why += f", as native code ends itself, often where it gets no more memory than {limits.memory_bytes} bytes"
        return "error", f"{why}."
    if ran.over.reached_into:
        return "error", _REACHED_INTO
    if ran.over.record is None:
        return "error", "The script left before its end, without a word."
    reading: RunMeaning = read_record(ran.over.record, source, modules)
    return reading.outcome, reading.reason
