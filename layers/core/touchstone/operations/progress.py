"""How far a step came, as its state machine is told."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """A word that a state machine chooses by, and until when it is to wait (UTC), None: not.

    `reason`: why the try of this step brought nothing, or not all; None where it did, or made none.
    """

    state: str
    until: datetime | None = None
    reason: str | None = None
