"""What the steps of all jobs with parts share: pairs of an experiment, and cases of an audit."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any

from touchstone.attempts import BATCHED
from touchstone.operations.jobs.context import StepProgress
from touchstone.operations.jobs.waiting import (
    IN_A_BATCH,
    BatchedLine,
    OpenLine,
    PartsByBatch,
    PartsStanding,
    WantedQuestion,
)
from touchstone.parts import Part, PartedRecord, waiting_for_batches
from touchstone.records.jobs import JobStore
from touchstone.records.parts import Parts
from touchstone.references import Reference


def part_progress(part: Part) -> StepProgress:
    """The progress of a part that is not at work: `over`, `batched`, or `waiting` for its next try."""
    if part.over:
        return StepProgress(state="over")
    if part.batched:
        return StepProgress(state=BATCHED)
    return StepProgress(state="waiting", until=part.attempts.not_before)


def batched_line(part: Part, of: BatchedLine, wanted: tuple[WantedQuestion, ...], *, now: datetime) -> OpenLine:
    """A part with its questions for a batch."""
    return OpenLine(
        line=part.number,
        reason=BATCHED,
        detail=IN_A_BATCH[of],
        until=now,
        answer_id=part.id,
        of=of,
        wanted=wanted,
    )


def batched_parts[P: Part](parts: Parts[P], whole: Reference) -> dict[int, P]:
    """The parts of a job that wait for a batch, by their number."""
    return {number: one for number, one in parts.open(whole).items() if one.batched}


def gathered[R: PartedRecord](
    store: JobStore[R, Any],
    by_batch: PartsByBatch[R],
    record: R,
    lines: Iterable[OpenLine | None],
    *,
    now: datetime,
) -> PartsStanding:
    """The standing of a job's parts after their open questions were gathered into batches.

    A line that is None stands for a part whose questions are gone: it is in no batch that anybody could find.
    """
    standing = by_batch.add_to_batches(record, [line for line in lines if line is not None])
    if set(standing.batches) - set(record.batches):
        store.change(record.ref, partial(waiting_for_batches, batches=standing.batches, until=now))
    return standing
