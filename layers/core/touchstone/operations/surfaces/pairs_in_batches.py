"""Pairs of an experiment in providers' batches: open questions are gathered, and brought replies are stored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from touchstone.attempts import BATCHED
from touchstone.operations.jobs.waiting import IN_A_BATCH, OpenLine
from touchstone.records.experiments import sums_of
from touchstone.surfaces.experiments import record as steps
from touchstone.surfaces.experiments.pair_work import PairKept, PairTask, PairWork, pair_awaiting, pair_due, pair_over

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from touchstone.operations.surfaces.context import ExperimentContext
    from touchstone.surfaces.experiments.record import ExperimentRecord


def in_batches(context: ExperimentContext, record: ExperimentRecord) -> tuple[frozenset[int], datetime | None]:
    """The numbers of the pairs that wait for batches, and until when they wait; their open questions are gathered.

    Pairs whose batches are over are released to be tried again.
    """
    waiting = (
        {} if record.plan is None else {n: one for n, one in context.pairs.open(record.ref).items() if one.batched}
    )
    if not waiting:
        return frozenset(), None
    lines: Sequence[OpenLine] = ()
    standing = None
    if context.by_batch is not None and record.when == "cheap":
        found = context.files(record.id).all_wanted((one.number, one.rounds) for one in waiting.values())
        lines = [line for line in found if line is not None]
        standing = context.by_batch().add_to_batches(record, lines)
        batches = standing.batches
        if set(batches) - set(record.batches):
            now = context.clock()
            context.experiments.change(record.ref, lambda one: steps.waiting_for_batches(one, batches, until=now))
    held = frozenset[int]() if standing is None else frozenset(line.line for line in lines) - standing.due
    for number in waiting.keys() - held:
        # If the pair's list of questions is gone, the questions are asked at once.
        again = standing is None or standing.again or number not in standing.due
        context.pairs.change(waiting[number], partial(pair_due, now=context.clock(), again=again))
    return held, None if standing is None else standing.until


def all_wait_for_batches(context: ExperimentContext, record: ExperimentRecord, held: frozenset[int]) -> bool:
    """Whether every unfinished pair waits for a batch."""
    pairs = 0 if record.plan is None else record.plan.pairs
    return len(context.pairs.over(record.ref)) + len(held) >= pairs


async def by_batches(
    context: ExperimentContext, record: ExperimentRecord, pair: PairWork, task: PairTask
) -> PairWork | None:
    """The pair after a try with the replies of batches: it is over, or waits.

    None if it is to be asked about at once.
    """
    if context.by_batch is None or (record.when == "now" and not pair.brought_by):
        return None
    files, number = context.files(record.id), pair.number
    tried = await context.by_batch().tried(record, pair, task)
    kept = PairKept.of(tried.result, files.pair(number), brought=tried.paid)
    sums = sums_of(kept)
    if kept.paid:  # without any brought reply there is no result to store
        files.put_pair(kept)
    if tried.whole:
        files.put_pair(kept)
        return context.pairs.change(pair, lambda one: pair_over(one, None, now=context.clock(), **sums))
    if not tried.wanted:
        return None
    line = OpenLine(
        line=number,
        reason=BATCHED,
        detail=IN_A_BATCH["experiment"],
        until=context.clock(),
        answer_id=pair.id,
        of="experiment",
        wanted=tried.wanted,
    )
    files.put_wanted(number, pair.rounds + 1, line)
    return context.pairs.change(pair, lambda one: pair_awaiting(one, now=context.clock(), **sums))
