"""Tasks, submissions and challenges that nothing carries any more are taken up again; events left behind are sent."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from touchstone.clock import Clock, system_clock
from touchstone.errors import StoreError
from touchstone.operations.tasks.announcing import Announcer
from touchstone.records import Challenges, Submissions, Tasks
from touchstone.workflows import Workflows

STALLED_AFTER = timedelta(minutes=10)
"""Past its time by so much, a piece of work has lost whoever carried it. Leases are longer than any step."""
MOST = 200
"""Of each kind in one sweep; the next one, a quarter of an hour later, takes the rest."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptTasks:
    """What a sweep did: `restarted` pieces of work, `sent` events, and `stuck` ones that could not be started."""

    restarted: int
    sent: int
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSweep:
    """Looks for what a crash left behind. The indexes that it reads hold only what is not over."""

    tasks: Tasks
    submissions: Submissions
    challenges: Challenges
    announcer: Announcer
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> SweptTasks:
        """Start again what stalled, and send what nobody sent."""
        # The hour in the name: a sweep that is itself repeated starts nothing twice.
        run = f"sweep-{self.clock():%Y%m%d%H}"
        started = [*self._tasks(run), *self._submissions(run), *self._challenges(run)]
        return SweptTasks(
            restarted=sum(started), sent=self.announcer.pending(limit=MOST), stuck=len(started) - sum(started)
        )

    def _tasks(self, run: str) -> Iterator[bool]:
        for one in self.tasks.unfinished(older_than=STALLED_AFTER, limit=MOST):
            with _starting("task", one.id) as started:
                self.workflows().start("task", one, run=run)
            yield bool(started)

    def _submissions(self, run: str) -> Iterator[bool]:
        for one in self.submissions.unfinished(older_than=STALLED_AFTER, limit=MOST):
            with _starting("submission", one.id) as started:
                self.workflows().start("submission", one, run=run)
            yield bool(started)

    def _challenges(self, run: str) -> Iterator[bool]:
        for one in self.challenges.unfinished(older_than=STALLED_AFTER, limit=MOST):
            with _starting("challenge", one.id) as started:
                self.workflows().start("challenge", one, run=run)
            yield bool(started)


@contextmanager
def _starting(what: str, record_id: str) -> Iterator[list[str]]:
    """A list that holds the id once the start has succeeded; one that fails is told, and does not stop the others."""
    started: list[str] = []
    try:
        yield started
    except StoreError:
        logger.error("The %s %s could not be started again", what, record_id)  # noqa: TRY400 - the words add nothing
    else:
        started.append(record_id)
