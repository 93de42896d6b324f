"""A job whose work is divided into parts, for the sweep: the parts tell whether somebody carries the job."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from touchstone.attempts import LEASE
from touchstone.clock import Clock, system_clock
from touchstone.operations.jobs.sweep import SweptJob
from touchstone.parts import Part, PartsProgress
from touchstone.records.jobs import JobRecord, JobStore
from touchstone.records.looking import Line
from touchstone.records.parts import Parts
from touchstone.references import Reference
from touchstone.workflows import MachineName

GIVEN_UP_AFTER = timedelta(days=14)
"""Parts are tried for a week, and a machine lives two weeks. A job that still breaks off will always break off."""
BROKEN_OFF = "Its steps broke off each time they were begun, for two weeks. Ask anew, or tell the operator."
LOOKED_AT = 2_000
"""How many unfinished records a sweep reads; most are carried. A look takes about 10 ms, and the sweep has minutes."""


class PartedRecord(JobRecord, Protocol):
    """The record of a job with parts."""

    @property
    def created_at(self) -> datetime:
        """When the job was requested (UTC)."""

    @property
    def finished_at(self) -> datetime | None:
        """When the job ended (UTC). None if it has not ended."""


class Failing[R](Protocol):
    """The pure function that ends a record as failed, with the reason."""

    def __call__(self, record: R, why: str, progress: PartsProgress, /, *, now: datetime) -> R: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PartedJob[R: PartedRecord, S: Line, P: Part]:
    """How the sweep restarts a job whose parts are tried independently of each other."""

    store: JobStore[R, S]
    parts: Parts[P]
    failed: Failing[R]
    stalled_after: timedelta
    clock: Clock = system_clock

    def swept(self, machine: MachineName) -> SweptJob:
        """The job as the sweep needs it, to be started on this machine."""
        return SweptJob(
            machine=machine,
            unfinished=self.store.unfinished,
            stalled_after=self.stalled_after,
            looked_at=LOOKED_AT,
            machine_input=self._machine_input,
            end_if_hopeless=self._end_if_hopeless,
        )

    def _machine_input(self, which: Reference) -> dict[str, object] | None:
        """An empty dictionary if the job is to be started again. None if its record is over or somebody carries it.

        The parts tell whether somebody carries the job.
        """
        progress = self.parts.progress(which)
        if self._is_carried(progress.until, progress.at and progress.at + LEASE):
            return None
        # The latest event may be of another part: some part may be put off for longer than the parts that ended after
        # it.
        if self._is_carried(self.parts.last_retry_at(which)):
            return None
        return {} if self.store.get(which).finished_at is None else None

    def _end_if_hopeless(self, which: Reference) -> bool:
        progress = self.parts.progress(which)

        def step(record: R) -> R:
            now = self.clock()
            given_up = now - record.created_at > GIVEN_UP_AFTER
            return self.failed(record, BROKEN_OFF, progress, now=now) if given_up else record

        return self.store.change(which, step).finished_at is not None

    def _is_carried(self, *moments: datetime | None) -> bool:
        return any(each is not None and each + self.stalled_after > self.clock() for each in moments)
