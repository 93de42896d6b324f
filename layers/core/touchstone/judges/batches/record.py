"""A batch at a provider, as a deployment keeps it: our own record, which decides what is under way.

gathered ─> ready ─> intended ─> created ─> collected ─> over
              ^         │           │                     ^
              └─────────┴───────────┘ refused, never created, or full
                                    └─────────────────────┘ refused for good, or given up
gathered    its questions are chosen, and some may be in it
ready       its questions are in it and their money is held back; nothing was sent
intended    a create may have been sent
created     the provider has it
collected   its replies are kept here, and are put into the questions' records one by one
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from touchstone.attempts import Attempts
from touchstone.references import Reference
from touchstone.strict import Strict

type ProviderBatchState = Literal["gathered", "ready", "intended", "created", "collected", "over"]
type ProviderBatchEnd = Literal["completed", "expired", "cancelled", "failed", "refused", "lost", "unpaid", "empty"]
"""How a batch ended. `refused`: its provider did not take it. `lost`: its replies cannot be had any more. `unpaid`: the
spending ceiling did not admit it. `empty`: all its questions were taken elsewhere before it was sent."""
type BatchedKind = Literal["evaluation", "verification", "measurement", "experiment", "scoring", "audit"]
"""What the questions of a batch are of: deep evaluations of answers, verifications, measurements, pairs of an
experiment, scorings of a contest's submissions, or first turns of an audit's cases."""


class ProviderBatch(Strict):
    """One batch of a tenant's questions for one model of a provider. All times are UTC.

    `count` is the number of its questions, and `let_go` that of those which left it since it was gathered, as it was
    made smaller. `lines_key` names the object that lists them,
    `replies_key` the object with the replies. `most_usd` is what all of them cost at most by batch. It is held back
    while the batch is under way, on the day on which the batch was created here. `intent` begins the ids of the batch's
    lines at the provider, and is a new one for each create; `batch` is the provider's own id.

    `ends_by` is when the batch has ended at the latest, as far as that is known. `looks` counts how often its state was
    asked for, `misses` how often a search did not find it, or its results once it had ended, and `refusals` how often
    it was refused for a fault that passes; `refused_since` is when these refusals began. `cancelled_at` is when it was
    first cancelled for being late. `because` says in a sentence what the last refusal was, or why the batch ended as it
    did.

    Of the `settled` questions, `answered` have a result; the others were put back. `cost_usd` is what all of them cost,
    and `saved_usd` what they would have cost more at once. `unread` are the questions whose records could not be read
    at that time: by number, with the record's id. They are settled when the record can be read.
    """

    tenant: str
    id: str
    of: BatchedKind = "evaluation"
    provider: str
    model: str
    state: ProviderBatchState = "gathered"
    created_at: datetime
    count: int = Field(ge=1)
    let_go: int = 0
    lines_key: str
    most_usd: float = Field(ge=0.0)
    intent: str | None = None
    intended_at: datetime | None = None
    batch: str | None = None
    submitted_at: datetime | None = None
    ends_by: datetime | None = None
    looks: int = 0
    cancelled_at: datetime | None = None
    misses: int = 0
    refusals: int = 0
    refused_since: datetime | None = None
    because: str | None = None
    replies_key: str | None = None
    settled: int = 0
    answered: int = 0
    cost_usd: float = 0.0
    saved_usd: float = 0.0
    unread: dict[int, str] = Field(default_factory=dict)
    ended: ProviderBatchEnd | None = None
    finished_at: datetime | None = None
    attempts: Attempts = Attempts()

    @property
    def ref(self) -> Reference:
        """The reference to this record."""
        return Reference(self.tenant, "provider_batch", self.id)

    @property
    def gathered_count(self) -> int:
        """The number of questions that it was gathered with: so many calls are reserved for it."""
        return self.count + self.let_go

    @property
    def over(self) -> bool:
        """Whether nothing more is expected of the batch, and its money is counted."""
        return self.state == "over"

    @property
    def done(self) -> bool:
        """Whether nothing more happens to the batch: it is over, and every record of its questions could be read."""
        return self.over and not self.unread

    @property
    def sent(self) -> bool:
        """Whether the provider may have the batch, or had it, so that the batch is paid for."""
        return self.intent is not None or self.state in {"collected", "over"}

    def begun(self, *, now: datetime) -> "ProviderBatch":
        """The record with a worker on it. The very same record if the batch is done, pauses, or has another worker."""
        if self.done or self.attempts.must_wait(now):
            return self
        # A provider that takes its time does not fail, so no failed tries are counted.
        attempts = Attempts().begun(now=now)
        return self if attempts is None else self.model_copy(update={"attempts": attempts})

    def pausing(self, until: datetime) -> "ProviderBatch":
        """The record without a worker, for a worker to take up again at `until`."""
        return self.model_copy(update={"attempts": Attempts(not_before=until)})


class BatchesMade(Strict):
    """The part of a piece of work that is at providers in batches.

    `under_way` is the number of batches that are not over, and `questions` the number of questions in them.
    `submitted_at` is when the first of them was sent, null before that. `ends_by` is when the last of them has ended at
    the latest, null if that is not known. `cost_usd` is what all batches cost so far, and `saved_usd` what the same
    questions would have cost more at once.
    """

    under_way: int
    questions: int
    submitted_at: datetime | None
    ends_by: datetime | None
    cost_usd: float
    saved_usd: float

    @classmethod
    def of(cls, batches: Sequence[ProviderBatch]) -> "BatchesMade | None":
        """The sums over these batches. None if there are no batches."""
        if not batches:
            return None
        left = [one for one in batches if not one.over]
        sent = [one.submitted_at for one in left if one.submitted_at is not None]
        ends = [one.ends_by for one in left if one.ends_by is not None]
        return cls(
            under_way=len(left),
            questions=sum(one.count for one in left),
            submitted_at=min(sent, default=None),
            ends_by=max(ends, default=None),
            cost_usd=sum(one.cost_usd for one in batches),
            saved_usd=sum(one.saved_usd for one in batches),
        )
