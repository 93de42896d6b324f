"""Jobs with parts (pairs of an experiment, cases of an audit), and their parts. Each part is tried by itself."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Self

from touchstone.attempts import Attempts
from touchstone.references import Reference
from touchstone.strict import Strict


class Part(Strict):
    """One part of a job and its progress.

    `at` is when its last step was (UTC). `over`: the part is not tried again. `cost_usd` is what its tries cost in US
    dollars, without the `unpriced_calls`. `batched`: the part waits for a provider's batch. `hastened`: its questions
    are asked at once from now on.
    """

    tenant: str
    number: int
    at: datetime
    attempts: Attempts = Attempts()
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    over: bool = False
    batched: bool = False
    hastened: bool = False

    @property
    @abstractmethod
    def whole(self) -> Reference:
        """The job that this part belongs to."""

    @property
    @abstractmethod
    def because(self) -> str | None:
        """Why the last try of this part left something open, None if it left nothing open."""

    @property
    def id(self) -> str:
        """The part's name among all records: the job's id and the part's number."""
        return f"{self.whole.id}-{self.number}"

    def begun(self, *, now: datetime) -> Self:
        """The part with one more try begun; this very object if no try may begin now, or if it waits for a batch."""
        attempts = None if self.over or self.batched else self.attempts.begun(now=now)
        return self if attempts is None else self.model_copy(update={"attempts": attempts, "at": now})

    def released(self, *, now: datetime, again: bool) -> Self:
        """The part whose batches are over, to be tried again. `again`: its questions are asked at once from now on."""
        if self.over or not self.batched:
            return self
        return self.model_copy(update={"batched": False, "hastened": self.hastened or again, "at": now})


class PartsProgress(Strict):
    """The progress of all parts of a job, counted at each step of a part.

    `done` counts the parts that are over. `turns` are the turns of agents, if agents work on the parts. `cost_usd` is
    the cost of all tries in US dollars, without the `unpriced_calls`. `at` is the moment of the latest step, and
    `until` is when the part of that step is tried again (UTC); both are None before the first step. `because` is why
    that step left something open, None if it left nothing open.
    """

    done: int = 0
    turns: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    at: datetime | None = None
    until: datetime | None = None
    because: str | None = None

    @property
    def paid(self) -> dict[str, float]:
        """The costs that the job's record keeps once all parts are over."""
        return {"cost_usd": self.cost_usd, "unpriced_calls": self.unpriced_calls}


class PartedRecord(Strict):
    """The record of a job with parts. Times are UTC.

    `content_key` is the key of what is to be done in the tenant's artifacts, and `content_hash` tells it from another.
    `failure` is the reason why there is no result, None if there is one or before the end. `batches` are our own ids of
    the batches at providers that were made for the job. `carried_until` is when these are looked at again (None: they
    never were). `cost_usd` is the cost of all calls except the `unpriced_calls`. It is stored when the job is over;
    None before, and in jobs that ended before costs were stored.
    """

    tenant: str
    id: str
    created_at: datetime
    content_key: str
    content_hash: str
    batches: tuple[str, ...] = ()
    carried_until: datetime | None = None
    failure: str | None = None
    finished_at: datetime | None = None
    cost_usd: float | None = None
    unpriced_calls: int = 0

    @property
    @abstractmethod
    def ref(self) -> Reference:
        """The reference to this record."""

    @property
    def due(self) -> datetime | None:
        """When the next step of the job itself is due, None if there is none.

        When its parts go on is in its progress: a part updates that without writing this record.
        """
        return None if self.finished_at else max(self.created_at, self.carried_until or self.created_at)


def waiting_for_batches[R: PartedRecord](record: R, batches: Sequence[str], *, until: datetime) -> R:
    """The job that also waits for these batches, to be looked at again at `until`."""
    if record.finished_at is not None:
        return record
    known = tuple(dict.fromkeys((*record.batches, *batches)))
    return record.model_copy(update={"batches": known, "carried_until": until})


def failed[R: PartedRecord](record: R, why: str, progress: PartsProgress, *, now: datetime) -> R:
    """The job that failed, with the reason in a sentence."""
    if record.finished_at is not None:
        return record
    return record.model_copy(update={"failure": why, "finished_at": now, **progress.paid})
