"""The use cases of the functions, built from the stores and the judges, and the event loop that they run on."""

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

    from touchstone.answers.model import AnswerRecord
    from touchstone.clock import Deadline
    from touchstone.operations.answers.again import AgainMessage
    from touchstone.operations.answers.draining import Drain
    from touchstone.operations.answers.intake import AnswerIntake, BulkEvaluations, Ended
    from touchstone.operations.answers.sweeping import AnswerSweep
    from touchstone.operations.batches.batching import Batching
    from touchstone.operations.batches.line_measurements import LineMeasurements
    from touchstone.operations.batches.line_quizzes import LineQuizzes
    from touchstone.operations.batches.line_submissions import LineSubmissions
    from touchstone.operations.batches.line_work import LineWork
    from touchstone.operations.jobs.sweep import Sweep
    from touchstone.operations.purging import Purging
    from touchstone.records import Answers


@cache
def bulk_evaluations() -> BulkEvaluations:
    """The line of deep evaluations from doors through which many requests come."""
    from touchstone.operations.answers.intake import BulkEvaluations
    from touchstone.operations.reports.budgets import spent_for_today
    from touchstone.records import Leases

    return BulkEvaluations(
        evaluations=stores.evaluations(),
        queue=stores.deferred_queue,
        leases=Leases(stores.table()),
        workflows=contexts.workflows,
        spent=lambda: spent_for_today(judges=judging.judges(judging.NO_TENANT), quotas=stores.quotas()),
        batches=judging.batched,
        drains=environment().drains,
    )


def verify_now(
    answers: Answers, answer_id: str, deadline: Deadline, waited_until: Deadline, ended: Ended, *, tenant: str
) -> None:
    """Verify an answer in this process while its sender waits; see `intake.Verifier`."""

    async def verified() -> None:
        from touchstone.operations.answers.steps import verify_own_answer

        waited_for = replace(contexts.of_answers(tenant, awaited=True), answers=answers)
        await verify_own_answer(waited_for, answer_id, deadline=deadline, ended=ended)

    run_within(verified(), waited_until.remaining)


def intake(tenant: str, *, bulk: bool = False) -> AnswerIntake:
    """The intake that accepts a tenant's requests for answers.

    `bulk`: the requests come through a door for many, so their deep evaluations wait in line. Otherwise the sender
    waits for a verification.
    """
    from functions.observability import count_verdict
    from touchstone.operations.answers.intake import AnswerIntake

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
    """The drain that works off the deferred evaluations of all tenants: the number `shard` of those side by side."""
    from touchstone.operations.answers.draining import Drain
    from touchstone.operations.reports.budgets import free_units
    from touchstone.records import Leases

    return Drain(
        evaluations=stores.evaluations(),
        leases=Leases(stores.table()),
        queue=stores.deferred_queue(),
        context=contexts.of_answers,
        free=lambda: free_units(judges=judging.judges(judging.NO_TENANT), quotas=stores.quotas()),
        shard=shard,
        shards=environment().drains,
    )


def answer_sweep() -> AnswerSweep:
    """The sweep that restarts or ends the answers that a crash left behind."""
    from touchstone.operations.answers.sweeping import AnswerSweep

    return AnswerSweep(
        answers=stores.answers(),
        evaluations=stores.evaluations(),
        queue=stores.deferred_queue(),
        workflows=contexts.workflows,
        again=_send_again,
    )


def sweep() -> Sweep:
    """The sweep that restarts what a crash left behind of all other jobs. A new job needs one more line here."""
    from touchstone.operations.jobs import restarts
    from touchstone.operations.jobs.sweep import Sweep

    return Sweep(
        jobs=(
            *restarts.tasks_swept(stores.tasks(), stores.submissions(), stores.challenges()),
            restarts.measurements_swept(stores.measurements()),
            restarts.experiments_swept(stores.experiments(), stores.pairs()),
            restarts.quizzes_swept(stores.quizzes()),
            restarts.provider_batches_swept(stores.provider_batches()),
            restarts.audits_swept(stores.audits(), stores.cases()),
        ),
        workflows=contexts.workflows,
    )


def purging() -> Purging:
    """The part that removes the records of all tenants whose retention is over."""
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


def _send_again(message: AgainMessage) -> None:
    """Send a message to this deployment's own intake. Raises `StoreError` if it cannot be sent."""
    from botocore.exceptions import BotoCoreError, ClientError

    from touchstone.errors import StoreError

    url = environment().require("intake_queue_url")
    try:
        stores.sqs().send_message(QueueUrl=url, MessageBody=message.model_dump_json())
    except (ClientError, BotoCoreError) as error:
        raise StoreError("A message could not be sent to the intake; it is safe to repeat.") from error


def batching(tenant: str) -> Batching:
    """The part that accepts, cuts and collects a tenant's batches."""
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
    """The part that does the lines of a tenant's batches. It calls `ended` with each answer that it ends."""
    from touchstone.operations.batches.line_work import LineWork

    return LineWork(
        batching=batching(tenant),
        context=contexts.of_answers(tenant, patient=True),
        intake=intake(tenant, bulk=True),
        handlers={
            "submission": lambda: line_submissions(tenant),
            "measurement": lambda: line_measurements(tenant),
            "quiz": lambda: line_quizzes(tenant),
        },
        ended=ended,
    )


def line_submissions(tenant: str) -> LineSubmissions:
    """The part that hands in and judges the submissions in lines of a tenant's batches."""
    from functions.composition import intakes
    from touchstone.operations.batches.line_submissions import LineSubmissions

    return LineSubmissions(
        context=contexts.of_tasks(tenant, patient=True),
        intake=intakes.of_tasks(tenant),
        reader=lambda party: intakes.reader_of_tasks(tenant, party),
    )


def line_measurements(tenant: str) -> LineMeasurements:
    """The part that takes and measures the material in lines of a tenant's batches."""
    from functions.composition import batching as at_providers
    from functions.composition import intakes
    from touchstone.operations.batches.line_measurements import LineMeasurements
    from touchstone.surfaces.model import TIER

    # With no days to wait for a provider's batch, the next round is the last, and the last round asks at once.
    by_batch = judging.batched(TIER) and environment().batch_days > 0
    return LineMeasurements(
        context=contexts.of_measurements(tenant),
        intake=intakes.of_measurements(tenant),
        abandoned_after=batching(tenant).abandoned_after,
        by_batch=at_providers.measured(tenant) if by_batch else None,
    )


def line_quizzes(tenant: str) -> LineQuizzes:
    """The part that makes and checks the quizzes that lines of a tenant's batches ask for."""
    from functions.composition import intakes
    from touchstone.operations.batches.line_quizzes import LineQuizzes

    return LineQuizzes(
        context=contexts.of_quizzes(tenant, patient=True),
        intake=intakes.of_quizzes(tenant),
        abandoned_after=batching(tenant).abandoned_after,
    )


@cache
def _runner() -> asyncio.Runner:
    import asyncio

    return asyncio.Runner()


def run[T](work: Coroutine[Any, Any, T]) -> T:
    """Run work to its end on the one event loop of this process, so that connections outlive an invocation."""
    return _runner().run(work)


def run_within[T](work: Coroutine[Any, Any, T], seconds: float) -> T | None:
    """As `run`, but wait for `seconds` by the clock at most, even if the event loop is blocked. Then return None.

    Unfinished work goes on without its caller, on its own loop and connections: later work opens new ones. From then
    on the unfinished work publishes no metrics.
    """
    from concurrent.futures import Future
    from contextvars import copy_context
    from threading import Lock, Thread

    from functions.observability import abandoned

    ended: Future[T] = Future()
    turn, left = Lock(), False
    runner = _runner()  # here, not in the thread: a late thread would cache a runner for others and then close it

    def work_apart() -> None:
        try:
            abandoned.set(lambda: left)
            ended.set_result(runner.run(work, context=copy_context()))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
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
                return ended.result()  # the work ended just now, or the TimeoutError is its own
            left = True
        _runner.cache_clear()
        judging.forget()
        return None
