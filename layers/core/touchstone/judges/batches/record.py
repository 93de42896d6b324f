"""A batch at a provider, as a deployment keeps it: our own record, which is the truth of what is under way.

gathered ─> ready ─> intended ─> created ─> collected ─> over
              ^         │           │                     ^
              └─────────┴───────────┘ refused, never created, or full
                                    └─────────────────────┘ refused for good, or given up

gathered    its questions are chosen, and some may be in it
ready       they are in it and their money is held back; nothing was sent
intended    a create may have been sent
created     the provider has it
collected   what it brought is kept here, and is put where it belongs question by question
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
"""How one ended. `refused`: its provider did not take it. `lost`: what it brought cannot be had any more. `unpaid`: the
spending ceiling did not admit it. `empty`: all its questions were taken elsewhere before it was sent."""
type BatchedKind = Literal["evaluation", "verification", "measurement", "experiment", "scoring"]
"""What its questions are of: deep evaluations of answers, verifications, measurements, pairs of an experiment, or
scorings of a contest's submissions."""


class ProviderBatch(Strict):
    """One batch of a tenant's questions for one model of a provider.

    `count` are the questions that it was gathered with; `lines_key` names the object that lists them, `replies_key` the
    one with what it brought. `most_usd` is what they cost at most by batch, held back while it is under way, on the
    day on which it was created here. `intent` begins the ids of its lines at the provider and is a new one for each
    create; `batch` is the provider's own id.

    `ends_by` is when it has ended at the latest, as far as that is known. `looks` counts how often it was looked at,
    `misses` how often a search did not find it, `refusals` how often it was refused for a fault that passes, and
    `refused_since` when that began. `because` says in a sentence what the last of them was, or why it ended as it did.

    Of the `settled` questions `answered` have a result, the others were put back; `cost_usd` is what all of them cost
    and `saved_usd` what they would have cost more at once. All times UTC.
    """

    tenant: str
    id: str
    of: BatchedKind = "evaluation"
    provider: str
    model: str
    state: ProviderBatchState = "gathered"
    created_at: datetime
    count: int = Field(ge=1)
    lines_key: str
    most_usd: float = Field(ge=0.0)
    intent: str | None = None
    intended_at: datetime | None = None
    batch: str | None = None
    submitted_at: datetime | None = None
    ends_by: datetime | None = None
    looks: int = 0
    misses: int = 0
    refusals: int = 0
    refused_since: datetime | None = None
    because: str | None = None
    replies_key: str | None = None
    settled: int = 0
    answered: int = 0
    cost_usd: float = 0.0
    saved_usd: float = 0.0
    ended: ProviderBatchEnd | None = None
    finished_at: datetime | None = None
    attempts: Attempts = Attempts()

    @property
    def ref(self) -> Reference:
        """The reference to it."""
        return Reference(self.tenant, "provider_batch", self.id)

    @property
    def over(self) -> bool:
        """Whether nothing more happens to it."""
        return self.state == "over"

    @property
    def sent(self) -> bool:
        """Whether its provider may have it, or had it, so that it is paid for."""
        return self.intent is not None or self.state in {"collected", "over"}

    def begun(self, *, now: datetime) -> "ProviderBatch":
        """With somebody at work on it; the very same record where it is over, somebody else is, or it pauses."""
        if self.over or self.attempts.held(now):
            return self
        # How long a provider takes is no row of failures, so none is counted.
        attempts = Attempts().begun(now=now)
        return self if attempts is None else self.model_copy(update={"attempts": attempts})

    def pausing(self, until: datetime) -> "ProviderBatch":
        """With nobody at work on it, to be gone on with at `until`."""
        return self.model_copy(update={"attempts": Attempts(not_before=until)})


class BatchesMade(Strict):
    """What of a piece of work is at providers, in batches.

    `under_way` are the batches that are not over, with so many `questions`; `submitted_at` is when the first of them
    was sent, None before it was, and `ends_by` when the last of them has ended at the latest, as far as that is known.
    `cost_usd` is what all its batches cost so far, and `saved_usd` what the same would have cost more at once.
    """

    under_way: int
    questions: int
    submitted_at: datetime | None
    ends_by: datetime | None
    cost_usd: float
    saved_usd: float

    @classmethod
    def of(cls, batches: Sequence[ProviderBatch]) -> "BatchesMade | None":
        """What these batches come to; None where there are none."""
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
