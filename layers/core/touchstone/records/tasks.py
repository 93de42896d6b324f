"""Tasks from their creation to their final result; each step is one transaction with the events that tell of it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from touchstone.errors import ConflictError
from touchstone.judges.spends import count_unpriced, known_cost
from touchstone.oracle import task as steps
from touchstone.oracle.events import events_between
from touchstone.oracle.model import TaskPath
from touchstone.oracle.submission import Submission
from touchstone.oracle.task import Task, TaskRequest, TaskState
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import key_of
from touchstone.records.list_query import (
    CostFrom,
    CostTo,
    Findable,
    LineFilter,
    ListQuery,
    SearchText,
    ShortText,
    standing,
)
from touchstone.records.outbox import outbox_actions
from touchstone.references import Reference
from touchstone.strict import Strict

DESCRIPTION_CHARS = 160
"""How much of a task's description a list shows."""


class TaskSummary(Strict):
    """One line of a list of tasks. `description` holds its first 160 characters.

    The other fields are those of the task. `cost_usd` is what the task's own calls cost in US dollars, as in
    `TaskView`. Tasks that an earlier release stored do not have it here until they change.
    """

    id: str
    path: TaskPath
    owner: str
    state: TaskState
    description: str
    created_at: datetime
    deadline: datetime
    closed_at: datetime | None
    winner: str | None
    cost_usd: float | None = None
    unpriced_calls: int = 0


FINDABLE = Findable[Task, TaskSummary](
    filters={
        "status": LineFilter(of=lambda line: standing(line.state, over=line.state in {"final", "failed"})),
        "path": LineFilter(of=lambda line: (line.path,)),
        "owner": LineFilter(of=lambda line: (line.owner,)),
        "winner": LineFilter(of=lambda line: (("no", "yes")[line.winner is not None],)),
    },
    said=lambda line: (line.description, line.owner),
    texts=lambda task: (task.request.brief.description, *task.request.brief.acceptance_criteria),
)
"""The filters and texts by which tasks are found."""


class TaskQuery(ListQuery):
    """The filters of a list of tasks. A filter that is null excludes nothing; all given filters must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["drafting", "open", "scoring", "challenge", "final", "failed", "unfinished", "ended"] | None,
        Field(description="The state. `ended`: `final` or `failed`. `unfinished`: any other state."),
    ] = None
    path: Annotated[TaskPath | None, Field(description="The way in which the task is won.")] = None
    owner: Annotated[ShortText | None, Field(description="The exact name of the owner.")] = None
    winner: Annotated[Literal["yes", "no"] | None, Field(description="Whether a submission won.")] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None,
        Field(description="Words. Each must be in the description, in the criteria or in the owner's name."),
    ] = None


class Tasks(JobStore[Task, TaskSummary]):
    """The records of tasks.

    Every method raises `NotFoundError` for an id that this tenant does not have, and `StoreError` if the store fails.
    All methods are safe to repeat, and a repeat returns the record as it is stored then. The transaction of a step also
    puts the step's events into the outbox.
    """

    def add(self, which: Reference, request: TaskRequest) -> Task:
        """Store a new task; a repeat returns the stored one, even if its deadline has passed by then.

        Raises `InputError` for a deadline that is past or too far away, `ConflictError` if the id belongs to another
        request.
        """
        stored = self._records.find(which.tenant, key_of(which))
        if stored is not None:
            return self._records.same(stored, stored.record.model_copy(update={"request": request}))
        return self._records.insert(steps.new_task(request, tenant=which.tenant, task_id=which.id, now=self._clock()))

    def win(self, *, submission: Submission) -> Task:
        """Close a `fastest_first` task by a passing submission; of many at once exactly one does.

        The other callers get the task as it was closed: its `winner` is the submission that closed it. Raises
        `ConflictError` for a submission whose scores do not pass, and for a contest.
        """
        if not submission.passes:
            raise ConflictError("The submission's scores do not reach what closes the task.")
        which = Reference(submission.tenant, "task", submission.task_id)
        return self.change(which, lambda task: steps.won(task, submission.id, now=self._clock()))


def _summary(task: Task) -> TaskSummary:
    return TaskSummary(
        id=task.id,
        path=task.request.path,
        owner=task.request.owner,
        state=task.state,
        description=task.request.brief.description[:DESCRIPTION_CHARS],
        created_at=task.created_at,
        deadline=task.deadline,
        closed_at=task.closed_at,
        winner=task.winner,
        cost_usd=known_cost(task.spends),
        unpriced_calls=count_unpriced(task.spends),
    )


def _due(task: Task) -> datetime | None:
    """When the next automatic step is due: dimensions, deadline, ranking or result; None: never."""
    match task.state:
        case "drafting":
            return task.drafting.not_before or task.created_at
        case "open":
            return task.deadline
        case "scoring" | "challenge":
            moments = [task.closed_at, task.challenge_until, task.carried_until]
            return max(moment for moment in moments if moment is not None)
        case "final" | "failed":
            return None


TASK = Job(
    kind="task",
    plural="tasks",
    model=Task,
    # Without the field that an earlier release did not know: its request for the same task must stay equal.
    asked=lambda task: task.request.model_dump_json(exclude={"when"} if task.request.when == "now" else None),
    line=TaskSummary,
    summary=_summary,
    due=_due,
    more_attributes=lambda task: {"state": task.state},
    counter_writes=lambda before, after: outbox_actions(events_between(before, after)),
)
"""How tasks are stored."""
