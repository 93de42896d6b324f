"""The folder of an audit on disk: its target and model, the progress of each case, and the report.

    audit.json                 the target and the model; an audit of another target or model is refused
    cases/<name>.json          the agent's state for a case, with its transcript, written after each turn
    proofs/<name>.json         proofs of a case that were taken over from an earlier audit, because nothing changed
    quality_report.json, quality_audit.md

The files of a case hold nothing of its key. So if only the key of a definition was corrected, the case is rated anew at
no cost. Each file is written whole or not at all.
"""

import hashlib
import re
from pathlib import Path
from typing import IO, Self

from pydantic import ValidationError

from touchstone.audits.agent import AgentState
from touchstone.audits.bundles.target import Manifest
from touchstone.audits.case import AuditCase, BlindCase
from touchstone.audits.report import StoredProof
from touchstone.errors import ConflictError
from touchstone.locking import try_lock
from touchstone.strict import Strict
from touchstone.whole_files import unusable, write_whole

SHOWN_CHARS = 40
_UNFIT = re.compile(r"[^A-Za-z0-9]+")


class AuditFolderRequest(Strict):
    """The target and the model of the audit in a folder. `model` is the solver, as `provider/model`."""

    target: Manifest
    model: str


class ReusedProofs(Strict):
    """Proofs of an earlier audit that still stand, with the critique that was given when the case was solved."""

    case: BlindCase
    proofs: tuple[StoredProof, ...]
    critique: str | None


class AuditFolder:
    """An audit on disk. This run alone holds it until it is closed."""

    def __init__(self, path: Path, lock: IO[bytes]) -> None:
        self._path = path
        self._lock = lock

    @classmethod
    def open(cls, path: Path, asked: AuditFolderRequest) -> Self:
        """Begin an audit in a folder, or continue the one that was interrupted there.

        Raises `ConflictError` if the folder holds an audit of another target or by another model, or if another run is
        at work in it, and `StoreError` if the folder cannot be used.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = (path / ".lock").open("ab")
        except OSError as error:
            raise unusable(path, error) from None
        if not try_lock(lock):
            lock.close()
            raise ConflictError(f"Another run is at work in {path}; wait until it has ended, or stop it.")
        try:
            _same(path / "audit.json", asked)
        except BaseException:
            lock.close()
            raise
        return cls(path, lock)

    def state_of(self, case: AuditCase) -> AgentState | None:
        """The agent's state for a case. None if the case was not begun, or if its question has changed since."""
        found = _read(self._file("cases", case), AgentState)
        return found if found is not None and found.case == case.blind() else None

    def keep_state(self, case: AuditCase, state: AgentState) -> None:
        """Store the agent's state for a case."""
        _write(self._file("cases", case), state.model_dump_json())

    def reused_proofs_of(self, case: AuditCase) -> ReusedProofs | None:
        """The proofs of a case that were taken over from an earlier audit. None if there are none."""
        found = _read(self._file("proofs", case), ReusedProofs)
        return found if found is not None and found.case == case.blind() else None

    def keep_reused_proofs(self, case: AuditCase, taken: ReusedProofs) -> None:
        """Store proofs that were taken over."""
        _write(self._file("proofs", case), taken.model_dump_json())

    def close(self) -> None:
        """Release the folder, so that another run may hold it."""
        self._lock.close()

    def _file(self, kind: str, case: AuditCase) -> Path:
        """The file for a case. Its name is made from the case's id, and no two ids have the same file."""
        name = _UNFIT.sub("-", case.id)[:SHOWN_CHARS].strip("-")
        return self._path / kind / f"{name or 'case'}-{hashlib.sha256(case.id.encode()).hexdigest()[:12]}.json"


def _same(file: Path, asked: AuditFolderRequest) -> None:
    if not file.exists():
        _write(file, asked.model_dump_json(indent=2))
        return
    known = _read(file, AuditFolderRequest)
    if known is None:
        raise ConflictError(f"{file} is of no audit that can be gone on with; name another folder.")
    if known.target.digest != asked.target.digest:
        raise ConflictError(
            f"{file.parent} holds an audit against {_called(known.target)}, not {_called(asked.target)}; name another "
            "folder, and this one as the previous audit."
        )
    if known.model != asked.model:
        raise ConflictError(
            f"The audit in {file.parent} is by {known.model}, not by {asked.model}; go on with the same model, or name "
            "another folder."
        )


def _called(target: Manifest) -> str:
    return f"{target.target.requirement} (bundle {target.digest[:12]})"


def _read[T: Strict](file: Path, kind: type[T]) -> T | None:
    """The content of a file.

    None if the file is missing or cannot be read: the work that it held is then done again.
    """
    try:
        return kind.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, [text.encode()])
    except OSError as error:
        raise unusable(file, error) from None
