"""A batch at its provider, from the intent to its replies. It does not matter who keeps the batch's record, and where.

intent ──> a create ─┬─ answered ──────────> look … ended ──> collect
                     ├─ refused, certainly   the intent is void
                     └─ not answered ──> locate_batch ┬─ found
                                                      ├─ not known yet
                                                      └─ certainly never created
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from touchstone.errors import DayQuotaError, JudgeError, MinuteQuotaError, MisconfiguredError, RefusedError
from touchstone.judges.batches import BatchLook, FoundBatch, ProviderBatches
from touchstone.judges.batches.base import CALL_SECONDS, UPLOAD_SECONDS

INTENT_DIGITS = 16
FIRST_LOOK = timedelta(minutes=1)
LONGEST_LOOK = timedelta(minutes=15)
"""The shortest and the longest pause of a job between two looks at the batches that it waits for."""
REFUSALS = 3
"""How often the creation of a batch may fail for a passing fault before its questions are asked at once."""
FIRST_PAUSE = 60.0
LONGEST_PAUSE = 3600.0
"""The shortest and the longest pause, in seconds, before another batch is submitted after a refusal for a quota."""
DAY = timedelta(days=1)
"""The time that a batch may take; a quota is waited for as long."""
TOO_MANY_QUEUED = "token_limit_exceeded"
"""OpenAI's word for a batch that failed because too many tokens wait in batches already. None of its questions was
asked."""
CLOCKS_APART = timedelta(hours=1)
"""How far the clocks here and at a provider may differ when a batch without a known id is searched for."""
CANCELLED_WITHIN = timedelta(hours=1)
"""How long to wait for the end of a cancelled batch: OpenAI says ten minutes. What it did until then is reported, and
paid for."""
NEVER_ENDED = "it is past its time, was cancelled and has not ended"
"""The failure of a batch whose results cannot be had, and which may be paid for all the same."""
FOUND_WITHIN = timedelta(hours=1)
"""How long a provider may be late to show a batch, or the results of one that has ended. All of them keep results for
weeks, so a 404 for them soon after the end is a delay: another try brings them."""
CREATED_WITHIN = timedelta(seconds=UPLOAD_SECONDS + CALL_SECONDS)
"""How long after an intent its create has ended at the latest: nothing happens between the two."""
SHOWN_WITHIN = timedelta(minutes=15) + CREATED_WITHIN
"""How long after an intent the provider lists its batch at the latest: a create takes time, and lists are behind."""
MISSES = 2
"""How many searches must miss a batch, at least, before it counts as never created."""
CERTAINLY_REFUSED = (MinuteQuotaError, DayQuotaError, MisconfiguredError, RefusedError)
"""Failures of a create by which the provider says that it did not create the batch."""
QUOTA = (MinuteQuotaError, DayQuotaError)
"""Refusals that pass when other batches end, or with the day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLocation:
    """What is known of a batch whose create was not answered.

    `never`: it was certainly not created. If there is neither `never` nor a `batch_id`, its fate is known at `known_by`
    (UTC); None: when the batches that are under way at the provider have ended. `misses` counts the searches that did
    not find it.
    """

    batch_id: str | None = None
    never: bool = False
    known_by: datetime | None = None
    misses: int = 0


def next_look(since: datetime, now: datetime) -> datetime:
    """When a job looks again at batches for which it has waited since a moment: after half the time that has passed."""
    return now + max(FIRST_LOOK, min((now - since) / 2, LONGEST_LOOK))


def line_id_of(intent: str | None, number: int) -> str:
    """The id of a line in the batch of an intent; `number` counts from 0."""
    return f"{intent}-{number}"


def quota_pause(refusals: int, *, at_least: float) -> timedelta:
    """The pause before another batch is submitted, after a refusal for a quota that follows on `refusals` others.

    It lasts `at_least` so many seconds, as the provider asked for, but never longer than `LONGEST_PAUSE`.
    """
    doubled = FIRST_PAUSE * 2.0 ** min(refusals, 10)
    return timedelta(seconds=min(max(doubled, at_least), LONGEST_PAUSE))


def may_have_created(error: JudgeError) -> bool:
    """Whether a create that failed with this error may have created the batch all the same."""
    return error.sent and not isinstance(error, CERTAINLY_REFUSED)


async def locate_batch(
    batches: ProviderBatches, intent: str, *, at: datetime, known: Collection[str], misses: int, now: datetime
) -> BatchLocation:
    """Look for the batch of an intent that was stored at the moment `at`; `known` are ids of other intents' batches.

    `misses` earlier searches did not find it. Raises `JudgeError` if the provider cannot be asked.
    """
    found = await searched(batches, intent, at=at, known=known)
    if found.batch_id is not None:
        return BatchLocation(batch_id=found.batch_id, misses=misses)
    if any(one.ends_by is None or now <= one.ends_by + CLOCKS_APART for one in found.open):
        return BatchLocation(misses=misses)
    misses, shown_by = misses + 1, at + SHOWN_WITHIN
    return BatchLocation(never=misses >= MISSES and now >= shown_by, known_by=shown_by, misses=misses)


async def searched(batches: ProviderBatches, intent: str, *, at: datetime, known: Collection[str]) -> FoundBatch:
    """Search for the batch of an intent among the batches created about `at`, the moment when the intent was stored.

    A batch that was created later belongs to another intent. Raises `JudgeError` if the provider cannot be asked.
    """
    return await batches.find(intent, since=at - CLOCKS_APART, until=at + CREATED_WITHIN + CLOCKS_APART, known=known)


async def look_at(
    batches: ProviderBatches, batch_id: str, *, ends_by: datetime, cancelled_at: datetime | None, now: datetime
) -> BatchLook:
    """How far a batch is. If it is past its time, it is cancelled.

    `ends_by` is when it ends at the latest, used if its provider tells no time. `cancelled_at` is what the look before
    said of that, None if nobody looked yet. A cancelled batch counts as under way until its results can be had, or as
    `expired` with `NEVER_ENDED` if they cannot be had within `CANCELLED_WITHIN`. Raises `JudgeError` if the provider
    cannot be asked.
    """
    look = await batches.look(batch_id)
    look = replace(look, ends_by=look.ends_by or ends_by, cancelled_at=cancelled_at)
    if look.state != "under_way" or now <= (look.ends_by or ends_by) + CLOCKS_APART:
        return look
    if cancelled_at is not None and now > cancelled_at + CANCELLED_WITHIN:
        return replace(look, state="expired", failure=NEVER_ENDED)
    with suppress(JudgeError):  # it may be about to end already
        await batches.cancel(batch_id)
    return replace(look, cancelled_at=cancelled_at or now)
