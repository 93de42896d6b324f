"""Settling: what a batch brought is put where it belongs, question by question, then its money is counted.

A result is stored as that of a single call is. What brought none is put back into the line and asked at once, as the
quota admits it: a question is not left to a second batch that may take another day. How far this is, is kept after
every few questions; what is done twice because of a crash finds itself done, and counts the same.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus

from touchstone.answers.evaluation import Evaluated
from touchstone.answers.model import AnswerRecord
from touchstone.attempts import Attempts, TryEnd
from touchstone.budgets import SpendReservation, next_reset
from touchstone.budgets.money import micros
from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.spends import Spend
from touchstone.operations.deferral import GivenUp, after_failure
from touchstone.operations.provider_batches import verifications
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.gathering import lines_of
from touchstone.operations.provider_batches.questions import (
    OUT_OF_REACH,
    ListedQuestion,
    SettledQuestion,
    passed_over,
    read_kept,
    replayed,
)
from touchstone.records.batched_evaluations import in_batch
from touchstone.references import Reference

CHUNK = 50
"""Questions after which it is kept how far this is: so many are looked at again after a crash."""
STORE_SECONDS = 60.0
"""With less of the function's time left, the rest is left to the next step."""
UNANSWERED = "overloaded"
"""Why a question that no batch answered is in the line again, in the word of a call that nobody answered."""


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
    numbers = range(start, min(start + CHUNK, len(questions)))
    lines = [
        await _line(context, batch, questions[number], replies.get(f"{batch.intent}-{number}")) for number in numbers
    ]
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
    if batch.of == "evaluation":  # a verification tells of its calls when it is decided
        context.paid(spends)
    return changed


async def _line(
    context: BatchingContext, batch: ProviderBatch, question: ListedQuestion, reply: BatchReply | None
) -> SettledQuestion:
    """Settle one question; a record that is gone, or was taken elsewhere, keeps what was paid for it."""
    answer_id = question.answer_id
    spends: tuple[Spend, ...] = ()
    unknown = reply is not None and reply.missed is None and reply.status == HTTPStatus.OK
    try:
        if batch.of == "verification":
            return await verifications.settled(context, batch, question, reply)
        record = context.evaluations.get(Reference(context.tenant, "answer", answer_id))
        if reply is None:
            _put_back(context, batch, record, reason=UNANSWERED)
            return SettledQuestion(answered=False)
        found = await replayed(context, record, batch.provider, reply)
        spends, unknown = found.spends, not found.spends and unknown and not isinstance(found.result, Evaluated)
        if isinstance(found.result, Evaluated):
            context.evaluations.complete(
                tenant=context.tenant, answer_id=answer_id, evaluation=found.result.evaluation, spends=found.spends
            )
            return SettledQuestion(answered=True, spends=found.spends)
        missed = reply.missed is not None
        _unanswered(context, batch, record, error=found.result, missed=missed, spends=found.spends)
    except OUT_OF_REACH as error:
        passed_over(answer_id, error)
    return SettledQuestion(answered=False, spends=spends, unknown=unknown)


def _unanswered(
    context: BatchingContext,
    batch: ProviderBatch,
    record: AnswerRecord,
    *,
    error: JudgeError | LimitError,
    missed: bool,
    spends: tuple[Spend, ...],
) -> None:
    """What becomes of a question that was not evaluated; `missed`: the batch brought nothing at all for it."""
    now, progress = context.clock(), record.evaluation
    if missed or isinstance(error, LimitError):
        _put_back(context, batch, record, reason=UNANSWERED, spends=spends)
        return
    attempts = Attempts(tries=progress.tries, since=progress.since)
    after = after_failure(error, attempts, now=now, reset=next_reset(batch.provider, now))
    if not isinstance(after, GivenUp):
        _put_back(
            context, batch, record, reason=after.reason, ended=after.ended, pause=after.until - now, spends=spends
        )
    elif in_batch(record, batch.id):
        context.evaluations.fail(tenant=context.tenant, answer_id=record.id, failure=after.reason, spends=spends)
    else:
        _put_back(context, batch, record, reason=after.reason, spends=spends)


def _put_back(
    context: BatchingContext,
    batch: ProviderBatch,
    record: AnswerRecord,
    *,
    reason: str,
    ended: TryEnd = "unanswered",
    pause: timedelta = timedelta(0),
    spends: tuple[Spend, ...] = (),
) -> None:
    """Back into the line, to be asked at once; a record that is not in this batch any more stays where it is."""
    context.evaluations.put_back(
        tenant=context.tenant,
        answer_id=record.id,
        provider_batch_id=batch.id,
        when="now",
        until=context.clock() + pause,
        reason=reason,
        ended=ended,
        spends=spends,
    )
