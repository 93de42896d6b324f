"""Settling: what a batch brought is stored in the records, question by question, and then its money is counted.

A result is stored as that of a single call is; a question without one is asked at once (see `kinds`). Progress is
stored after every few questions. If a crash makes some questions settle twice, the second time finds them settled and
counts the same.

A record that cannot be read holds up neither other records nor the money: its reply counts at the highest price. It is
settled as soon as it can be read, however long after the batch; the sweep looks for it at growing intervals.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import batched

from touchstone.attempts import Attempts, growing_pause
from touchstone.budgets import SpendReservation
from touchstone.budgets.money import micros
from touchstone.clock import Deadline
from touchstone.errors import NotFoundError
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.operations.provider_batches import kinds
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.following import line_id_of
from touchstone.operations.provider_batches.questions import (
    ListedQuestion,
    SettledQuestion,
    lines_of,
    replies_from_text,
    with_records_read,
)

CHUNK = 50
"""After how many questions the progress is stored. So many are settled again after a crash."""
STORE_SECONDS = 60.0
"""If less of the function's time is left, the rest is left to the next step."""
LOOK_AGAIN = timedelta(minutes=15)
"""The first pause before an unreadable record is looked at again. Later pauses are longer, up to six hours."""


async def settle(context: BatchingContext, batch: ProviderBatch, deadline: Deadline) -> ProviderBatch:
    """Settle the questions of a batch that has ended, as far as the time allows.

    The batch is over once all are settled.
    """
    questions, replies = lines_of(context, batch), _replies(context, batch)
    while batch.settled < len(questions):
        if deadline.remaining <= STORE_SECONDS:
            return context.batches.change(batch.ref, lambda one: one.pausing(context.clock()))
        batch = await _chunk(context, batch, questions, replies)
    return finish(context, batch)


def finish(context: BatchingContext, batch: ProviderBatch) -> ProviderBatch:
    """Count the money and end a batch, all of whose questions are settled."""
    held = SpendReservation(
        id=batch.id,
        tenant=batch.tenant,
        day=batch.created_at.date(),
        amount=micros(batch.most_usd, where="most_usd"),
        unpriced=False,
        calls=batch.gathered_count,
    )
    if batch.batch is None and batch.ended != "lost":
        context.spending.release(held)
    else:
        # If the replies are lost, they are paid for at an unknown price: count all the money that was held back.
        cost = None if batch.ended == "lost" else batch.cost_usd
        context.spending.settle(held, cost_usd=cost, unsent=batch.let_go)
    now = context.clock()
    done = {"state": "over", "finished_at": now}
    return context.batches.change(
        batch.ref, lambda one: one if one.over else _left(one.model_copy(update=done), pause=LOOK_AGAIN, now=now)
    )


async def settle_unread(context: BatchingContext, batch: ProviderBatch, deadline: Deadline) -> ProviderBatch:
    """Settle what a finished batch left because records could not be read, as far as they can be read now."""
    try:
        replies = _replies(context, batch)
    except NotFoundError:
        replies = {}  # replies are not kept for ever: a question whose reply is deleted is asked at once
    for numbers in batched(sorted(batch.unread), CHUNK, strict=False):
        if deadline.remaining <= STORE_SECONDS:
            break
        replied = [(ListedQuestion(answer_id=batch.unread[each]), _reply(batch, replies, each)) for each in numbers]
        lines = dict(zip(numbers, await kinds.settled(context, batch, replied), strict=True))
        spends = [spend for line in lines.values() for spend in line.spends]

        def step(one: ProviderBatch, lines: Mapping[int, SettledQuestion] = lines) -> ProviderBatch:
            fresh = [line for number, line in lines.items() if number in one.unread and not line.unread]
            return one.model_copy(
                update={
                    "unread": {n: i for n, i in one.unread.items() if n not in lines or lines[n].unread},
                    "answered": one.answered + sum(line.answered for line in fresh),
                    "saved_usd": one.saved_usd + sum(each.saved_usd or 0.0 for line in fresh for each in line.spends),
                }
            )

        batch = context.batches.change(batch.ref, step)
        context.paid(spends)
    now = context.clock()
    pause = growing_pause(batch.finished_at or now, now, least=LOOK_AGAIN)
    return context.batches.change(batch.ref, lambda one: _left(one, pause=pause, now=now))


def _left(batch: ProviderBatch, *, pause: timedelta, now: datetime) -> ProviderBatch:
    """The batch with nobody at work on it. If it is not done, it continues after `pause`."""
    return batch.model_copy(update={"attempts": Attempts()}) if batch.done else batch.pausing(now + pause)


def _replies(context: BatchingContext, batch: ProviderBatch) -> Mapping[str, BatchReply]:
    """The replies of a batch, keyed by the ids of their lines. Raises `NotFoundError` if they are deleted."""
    if batch.replies_key is None:
        return {}
    return replies_from_text(context.objects.get_text(tenant=context.tenant, key=batch.replies_key))


def _reply(batch: ProviderBatch, replies: Mapping[str, BatchReply], number: int) -> BatchReply | None:
    return replies.get(line_id_of(batch.intent, number))


async def _chunk(
    context: BatchingContext,
    batch: ProviderBatch,
    questions: Sequence[ListedQuestion],
    replies: Mapping[str, BatchReply],
) -> ProviderBatch:
    start = batch.settled
    numbers = range(start, end_of_chunk(questions, start))
    here = with_records_read(context, batch.of, questions[start : numbers.stop])
    lines = await kinds.settled(
        here, batch, [(questions[number], _reply(batch, replies, number)) for number in numbers]
    )
    unread = {number: questions[number].answer_id for number, line in zip(numbers, lines, strict=True) if line.unread}
    spends = [spend for line in lines for spend in line.spends]
    # As for a single call, the highest price counts if nobody reported the cost.
    share = batch.most_usd / batch.gathered_count
    untold = share * sum(line.unknown or any(spend.cost_usd is None for spend in line.spends) for line in lines)

    def step(one: ProviderBatch) -> ProviderBatch:
        if one.settled != start:
            return one
        return one.model_copy(
            update={
                "settled": numbers.stop,
                "answered": one.answered + sum(line.answered for line in lines),
                "cost_usd": one.cost_usd + untold + sum(spend.cost_usd or 0.0 for spend in spends),
                "saved_usd": one.saved_usd + sum(spend.saved_usd or 0.0 for spend in spends),
                "unread": one.unread | unread,
            }
        )

    changed = context.batches.change(batch.ref, step)
    if kinds.work_of(batch.of).tells:
        context.paid(spends)
    return changed


def end_of_chunk(questions: Sequence[ListedQuestion], start: int) -> int:
    """The end of the chunk that begins at `start`. The questions of one record are never divided."""
    end = min(start + CHUNK, len(questions))
    while end < len(questions) and questions[end].answer_id == questions[end - 1].answer_id:
        end += 1
    return end
