"""One sweep over all jobs: it starts again each record that nobody carries any more."""

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
"""If a record's next step is late by this much, its carrier is gone. Leases are longer than any step."""
MOST = 200
"""The most records of each kind in one sweep. The next sweep, a quarter of an hour later, takes the rest."""

logger = logging.getLogger(__name__)


class Unfinished(Protocol):
    """Lists records of all tenants whose next step was due longer ago than `older_than`, oldest first."""

    def __call__(self, *, older_than: timedelta, limit: int) -> Sequence[Reference]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptJob:
    """How the sweep starts the records of one kind again, and on which machine.

    `machine_input` gives the input of the machine beside the reference, or None if the record is over or somebody
    carries it. `end_if_hopeless` ends a record whose steps break off each time, and says whether it ended it.
    `looked_at` is the most records that a sweep reads: it is higher where many of the listed records are carried.
    """

    machine: MachineName
    unfinished: Unfinished
    stalled_after: timedelta = STALLED_AFTER
    looked_at: int = MOST
    machine_input: Callable[[Reference], Mapping[str, object] | None] = lambda _: {}
    end_if_hopeless: Callable[[Reference], bool] = lambda _: False


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptJobs:
    """The counts of one sweep: `restarted` records, and `stuck` records that could not be started."""

    restarted: int
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Finds the records that a crash left without a carrier. The indexes that it reads hold only unfinished records."""

    jobs: Sequence[SweptJob]
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> SweptJobs:
        """Start stalled records again. A record that cannot be started does not stop the others."""
        # The run's name holds the hour: a repeated sweep asks for the same run, and a standard machine starts it once.
        run = f"sweep-{self.clock():%Y%m%d%H}"
        started = [each for job in self.jobs for each in self._of(job, run)]
        return SweptJobs(restarted=started.count(True), stuck=started.count(False))

    def _of(self, job: SweptJob, run: str) -> list[bool]:
        found = job.unfinished(older_than=job.stalled_after, limit=job.looked_at)
        looked_at = (self._started(job, one, run) for one in found)
        return list(islice((each for each in looked_at if each is not None), MOST))

    def _started(self, job: SweptJob, one: Reference, run: str) -> bool | None:
        """Whether a record could be started again. None if there is nothing to do for it."""
        try:
            more = job.machine_input(one)
            if more is None:
                return None
            if job.end_if_hopeless(one):
                logger.error("The %s %s was given up: its steps broke off each time", one.kind, one.id)
                return False
            self.workflows().start(job.machine, one, run=run, **more)
        except (TouchstoneError, ValidationError) as error:
            # One unreadable record must not hold up the other records or jobs. Log the error's type only: the message
            # of a validation error quotes the record.
            told = (one.kind, one.id, one.tenant, type(error).__name__)
            logger.error("The %s %s of %s could not be started again: %s", *told)  # noqa: TRY400
            return False
        return True
