"""How the sweep restarts each kind of job except answers. A new kind of job adds a function here.

Of a job whose work is divided into parts, the parts tell whether somebody carries it (`PartedJob`).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from touchstone.attempts import LEASE
from touchstone.clock import Clock, system_clock
from touchstone.operations.jobs.sweep import STALLED_AFTER, SweptJob
from touchstone.parts import Part, PartedRecord, failed
from touchstone.records import (
    Audits,
    Cases,
    Challenges,
    Experiments,
    Measurements,
    Pairs,
    ProviderBatchStore,
    Quizzes,
    Submissions,
    Tasks,
)
from touchstone.records.jobs import JobStore
from touchstone.records.looking import Line
from touchstone.records.parts import Parts
from touchstone.references import Reference
from touchstone.workflows import MachineName

GIVEN_UP_AFTER = timedelta(days=14)
"""Parts are tried for a week, and a machine lives two weeks. A job that still breaks off will always break off."""
BROKEN_OFF = "Its steps broke off each time they were begun, for two weeks. Ask anew, or tell the operator."
LOOKED_AT = 2_000
"""How many unfinished records a sweep reads; most are carried. A look takes about 10 ms, and the sweep has minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartedJob[R: PartedRecord, S: Line, P: Part]:
    """How the sweep restarts a job whose parts are tried independently of each other."""

    store: JobStore[R, S]
    parts: Parts[P]
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
            return failed(record, BROKEN_OFF, progress, now=now) if given_up else record

        return self.store.change(which, step).finished_at is not None

    def _is_carried(self, *moments: datetime | None) -> bool:
        return any(each is not None and each + self.stalled_after > self.clock() for each in moments)


QUIZ_STALLED_AFTER = timedelta(minutes=2)
"""If a quiz's next step is late by this much, the process that carried it is gone: none of its steps takes as long."""
AUDIT_STALLED_AFTER = timedelta(minutes=20)
"""As `QUIZ_STALLED_AFTER`, for audits: the installation of a large target takes a quarter of an hour."""


def tasks_swept(tasks: Tasks, submissions: Submissions, challenges: Challenges) -> tuple[SweptJob, ...]:
    """How the sweep restarts tasks, submissions and challenges."""
    return (
        SweptJob(machine="task", unfinished=tasks.unfinished),
        SweptJob(machine="submission", unfinished=submissions.unfinished),
        SweptJob(machine="challenge", unfinished=challenges.unfinished),
    )


def measurements_swept(measurements: Measurements) -> SweptJob:
    """How the sweep restarts measurements. Their machine is told the metrics that are not over."""

    def open_metrics(which: Reference) -> dict[str, object] | None:
        metrics = measurements.get(which).open
        return {"metrics": list(metrics)} if metrics else None

    return SweptJob(machine="measure", unfinished=measurements.unfinished, machine_input=open_metrics)


def quizzes_swept(quizzes: Quizzes) -> SweptJob:
    """How the sweep restarts quizzes: they begin, or end with what there is."""
    return SweptJob(machine="quiz", unfinished=quizzes.unfinished, stalled_after=QUIZ_STALLED_AFTER)


def experiments_swept(experiments: Experiments, pairs: Pairs) -> SweptJob:
    """How the sweep restarts experiments."""
    return PartedJob(store=experiments, parts=pairs, stalled_after=STALLED_AFTER).swept("experiment")


def audits_swept(audits: Audits, cases: Cases) -> SweptJob:
    """How the sweep restarts audits."""
    return PartedJob(store=audits, parts=cases, stalled_after=AUDIT_STALLED_AFTER).swept("audit")


def provider_batches_swept(batches: ProviderBatchStore) -> SweptJob:
    """How the sweep restarts batches at providers, which continue from their records."""
    return SweptJob(machine="provider_batch", unfinished=batches.unfinished)
