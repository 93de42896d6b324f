"""What the functions do with the stores and the judges, and the event loop that they do it on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from functions.composition import contexts, judging, stores
from functions.environment import environment

if TYPE_CHECKING:
    import asyncio

    from mypy_boto3_sqs import SQSClient

    from touchstone.answers.model import AnswerRecord
    from touchstone.clock import Deadline
    from touchstone.operations.again import AgainMessage
    from touchstone.operations.batches.batching import Batching
    from touchstone.operations.batches.line_measurements import LineMeasurements
    from touchstone.operations.batches.line_quizzes import LineQuizzes
    from touchstone.operations.batches.line_submissions import LineSubmissions
    from touchstone.operations.batches.line_work import LineWork
    from touchstone.operations.bulk import BulkEvaluations
    from touchstone.operations.draining import Drain
    from touchstone.operations.intake import AnswerIntake, Ended
    from touchstone.operations.jobs.sweep import Sweep
    from touchstone.operations.purging import Purging
    from touchstone.operations.sweeping import AnswerSweep
    from touchstone.records import Answers


@cache
def bulk_evaluations() -> BulkEvaluations:
    """The line of deep evaluations that many requests come to."""
    from touchstone.operations.bulk import BulkEvaluations
    from touchstone.operations.reporting import spent_for_today
    from touchstone.records import Leases

    return BulkEvaluations(
        evaluations=stores.evaluations(),
        queue=stores.deferred_queue,
        leases=Leases(stores.table()),
        workflows=contexts.workflows,
        spent=lambda: spent_for_today(judges=judging.judges(judging.NOBODY), quotas=stores.quotas()),
        batches=judging.batched,
        drains=environment().drains,
    )


def verify_now(
    answers: Answers, answer_id: str, deadline: Deadline, waited_until: Deadline, ended: Ended, *, tenant: str
) -> None:
    """Verify an answer whose sender waits, in this process; see `intake.Verifier`."""

    async def verified() -> None:
        from touchstone.operations.steps import verify_own_answer

        waited_for = replace(contexts.of_answers(tenant, awaited=True), answers=answers)
        await verify_own_answer(waited_for, answer_id, deadline=deadline, ended=ended)

    run_within(verified(), waited_until.remaining)


def intake(tenant: str, *, bulk: bool = False) -> AnswerIntake:
    """Accepts a tenant's requests; `bulk` by a door of many, whose deep evaluations take their turn."""
    from functions.observability import count_verdict
    from touchstone.operations.intake import AnswerIntake

    return AnswerIntake(
        tenant=tenant,
        answers=stores.answers(),
        evaluations=stores.evaluations(),
        artifacts=stores.artifacts(),
        keys=stores.request_keys(),
        workflows=contexts.workflows,
        bulk=bulk_evaluations() if bulk else None,
        verifier=None if bulk else lambda *asked: verify_now(*asked, tenant=tenant),
        ended=count_verdict,
        batches=judging.batched,
    )


def drain(shard: int = 0) -> Drain:
    """Works off the deferred evaluations of all tenants; one of as many as go side by side."""
    from touchstone.operations.draining import Drain
    from touchstone.operations.reporting import free_units
    from touchstone.records import Leases

    return Drain(
        evaluations=stores.evaluations(),
        leases=Leases(stores.table()),
        queue=stores.deferred_queue(),
        context=contexts.of_answers,
        free=lambda: free_units(judges=judging.judges(judging.NOBODY), quotas=stores.quotas()),
        shard=shard,
        shards=environment().drains,
    )


def answer_sweep() -> AnswerSweep:
    """Takes up or ends what a crash left behind of answers."""
    from touchstone.operations.sweeping import AnswerSweep

    return AnswerSweep(
        answers=stores.answers(),
        evaluations=stores.evaluations(),
        queue=stores.deferred_queue(),
        workflows=contexts.workflows,
        again=_send_again,
    )


def sweep() -> Sweep:
    """Takes up what a crash left behind of all other jobs: a new job is one more line here."""
    from touchstone.operations import swept
    from touchstone.operations.jobs.sweep import Sweep

    return Sweep(
        jobs=(
            *swept.tasks_swept(stores.tasks(), stores.submissions(), stores.challenges()),
            swept.measurements_swept(stores.measurements()),
            swept.experiments_swept(stores.experiments(), stores.pairs()),
            swept.quizzes_swept(stores.quizzes()),
            swept.provider_batches_swept(stores.provider_batches()),
            swept.audits_swept(stores.audits(), stores.cases()),
        ),
        workflows=contexts.workflows,
    )


def purging() -> Purging:
    """Removes the records of all tenants whose retention is over."""
    from touchstone.operations.purging import PurgedStores, Purging
    from touchstone.records.purges import Purges

    return Purging(
        stores=PurgedStores(
            tenants=stores.tenants(),
            answers=stores.answers(),
            audits=stores.audits(),
            batches=stores.batches(),
            experiments=stores.experiments(),
            measurements=stores.measurements(),
            quizzes=stores.quizzes(),
            tasks=stores.tasks(),
            artifacts=stores.artifacts(),
        ),
        purges=Purges(table=stores.table(), artifacts=stores.artifacts(), inbox=stores.inbox()),
        days=environment().retention_days,
    )


@cache
def _sqs() -> SQSClient:
    import boto3

    return boto3.client("sqs")


def _send_again(message: AgainMessage) -> None:
    """Send a message to this deployment's own intake. Raises `StoreError`."""
    from botocore.exceptions import BotoCoreError, ClientError

    from touchstone.errors import StoreError

    url = environment().require("intake_queue_url")
    try:
        _sqs().send_message(QueueUrl=url, MessageBody=message.model_dump_json())
    except (ClientError, BotoCoreError) as error:
        raise StoreError("A message could not be sent to the intake; it is safe to repeat.") from error


def batching(tenant: str) -> Batching:
    """A tenant's batches."""
    from touchstone.operations.batches.batching import Batching

    return Batching(
        tenant=tenant,
        tenants=stores.tenants(),
        batches=stores.batches(),
        inbox=stores.inbox(),
        scratch=stores.scratch(),
        artifacts=stores.artifacts(),
        keys=stores.request_keys(),
        days=timedelta(days=environment().batch_days),
    )


def line_work(tenant: str, *, ended: Callable[[AnswerRecord], None]) -> LineWork:
    """Does the lines of a tenant's batches; `ended` is told of each answer."""
    from touchstone.operations.batches.line_work import LineWork

    return LineWork(
        batching=batching(tenant),
        context=contexts.of_answers(tenant, patient=True),
        intake=intake(tenant, bulk=True),
        doors={
            "submission": lambda: line_submissions(tenant),
            "measurement": lambda: line_measurements(tenant),
            "quiz": lambda: line_quizzes(tenant),
        },
        ended=ended,
    )


def line_submissions(tenant: str) -> LineSubmissions:
    """Hands in and judges what lines of a tenant's batches carry for tasks."""
    from functions.composition import intakes
    from touchstone.operations.batches.line_submissions import LineSubmissions

    return LineSubmissions(
        context=contexts.of_tasks(tenant, patient=True),
        intake=intakes.of_tasks(tenant),
        reader=lambda party: intakes.reader_of_tasks(tenant, party),
    )


def line_measurements(tenant: str) -> LineMeasurements:
    """Takes and measures what lines of a tenant's batches carry to be measured."""
    from functions.composition import batching as at_providers
    from functions.composition import intakes
    from touchstone.operations.batches.line_measurements import LineMeasurements
    from touchstone.surfaces.model import TIER

    # Without days to wait for a batch the next round is the last, which asks at once.
    by_batch = judging.batched(TIER) and environment().batch_days > 0
    return LineMeasurements(
        context=contexts.of_measurements(tenant),
        intake=intakes.of_measurements(tenant),
        left_for=batching(tenant).left_for,
        by_batch=at_providers.measured(tenant) if by_batch else None,
    )


def line_quizzes(tenant: str) -> LineQuizzes:
    """Takes and makes what lines of a tenant's batches ask for of quizzes."""
    from functions.composition import intakes
    from touchstone.operations.batches.line_quizzes import LineQuizzes

    left_for = batching(tenant).left_for
    return LineQuizzes(
        context=contexts.of_quizzes(tenant, patient=True), intake=intakes.of_quizzes(tenant), left_for=left_for
    )


@cache
def _runner() -> asyncio.Runner:
    import asyncio

    return asyncio.Runner()


def run[T](work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on the one event loop of this process, whose connections outlive an invocation."""
    return _runner().run(work)


def run_within[T](work: Coroutine[Any, Any, T], seconds: float) -> T | None:
    """As `run`, but no longer than so many seconds by the clock, whatever holds the event loop; then None.

    What has not ended goes on without its caller, and keeps its loop and its connections: who comes next opens others.
    It publishes no metrics from then on.
    """
    from concurrent.futures import Future
    from contextvars import copy_context
    from threading import Lock, Thread

    from functions.observability import abandoned

    ended: Future[T] = Future()
    turn, left = Lock(), False
    runner = _runner()  # here, where nobody has left yet: the thread would keep one for others that it closes

    def work_apart() -> None:
        try:
            abandoned.set(lambda: left)
            ended.set_result(runner.run(work, context=copy_context()))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            ended.set_exception(error)
        with turn:
            if left:
                runner.close()

    Thread(target=work_apart, name="touchstone-awaited", daemon=True).start()
    try:
        return ended.result(timeout=seconds)
    except TimeoutError:
        with turn:
            if ended.done():
                return ended.result()  # it ended just now, or this is an error of its own
            left = True
        _runner.cache_clear()
        judging.forget()
        return None
