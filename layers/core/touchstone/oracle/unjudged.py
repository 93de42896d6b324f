"""Why a stage of judging brought no result, as records and readers see it."""

from typing import Literal

from touchstone.errors import Unscored
from touchstone.judges.calls import NotScored
from touchstone.oracle.model import GateCheck
from touchstone.strict import Strict

type Stage = Literal["dimensions", "reading", "gate", "scoring", "comparison"]
"""`reading`: the sections of a submission that is too long to be shown whole are read. `comparison`: the finalists of a
contest are compared side by side."""


class Unjudged(Strict):
    """Why a stage brought no result.

    `reason` is a stable word; `details` are sentences on what broke the rules or failed.
    """

    stage: Stage
    reason: Unscored
    details: tuple[str, ...]

    @classmethod
    def of(cls, stage: Stage, failure: NotScored) -> "Unjudged":
        """The record of a stage's failure."""
        details = failure.faults if failure.error is None else (str(failure.error),)
        return cls(stage=stage, reason=failure.reason, details=details)

    @classmethod
    def of_undecided(cls, check: GateCheck) -> "Unjudged | None":
        """The record of a gate on which the judges do not agree or are not sure enough; None if the gate is decided."""
        if check.undecided is None:
            return None
        details = tuple(
            f"{number}: {one.reason}" for number, one in enumerate(check.criteria_checks, start=1) if one.passed is None
        )
        return cls(stage="gate", reason=check.undecided, details=details)
