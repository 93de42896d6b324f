"""What came of reading definitions: cases with their places, and faults with theirs."""

from dataclasses import dataclass
from pathlib import Path

from touchstone.audits.case import AuditCase

MAX_FAULTS = 50
"""Of one file that are told: a field that is missing in each of 500 cases is one mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong, in one sentence. `line` and `column` are from 1, None where it is the whole file.

    `field` is the path to it, such as `benchmarks[3].options`; empty for what is no field's.
    """

    file: Path
    sentence: str
    line: int | None = None
    column: int | None = None
    field: str = ""

    def __str__(self) -> str:
        place = "" if self.line is None else f":{self.line}:{self.column}"
        field = f"{self.field}: " if self.field else ""
        return f"{self.file}{place}: {field}{self.sentence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCase:
    """A case and where its definition begins."""

    case: AuditCase
    file: Path
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What files hold. Of `others`, found in folders, nothing is meant as a case.

    `untold` are faults beyond those of a file that are listed.
    """

    cases: tuple[LoadedCase, ...] = ()
    faults: tuple[Fault, ...] = ()
    others: tuple[Path, ...] = ()
    untold: int = 0
