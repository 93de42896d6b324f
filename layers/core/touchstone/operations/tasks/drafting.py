"""The first step of a task: its dimensions are made once and locked."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from touchstone.clock import Deadline
from touchstone.judges.base import WorkJudge
from touchstone.judges.calls import NotScored
from touchstone.judges.spends import Spend, paying
from touchstone.operations.jobs.after_failure import GivenUp, Postponed, follow_up, with_judge
from touchstone.operations.jobs.traced import traced
from touchstone.operations.tasks.context import TaskContext, TaskProgress
from touchstone.oracle import task as steps
from touchstone.oracle.dimensions import generate_dimensions
from touchstone.oracle.model import Unjudged
from touchstone.oracle.task import Task

DRAFT_SECONDS = 120.0
"""For two rounds of a strong model that thinks."""
TOO_LATE = "The deadline passed before the task's dimensions could be made; create it anew with a later one."
"""If a judge was asked before, the reason why it made no dimensions is appended."""
GAVE_NO_DIMENSIONS = "The task's dimensions could not be made ({reason}): {details} Create the task anew."


@traced
async def draft(context: TaskContext, task_id: str) -> TaskProgress:
    """Make and lock the dimensions: `open` until the deadline, `failed`, or `waiting` for another try.

    The state is `open` at once if the task is open or further on. A repeat asks nobody.
    """
    ref = context.ref("task", task_id)
    task, ours = context.tasks.begin(ref, lambda one: steps.draft_begun(one, now=context.clock()))
    if not ours:
        return _nothing_to_do(context, task)
    if context.clock() >= task.deadline:
        return _progress(_give_up(context, task, " ".join((TOO_LATE, *filter(None, [task.failure])))))
    tried = await with_judge(
        context,
        context.judge,
        lambda judge: generate_dimensions(
            task.request.brief,
            judge=WorkJudge(judge, task.created_at),
            deadline=Deadline.after(DRAFT_SECONDS),
            use_cache=task.drafting.tries == 0,
        ),
    )
    found = tried.found
    if not isinstance(found, NotScored):
        step = partial(steps.locked, dimensions=found.dimensions)
        return _progress(context.tasks.change(ref, paying(step, found.spends)))
    why, spends = Unjudged.of("dimensions", found), found.spends
    match follow_up(
        found, attempts=task.drafting, provider=tried.provider, now=context.clock(), asked_at=task.created_at
    ):
        case GivenUp():
            failure = GAVE_NO_DIMENSIONS.format(reason=why.reason, details=" ".join(why.details))
            return _progress(_give_up(context, task, failure, spends))
        case Postponed(until=until, ended=ended):
            told, again_at = " ".join(why.details), min(until, task.deadline)
            step = partial(steps.draft_put_back, failure=told, until=again_at, ended=ended)
            return replace(_progress(context.tasks.change(ref, paying(step, spends))), reason=found.reason)


def _nothing_to_do(context: TaskContext, task: Task) -> TaskProgress:
    """The progress of a task whose dimensions are not to be made now."""
    if task.state == "drafting" and task.drafting.exhausted(context.clock()):
        failure = GAVE_NO_DIMENSIONS.format(reason="interrupted", details="each try was interrupted.")
        task = _give_up(context, task, failure)
    return _progress(task)


def _give_up(context: TaskContext, task: Task, failure: str, spends: Sequence[Spend] = ()) -> Task:
    return context.tasks.change(task.ref, paying(partial(steps.given_up, failure=failure), spends))


def _progress(task: Task) -> TaskProgress:
    match task.state:
        case "drafting":
            return TaskProgress(state="waiting", until=task.drafting.not_before)
        case "failed":
            return TaskProgress(state="failed")
        case "open":
            return TaskProgress(state="open", until=task.deadline, deadline=task.deadline)
        case _:
            return TaskProgress(state="open", deadline=task.deadline)
