"""Deep evaluations in a provider's batch: `deferred → submitted → done | failed`, or back among the deferred.

    deferred, cheap ─ submit ─> submitted ─ complete, fail ─> done, failed
       ^      ^ │                   │ │
       │      │ └── ask now ─┐      │ └── ask now, paid twice ───────┐
       │      └─── put back ─┼──────┘                               │
       └─────────────────────┴─> deferred, now <────────────────────┘

The batch's own record says which questions it has. A submitted record names its batch, so that each record belongs to
one batch at a time. What a batch brings too late changes nothing.
"""

from collections.abc import Sequence
from datetime import datetime

from touchstone.answers.model import AnswerRecord, SubmittedPlace
from touchstone.attempts import Attempts, TryEnd, When
from touchstone.judges.spends import Spend
from touchstone.records.answers import with_late_spends
from touchstone.records.evaluations import Evaluations, PendingEvaluation, moved, requested
from touchstone.references import Reference


class BatchedEvaluations(Evaluations):
    """As `Evaluations`, with the steps of provider batches added."""

    def oldest_cheap(self, *, limit: int, behind: str | None = None) -> tuple[PendingEvaluation, ...]:
        """The deferred requests of all tenants that wait for a batch, oldest first; `behind`: see `oldest_deferred`."""
        return self.pending("cheap", limit) if behind is None else self.pending("cheap", limit, first=behind)

    def submit(self, *, tenant: str, answer_id: str, place: SubmittedPlace) -> bool:
        """Put a deferred record into a batch. True if it is in that batch now, by this call or an earlier one."""

        def step(record: AnswerRecord) -> AnswerRecord:
            progress = requested(record)
            if progress.state != "deferred" or progress.when != "cheap":
                return record
            return moved(record, state="submitted", submitted=place, not_before=None)

        record = self.change(Reference(tenant, "answer", answer_id), step)
        return in_batch(record, place.provider_batch_id)

    def put_back(
        self,
        *,
        tenant: str,
        answer_id: str,
        provider_batch_id: str,
        when: When,
        until: datetime,
        reason: str,
        ended: TryEnd = "unanswered",
        spends: Sequence[Spend] = (),
    ) -> AnswerRecord:
        """Put a record that is in this batch back among the deferred. A record that is elsewhere by now stays there.

        `when` says how the record is asked from now on; the other parameters are as in `Evaluations.defer`.
        """

        def step(record: AnswerRecord) -> AnswerRecord:
            progress = requested(record)
            if not in_batch(record, provider_batch_id):
                return with_late_spends(record, spends)
            tried = Attempts(tries=progress.tries, since=progress.since)
            tried = tried.put_back(until=until, ended=ended, now=self._clock())
            after = moved(record, state="deferred", not_before=until, failure=reason, when=when)
            after = moved(after, tries=tried.tries, since=tried.since)
            return after.model_copy(update={"spends": (*record.spends, *spends)})

        return self.change(Reference(tenant, "answer", answer_id), step)


def in_batch(record: AnswerRecord, provider_batch_id: str) -> bool:
    """Whether a record is in this batch now."""
    submitted = record.evaluation.submitted
    return submitted is not None and submitted.provider_batch_id == provider_batch_id
