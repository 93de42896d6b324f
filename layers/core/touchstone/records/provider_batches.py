"""How a deployment stores and lists batches at providers."""

from datetime import datetime

from touchstone.judges.batches.record import BatchedKind, ProviderBatch, ProviderBatchEnd, ProviderBatchState
from touchstone.records.jobs import Job, JobStore
from touchstone.strict import Strict


class ProviderBatchSummary(Strict):
    """One line of a list of batches at providers: the state of the batch, and what it saved so far.

    `of` is the kind of work that its questions belong to.
    """

    id: str
    provider: str
    model: str
    state: ProviderBatchState
    ended: ProviderBatchEnd | None
    questions: int
    answered: int
    created_at: datetime
    submitted_at: datetime | None
    ends_by: datetime | None
    finished_at: datetime | None
    because: str | None
    cost_usd: float
    saved_usd: float
    of: BatchedKind = "evaluation"


def _summary(batch: ProviderBatch) -> ProviderBatchSummary:
    return ProviderBatchSummary(
        id=batch.id,
        provider=batch.provider,
        model=batch.model,
        state=batch.state,
        ended=batch.ended,
        questions=batch.count,
        answered=batch.answered,
        created_at=batch.created_at,
        submitted_at=batch.submitted_at,
        ends_by=batch.ends_by,
        finished_at=batch.finished_at,
        because=batch.because,
        cost_usd=batch.cost_usd,
        saved_usd=batch.saved_usd,
        of=batch.of,
    )


type ProviderBatchStore = JobStore[ProviderBatch, ProviderBatchSummary]
PROVIDER_BATCH = Job(
    kind="provider_batch",
    plural="provider_batches",
    model=ProviderBatch,
    asked=lambda batch: f"{batch.provider} {batch.model} {batch.lines_key}",
    line=ProviderBatchSummary,
    summary=_summary,
    due=lambda batch: None if batch.done else batch.attempts.not_before or batch.created_at,
)
"""How batches at providers are stored."""
