"""What tells the kinds of questions that go by batches apart: what each still wants, and where its replies belong."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import BatchedKind, ProviderBatch
from touchstone.operations.provider_batches import evaluations, experiments, measurements, scorings, verifications
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.questions import (
    OUT_OF_REACH,
    ListedQuestion,
    RepliedQuestion,
    SettledQuestion,
    passed_over,
    was_answered,
)
from touchstone.operations.replaying import WaitingQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchedWork:
    """One kind of work, by the questions of one record at a time.

    `still_wanted` gives the questions as they are to be sent, None for one that is not wanted any more. `settled` puts
    what a batch brought where it belongs. A record out of reach stops no other. `tells`: its calls are told as they are
    settled, not when the record is decided. `within` gives a context with the batch APIs that its questions go by.
    """

    still_wanted: Callable[
        [BatchingContext, ProviderBatch, Sequence[ListedQuestion]], Awaitable[list[WaitingQuestion | None]]
    ]
    settled: Callable[[BatchingContext, ProviderBatch, Sequence[RepliedQuestion]], Awaitable[list[SettledQuestion]]]
    tells: bool
    within: Callable[[BatchingContext], BatchingContext] = lambda context: context


async def still_wanted(
    context: BatchingContext, batch: ProviderBatch, questions: Sequence[ListedQuestion]
) -> list[WaitingQuestion | None]:
    """The questions of a batch as they are to be sent, None for each that is not."""
    found: list[WaitingQuestion | None] = []
    for _, group in groupby(questions, key=lambda one: one.answer_id):
        found += await KINDS[batch.of].still_wanted(context, batch, list(group))
    return found


async def settled(
    context: BatchingContext, batch: ProviderBatch, replied: Sequence[RepliedQuestion]
) -> list[SettledQuestion]:
    """Put what a batch brought where it belongs, and what came of each question."""
    found: list[SettledQuestion] = []
    for _, group in groupby(replied, key=lambda one: one[0].answer_id):
        found += await KINDS[batch.of].settled(context, batch, list(group))
    return found


def _each_wanted(
    do: Callable[[BatchingContext, ProviderBatch, ListedQuestion], Awaitable[WaitingQuestion | None]],
) -> Callable[[BatchingContext, ProviderBatch, Sequence[ListedQuestion]], Awaitable[list[WaitingQuestion | None]]]:
    """A kind whose questions stand each for itself."""

    async def each(
        context: BatchingContext, batch: ProviderBatch, group: Sequence[ListedQuestion]
    ) -> list[WaitingQuestion | None]:
        found: list[WaitingQuestion | None] = []
        for question in group:
            try:
                found.append(await do(context, batch, question))
            except OUT_OF_REACH as error:
                passed_over(question.answer_id, error)
                found.append(None)
        return found

    return each


def _each_settled(
    do: Callable[[BatchingContext, ProviderBatch, ListedQuestion, BatchReply | None], Awaitable[SettledQuestion]],
) -> Callable[[BatchingContext, ProviderBatch, Sequence[RepliedQuestion]], Awaitable[list[SettledQuestion]]]:
    """As `_each_wanted`; what belongs to a record out of reach may have been paid for all the same."""

    async def each(
        context: BatchingContext, batch: ProviderBatch, group: Sequence[RepliedQuestion]
    ) -> list[SettledQuestion]:
        found = []
        for question, reply in group:
            try:
                found.append(await do(context, batch, question, reply))
            except OUT_OF_REACH as error:
                passed_over(question.answer_id, error)
                found.append(SettledQuestion(answered=False, unknown=was_answered(reply)))
        return found

    return each


KINDS: Mapping[BatchedKind, BatchedWork] = {
    "evaluation": BatchedWork(
        still_wanted=_each_wanted(evaluations.still_wanted), settled=_each_settled(evaluations.settled), tells=True
    ),
    "verification": BatchedWork(
        still_wanted=_each_wanted(verifications.still_wanted),
        settled=_each_settled(verifications.settled),
        tells=False,
    ),
    "measurement": BatchedWork(still_wanted=measurements.still_wanted, settled=measurements.settled, tells=True),
    "experiment": BatchedWork(still_wanted=experiments.still_wanted, settled=experiments.settled, tells=True),
    "scoring": BatchedWork(
        still_wanted=scorings.still_wanted, settled=scorings.settled, tells=True, within=scorings.within
    ),
}
"""By the kind that a batch's record names."""
