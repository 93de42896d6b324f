"""The comparison of a contest's finalists on one dimension, side by side."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random, SystemRandom

from touchstone.clock import Deadline
from touchstone.errors import RefusedError
from touchstone.judges.base import Judge, WorkJudge
from touchstone.judges.calls import NotScored
from touchstone.judges.panel import JudgePanel
from touchstone.judges.spends import paying
from touchstone.operations.jobs.after_failure import GivenUp, Postponed, follow_up, with_judge
from touchstone.operations.jobs.traced import traced
from touchstone.operations.tasks.context import SETTLED_WITHIN, TaskContext, TaskProgress
from touchstone.operations.tasks.finalists import entry_of
from touchstone.oracle import comparison as steps
from touchstone.oracle.compared import ComparisonResult
from touchstone.oracle.comparison import COMPARISON_TRIES, RANKING_ROUND_ID, DimensionComparison
from touchstone.oracle.entries import FinalistEntry
from touchstone.oracle.judging import Judging
from touchstone.oracle.model import Unjudged
from touchstone.oracle.scores_panel import compare_by_judges
from touchstone.oracle.task import Task

COMPARE_SECONDS = 600.0
"""For two orders of the finalists, each with a repair round, by a strong model that thinks about three long texts."""
BETWEEN_TRIES = timedelta(seconds=5)
"""The pause after a reply that broke the rules twice: the judge is available, and may reply differently next time."""
INTERRUPTED = "Each try to compare was interrupted before there was a result."
NOT_IN_TIME = "There was no comparison in time."


@traced
async def compare_dimension(context: TaskContext, task_id: str, *, dimension: str) -> TaskProgress:
    """Compare a contest's finalists on one dimension: `compared`, `unscored`, or `waiting` for another try."""

    def entries(task: Task, comparison: DimensionComparison) -> list[FinalistEntry]:
        return [entry_of(context, task.id, each) for each in comparison.finalists]

    progress = await compare_round(
        context,
        task_id,
        round_id=RANKING_ROUND_ID,
        dimension=dimension,
        judge=context.judge,
        several=context.panel,
        entries=entries,
    )
    return context.keep_from_sweep(task_id, progress)


async def compare_round(
    context: TaskContext,
    task_id: str,
    *,
    round_id: str,
    dimension: str,
    judge: Callable[[], Judge],
    entries: Callable[[Task, DimensionComparison], list[FinalistEntry]],
    several: Callable[[int], JudgePanel | None] = lambda _: None,
) -> TaskProgress:
    """As `compare_dimension`, for any round. `judge` opens the judge that compares.

    `several` gives a panel of as many judges as the task asks for, or None for the one judge. `entries` gives the
    finalists as the judge sees them.
    """
    comparison, ours = context.comparisons.begin(context.ref("task", task_id), round_id=round_id, dimension=dimension)
    if not ours:
        return _progress(_given_up_if_stuck(context, comparison))
    task = context.task(task_id)
    asked = next(one for one in task.dimensions if one.id == dimension)
    tries = comparison.attempts.tries

    async def work(one: Judge) -> ComparisonResult | NotScored:
        several_judges = several(task.request.scoring_judges)
        panel = None if several_judges is None else several_judges.for_work(comparison.created_at)
        # With a panel, labels stay the same until a reply was of no use: labels drawn anew make new questions, and the
        # stored replies of judges that have answered already would be lost.
        drawn = f"{task_id} {comparison.id} {tries}"
        judging = Judging(
            brief=task.request.brief,
            judge=WorkJudge(one, comparison.created_at),
            deadline=Deadline.after(COMPARE_SECONDS),
            use_cache=tries == 0 or panel is not None,
        )
        return await compare_by_judges(
            judging,
            asked,
            entries(task, comparison),
            panel=panel,
            rng=SystemRandom() if panel is None else Random(drawn),  # noqa: S311 - labels, no secret
            partial=tries + 1 >= COMPARISON_TRIES,
            wait_for_retry=context.clock() - comparison.created_at < SETTLED_WITHIN,
        )

    tried = await with_judge(context, judge, work)
    found = tried.found
    if isinstance(found, ComparisonResult):
        result = found
        return _progress(context.comparisons.change(comparison, lambda one: steps.with_result(one, result)))
    provider = found.failed_by or tried.provider
    return replace(_progress(_after(context, comparison, found, provider=provider)), reason=found.reason)


def _after(
    context: TaskContext, comparison: DimensionComparison, found: NotScored, *, provider: str
) -> DimensionComparison:
    """Put a dimension back for another try, or give it up."""
    why = Unjudged.of("comparison", found)
    now, tries = context.clock(), comparison.attempts.tries
    # Labels are drawn anew for each try, so a judge may accept what it refused or misread before.
    again = found.error is None or isinstance(found.error, RefusedError)
    next_try = (
        Postponed(until=now + BETWEEN_TRIES, reason=found.reason, ended="unread", scope="record")
        if again and tries + 1 < COMPARISON_TRIES
        else follow_up(found, attempts=comparison.attempts, provider=provider, now=now)
    )
    late = now - comparison.created_at >= SETTLED_WITHIN
    match next_try:
        case Postponed(until=until, ended=ended) if not late:
            step = partial(steps.put_back, why=why, until=until, ended=ended)
        case Postponed() | GivenUp():
            step = partial(steps.given_up, why=why)
    return context.comparisons.change(comparison, paying(step, found.spends))


def _given_up_if_stuck(context: TaskContext, comparison: DimensionComparison) -> DimensionComparison:
    if comparison.over or not comparison.attempts.exhausted(context.clock()):
        return comparison
    why = Unjudged(stage="comparison", reason="timed_out", details=(INTERRUPTED,))
    return context.comparisons.change(comparison, lambda one: steps.given_up(one, why))


def _progress(comparison: DimensionComparison) -> TaskProgress:
    if comparison.over:
        return TaskProgress(state=comparison.state)
    return TaskProgress(state="waiting", until=comparison.attempts.not_before)
