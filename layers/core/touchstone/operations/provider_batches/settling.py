"""Settling: what a batch brought is put where it belongs, question by question, then its money is counted.

A result is stored as that of a single call is; what brought none is asked at once (see `kinds`). How far this is, is
kept after every few questions; what is done twice because of a crash finds itself done, and counts the same.
"""

from collections.abc import Mapping, Sequence

from touchstone.attempts import Attempts
from touchstone.budgets import SpendReservation
from touchstone.budgets.money import micros
from touchstone.clock import Deadline
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.operations.provider_batches import kinds
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.gathering import lines_of
from touchstone.operations.provider_batches.questions import ListedQuestion, read_kept

CHUNK = 50
"""Questions after which it is kept how far this is: so many are looked at again after a crash."""
STORE_SECONDS = 60.0
"""With less of the function's time left, the rest is left to the next step."""


async def settle(context: BatchingContext, batch: ProviderBatch, deadline: Deadline) -> ProviderBatch:
    """Put back or store the questions of a batch that has ended, as far as the time admits; over once it is done."""
    questions = lines_of(context, batch)
    replies: Mapping[str, BatchReply] = {}
    if batch.replies_key is not None:
        replies = read_kept(context.objects.get_text(tenant=context.tenant, key=batch.replies_key))
    while batch.settled < len(questions):
        if deadline.remaining <= STORE_SECONDS:
            return context.batches.change(batch.ref, lambda one: one.pausing(context.clock()))
        batch = await _chunk(context, batch, questions, replies)
    return finish(context, batch)


def finish(context: BatchingContext, batch: ProviderBatch) -> ProviderBatch:
    """Count the money and end the batch, all of whose questions are settled."""
    held = SpendReservation(
        id=batch.id,
        tenant=batch.tenant,
        day=batch.created_at.date(),
        amount=micros(batch.most_usd, where="most_usd"),
        unpriced=False,
        calls=batch.count,
    )
    if batch.batch is None and batch.ended != "lost":
        context.spending.release(held)
    else:
        # What a batch brought that cannot be had any more is paid for, and nobody knows how much: all that was held.
        context.spending.settle(held, cost_usd=None if batch.ended == "lost" else batch.cost_usd)
    done = {"state": "over", "finished_at": context.clock(), "attempts": Attempts()}
    return context.batches.change(batch.ref, lambda one: one if one.over else one.model_copy(update=done))


async def _chunk(
    context: BatchingContext,
    batch: ProviderBatch,
    questions: Sequence[ListedQuestion],
    replies: Mapping[str, BatchReply],
) -> ProviderBatch:
    start = batch.settled
    numbers = range(start, end_of_chunk(questions, start))
    lines = await kinds.settled(
        context, batch, [(questions[number], replies.get(f"{batch.intent}-{number}")) for number in numbers]
    )
    spends = [spend for line in lines for spend in line.spends]
    # As of a single call, whose highest price is taken where nobody told what it cost.
    share = batch.most_usd / batch.count
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
            }
        )

    changed = context.batches.change(batch.ref, step)
    if kinds.KINDS[batch.of].tells:
        context.paid(spends)
    return changed


def end_of_chunk(questions: Sequence[ListedQuestion], start: int) -> int:
    """Where a chunk ends: with the last question of a record."""
    end = min(start + CHUNK, len(questions))
    while end < len(questions) and questions[end].answer_id == questions[end - 1].answer_id:
        end += 1
    return end
