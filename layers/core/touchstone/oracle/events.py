"""The events by which others learn of a task. They follow from the changes of its record and hold no score."""

from datetime import datetime
from typing import Literal

from touchstone.oracle.model import TaskPath
from touchstone.oracle.task import Task
from touchstone.strict import Strict

type EventKind = Literal["task.closed", "result.final", "payout.due"]
"""`task.closed`: the task takes no more submissions. `result.final`: nothing changes any more. `payout.due`: there is a
winner; this event is for the system that moves the money."""


class TaskEvent(Strict):
    """Something that happened to a task at a moment (UTC).

    `winner` is the winning submission's id in `result.final` and `payout.due`, None where nobody won and in
    `task.closed`, as a contest has no winner yet when it closes.
    """

    kind: EventKind
    tenant: str
    task_id: str
    path: TaskPath
    owner: str
    at: datetime
    winner: str | None = None


def events_between(before: Task | None, after: Task) -> tuple[TaskEvent, ...]:
    """The events of a change from `before` (None: there was no record) to `after`.

    Each occurs once in a task's life.
    """
    closed = None if before is None else before.closed_at
    final = None if before is None else before.final_at
    found = []
    if closed is None and after.closed_at is not None:
        found.append(_event("task.closed", after, after.closed_at, None))
    if final is None and after.final_at is not None:
        found.append(_event("result.final", after, after.final_at, after.winner))
        if after.winner is not None:
            found.append(_event("payout.due", after, after.final_at, after.winner))
    return tuple(found)


def _event(kind: EventKind, task: Task, at: datetime, winner: str | None) -> TaskEvent:
    return TaskEvent(
        kind=kind,
        tenant=task.tenant,
        task_id=task.id,
        path=task.request.path,
        owner=task.request.owner,
        at=at,
        winner=winner,
    )
