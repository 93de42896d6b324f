"""The parts that the doors give requests to: the intake of each job, and the readers of its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import judging, stores
from functions.composition.contexts import audit_files, experiment_files, workflows
from functions.composition.labels import labels

if TYPE_CHECKING:
    from touchstone.operations.audits.intake import AuditIntake, WeeklyAudits
    from touchstone.operations.quizzes.intake import QuizIntake
    from touchstone.operations.surfaces.experiment_intake import ExperimentIntake
    from touchstone.operations.surfaces.intake import MeasurementIntake
    from touchstone.operations.tasks.intake import TaskIntake
    from touchstone.operations.tasks.reading import PartyReader


def of_quizzes(tenant: str) -> QuizIntake:
    """The intake that accepts a tenant's requests about quizzes."""
    from touchstone.operations.quizzes.intake import QuizIntake

    return QuizIntake(
        tenant=tenant,
        quizzes=stores.quizzes(),
        curricula=stores.curricula(),
        learners=stores.learners(),
        keys=stores.request_keys(),
        workflows=workflows,
    )


def of_measurements(tenant: str) -> MeasurementIntake:
    """The intake that accepts a tenant's requests for measurements."""
    from touchstone.operations.surfaces.intake import MeasurementIntake

    return MeasurementIntake(
        tenant=tenant,
        measurements=stores.measurements(),
        provider_batches=stores.provider_batches(),
        keys=stores.request_keys(),
        workflows=workflows,
        batches=lambda: judging.batched("strong"),
    )


def of_experiments(tenant: str) -> ExperimentIntake:
    """The intake that accepts and shows a tenant's experiments."""
    from touchstone.operations.surfaces.experiment_intake import ExperimentIntake

    return ExperimentIntake(
        tenant=tenant,
        experiments=stores.experiments(),
        pairs=stores.pairs(),
        artifacts=stores.artifacts(),
        files=lambda experiment_id: experiment_files(tenant, experiment_id),
        provider_batches=stores.provider_batches(),
        keys=stores.request_keys(),
        workflows=workflows,
        batches=lambda: judging.batched("strong"),
    )


def of_tasks(tenant: str) -> TaskIntake:
    """The intake that accepts a tenant's requests about tasks."""
    from touchstone.operations.tasks.intake import TaskIntake

    return TaskIntake(
        tenant=tenant,
        tasks=stores.tasks(),
        submissions=stores.submissions(),
        challenges=stores.challenges(),
        artifacts=stores.artifacts(),
        keys=stores.request_keys(),
        workflows=workflows,
    )


def reader_of_tasks(tenant: str, party: str | None) -> PartyReader:
    """The reader of a tenant's tasks for one party. `party` None: for nobody in particular."""
    from touchstone.operations.tasks.reading import PartyReader

    return PartyReader(
        tenant=tenant,
        party=party,
        tasks=stores.tasks(),
        submissions=stores.submissions(),
        challenges=stores.challenges(),
        labels=labels,
    )


def reader_of_owner(tenant: str, task_id: str) -> PartyReader:
    """The reader of a tenant's tasks for the owner of this task. Raises `NotFoundError` if there is none."""
    return reader_of_tasks(tenant, reader_of_tasks(tenant, None).task(task_id).owner)


def of_audits(tenant: str) -> AuditIntake:
    """The intake that accepts and shows a tenant's audits."""
    from touchstone.operations.audits.intake import AuditIntake

    return AuditIntake(
        tenant=tenant,
        audits=stores.audits(),
        cases=stores.cases(),
        files=lambda audit_id: audit_files(tenant, audit_id),
        provider_batches=stores.provider_batches(),
        batches=lambda: judging.batched("strong"),
        keys=stores.request_keys(),
        workflows=workflows,
    )


def weekly_audits() -> WeeklyAudits:
    """The part that begins the weekly audits of all tenants."""
    from touchstone.operations.audits.intake import WeeklyAudits

    return WeeklyAudits(audits=stores.audits(), intake=of_audits)
