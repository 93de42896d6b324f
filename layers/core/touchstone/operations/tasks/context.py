"""What the steps of one tenant's tasks work with, and how far a step came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from touchstone.operations.context import StepContext
from touchstone.operations.trying import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from touchstone.judges.base import Judge
    from touchstone.judges.panel import JudgePanel
    from touchstone.judges.sureness import SureJudges
    from touchstone.operations.tasks.announcing import Announcer
    from touchstone.oracle.submission import Submission
    from touchstone.oracle.task import Task
    from touchstone.records import Artifacts, Challenges, Comparisons, Judgements, Submissions, Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext(StepContext):
    """One tenant's tasks and judges.

    `judge` gives the judge of submissions; it raises `SettingsError` where nobody can be asked. `other_judge` gives one
    of a provider that is none of those named, None where there is no other, and `judge_at` that of one by name.
    `panel` gives so many judges of a stage, None where it is one. `sure` says how sure each judge of criteria must be
    by people's labels. `by_batch` carries a scoring by batches of a provider, and says until when it waits for one;
    None: it is over, or to be asked at once. Without it there are none.
    """

    tasks: Tasks
    submissions: Submissions
    judgements: Judgements
    comparisons: Comparisons
    challenges: Challenges
    scratch: Artifacts
    announcer: Announcer
    judge: Callable[[], Judge]
    other_judge: Callable[[Sequence[str]], Judge | None]
    judge_at: Callable[[str], Judge]
    panel: Callable[[int | Literal["until_sure"]], JudgePanel | None]
    sure: Callable[[], SureJudges] = dict
    by_batch: Callable[[Submission], Awaitable[datetime | None]] | None = None

    def task(self, task_id: str) -> Task:
        """The record of a task."""
        return self.tasks.get(self.ref("task", task_id))

    def submission(self, task_id: str, submission_id: str) -> Submission:
        """The record of a submission."""
        return self.submissions.get(self.ref("submission", submission_id, task_id))

    def announce(self, task_id: str) -> None:
        """Tell the world of what happened to a task and is not told yet."""
        self.announcer.of_task(tenant=self.tenant, task_id=task_id)

    def carry_on(self, task_id: str, progress: TaskProgress) -> TaskProgress:
        """The progress of a closed task, noted with it, so that the sweep takes up only what nobody carries."""
        if progress.state in GOING_ON:
            until = progress.until or self.clock() + A_ROUND
            self.tasks.carry(tenant=self.tenant, task_id=task_id, until=until)
        return progress


SETTLED_WITHIN = timedelta(hours=36)
"""How long a closed task waits for its judges: a day's quota is free again by then, and a party waits for a result."""
SOONEST, LATEST = timedelta(seconds=5), timedelta(minutes=5)
GOING_ON = frozenset({"waiting", "comparing", "challenge"})
A_ROUND = timedelta(hours=1)
"""Within it each dimension of a round of comparisons is tried at least once, and says when it is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """How far a step came: a word that its state machine chooses by, and until when it is to wait (UTC), None: not.

    `dimensions` are those to be compared next, one by one. `deadline` is the task's, from a step that a machine waits
    for it after. `reason`: why the try of this step brought nothing, None where it did or made none.
    """

    state: str
    until: datetime | None = None
    dimensions: tuple[str, ...] = ()
    deadline: datetime | None = None
    reason: str | None = None


def progress_of(task: Task) -> TaskProgress:
    """How far a task is that its deadline has closed."""
    return TaskProgress(state=task.state, until=task.challenge_until if task.state == "challenge" else None)


def pause_after(since: timedelta) -> timedelta:
    """How long to wait before looking again, when it is so long since the deadline."""
    return max(SOONEST, min(LATEST, since / PATIENCE))
