"""How many questions a batch of a model may have, as learned from one that was too large for its provider's queue.

A provider bounds the tokens that wait in batches, by the account, and tells nobody how many. So a batch that is too
large, even without others beside it, is halved. What a tenant's batch was halved to is kept beside the lists of its
batches, for its later batches of the same model and kind.
"""

from datetime import datetime, timedelta
from urllib.parse import quote

from pydantic import ValidationError

from touchstone.errors import NotFoundError
from touchstone.judges.batches.record import BatchedKind, ProviderBatch
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.following import DAY
from touchstone.operations.provider_batches.questions import (
    OUT_OF_REACH,
    UNANSWERED,
    ListedQuestion,
    lines_of,
    listed,
    log_unreadable,
)
from touchstone.references import Reference
from touchstone.strict import Strict

LEARNED_FOR = DAY
"""How long a learned size holds. To try a larger batch again costs one refused batch a day."""
MOST_SEEN = 100
"""The most batches of a deployment that are looked through for others of the same model."""


class LearnedSize(Strict):
    """The most questions of a batch, until a moment (UTC)."""

    most: int
    until: datetime


def learn_size(context: BatchingContext, batch: ProviderBatch, most: int) -> None:
    """Keep `most` as the most questions of later batches like this one."""
    size = LearnedSize(most=most, until=context.clock() + LEARNED_FOR)
    key = _key(context, batch.provider, batch.model, batch.of)
    context.objects.put_text(tenant=context.tenant, key=key, text=size.model_dump_json())


def learned_size(context: BatchingContext, provider: str, model: str, of: BatchedKind) -> int | None:
    """The most questions of a tenant's next batch. None if no batch was too large of late."""
    try:
        text = context.objects.get_text(tenant=context.tenant, key=_key(context, provider, model, of))
        size = LearnedSize.model_validate_json(text)
    except (NotFoundError, ValidationError):  # another release may have kept it in another form
        return None
    return size.most if context.clock() < size.until else None


def _key(context: BatchingContext, provider: str, model: str, of: BatchedKind) -> str:
    return f"{context.tenant}/provider-batches/sizes/{of}-{provider}-{quote(model, safe='')}.json"


def halve_batch(context: BatchingContext, batch: ProviderBatch) -> ProviderBatch:
    """Halve a batch that its provider found too large for its queue, from the second refusal on.

    The first refusal may be due to other batches. Questions that are let go are in no batch any more, and are gathered
    into another one. The money held back stays that of the whole batch until the batch has ended. If no other batch of
    the model is at the provider, the half is kept as the size of later batches; if there is one, a batch of the size
    that was kept stays as it is, and waits.
    """
    questions = lines_of(context, batch)
    if not batch.refusals or len(questions) == 1:
        return batch
    half = (len(questions) + 1) // 2
    learned = learned_size(context, batch.provider, batch.model, batch.of)
    if _alone(context, batch):
        learn_size(context, batch, half if learned is None else min(half, learned))
    elif learned is not None and len(questions) <= learned:
        return batch  # its size fits: it waits until those beside it have ended
    kept = questions[:half]
    if batch.of == "evaluation":
        kept += [question for question in questions[half:] if not _let_go(context, batch, question)]
    context.objects.put_text(tenant=context.tenant, key=batch.lines_key, text=listed(kept))

    def step(one: ProviderBatch) -> ProviderBatch:
        return one.model_copy(update={"count": len(kept), "let_go": one.gathered_count - len(kept)})

    return context.batches.change(batch.ref, step)


def _alone(context: BatchingContext, batch: ProviderBatch) -> bool:
    """Whether no other batch of the model is at the provider, of any tenant: an account has one queue for all."""
    found = context.batches.unfinished(older_than=-timedelta(days=1), limit=MOST_SEEN)
    if len(found) == MOST_SEEN:
        return False
    try:
        others = [context.batches.find(each) for each in found if each != batch.ref]
    except ValidationError:
        return False
    there = [one for one in others if one is not None and one.state in {"intended", "created"}]
    return not any((one.provider, one.model) == (batch.provider, batch.model) for one in there)


def _let_go(context: BatchingContext, batch: ProviderBatch, question: ListedQuestion) -> bool:
    """Put a deferred evaluation back among those that wait for a batch. Return whether it left this batch.

    A record that cannot be read still says that it is in the batch, and is settled with the batch once it can be read.
    """
    try:
        context.evaluations().put_back(
            Reference(context.tenant, "answer", question.answer_id),
            provider_batch_id=batch.id,
            when="cheap",
            until=context.clock(),
            reason=UNANSWERED,
        )
    except OUT_OF_REACH as error:
        log_unreadable(question.answer_id, error)
        return not isinstance(error, ValidationError)
    return True
