"""The parts that work with batches at providers: they gather the questions that wait for one, and carry each on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from functions.composition import contexts, judging, stores
from functions.environment import environment

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from touchstone.answers.model import AnswerRecord
    from touchstone.operations.jobs.waiting import WantedQuestion
    from touchstone.operations.provider_batches.audits import AuditBatches
    from touchstone.operations.provider_batches.context import BatchingContext
    from touchstone.operations.provider_batches.experiments import ExperimentBatches
    from touchstone.operations.provider_batches.files import FileBatches
    from touchstone.operations.provider_batches.gathering import Gathering
    from touchstone.oracle.submission import Submission
    from touchstone.surfaces.measurement import Measurement
    from touchstone.surfaces.names import MetricName


def batching(tenant: str) -> BatchingContext:
    """The context of the steps of a tenant's batches."""
    from functions.observability import count_spends, count_verdict
    from touchstone.operations.provider_batches.context import BatchingContext, ScoringContext
    from touchstone.records import Replies

    @cache
    def scoring() -> ScoringContext:
        from touchstone.oracle.choice import open_judge

        return ScoringContext(
            tasks=contexts.of_tasks(tenant),
            apis=judging.batch_apis(judging.choice().registry),
            judge=lambda judges: open_judge(judges, judging.choice()),
        )

    return BatchingContext(
        tenant=tenant,
        batches=stores.provider_batches(),
        evaluations=stores.batched_evaluations,
        objects=stores.scratch(),
        judges=judging.judges(tenant),
        apis=judging.batch_apis(),
        spending=stores.spending(),
        ceiling_usd=environment().daily_ceiling_usd,
        cache=Replies(stores.table(), tenant=tenant),
        answers=lambda: contexts.of_answers(tenant),
        measuring=lambda: contexts.of_measurements(tenant),
        comparing=lambda: contexts.of_experiments(tenant),
        auditing=lambda: contexts.of_audits(tenant),
        scoring=scoring,
        scoped_cache=lambda word: Replies(stores.table(), tenant=tenant, cache_scope=word),
        paid=count_spends,
        verified=count_verdict,
    )


def of_files(tenant: str) -> FileBatches:
    """The batches that answer the open questions of lines of a tenant's files."""
    from touchstone.operations.provider_batches.files import FileBatches

    return FileBatches(context=batching(tenant), workflows=contexts.workflows, on=environment().batches == "on")


def tried(tenant: str) -> Callable[[AnswerRecord], Awaitable[AnswerRecord | tuple[WantedQuestion, ...]]]:
    """A function that tries a verification of a tenant's file without asking a judge; see `verifications.tried`.

    This function and those below load nothing of batches before they are called: most work is asked at once.
    """

    async def work(record: AnswerRecord) -> AnswerRecord | tuple[WantedQuestion, ...]:
        from touchstone.operations.provider_batches import verifications

        return await verifications.tried(batching(tenant), record)

    return work


def measured(tenant: str) -> Callable[[Measurement], Awaitable[Measurement | tuple[WantedQuestion, ...]]]:
    """A function that tries a measurement of a tenant's file without asking a judge; see `measurements.tried`."""

    async def work(measurement: Measurement) -> Measurement | tuple[WantedQuestion, ...]:
        from touchstone.operations.provider_batches import measurements

        return await measurements.tried(batching(tenant), measurement)

    return work


def metric_by_batch(tenant: str) -> Callable[[Measurement, MetricName], Awaitable[datetime | None]] | None:
    """A function that measures a metric by a batch of its own; see `measurements.measure_by_batch`.

    None if `TOUCHSTONE_BATCHES` is off.
    """
    if environment().batches != "on":
        return None

    async def work(measurement: Measurement, metric: MetricName) -> datetime | None:
        from touchstone.operations.provider_batches import measurements

        return await measurements.measure_by_batch(batching(tenant), contexts.workflows, measurement, metric)

    return work


def pairs(tenant: str) -> ExperimentBatches:
    """The batches that answer the open questions of pairs of a tenant's experiments."""
    from touchstone.operations.provider_batches.experiments import ExperimentBatches

    return ExperimentBatches(files=of_files(tenant))


def cases(tenant: str) -> AuditBatches:
    """The batches that bring the first turns of cases of a tenant's audits."""
    from touchstone.operations.provider_batches.audits import AuditBatches

    return AuditBatches(files=of_files(tenant))


def scored(tenant: str) -> Callable[[Submission], Awaitable[datetime | None]] | None:
    """A function that carries the scoring of a tenant's submission by its own batch; see `scorings.score_by_batch`.

    None if `TOUCHSTONE_BATCHES` is off.
    """
    if environment().batches != "on":
        return None

    async def work(submission: Submission) -> datetime | None:
        from touchstone.operations.provider_batches import scorings

        return await scorings.score_by_batch(batching(tenant), contexts.workflows, submission)

    return work


def gathering() -> Gathering:
    """The part that puts the evaluations that wait for a batch into one, for all tenants."""
    from touchstone.operations.provider_batches.gathering import Gathering
    from touchstone.records import Leases

    return Gathering(
        evaluations=stores.batched_evaluations(),
        leases=Leases(stores.table()),
        context=batching,
        workflows=contexts.workflows,
        on=environment().batches == "on",
    )
