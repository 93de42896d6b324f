"""The stores and judges that the steps of one tenant's tasks use, how far a step came, and its events."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from touchstone.errors import StoreError
from touchstone.operations.jobs.after_failure import PATIENCE
from touchstone.operations.jobs.context import StepContext, StepProgress

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from datetime import datetime

    from touchstone.judges.base import Judge
    from touchstone.judges.panel import JudgePanel
    from touchstone.judges.sureness import JudgeThresholds
    from touchstone.oracle.submission import Submission
    from touchstone.oracle.task import Task
    from touchstone.records import (
        Artifacts,
        Challenges,
        Comparisons,
        EventBus,
        Judgements,
        Outbox,
        OutboxEvent,
        Submissions,
        Tasks,
    )
    from touchstone.references import Reference

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcer:
    """Sends the events that steps wrote into the outbox.

    An event that cannot be sent stays there for the sweep of every quarter hour.
    """

    outbox: Outbox
    bus: Callable[[], EventBus]

    def of_task(self, task: Reference) -> int:
        """Send the unsent events of one task. Return how many were sent. A step calls this once it is stored."""
        try:
            return self._send(self.outbox.of_task(task))
        except StoreError:
            logger.error("The events of task %s could not be read", task.id)  # noqa: TRY400 - the words add nothing
            return 0

    def pending(self, *, limit: int) -> int:
        """Send up to `limit` unsent events of all tenants. Return how many were sent."""
        return self._send(self.outbox.pending(limit=limit))

    def _send(self, events: Iterable[OutboxEvent]) -> int:
        sent = 0
        for event in events:
            try:
                if event.sent_at is None and self.outbox.claim(event):
                    self.bus().send(event)
                    self.outbox.sent(event)
                    sent += 1
            except StoreError:
                # The claim expires after a minute, and the next sweep sends the event.
                logger.error("Event %s of task %s could not be sent", event.id, event.event.task_id)  # noqa: TRY400
        return sent


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext(StepContext):
    """One tenant's tasks and judges.

    `judge` gives the judge of submissions; it raises `SettingsError` if none can be asked. `other_judge` gives a judge
    of a provider that is none of those named, None if there is no other. `judge_at` gives the judge of a named
    provider. `panel` gives the judges of a stage for a wanted number, None if one judge is enough. `thresholds` gives
    the thresholds, computed from people's labels, from which a judge's verdict on a criterion is sure. `by_batch`
    carries a scoring by batches of a provider, and returns until when the scoring waits for a batch; None if that is
    over, or the judge is to be asked at once. If `by_batch` itself is None, no scoring goes by batches.
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
    thresholds: Callable[[], JudgeThresholds] = dict
    by_batch: Callable[[Submission], Awaitable[datetime | None]] | None = None

    def task(self, task_id: str) -> Task:
        """The record of a task."""
        return self.tasks.get(self.ref("task", task_id))

    def submission(self, task_id: str, submission_id: str) -> Submission:
        """The record of a submission."""
        return self.submissions.get(self.ref("submission", submission_id, task_id))

    def announce(self, task_id: str) -> None:
        """Send the events of a task that are not sent yet."""
        self.announcer.of_task(self.ref("task", task_id))

    def keep_from_sweep(self, task_id: str, progress: TaskProgress) -> TaskProgress:
        """Note with a closed task until when it is carried, so that the sweep leaves it alone. Return its progress."""
        if progress.state in GOING_ON:
            from touchstone.oracle.task import carried  # on first use: who only sends events loads no records

            until = progress.until or self.clock() + A_ROUND
            self.tasks.change(self.ref("task", task_id), lambda one: carried(one, until))
        return progress


SETTLED_WITHIN = timedelta(hours=36)
"""How long a closed task waits for its judges. By then a day's quota is free again, and the parties want a result."""
SOONEST, LATEST = timedelta(seconds=5), timedelta(minutes=5)
GOING_ON = frozenset({"waiting", "comparing", "challenge"})
A_ROUND = timedelta(hours=1)
"""Within this time each dimension of a round of comparisons is tried at least once, and says when its next try is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress(StepProgress):
    """How far a step of a task came. `dimensions` are to be compared next, one by one.

    `deadline` is the task's deadline, set by a step after which a machine waits for it.
    """

    dimensions: tuple[str, ...] = ()
    deadline: datetime | None = None


def progress_of(task: Task) -> TaskProgress:
    """The progress of a task whose deadline has passed."""
    return TaskProgress(state=task.state, until=task.challenge_until if task.state == "challenge" else None)


def pause_after(since: timedelta) -> timedelta:
    """The pause before the next look: the longer it is `since` the deadline, the longer the pause."""
    return max(SOONEST, min(LATEST, since / PATIENCE))
