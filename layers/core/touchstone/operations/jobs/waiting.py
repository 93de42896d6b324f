"""What waits for a provider's batch: a line of a file, a pair of an experiment or a case of an audit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from touchstone.attempts import BATCHED
from touchstone.errors import SpendingCeilingError
from touchstone.parts import PartedRecord

type BatchedLine = Literal["verification", "measurement", "experiment", "audit"]
"""What may go by a provider's batch: a line of a file (verification or measurement), a pair of an experiment, or a case
of an audit."""
IN_A_BATCH: Mapping[BatchedLine, str] = {
    "verification": "A provider's batch verifies it at a part of the price, within a day; not if its `when` is now.",
    "measurement": "A provider's batch measures it at a part of the price, within a day; not if its `when` is now.",
    "experiment": "A provider's batch compares it at a part of the price, within days; not if its `when` is now.",
    "audit": "A provider's batch takes its first turn at a part of the price, within days; not if its `when` is now.",
}
LONGEST_PAUSE = timedelta(hours=1)
"""The longest time that an open line waits before the next look at it."""


class WantedQuestion(BaseModel):
    """A question for a provider's batch: the model that it is for, its address, and the most that it can cost there.

    `size` is its bytes in a batch. `shared` False: its reply is for this line only, and an equal question of another
    line is asked separately.
    """

    model_config = ConfigDict(frozen=True)

    provider: str
    model: str
    address: str
    most_usd: float
    size: int
    shared: bool = True


class OpenLine(BaseModel):
    """A line without a result so far: its number, why, in a word and in a sentence, and when it is tried again (UTC).

    A line that goes by a provider's batch has the `wanted` questions, and in `answer_id` the id of the record that they
    are about; `of` is the kind of that record.
    """

    model_config = ConfigDict(frozen=True)

    line: int
    id: str | None = None
    open: Literal[True] = True
    reason: str
    detail: str
    until: datetime
    answer_id: str | None = None
    of: BatchedLine = "verification"
    wanted: tuple[WantedQuestion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineStanding:
    """Where the questions of an open line are, and when to look at them again (UTC)."""

    standing: Literal["in a batch", "due", "no money"]
    until: datetime

    @property
    def reason(self) -> str:
        """Why the line waits, in a word."""
        return SpendingCeilingError.reason if self.standing == "no money" else BATCHED


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsStanding:
    """The parts of a job that wait for batches. `due` are the numbers of parts whose batches are over.

    The other parts are `held`. `again`: the due parts are to be asked about at once. `until` is when the held parts are
    looked at again (UTC), None if all are due. `batches` are the ids (ours, not the providers') of all batches that
    were made for the job.
    """

    due: frozenset[int]
    held: frozenset[int]
    again: bool
    until: datetime | None
    batches: tuple[str, ...]


class PartsByBatch[R: PartedRecord](Protocol):
    """Sends the questions of a job's parts through batches of providers."""

    def add_to_batches(self, record: R, lines: Sequence[OpenLine]) -> PartsStanding:
        """Add the parts' open questions to batches. Return each part's new state, keyed by its number."""
        ...
