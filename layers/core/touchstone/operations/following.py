"""A batch at its provider from an intent to what it brought, for whoever keeps the record of it, and wherever.

intent ──> a create ─┬─ answered ──────────> look … ended ──> collect
                     ├─ refused, certainly   the intent is void
                     └─ not answered ──> whereabouts ─┬─ found
                                                      ├─ not known yet
                                                      └─ certainly never created
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from touchstone.errors import DayQuotaError, JudgeError, MinuteQuotaError, MisconfiguredError, RefusedError
from touchstone.judges.batches import BatchLook, FoundBatch, ProviderBatches
from touchstone.judges.batches.texts import CALL_SECONDS, UPLOAD_SECONDS

INTENT_DIGITS = 16
REFUSALS = 3
"""So often a batch may fail to be created for a fault that passes, before its questions are asked at once."""
FIRST_PAUSE = 60.0
LONGEST_PAUSE = 3600.0
"""Seconds before another batch is submitted, after one that was refused for a quota."""
DAY = timedelta(days=1)
"""What a batch may take, and so long a quota is waited for."""
TOO_MANY_QUEUED = "token_limit_exceeded"
"""OpenAI's word for a batch that failed because too many tokens wait in batches already; none of it was asked."""
CLOCKS_APART = timedelta(hours=1)
"""How far the clocks here and at a provider may differ when an orphan is looked for."""
CREATED_WITHIN = timedelta(seconds=UPLOAD_SECONDS + CALL_SECONDS)
"""After an intent, a create of it has ended: nothing lies between the two."""
SHOWN_WITHIN = timedelta(minutes=15) + CREATED_WITHIN
"""After an intent, a batch of it is shown by its provider: a create may take its time, and lists lag behind."""
MISSES = 2
"""So often at least a search must have missed a batch before it counts as never created."""
CERTAINLY_REFUSED = (MinuteQuotaError, DayQuotaError, MisconfiguredError, RefusedError)
"""Failures of a create that are the provider's own word that it did not create the batch."""
QUOTA = (MinuteQuotaError, DayQuotaError)
"""Refusals that pass when other batches have ended, or with the day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """What is known of a batch whose creation was not answered.

    `never`: it was certainly not created. Else, without a `batch_id`, it is known at `known_by` (UTC), None: when the
    batches that are under way at the provider have ended. `misses` counts the searches that did not find it.
    """

    batch_id: str | None = None
    never: bool = False
    known_by: datetime | None = None
    misses: int = 0


def may_have_created(error: JudgeError) -> bool:
    """Whether a create that failed so may have created the batch all the same."""
    return error.sent and not isinstance(error, CERTAINLY_REFUSED)


async def whereabouts(
    batches: ProviderBatches, intent: str, *, at: datetime, known: Collection[str], misses: int, now: datetime
) -> Whereabouts:
    """Look for the batch of an intent that was written down `at` a moment; `known` are ids of other intents' batches.

    `misses` earlier searches did not find it. Raises `JudgeError` where the provider cannot be asked.
    """
    found = await searched(batches, intent, at=at, known=known)
    if found.batch_id is not None:
        return Whereabouts(batch_id=found.batch_id, misses=misses)
    if any(one.ends_by is None or now <= one.ends_by + CLOCKS_APART for one in found.open):
        return Whereabouts(misses=misses)
    misses, shown_by = misses + 1, at + SHOWN_WITHIN
    return Whereabouts(never=misses >= MISSES and now >= shown_by, known_by=shown_by, misses=misses)


async def searched(batches: ProviderBatches, intent: str, *, at: datetime, known: Collection[str]) -> FoundBatch:
    """Search for the batch of an intent among those that were created about the moment `at` which it was written down.

    One that was created later is another's. Raises `JudgeError` where the provider cannot be asked.
    """
    return await batches.find(intent, since=at - CLOCKS_APART, until=at + CREATED_WITHIN + CLOCKS_APART, known=known)


async def look_at(batches: ProviderBatches, batch_id: str, *, ends_by: datetime, now: datetime) -> BatchLook:
    """How far a batch is that ends by a moment, where its provider tells none; one past its time is cancelled.

    Raises `JudgeError` where the provider cannot be asked.
    """
    look = await batches.look(batch_id)
    look = replace(look, ends_by=look.ends_by or ends_by)
    if look.state == "under_way" and now > (look.ends_by or ends_by) + CLOCKS_APART:
        with suppress(JudgeError):
            await batches.cancel(batch_id)
        return replace(look, state="expired", failure="it is past its time and was cancelled")
    return look
