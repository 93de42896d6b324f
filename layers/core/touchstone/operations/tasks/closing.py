"""What happens at a task's deadline.

deadline ─> nothing is handed in any more ─> what was is judged to its end ─┬─ fastest_first: the first that passes
                                                                            └─ contest: finalists, read and compared
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from touchstone.clock import Deadline
from touchstone.operations.jobs.traced import traced
from touchstone.operations.tasks.context import SETTLED_WITHIN, TaskContext, TaskProgress, pause_after, progress_of
from touchstone.operations.tasks.finalists import begin_round, read_finalists
from touchstone.oracle import task as steps
from touchstone.oracle.compared import LEAST_ENTRIES
from touchstone.oracle.comparison import RANKING_ROUND_ID
from touchstone.oracle.model import Unjudged
from touchstone.oracle.ranking import Contender, rank, shortlist
from touchstone.oracle.submission import Submission, compared, given_up
from touchstone.oracle.task import Task
from touchstone.records.judgements import BEING_JUDGED

READ_SECONDS = 780.0
"""For reading all finalists together: two minutes less than the step's function may run."""
NOT_IN_TIME = f"Not judged within {SETTLED_WITHIN // timedelta(hours=1)} hours of the deadline."


@traced
async def close(context: TaskContext, task_id: str, *, deadline: datetime) -> TaskProgress:
    """Close a task at its deadline, and bring it as far as possible.

    `deadline` is the one that the caller waited for. If it was moved meanwhile, somebody else waits for the new one,
    and the state is `superseded`. The other states: `waiting` for the deadline or for submissions that are being
    judged; `comparing` if the dimensions are to be compared; `challenge` if the task is ranked, until its challenges
    are over; `final`.
    """
    task = context.task(task_id)
    if task.deadline != deadline:
        return TaskProgress(state="superseded")
    if task.state == "open":
        if context.clock() < task.deadline:
            return TaskProgress(state="waiting", until=task.deadline)
        task = context.tasks.change(task.ref, lambda one: steps.ended(one, now=context.clock()))
    context.announce(task_id)
    if task.state != "scoring":
        return progress_of(task)
    field = _settled(context, task)
    if isinstance(field, TaskProgress):
        return context.keep_from_sweep(task_id, field)
    if not task.contest:
        return _first(context, task, field)
    return context.keep_from_sweep(task_id, await _compare(context, task, field))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """The submissions of a closed task, reduced to what its end depends on.

    `passing` is the earliest submission that passes a `fastest_first` task. None if no submission passes.
    """

    contenders: tuple[Contender, ...]
    passing: Submission | None


def _settled(context: TaskContext, task: Task) -> _Field | TaskProgress:
    """The submissions, each judged or given up; or the progress `waiting` if some are still being judged.

    As long as the task is not overdue, the index of submissions in work is read first: that costs the same however many
    submissions there are. Then all submissions are read, and a submission in work that the index did not show yet is
    waited for too.
    """
    now = context.clock()
    again = TaskProgress(state="waiting", until=now + pause_after(now - (task.closed_at or now)))
    late = _overdue(context, task)
    if not late and context.submissions.in_work(task.ref):
        return again
    contenders: list[Contender] = []
    passing: Submission | None = None
    for one in context.submissions.of_task(task.ref):
        if not one.judged and not late:
            return again
        judged = one if one.judged else _give_up(context, one)
        if judged.contender is not None:
            contenders.append(judged.contender)
        if judged.passes and (passing is None or (judged.submitted_at, judged.id) < (passing.submitted_at, passing.id)):
            passing = judged
    return _Field(contenders=tuple(contenders), passing=passing)


def _overdue(context: TaskContext, task: Task) -> bool:
    return task.closed_at is not None and context.clock() - task.closed_at >= SETTLED_WITHIN


def _give_up(context: TaskContext, submission: Submission) -> Submission:
    stage = "gate" if submission.state == "received" else "scoring"
    why = submission.failure or Unjudged(stage=stage, reason="timed_out", details=(NOT_IN_TIME,))
    return context.judgements.judged(submission.ref, lambda one: given_up(one, why))


def _first(context: TaskContext, task: Task, field: _Field) -> TaskProgress:
    """End a `fastest_first` task. A step may have stored a passing submission and then broken off; it wins here."""
    if field.passing is not None:
        task = context.tasks.win(submission=field.passing)
    else:
        task = context.tasks.change(task.ref, lambda one: steps.nobody_won(one, now=context.clock()))
    context.announce(task.id)
    return progress_of(task)


async def _compare(context: TaskContext, task: Task, field: _Field) -> TaskProgress:
    """Begin the comparison of a contest's finalists, or rank the contest if there is nothing to compare.

    A finalist that nobody could read is `unscored`. If only one finalist could be read, it wins without a comparison. A
    comparison that was begun keeps the finalists with which it was begun.
    """
    chosen = shortlist(field.contenders)
    by_id = {one.submission_id: context.submission(task.id, one.submission_id) for one in chosen.finalists}
    finalists = [one for one in by_id.values() if not one.uncompared]
    if begun := context.comparisons.of_round(task.ref, round_id=RANKING_ROUND_ID):
        finalists = [by_id[each] for each in begun[0].finalists]
    if len(chosen.finalists) > 1:
        read = await read_finalists(
            context,
            task,
            finalists,
            judge=context.judge,
            deadline=Deadline.after(READ_SECONDS),
            during=BEING_JUDGED,
            overdue=_overdue(context, task),
        )
        if isinstance(read, TaskProgress):
            return read
        every = tuple(dimension.id for dimension in task.dimensions)
        for unreadable, why in read.unreadable.items():
            step = partial(compared, comparisons=(), uncompared=every, why=why)
            context.judgements.judged(by_id[unreadable].ref, step)
        if len(read.ready) >= LEAST_ENTRIES:
            return begin_round(context, task, read.ready, round_id=RANKING_ROUND_ID)
        finalists = [by_id[each] for each in read.ready]
    alone = {one.id: one.individual.penalized_total for one in finalists if one.individual is not None}
    places = rank(chosen, alone)
    return progress_of(context.tasks.change(task.ref, lambda one: steps.ranked(one, places, now=context.clock())))
