"""The kinds of work that goes by batches: for each, which questions it still wants, and how its replies are settled."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import BatchedKind, ProviderBatch
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import (
    ListedQuestion,
    RepliedQuestion,
    SettledQuestion,
    passing_over,
    was_answered,
)
from touchstone.operations.provider_batches.replaying import WaitingQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchedWork:
    """One kind of work, handled by all questions of one record at a time.

    `still_wanted` gives the questions that the record wants now, as they are to be sent, keyed by their addresses; it
    raises one of `OUT_OF_REACH` for a record that cannot be had. `settled` stores what a batch brought in the records;
    a record out of reach does not stop the others. `tells`: `paid` is told of the calls when they are settled, not when
    the record is decided. `within` gives the context with the batch APIs that these questions go by.
    """

    still_wanted: Callable[
        [BatchingContext, ProviderBatch, Sequence[ListedQuestion]], Awaitable[Mapping[str, WaitingQuestion]]
    ]
    settled: Callable[[BatchingContext, ProviderBatch, Sequence[RepliedQuestion]], Awaitable[list[SettledQuestion]]]
    tells: bool
    within: Callable[[BatchingContext], BatchingContext] = lambda context: context


async def still_wanted(
    context: BatchingContext, batch: ProviderBatch, questions: Sequence[ListedQuestion]
) -> list[WaitingQuestion | None]:
    """The questions of a batch as they are to be sent; None for each that is not wanted any more."""
    found: list[WaitingQuestion | None] = []
    for answer_id, group in groupby(questions, key=lambda one: one.answer_id):
        listed, wanted = list(group), dict[str, WaitingQuestion]()
        with passing_over(answer_id):
            wanted |= await work_of(batch.of).still_wanted(context, batch, listed)
        found += [wanted.get(question.address or "") for question in listed]
    return found


async def settled(
    context: BatchingContext, batch: ProviderBatch, replied: Sequence[RepliedQuestion]
) -> list[SettledQuestion]:
    """Store what a batch brought in the records. Return what came of each question."""
    found: list[SettledQuestion] = []
    for _, group in groupby(replied, key=lambda one: one[0].answer_id):
        found += await work_of(batch.of).settled(context, batch, list(group))
    return found


def _each_settled(
    do: Callable[[BatchingContext, ProviderBatch, ListedQuestion, BatchReply | None], Awaitable[SettledQuestion]],
) -> Callable[[BatchingContext, ProviderBatch, Sequence[RepliedQuestion]], Awaitable[list[SettledQuestion]]]:
    """A kind's `settled` that handles each question of a record by itself.

    A reply for a record out of reach may have been paid for all the same.
    """

    async def each(
        context: BatchingContext, batch: ProviderBatch, group: Sequence[RepliedQuestion]
    ) -> list[SettledQuestion]:
        found = []
        for question, reply in group:
            one = SettledQuestion(answered=False, unknown=was_answered(reply))
            with passing_over(question.answer_id):
                one = await do(context, batch, question, reply)
            found.append(one)
        return found

    return each


@cache
def work_of(kind: BatchedKind) -> BatchedWork:
    """The work of the kind that a batch's record names.

    Each kind stands on a job of its own, which is loaded with the first batch of the kind: a batch has one kind.
    """
    match kind:
        case "evaluation":
            from touchstone.operations.provider_batches import evaluations

            settle_each = _each_settled(evaluations.settled)
            return BatchedWork(still_wanted=evaluations.still_wanted, settled=settle_each, tells=True)
        case "verification":
            from touchstone.operations.provider_batches import verifications

            settle_each = _each_settled(verifications.settled)
            return BatchedWork(still_wanted=verifications.still_wanted, settled=settle_each, tells=False)
        case "measurement":
            from touchstone.operations.provider_batches import measurements

            return BatchedWork(still_wanted=measurements.still_wanted, settled=measurements.settled, tells=True)
        case "experiment":
            from touchstone.operations.provider_batches import experiments

            return BatchedWork(still_wanted=experiments.still_wanted, settled=experiments.settled, tells=True)
        case "audit":
            from touchstone.operations.provider_batches import audits

            settle_each = _each_settled(audits.settled)
            return BatchedWork(still_wanted=audits.still_wanted, settled=settle_each, tells=True)
        case "scoring":
            from touchstone.operations.provider_batches import scorings

            return BatchedWork(
                still_wanted=scorings.still_wanted, settled=scorings.settled, tells=True, within=scorings.within
            )
