"""Pairs of an experiment in providers' batches: open questions are gathered, and brought replies are stored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from touchstone.operations.jobs.parted import batched_line, batched_parts, gathered
from touchstone.records.experiments import sums_of
from touchstone.surfaces.experiments.pair_work import PairKept, PairTask, PairWork, pair_awaiting, pair_over

if TYPE_CHECKING:
    from datetime import datetime

    from touchstone.operations.surfaces.context import ExperimentContext
    from touchstone.surfaces.experiments.record import ExperimentRecord


def in_batches(context: ExperimentContext, record: ExperimentRecord) -> tuple[frozenset[int], datetime | None]:
    """The numbers of the pairs that wait for batches, and until when they wait; their open questions are gathered.

    Pairs whose batches are over are released to be tried again.
    """
    waiting = {} if record.plan is None else batched_parts(context.pairs, record.ref)
    standing = None
    if waiting and context.by_batch is not None and record.when == "cheap":
        lines = context.files(record.id).all_wanted((one.number, one.rounds) for one in waiting.values())
        standing = gathered(context.experiments, context.by_batch(), record, lines, now=context.clock())
    held = frozenset[int]() if standing is None else standing.held
    for number in waiting.keys() - held:
        # If the pair's list of questions is gone, the questions are asked at once.
        again = standing is None or standing.again or number not in standing.due
        context.pairs.change(waiting[number], partial(PairWork.released, now=context.clock(), again=again))
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
        return context.pairs.change(pair, lambda one: pair_over(one, None, sums, now=context.clock()))
    if not tried.wanted:
        return None
    line = batched_line(pair, "experiment", tried.wanted, now=context.clock())
    files.put_wanted(number, pair.rounds + 1, line)
    return context.pairs.change(pair, lambda one: pair_awaiting(one, sums, now=context.clock()))
