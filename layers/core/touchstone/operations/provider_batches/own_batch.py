"""A batch of a single record's questions, for work that is not gathered: made at once and followed until it is over."""

from collections.abc import Callable, Collection
from datetime import datetime

from touchstone.judges.batches.record import BatchedKind
from touchstone.operations.provider_batches import beginning
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.following import next_look
from touchstone.operations.provider_batches.questions import ListedQuestion, all_wanted
from touchstone.operations.provider_batches.replaying import WaitingQuestion
from touchstone.records import derived_ulid
from touchstone.references import Reference
from touchstone.workflows import Workflows


def next_look_at(context: BatchingContext, batch_id: str | None) -> datetime | None:
    """When to look again at a batch that is under way. None if there is no such batch, or it is over."""
    if batch_id is None:
        return None
    batch = context.batches.find(Reference(context.tenant, "provider_batch", batch_id))
    return None if batch is None or batch.over else next_look(batch.created_at, context.clock())


async def begin_own_batch(
    context: BatchingContext,
    workflows: Callable[[], Workflows],
    questions: Collection[WaitingQuestion],
    *,
    of: BatchedKind,
    answer_id: str,
    made_at: datetime,
    name_parts: tuple[str, ...],
    store_id: Callable[[str], object],
) -> datetime | None:
    """Put a record's questions into a batch of its own. Return when to look at it; None: ask the questions at once.

    Either all questions go into the batch or none. `store_id` stores the batch's id in the record before the batch is
    made. The id follows from `name_parts` and the questions, so that a repeat meets the same batch. None is also
    returned if the spending ceiling does not admit the batch.
    """
    sent = await all_wanted(context, questions, shared=False)
    if not sent:
        return None
    most_usd = sum(one.most_usd for one in sent)
    _, left = beginning.spending_left(context)
    too_large = sum(one.size for one in sent) > beginning.MOST_BYTES or len(sent) > beginning.MOST_LINES
    if too_large or (left is not None and most_usd > left):
        return None
    words = "".join(f"{one.address}\n" for one in sent)
    batch_id = derived_ulid(made_at, context.tenant, *name_parts, words)
    store_id(batch_id)
    batch = beginning.begun(
        *(context, sent[0].provider, sent[0].model),
        [ListedQuestion(answer_id=answer_id, address=one.address) for one in sent],
        most_usd=most_usd,
        batch_id=batch_id,
        of=of,
    )
    if batch.over:  # the ceiling does not admit it, or it ended without a usable reply
        return None
    workflows().start("provider_batch", batch.ref)
    return next_look(batch.created_at, context.clock())
