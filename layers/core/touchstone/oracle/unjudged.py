"""Why a stage of judging brought no result, as records and readers keep it."""

from typing import Literal

from touchstone.errors import Unscored
from touchstone.judges.checked import NotScored
from touchstone.strict import Strict

type Stage = Literal["dimensions", "reading", "gate", "scoring", "comparison"]
"""`reading`: of the sections of a submission that is too long to be shown whole. `comparison`: of a contest's finalists
side by side."""


class Unjudged(Strict):
    """Why a stage brought no result: the reason's stable word, and in sentences what broke the rules or failed."""

    stage: Stage
    reason: Unscored
    details: tuple[str, ...]

    @classmethod
    def of(cls, stage: Stage, failure: NotScored) -> "Unjudged":
        """What a stage's failure says."""
        details = failure.faults if failure.error is None else (str(failure.error),)
        return cls(stage=stage, reason=failure.reason, details=details)
