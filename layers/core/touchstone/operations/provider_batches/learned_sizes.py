"""How many questions a batch of a model may have, as learned from one that was too large for its provider's queue.

A provider bounds the tokens that wait in batches, by the account, and tells nobody how many. What a tenant's batch was
halved to is kept beside the lists of its batches, for its later batches of the same model and kind.
"""

from datetime import datetime
from urllib.parse import quote

from pydantic import ValidationError

from touchstone.errors import NotFoundError
from touchstone.judges.batches.record import BatchedKind, ProviderBatch
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.following import DAY
from touchstone.strict import Strict

LEARNED_FOR = DAY
"""How long a learned size holds. To try a larger batch again costs one refused batch a day."""


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
