"""What the functions do with the stores and the judges, and the event loop that they do it on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from functions.composition import judging, stores
from functions.composition.machines import workflows
from functions.environment import environment

if TYPE_CHECKING:
    import asyncio

    from mypy_boto3_sqs import SQSClient

    from touchstone.answers.model import AnswerRecord
    from touchstone.clock import Deadline
    from touchstone.operations.again import AgainMessage
    from touchstone.operations.batching import BatchDesk
    from touchstone.operations.bulk import BulkEvaluations
    from touchstone.operations.desk import Desk
    from touchstone.operations.draining import Drain
    from touchstone.operations.intake import AnswerIntake, Ended
    from touchstone.operations.line_measurements import LineMeasurements
    from touchstone.operations.line_quizzes import LineQuizzes
    from touchstone.operations.line_submissions import LineSubmissions
    from touchstone.operations.line_work import LineWork
    from touchstone.operations.sweeping import AnswerSweep


def desk(tenant: str, *, patient: bool = False, awaited: bool = False) -> Desk:
    """What the steps of a tenant's answers work with; see `judging.judges`."""
    from touchstone.operations.desk import Desk
    from touchstone.records import Solutions

    return Desk(
        tenant=tenant,
        answers=stores.answers(),
        evaluations=stores.evaluations(),
        solutions=Solutions(stores.table(), stores.artifacts(), tenant=tenant),
        artifacts=stores.artifacts(),
        judges=judging.judges(tenant, patient=patient, awaited=awaited),
        preferences=lambda: judging.preferences(tenant),
        note_choice=lambda subject, choice, before: stores.routing_pins().note(
            tenant=tenant, subject=subject, choice=choice, before=before
        ),
    )


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
        workflows=workflows,
        spent=lambda: spent_for_today(judges=judging.judges(judging.NOBODY), quotas=stores.quotas()),
    )


def verify_now(tenant: str, answer_id: str, deadline: Deadline, waited_until: Deadline, ended: Ended) -> None:
    """Verify an answer whose sender waits, in this process; see `intake.Verifier`."""

    async def verified() -> None:
        from touchstone.operations.steps import verify_own_answer

        await verify_own_answer(desk(tenant, awaited=True), answer_id, deadline=deadline, ended=ended)

    run_within(verified(), waited_until.remaining)


def intake(tenant: str, *, bulk: bool = False) -> AnswerIntake:
    """Accepts a tenant's requests; `bulk` by a door of many, whose deep evaluations take their turn."""
    from functions.observability import count_verdict
    from touchstone.operations.intake import AnswerIntake
    from touchstone.records import RequestKeys

    return AnswerIntake(
        tenant=tenant,
        answers=stores.answers(),
        evaluations=stores.evaluations(),
        artifacts=stores.artifacts(),
        keys=RequestKeys(stores.table()),
        workflows=workflows,
        bulk=bulk_evaluations() if bulk else None,
        verifier=None if bulk else lambda *asked: verify_now(tenant, *asked),
        ended=count_verdict,
    )


def drain() -> Drain:
    """Works off the deferred evaluations of all tenants."""
    from touchstone.operations.draining import Drain
    from touchstone.operations.reporting import free_units
    from touchstone.records import Leases

    return Drain(
        evaluations=stores.evaluations(),
        leases=Leases(stores.table()),
        queue=stores.deferred_queue(),
        desk=desk,
        free=lambda: free_units(judges=judging.judges(judging.NOBODY), quotas=stores.quotas()),
    )


def answer_sweep() -> AnswerSweep:
    """Takes up or ends what a crash left behind of answers."""
    from touchstone.operations.sweeping import AnswerSweep

    return AnswerSweep(
        answers=stores.answers(),
        evaluations=stores.evaluations(),
        queue=stores.deferred_queue(),
        workflows=workflows,
        again=_send_again,
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


def batch_desk(tenant: str) -> BatchDesk:
    """A tenant's batches."""
    from touchstone.operations.batching import BatchDesk
    from touchstone.records import RequestKeys

    return BatchDesk(
        tenant=tenant,
        tenants=stores.tenants(),
        batches=stores.batches(),
        inbox=stores.inbox(),
        scratch=stores.scratch(),
        artifacts=stores.artifacts(),
        keys=RequestKeys(stores.table()),
        days=timedelta(days=environment().batch_days),
    )


def line_work(tenant: str, *, ended: Callable[[AnswerRecord], None]) -> LineWork:
    """Does the lines of a tenant's batches; `ended` is told of each answer."""
    from touchstone.operations.line_work import LineWork

    return LineWork(
        batch_desk=batch_desk(tenant),
        desk=desk(tenant, patient=True),
        intake=intake(tenant, bulk=True),
        desks={
            "submission": lambda: line_submissions(tenant),
            "measurement": lambda: line_measurements(tenant),
            "quiz": lambda: line_quizzes(tenant),
        },
        ended=ended,
    )


def line_submissions(tenant: str) -> LineSubmissions:
    """Hands in and judges what lines of a tenant's batches carry for tasks."""
    from functions.composition import tasks
    from touchstone.operations.line_submissions import LineSubmissions

    return LineSubmissions(
        desk=tasks.desk(tenant, patient=True),
        intake=tasks.intake(tenant),
        reader=lambda party: tasks.reader(tenant, party),
    )


def line_measurements(tenant: str) -> LineMeasurements:
    """Takes and measures what lines of a tenant's batches carry to be measured."""
    from functions.composition import surfaces
    from touchstone.operations.line_measurements import LineMeasurements

    return LineMeasurements(desk=surfaces.desk(tenant), intake=surfaces.intake(tenant))


def line_quizzes(tenant: str) -> LineQuizzes:
    """Takes and makes what lines of a tenant's batches ask for of quizzes."""
    from functions.composition import quizzes
    from touchstone.operations.line_quizzes import LineQuizzes

    left_for = batch_desk(tenant).left_for
    return LineQuizzes(desk=quizzes.desk(tenant, patient=True), intake=quizzes.intake(tenant), left_for=left_for)


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
