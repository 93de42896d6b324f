"""Making a batch smaller that its provider finds too large to wait there, even beside no other."""

from touchstone.judges.batches.record import ProviderBatch
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.evaluations import UNANSWERED
from touchstone.operations.provider_batches.gathering import lines_of
from touchstone.operations.provider_batches.questions import OUT_OF_REACH, ListedQuestion, listed, passed_over


def fewer(context: BatchingContext, batch: ProviderBatch) -> ProviderBatch:
    """A batch that its provider found too large to wait beside others: half of it, from the second refusal on.

    The first may be for what other batches hold. What is let go is in no batch any more, so that it is gathered into
    another one. What is held back stays that of the whole until the batch has ended.
    """
    questions = lines_of(context, batch)
    if not batch.refusals or len(questions) == 1:
        return batch
    kept = (len(questions) + 1) // 2
    if batch.of == "evaluation":
        for question in questions[kept:]:
            _let_go(context, batch, question)
    context.objects.put_text(tenant=context.tenant, key=batch.lines_key, text=listed(questions[:kept]))
    return context.batches.change(batch.ref, lambda one: one.model_copy(update={"count": kept}))


def _let_go(context: BatchingContext, batch: ProviderBatch, question: ListedQuestion) -> None:
    """Put a deferred evaluation back among those that wait for a batch."""
    try:
        context.evaluations.put_back(
            tenant=context.tenant,
            answer_id=question.answer_id,
            provider_batch_id=batch.id,
            when="cheap",
            until=context.clock(),
            reason=UNANSWERED,
        )
    except OUT_OF_REACH as error:
        passed_over(question.answer_id, error)
