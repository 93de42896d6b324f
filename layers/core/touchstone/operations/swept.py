"""How the sweep restarts each kind of job except answers. A new kind of job adds a function here."""

from datetime import timedelta

from touchstone.operations.jobs.parts import PartedJob
from touchstone.operations.jobs.sweep import STALLED_AFTER, SweptJob
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
from touchstone.references import Reference

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
    from touchstone.surfaces.experiments.record import failed

    return PartedJob(store=experiments, parts=pairs, failed=failed, stalled_after=STALLED_AFTER).swept("experiment")


def audits_swept(audits: Audits, cases: Cases) -> SweptJob:
    """How the sweep restarts audits."""
    from touchstone.audits.record import failed

    return PartedJob(store=audits, parts=cases, failed=failed, stalled_after=AUDIT_STALLED_AFTER).swept("audit")


def provider_batches_swept(batches: ProviderBatchStore) -> SweptJob:
    """How the sweep restarts batches at providers, which continue from their records."""
    return SweptJob(machine="provider_batch", unfinished=batches.unfinished)
