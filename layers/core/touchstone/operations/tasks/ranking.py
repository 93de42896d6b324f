"""The ranking of a contest from the comparisons of its finalists, and its end when challenges are over."""

from collections.abc import Sequence
from functools import partial

from touchstone.judges.spends import paying
from touchstone.operations.tasks.context import TaskContext, TaskProgress, pause_after, progress_of
from touchstone.oracle import task as steps
from touchstone.oracle.aggregation import aggregate
from touchstone.oracle.comparison import RANKING_ROUND_ID, DimensionComparison
from touchstone.oracle.model import Unjudged
from touchstone.oracle.ranking import Contender, rank, shortlist
from touchstone.oracle.submission import FinalistComparison, compared
from touchstone.oracle.task import Task


def rank_contest(context: TaskContext, task_id: str) -> TaskProgress:
    """Rank a contest whose finalists were compared: `challenge` until its challenges are over.

    The state is `comparing` if a dimension is not compared yet. A repeat changes nothing. A finalist that could not be
    compared on some dimension is `unscored` and has no rank: no number is made up for it.
    """
    task = context.task(task_id)
    if task.state != "scoring":
        return progress_of(task)
    chosen = shortlist(contenders_of(context, task))
    said = context.comparisons.of_round(task.ref, round_id=RANKING_ROUND_ID)
    if left := left_to_compare(task, said):
        return TaskProgress(state="comparing", dimensions=left)
    finals: dict[str, float] = {}
    for finalist in chosen.finalists:
        comparisons, uncompared = of_finalist(task, said, finalist.submission_id)
        why = why_uncompared(said, finalist.submission_id)
        kept = context.judgements.judged(
            context.ref("submission", finalist.submission_id, task_id),
            partial(compared, comparisons=comparisons, uncompared=uncompared, why=why),
        )
        if not kept.uncompared:
            finals[kept.id] = final_of(task, kept.comparisons)
    spends = tuple(spend for one in said for spend in one.spends)
    places = rank(chosen, finals)
    step = paying(lambda one: steps.ranked(one, places, now=context.clock()), spends)
    return progress_of(context.tasks.change(task.ref, step))


def finalise(context: TaskContext, task_id: str) -> TaskProgress:
    """Make a contest's result final: `final`, or `challenge` until its challenges are over and decided."""
    task = context.task(task_id)
    now = context.clock()
    if task.state == "challenge" and task.challenge_until is not None:
        if now < task.challenge_until:
            return progress_of(task)
        if task.undecided:
            later = TaskProgress(state="challenge", until=now + pause_after(now - task.challenge_until))
            return context.keep_from_sweep(task_id, later)
        task = context.tasks.change(task.ref, lambda one: steps.finalised(one, now=context.clock()))
    context.announce(task_id)
    return progress_of(task)


def contenders_of(context: TaskContext, task: Task) -> tuple[Contender, ...]:
    """All scored submissions as contenders. Only what a ranking needs is held of each: there may be thousands."""
    found = context.submissions.of_task(task.ref)
    return tuple(contender for one in found if (contender := one.contender) is not None)


def left_to_compare(task: Task, said: tuple[DimensionComparison, ...]) -> tuple[str, ...]:
    """The ids of the dimensions of a round whose comparison is not over."""
    over = {one.dimension for one in said if one.over}
    return tuple(dimension.id for dimension in task.dimensions if dimension.id not in over)


def of_finalist(
    task: Task, said: tuple[DimensionComparison, ...], submission_id: str
) -> tuple[tuple[FinalistComparison, ...], tuple[str, ...]]:
    """A finalist's comparisons in the order of the dimensions, and the ids of the dimensions without one."""
    by_dimension = {one.dimension: one.of(submission_id) for one in said}
    found = [(dimension.id, by_dimension.get(dimension.id)) for dimension in task.dimensions]
    return (
        tuple(one for _, one in found if one is not None),
        tuple(dimension for dimension, one in found if one is None),
    )


def final_of(task: Task, comparisons: tuple[FinalistComparison, ...]) -> float:
    """The final score (0-100) from comparisons on every dimension."""
    return aggregate(task.dimensions, {one.dimension: one.score for one in comparisons}).final


def why_uncompared(said: Sequence[DimensionComparison], submission_id: str) -> Unjudged | None:
    """Why nobody could compare a finalist on some dimension. None if it was compared on each."""
    for one in said:
        if one.over and one.of(submission_id) is None:
            faults = one.unscored.get(submission_id, ())
            return one.failure or Unjudged(stage="comparison", reason="invalid_reply", details=faults)
    return None
