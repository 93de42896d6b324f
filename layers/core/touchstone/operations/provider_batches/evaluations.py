"""Deep evaluations in batches: each is one question, and its result is stored as that of a single call is.

A question without a usable reply is put back into the line of deferred evaluations and asked at once, as the quota
admits it. It does not go into a second batch, which might take another day.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic import ValidationError

from touchstone.answers.evaluation import Evaluated
from touchstone.answers.model import AnswerRecord
from touchstone.attempts import Attempts, TryEnd
from touchstone.budgets import next_reset
from touchstone.errors import JudgeError, LimitError
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.spends import Spend, spends_of_failure
from touchstone.operations.answers.evaluating import asked_of
from touchstone.operations.jobs.after_failure import GivenUp, after_failure
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import (
    OUT_OF_REACH,
    UNANSWERED,
    ListedQuestion,
    SettledQuestion,
    log_unreadable,
    was_answered,
    without_latency,
)
from touchstone.operations.provider_batches.replaying import WaitingQuestion, replayed_line
from touchstone.records.evaluations import in_batch
from touchstone.references import Reference

PURPOSE = "evaluate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The result of an evaluation replayed with what a batch brought.

    `wanted` is the question that only a batch can answer, None if there is none. `spends` are the calls that were paid
    for, at the price of a batch, with the saving.
    """

    result: Evaluated | JudgeError | LimitError
    wanted: WaitingQuestion | None
    spends: tuple[Spend, ...]


class _OfAnyQuestion(Mapping[str, Sequence[BatchReply]]):
    """The same replies for any address: a line of a deep evaluation asks only one question."""

    def __init__(self, replies: Sequence[BatchReply]) -> None:
        self._replies = replies

    def __getitem__(self, address: str) -> Sequence[BatchReply]:
        return self._replies

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return len(self._replies)

    def __contains__(self, address: object) -> bool:
        return bool(self._replies)


async def replayed(
    context: BatchingContext, record: AnswerRecord, provider: str, reply: BatchReply | None = None
) -> Replayed:
    """Evaluate a record, with the reply that a batch brought for it. `reply` None: none was brought yet.

    Nothing is sent.
    """
    brought = {} if reply is None else _OfAnyQuestion([reply])
    by = None if reply is None else provider
    async with replayed_line(context.apis, brought, cache=context.cache, brought_by=by) as (judges, work):
        judge = judges.get(provider, "evaluate", purpose="backlog")
        result = await asked_of(judge, record, clock=context.clock)
    spends = result.spends if isinstance(result, Evaluated) else spends_of_failure(result, PURPOSE)
    wanted = work.wanted[0] if reply is None and work.wanted else None
    return Replayed(result=result, wanted=wanted, spends=without_latency(spends, context.apis.registry))


async def still_wanted(
    context: BatchingContext, batch: ProviderBatch, group: Sequence[ListedQuestion]
) -> Mapping[str, WaitingQuestion]:
    """The question of a deep evaluation as it is to be sent, whatever its address was when it was listed.

    There is none if the record is not in the batch any more.
    """
    answer_id = group[0].answer_id
    record = context.evaluations().get(Reference(context.tenant, "answer", answer_id))
    if not in_batch(record, batch.id):
        return {}
    found = await replayed(context, record, batch.provider)
    if isinstance(found.result, Evaluated):  # somebody asked the same question meanwhile, so the cache answers it
        context.evaluations().complete(record.ref, evaluation=found.result.evaluation, spends=found.spends)
    return {} if found.wanted is None else {group[0].address or "": found.wanted}


async def settled(
    context: BatchingContext, batch: ProviderBatch, question: ListedQuestion, reply: BatchReply | None
) -> SettledQuestion:
    """Settle one question. If its record is gone or was taken elsewhere, its cost counts all the same.

    If the record cannot be read, the result is `unread`: it is settled once it can be read.
    """
    answer_id = question.answer_id
    spends: tuple[Spend, ...] = ()
    unknown, unread = was_answered(reply), False
    try:
        record = context.evaluations().get(Reference(context.tenant, "answer", answer_id))
        if reply is None:
            _put_back(context, batch, record, reason=UNANSWERED)
            return SettledQuestion(answered=False)
        found = await replayed(context, record, batch.provider, reply)
        spends, unknown = found.spends, not found.spends and unknown and not isinstance(found.result, Evaluated)
        if isinstance(found.result, Evaluated):
            context.evaluations().complete(record.ref, evaluation=found.result.evaluation, spends=found.spends)
            return SettledQuestion(answered=True, spends=found.spends)
        missed = reply.missed is not None
        _unanswered(context, batch, record, error=found.result, missed=missed, spends=found.spends)
    except OUT_OF_REACH as error:
        log_unreadable(answer_id, error)
        unread = isinstance(error, ValidationError)
    return SettledQuestion(answered=False, spends=spends, unknown=unknown, unread=unread)


def _unanswered(
    context: BatchingContext,
    batch: ProviderBatch,
    record: AnswerRecord,
    *,
    error: JudgeError | LimitError,
    missed: bool,
    spends: tuple[Spend, ...],
) -> None:
    """Store what follows for a question without an evaluation; `missed`: the batch brought nothing at all for it."""
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
        context.evaluations().fail(record.ref, failure=after.reason, spends=spends)
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
    """Put a record back into the line, to be asked at once.

    A record that is not in this batch any more stays as it is.
    """
    context.evaluations().put_back(
        record.ref,
        provider_batch_id=batch.id,
        when="now",
        until=context.clock() + pause,
        reason=reason,
        ended=ended,
        spends=spends,
    )
