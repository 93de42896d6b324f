"""Verifications of a file's lines in batches: done again, from the beginning, with the replies brought so far.

    a line ── tried ─┬─ decided by a check or the cache ──> finished
                     ├─ wants what no batch takes ───────> asked at once
                     └─ wants questions ── in a batch ──> settled ─┬─ decided ─────────────> finished
                                  ^                                ├─ wants another judge ──> its reply is kept ──┐
                                  │                                └─ brought nothing ──────> asked at once       │
                                  └───────────────────────────────────────────────────────────────────────────────┘

Nothing is stored before a line is decided or a batch has brought something for it. If a batch or a judge brought
nothing, the record waits, and its questions are asked at once from then on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from touchstone.answers.model import ENDED, AnswerRecord, BroughtReply
from touchstone.answers.verification import Verified
from touchstone.attempts import Waiting
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.spends import Spend
from touchstone.operations.answers.finishing import finish
from touchstone.operations.answers.steps import quick_verified
from touchstone.operations.jobs.waiting import WantedQuestion
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import (
    ListedQuestion,
    SettledQuestion,
    all_wanted,
    settled_by,
    without_latency,
)
from touchstone.operations.provider_batches.replaying import WaitingQuestion, replayed_line
from touchstone.references import Reference

NOT_BROUGHT = "The provider's batch brought nothing for it that can be used; it is asked at once."
UNSETTLED = timedelta(days=1)
"""How long the sweep leaves a record alone if its file does not say how long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedByBatch:
    """The result of a verification from the replies brought so far; not valid if more is `wanted`.

    `spends` are at the price of a batch.
    """

    found: Verified
    wanted: tuple[WaitingQuestion, ...]
    spends: tuple[Spend, ...]

    @property
    def decided(self) -> bool:
        """Whether the line is over, with the same result as if each judge had answered at once."""
        return not self.wanted and self.found.failure is None


async def verified(
    context: BatchingContext, record: AnswerRecord, *brought: BroughtReply, by: str | None = None
) -> VerifiedByBatch:
    """Verify with the replies in the record and with those `brought` now, `by` a provider.

    Nothing is sent or stored.
    """
    replies = {one.address: [one.reply] for one in (*record.brought, *brought)}
    async with replayed_line(context.apis, replies, cache=context.cache, brought_by=by) as (judges, work):
        here = replace(context.answers(), judges=judges)
        found = await quick_verified(here, record, record.attempts[-1], deadline=None, abandoned_after=None)
    # Judges that are asked in turn until one is sure enough: ask the next one only if this one is not.
    wanted = work.wanted[:1] if record.judges == "until_sure" else work.wanted
    spends = without_latency(found.spends, context.apis.registry)
    return VerifiedByBatch(found=found, wanted=tuple(wanted), spends=spends)


async def tried(context: BatchingContext, record: AnswerRecord) -> AnswerRecord | tuple[WantedQuestion, ...]:
    """Try a line without asking anybody. Return its questions for batches, or its record if there are none.

    The record is over if a check or the cache decides; otherwise its questions are to be asked at once, since no batch
    takes them.
    """
    if record.waiting is not None:
        return record
    done = await verified(context, record)
    if done.decided:
        return _finished(context, record, done)
    return await all_wanted(context, done.wanted, shared=record.use_cache) or record


async def still_wanted(
    context: BatchingContext,
    batch: ProviderBatch,  # noqa: ARG001 - a question of a file is in its batch by the file's own word
    group: Sequence[ListedQuestion],
) -> Mapping[str, WaitingQuestion]:
    """The questions that a line still wants answered, as they are to be sent."""
    record = context.answers().answers.get(Reference(context.tenant, "answer", group[0].answer_id))
    if record.stage in ENDED or record.waiting is not None:
        return {}
    done = await verified(context, record)
    if done.decided:  # somebody asked the same question meanwhile, so the cache answers it
        _finished(context, record, done)
    return {one.address: one for one in done.wanted}


async def settled(
    context: BatchingContext, batch: ProviderBatch, question: ListedQuestion, reply: BatchReply | None
) -> SettledQuestion:
    """Settle what a batch brought for a line: store a verdict, keep the reply for a later one, or ask at once."""
    record = context.answers().answers.get(Reference(context.tenant, "answer", question.answer_id))
    if reply is None or question.address is None:
        _ask_at_once(context, record, spends=())
        return SettledQuestion(answered=False)
    brought = BroughtReply(address=question.address, reply=reply)
    others = tuple(one for one in record.brought if one.address != brought.address)
    record = record.model_copy(update={"brought": others})
    done = await verified(context, record, brought, by=batch.provider)
    found = settled_by(reply, done.spends)
    if done.decided or record.stage in ENDED:
        _finished(context, record, done)
    elif record.waiting is None and done.wanted and found.answered:
        context.answers().answers.keep_brought(record.ref, brought=brought)
    else:
        _ask_at_once(context, record, spends=done.spends)
    return found


def _finished(context: BatchingContext, record: AnswerRecord, done: VerifiedByBatch) -> AnswerRecord:
    answers = context.answers().answers
    if record.stage in ENDED:
        return answers.add_late_spends(record.ref, spends=done.spends)
    return finish(answers, record, verification=done.found.verification, spends=done.spends, ended=context.verified)


def _ask_at_once(context: BatchingContext, record: AnswerRecord, *, spends: Sequence[Spend]) -> None:
    """Leave a record to its file's run, which asks at once. If the record was left already, add what was paid."""
    answers = context.answers().answers
    if record.stage in ENDED or record.waiting is not None:
        answers.add_late_spends(record.ref, spends=spends)
        return
    now = context.clock()
    left_until = record.left_until or now + UNSETTLED
    waiting = Waiting(reason="overloaded", sentence=NOT_BROUGHT, until=now, left_until=left_until)
    answers.wait(record.ref, waiting=waiting, ended="unread" if spends else "unanswered", spends=spends)
