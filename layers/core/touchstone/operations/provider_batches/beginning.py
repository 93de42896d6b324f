"""Beginning a batch: its record is stored, its money held back, and its questions are put into it.

The record of the batch is stored first, and says which questions are to be in it. Then its money is held back, then
each question is put into it. Whoever stored the record holds it until then, as every later step does: nobody else
secures it meanwhile. After a crash in between, the sweep continues the record: all of this may be repeated.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

from touchstone.attempts import Attempts
from touchstone.aws import MAX_KEYS
from touchstone.budgets import SpendReservation
from touchstone.errors import MisconfiguredError, SettingsError, SpendingCeilingError, TouchstoneError
from touchstone.judges.batches.record import BatchedKind, ProviderBatch
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import (
    ListedQuestion,
    lines_of,
    listed,
    passing_over,
    with_records_read,
)
from touchstone.references import Reference

MOST_LINES = 1_000
"""The most questions of one batch of deep evaluations. They are stored one by one, within the time of two functions."""
MOST_BYTES = 20_000_000
"""The most bytes of one batch: a function holds it whole. Providers take far more."""


def spending_left(context: BatchingContext) -> tuple[float | None, float | None]:
    """The tenant's ceiling, and what it may still spend today, both in US dollars; None if nothing limits it."""
    spent = context.spending.today(context.tenant)
    ceiling = context.ceiling_usd if spent.ceiling_usd is None else spent.ceiling_usd
    return ceiling, None if ceiling is None else max(0.0, ceiling - spent.spent_usd - spent.reserved_usd)


def begun(
    context: BatchingContext,
    provider: str,
    model: str,
    questions: Sequence[ListedQuestion],
    *,
    most_usd: float,
    batch_id: str,
    of: BatchedKind = "evaluation",
) -> ProviderBatch:
    """Store the record of a batch, then secure its money and questions.

    A repeat finds the batch as far as it has come. If another caller is about to secure it, it is still `gathered`; the
    batch's machine secures it if that caller has died.
    """
    key = f"{context.tenant}/provider-batches/{batch_id}/lines.jsonl"
    context.objects.put_text(tenant=context.tenant, key=key, text=listed(questions))
    now = context.clock()
    batch = ProviderBatch(
        tenant=context.tenant,
        id=batch_id,
        of=of,
        provider=provider,
        model=model,
        created_at=now,
        count=len(questions),
        lines_key=key,
        most_usd=most_usd,
    ).begun(now=now)
    stored = context.batches.create(batch)
    return _secured(context, batch) if stored is batch else continue_half_begun(context, stored.ref)


def continue_half_begun(context: BatchingContext, which: Reference) -> ProviderBatch:
    """Secure a batch that nobody has secured so far. It stays as it is if somebody is at it, or has done it."""
    now = context.clock()
    batch, ours = context.batches.begin(which, lambda one: one.begun(now=now) if one.state == "gathered" else one)
    return _secured(context, batch) if ours else batch


def _secured(context: BatchingContext, batch: ProviderBatch) -> ProviderBatch:
    """Secure a batch that this caller holds, and release it."""
    with released_on_failure(context, batch.ref):
        reserve_and_assign(context, batch)
    return _release(context, batch.ref)


@contextmanager
def released_on_failure(context: BatchingContext, which: Reference) -> Iterator[None]:
    """Let go of a batch that this caller holds if its step fails."""
    try:
        yield
    except Exception:
        with suppress(TouchstoneError):
            _release(context, which)
        raise


def _release(context: BatchingContext, which: Reference) -> ProviderBatch:
    """Let others go on with a batch at once; else they would wait for the lease of a step that has ended."""
    return context.batches.change(which, lambda one: one if one.done else one.pausing(context.clock()))


def reserve_and_assign(context: BatchingContext, batch: ProviderBatch) -> ProviderBatch:
    """Hold back a batch's money and put its questions into it. If the ceiling does not admit it, the batch is over.

    The caller holds the batch: if somebody else could carry it to its end meanwhile, its money would be held back once
    more, and for nothing.
    """
    try:
        reserve(context, batch)
    except SpendingCeilingError as error:
        ended = {"state": "over", "ended": "unpaid", "because": str(error), "finished_at": context.clock()}
        ended["attempts"] = Attempts()
        return context.batches.change(batch.ref, lambda one: _changed(one, ended))
    if batch.of == "evaluation":  # questions of files belong to the batch because the files say so
        _put_in(context, batch)
    return context.batches.change(batch.ref, lambda one: _changed(one, {"state": "ready"}))


def _put_in(context: BatchingContext, batch: ProviderBatch) -> None:
    """Store in each record of a deep evaluation which batch has it now."""
    from touchstone.answers.model import SubmittedPlace

    ends_by = context.clock() + _longest(context, batch)
    questions = lines_of(context, batch)
    for number, question in enumerate(questions):
        if number % MAX_KEYS == 0:
            context = with_records_read(context, batch.of, questions[number : number + MAX_KEYS])
        place = SubmittedPlace(provider_batch_id=batch.id, number=number, at=context.clock(), ends_by=ends_by)
        with passing_over(question.answer_id):
            context.evaluations().submit(Reference(context.tenant, "answer", question.answer_id), place=place)


def reserve(context: BatchingContext, batch: ProviderBatch) -> SpendReservation:
    """Hold back the money of a batch; a repeat holds back no more. Raises `SpendingCeilingError`."""
    own = context.spending.ceiling(context.tenant)
    return context.spending.reserve_for(
        context.tenant,
        batch.most_usd,
        context.ceiling_usd if own is None else own,
        name=batch.id,
        calls=batch.gathered_count,
        on=batch.created_at,
    )


def _longest(context: BatchingContext, batch: ProviderBatch) -> timedelta:
    try:
        batches = context.apis.batches(batch.provider)
    except (MisconfiguredError, SettingsError):
        batches = None
    return timedelta(days=1) if batches is None else batches.longest


def _changed(batch: ProviderBatch, changes: dict[str, object]) -> ProviderBatch:
    return batch if batch.state != "gathered" else batch.model_copy(update=changes)
