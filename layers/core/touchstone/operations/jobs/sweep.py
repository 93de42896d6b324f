"""One sweep over all jobs: records that nothing carries any more are taken up again."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Protocol

from pydantic import ValidationError

from touchstone.clock import Clock, system_clock
from touchstone.errors import TouchstoneError
from touchstone.references import Reference
from touchstone.workflows import MachineName, Workflows

STALLED_AFTER = timedelta(minutes=10)
"""Past its time by so much, a record has lost whoever carried it. Leases are longer than any step."""
MOST = 200
"""Records of each kind in one sweep; the next one, a quarter of an hour later, takes the rest."""

logger = logging.getLogger(__name__)


class Unfinished(Protocol):
    """Lists records of all tenants whose next step was due longer ago than `older_than`, oldest first."""

    def __call__(self, *, older_than: timedelta, limit: int) -> Sequence[Reference]: ...


def _nothing_more(_: Reference) -> Mapping[str, object]:
    return {}


def _never(_: Reference) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptJob:
    """How the records of one kind are taken up again, by which machine.

    `ahead` gives what the machine is told beside the reference, None for a record that is over or that somebody
    carries. `gave_up` ends a record whose steps break off each time, and says whether it did. `looked_at` is how many
    are read where many of those listed are carried.
    """

    machine: MachineName
    unfinished: Unfinished
    stalled_after: timedelta = STALLED_AFTER
    looked_at: int = MOST
    ahead: Callable[[Reference], Mapping[str, object] | None] = _nothing_more
    gave_up: Callable[[Reference], bool] = _never


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptJobs:
    """What a sweep did: `restarted` records, and `stuck` ones that could not be started."""

    restarted: int
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Looks for what a crash left behind. The indexes that it reads hold only what is not over."""

    jobs: Sequence[SweptJob]
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> SweptJobs:
        """Start again what stalled; one record that cannot be started stops no other."""
        # The hour in the name: a sweep that is itself repeated starts nothing twice.
        run = f"sweep-{self.clock():%Y%m%d%H}"
        started = [each for job in self.jobs for each in self._of(job, run)]
        return SweptJobs(restarted=started.count(True), stuck=started.count(False))

    def _of(self, job: SweptJob, run: str) -> list[bool]:
        found = job.unfinished(older_than=job.stalled_after, limit=job.looked_at)
        looked_at = (self._started(job, one, run) for one in found)
        return list(islice((each for each in looked_at if each is not None), MOST))

    def _started(self, job: SweptJob, one: Reference, run: str) -> bool | None:
        """Whether a record could be started again; None where nothing is to be done."""
        try:
            more = job.ahead(one)
            if more is None:
                return None
            if job.gave_up(one):
                logger.error("The %s %s was given up: its steps broke off each time", one.kind, one.id)
                return False
            self.workflows().start(job.machine, one, run=run, **more)
        except (TouchstoneError, ValidationError) as error:
            # One record that cannot be read must keep neither the others nor the jobs behind it waiting.
            # Its type only: the words of an unreadable record's error quote it.
            logger.error("The %s %s of %s could not be started again: %s", *_told(one, error))  # noqa: TRY400
            return False
        return True


def _told(one: Reference, error: Exception) -> tuple[str, str, str, str]:
    return one.kind, one.id, one.tenant, type(error).__name__
