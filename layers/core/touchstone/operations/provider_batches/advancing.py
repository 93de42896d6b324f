"""The step of the machine that carries a batch: from one state of its record to the next, as far as it goes now.

    gathered ── secure ──> ready ── send ──> intended ──> created ── look … collect ──> collected ── settle ──> over
                             ^                  │            │
                             └── refused, full, or never created

Each state is stored before the actions that follow from it. If a step dies, its lease runs out, and the next step goes
by the record: before it creates anything again, it searches for the batch of a create that may have been sent.
"""

import uuid
from datetime import timedelta

from touchstone.clock import Deadline
from touchstone.errors import JudgeError, MisconfiguredError, ResultsGoneError, SettingsError
from touchstone.judges.batches import BatchLine, BatchLook, ProviderBatches, as_line
from touchstone.judges.batches.base import by_line
from touchstone.judges.batches.record import ProviderBatch, ProviderBatchEnd
from touchstone.operations.jobs.context import StepProgress
from touchstone.operations.provider_batches import following, kinds
from touchstone.operations.provider_batches.beginning import released_on_failure, reserve_and_assign
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.following import line_id_of, locate_batch, look_at, may_have_created
from touchstone.operations.provider_batches.questions import kept, lines_of, with_records_read
from touchstone.operations.provider_batches.replaying import WaitingQuestion
from touchstone.operations.provider_batches.settling import end_of_chunk, settle, settle_unread
from touchstone.operations.provider_batches.sizes import halve_batch
from touchstone.references import Reference

FIRST_LOOK = timedelta(seconds=30)
LONGEST_LOOK = timedelta(minutes=15)
"""The longest pause between two looks at a batch. A look costs nothing at the provider, and a write or two here."""
GROWTH = 1.5
AGAIN = timedelta(minutes=1)
"""The pause after a passing fault, before the same is tried again."""
LOST_AFTER = timedelta(days=3)
"""How long past its time a batch is still asked for if its provider cannot be asked, or does not find it.

A key may have to be replaced, and that takes a person. A 404 is no end either, since it does not say that another try
would be in vain: a provider shows a batch only to keys of its own project or workspace, and may be late to show it, as
Anthropic was for minutes. Only a batch that a person deleted never comes back, and no provider tells that apart. Asked
again before that, its questions would be paid for twice.
"""


async def advance(context: BatchingContext, provider_batch_id: str, *, deadline: Deadline) -> StepProgress:
    """Carry a batch on: `waiting` until its next step is due, or `over`."""
    which = Reference(context.tenant, "provider_batch", provider_batch_id)
    batch, ours = context.batches.begin(which, lambda one: one.begun(now=context.clock()))
    if not ours:
        return _progress(batch)
    context = kinds.work_of(batch.of).within(context)
    with released_on_failure(context, which):
        while batch.attempts.underway and not batch.done:
            batch = await _advanced(context, batch, deadline)
    return _progress(batch)


def _progress(batch: ProviderBatch) -> StepProgress:
    return StepProgress(state="over") if batch.over else StepProgress(state="waiting", until=batch.attempts.not_before)


async def _advanced(context: BatchingContext, batch: ProviderBatch, deadline: Deadline) -> ProviderBatch:
    """The batch one state further, or with a pause before it continues."""
    if batch.state == "gathered":
        return reserve_and_assign(context, batch)
    if batch.state == "collected":
        return await settle(context, batch, deadline)
    if batch.over:
        return await settle_unread(context, batch, deadline)
    try:
        batches = context.apis.batches(batch.provider)
        await context.apis.load(batch.provider)
    except (MisconfiguredError, SettingsError) as error:
        return _put_off(context, batch, str(error))
    if batches is None:
        return _put_off(context, batch, f"{batch.provider} has no batches by the settings of now.")
    match batch.state:
        case "ready":
            return await _send(context, batch, batches)
        case "intended":
            return await _search(context, batch, batches)
        case _:
            return await _look(context, batch, batches)


def _put_off(context: BatchingContext, batch: ProviderBatch, why: str) -> ProviderBatch:
    """The batch after its provider could not be asked: given up if it was never sent, else waiting."""
    if batch.state == "ready":
        return _give_up(context, batch, "refused", why)
    last = (batch.ends_by or batch.intended_at or batch.created_at) + LOST_AFTER
    if context.clock() >= last:
        return _give_up(context, batch, "lost", why)
    return _change(context, batch, because=why, pause=LONGEST_LOOK)


async def _send(context: BatchingContext, batch: ProviderBatch, batches: ProviderBatches) -> ProviderBatch:
    """Store the intent, then create the batch at the provider."""
    intent = uuid.uuid4().hex[: following.INTENT_DIGITS]
    lines = await _lines(context, batch, batches, intent)
    if not lines:
        return _give_up(context, batch, "empty", "All its questions were taken elsewhere before it was sent.")
    batch = _change(context, batch, state="intended", intent=intent, intended_at=context.clock(), misses=0)
    try:
        look = await batches.submit(batch.model, intent, lines)
    except JudgeError as error:
        if may_have_created(error):
            return _change(context, batch, because=str(error), pause=AGAIN)
        return _not_taken(context, batch, error)
    return _created(context, batch, look)


async def _lines(
    context: BatchingContext, batch: ProviderBatch, batches: ProviderBatches, intent: str
) -> list[BatchLine]:
    """The lines of the questions that are still wanted, numbered as in the batch's list."""
    questions, wanted = lines_of(context, batch), list[WaitingQuestion | None]()
    while chunk := questions[len(wanted) : end_of_chunk(questions, len(wanted))]:
        wanted += await kinds.still_wanted(with_records_read(context, batch.of, chunk, cached=True), batch, chunk)
    return [
        batches.line(batch.model, as_line(one.question, line_id_of(intent, number)))
        for number, one in enumerate(wanted)
        if one is not None
    ]


def _created(context: BatchingContext, batch: ProviderBatch, look: BatchLook) -> ProviderBatch:
    return _change(
        *(context, batch),
        state="created",
        batch=look.batch_id,
        submitted_at=context.clock(),
        ends_by=look.ends_by,
        looks=0,
        misses=0,
        because=None,
        pause=FIRST_LOOK,
    )


def _not_taken(context: BatchingContext, batch: ProviderBatch, error: JudgeError) -> ProviderBatch:
    """The batch after a create that the provider refused, or that was never sent."""
    if isinstance(error, following.QUOTA):
        return _held(context, batch, str(error), seconds=error.retry_after or 0.0)
    refusals = batch.refusals + 1
    if isinstance(error, following.CERTAINLY_REFUSED) or refusals >= following.REFUSALS:
        return _give_up(context, batch, "refused", str(error))
    return _ready(context, batch, because=str(error), refusals=refusals, pause=AGAIN)


def _held(context: BatchingContext, batch: ProviderBatch, why: str, *, seconds: float = 0.0) -> ProviderBatch:
    """The batch after a refusal for a quota: it waits, for a day at most."""
    now = context.clock()
    since = batch.refused_since or now
    if now - since >= following.DAY:
        return _give_up(context, batch, "refused", why)
    pause = following.quota_pause(batch.refusals, at_least=seconds)
    return _ready(context, batch, because=why, refusals=batch.refusals + 1, refused_since=since, pause=pause)


def _ready(context: BatchingContext, batch: ProviderBatch, *, pause: timedelta, **changes: object) -> ProviderBatch:
    """The batch ready to be created again, under a new intent."""
    anew = {"intent": None, "intended_at": None, "batch": None, "submitted_at": None, "ends_by": None}
    return _change(context, batch, state="ready", pause=pause, **anew, **changes)


async def _search(context: BatchingContext, batch: ProviderBatch, batches: ProviderBatches) -> ProviderBatch:
    """Search the provider for the batch of a create that was not answered."""
    if batch.intent is None or batch.intended_at is None:
        raise TypeError("a batch that was to be created has an intent")
    now = context.clock()
    try:
        found = await locate_batch(batches, batch.intent, at=batch.intended_at, known=(), misses=batch.misses, now=now)
    except JudgeError as error:
        return _put_off(context, batch, str(error))
    if found.batch_id is not None:
        ends_by = batch.intended_at + batches.longest
        return _created(context, batch, BatchLook(batch_id=found.batch_id, state="under_way", ends_by=ends_by))
    if not found.never:
        if now >= batch.intended_at + batches.longest + LOST_AFTER:
            why = f"{batch.provider} did not say in time whether it created the batch."
            return _give_up(context, batch, "lost", why)
        return _change(context, batch, misses=found.misses, pause=AGAIN)
    why = f"{batch.provider} did not create the batch."
    if batch.refusals + 1 >= following.REFUSALS:
        return _give_up(context, batch, "refused", why)
    return _ready(context, batch, because=why, refusals=batch.refusals + 1, pause=AGAIN)


async def _look(context: BatchingContext, batch: ProviderBatch, batches: ProviderBatches) -> ProviderBatch:
    """Look how far the batch is at its provider. Once it has ended, store what it brought."""
    if batch.batch is None:
        raise TypeError("a batch that was created has its provider's id")
    now = context.clock()
    ends_by = batch.ends_by or (batch.intended_at or batch.created_at) + batches.longest
    try:
        look = await look_at(batches, batch.batch, ends_by=ends_by, cancelled_at=batch.cancelled_at, now=now)
        if look.state == "under_way":
            pause = min(FIRST_LOOK * GROWTH ** min(batch.looks, 20), LONGEST_LOOK)
            told = {"ends_by": look.ends_by, "cancelled_at": look.cancelled_at}
            return _change(context, batch, looks=batch.looks + 1, **told, pause=pause)
        if look.failure == following.TOO_MANY_QUEUED:
            return _held(
                context, halve_batch(context, batch), f"{batch.provider} has too many questions in batches already."
            )
        if look.failure == following.NEVER_ENDED:
            return _give_up(context, batch, "lost", f"{batch.provider}'s batch is given up: {look.failure}.")
        replies = () if look.state == "failed" else await batches.collect(batch.batch)
    except ResultsGoneError as error:
        return _without_results(context, batch, str(error))
    except JudgeError as error:
        return _put_off(context, batch, str(error))
    numbered = [line_id_of(batch.intent, number) for number in range(batch.count)]
    brought = by_line(replies, numbered, state=look.state)
    key = f"{context.tenant}/provider-batches/{batch.id}/replies.jsonl"
    context.objects.put_text(tenant=context.tenant, key=key, text=kept(brought))
    why = None if look.state == "completed" else _why(batch, look)
    return _change(context, batch, state="collected", replies_key=key, ended=look.state, because=why)


def _without_results(context: BatchingContext, batch: ProviderBatch, why: str) -> ProviderBatch:
    """The batch after its provider did not find its results: looked at again, or given up if that has been so long."""
    if batch.misses * LONGEST_LOOK >= following.FOUND_WITHIN:
        return _give_up(context, batch, "lost", why)
    return _change(context, batch, misses=batch.misses + 1, because=why, pause=LONGEST_LOOK)


def _why(batch: ProviderBatch, look: BatchLook) -> str:
    because = f" ({look.failure})" if look.failure else ""
    return f"{batch.provider}'s batch {look.state}{because}; what it did not answer is asked at once."


def _give_up(context: BatchingContext, batch: ProviderBatch, ended: ProviderBatchEnd, why: str) -> ProviderBatch:
    """The batch given up: nothing more is expected of it, and its questions are put back."""
    return _change(context, batch, state="collected", ended=ended, because=why)


def _change(
    context: BatchingContext, record: ProviderBatch, *, pause: timedelta | None = None, **changes: object
) -> ProviderBatch:
    """Store changes. With a `pause`, also store that nobody works on the batch until the pause is over."""

    def step(one: ProviderBatch) -> ProviderBatch:
        after = one.model_copy(update=changes)
        return after if pause is None else after.pausing(context.clock() + pause)

    return context.batches.change(record.ref, step)
