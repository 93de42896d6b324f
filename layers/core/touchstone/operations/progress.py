"""How far a step came, as its state machine is told."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """A word that a state machine chooses by, and until when it is to wait (UTC), None: not.

    `reason`: why the try of this step brought nothing, or not all; None where it did, or made none. `list_key` is the
    whole key of the list that a machine's map reads next, None where there is none.
    """

    state: str
    until: datetime | None = None
    reason: str | None = None
    list_key: str | None = None
