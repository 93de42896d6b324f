"""What the functions are made of: each part is built once a process, on first use, from the environment."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from functions.environment import environment

if TYPE_CHECKING:
    import asyncio

    from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig
    from mypy_boto3_dynamodb.service_resource import Table

    from touchstone.answers.model import AnswerRecord
    from touchstone.answers.providers import Preferences
    from touchstone.budgets import Quotas, Spending
    from touchstone.judges import Adapter, Judges
    from touchstone.judges.registry import Registry
    from touchstone.operations.batching import BatchDesk
    from touchstone.operations.desk import Desk
    from touchstone.operations.draining import Drain
    from touchstone.operations.line_work import LineWork
    from touchstone.operations.reception import Reception
    from touchstone.operations.sweeping import Sweep
    from touchstone.records import (
        Answers,
        Artifacts,
        Batches,
        DeferredQueue,
        Evaluations,
        RoutingPins,
        Statistics,
        Tokens,
    )
    from touchstone.workflows import Workflows

NOBODY = "touchstone"
"""Whose judges are looked at where no tenant is concerned; nothing is asked in its name."""


@cache
def table() -> Table:
    """The table of all records."""
    import boto3

    from functions.clients import for_tables

    return boto3.resource("dynamodb", config=for_tables()).Table(environment().require("table"))


@cache
def tokens() -> Tokens:
    """The tokens of all tenants."""
    from touchstone.records.tokens import Tokens

    return Tokens(table())


@cache
def _objects(root: str) -> Artifacts:
    import boto3

    from functions.clients import for_objects
    from touchstone.records.artifacts import Artifacts

    return Artifacts(boto3.client("s3", config=for_objects()), environment().require("bucket"), root=root)


def artifacts() -> Artifacts:
    """The bodies kept in S3: large records, images, parts of batches."""
    return _objects("artifacts")


def inbox() -> Artifacts:
    """The files of requests that tenants drop, and the results beside them."""
    return _objects("inbox")


@cache
def answers() -> Answers:
    """The records of answers."""
    from touchstone.records.answers import Answers

    return Answers(table(), artifacts())


@cache
def evaluations() -> Evaluations:
    """The deep evaluations of answers."""
    from touchstone.records.evaluations import Evaluations

    return Evaluations(table(), artifacts())


@cache
def registry() -> Registry:
    """The model registry of this deployment."""
    from touchstone.judges.registry import load_registry

    return load_registry()


@cache
def quotas() -> Quotas:
    """The accounts of the providers' quotas."""
    from touchstone.budgets import Quotas

    return Quotas(table(), fresh_share=environment().fresh_share)


@cache
def spending() -> Spending:
    """The spending of all tenants."""
    from touchstone.budgets import Spending

    return Spending(table())


@cache
def _adapter(provider: str, key: str | None) -> Adapter:
    """The connections to a provider, which all tenants' judges share."""
    from touchstone.judges.opening import connect

    return connect(registry().provider(provider), key)


@lru_cache(maxsize=64)
def judges(tenant: str, *, patient: bool = False) -> Judges:
    """The judges of a tenant: every call within the providers' quotas and the tenant's ceiling.

    `patient`: they wait for a minute's next slot, as nobody waits for them. Those of a tenant long unheard of are
    forgotten; the connections they used stay open for all others.
    """
    from functions.judge_keys import DeploymentKeys
    from touchstone.budgets import DynamoAdmission
    from touchstone.judges.opening import Judges
    from touchstone.operations.patience import PatientJudges
    from touchstone.records import Replies

    return (PatientJudges if patient else Judges)(
        registry(),
        DeploymentKeys(registry()),
        admission=DynamoAdmission(quotas(), spending(), ceiling_usd=environment().daily_ceiling_usd),
        cache=Replies(table(), tenant=tenant),
        tenant=tenant,
        connect=lambda provider, key: _adapter(provider.name, key),
    )


@cache
def statistics() -> Statistics:
    """What has accumulated, of all tenants."""
    from touchstone.records import Statistics

    return Statistics(table(), artifacts())


@cache
def batches() -> Batches:
    """The batches of all tenants."""
    from touchstone.records import Batches

    return Batches(table())


@cache
def routing_pins() -> RoutingPins:
    """The subjects whose provider is pinned by hand."""
    from touchstone.records import RoutingPins

    return RoutingPins(table())


def preferences(tenant: str) -> Preferences:
    """What decides between providers: pins by hand, of the tenant before the deployment's, and the data."""
    from touchstone.answers.providers import Preferences

    pins = {**environment().subject_provider_map, **routing_pins().all(tenant)}
    return Preferences(pins=pins, rates=statistics().rates(tenant).of_providers)


def desk(tenant: str, *, patient: bool = False) -> Desk:
    """What the steps of a tenant's answers work with."""
    from touchstone.operations.desk import Desk
    from touchstone.records import Solutions

    return Desk(
        tenant=tenant,
        answers=answers(),
        evaluations=evaluations(),
        solutions=Solutions(table(), artifacts(), tenant=tenant),
        artifacts=artifacts(),
        judges=judges(tenant, patient=patient),
        preferences=lambda: preferences(tenant),
    )


@cache
def workflows() -> Workflows:
    """The state machines."""
    from touchstone.workflows import Workflows, client

    return Workflows(
        sfn=client(),
        verify_arn=environment().verify_machine_arn,
        solve_arn=environment().solve_machine_arn,
        evaluate_arn=environment().evaluate_machine_arn,
    )


def reception(tenant: str) -> Reception:
    """Accepts a tenant's requests."""
    from touchstone.operations.reception import Reception
    from touchstone.records import RequestKeys

    return Reception(
        tenant=tenant,
        answers=answers(),
        evaluations=evaluations(),
        artifacts=artifacts(),
        keys=RequestKeys(table()),
        workflows=workflows(),
    )


@cache
def deferred_queue() -> DeferredQueue:
    """The queue of deferred evaluations."""
    import boto3

    from touchstone.records import DeferredQueue

    return DeferredQueue(boto3.client("sqs"), environment().require("deferred_queue_url"))


def drain() -> Drain:
    """Works off the deferred evaluations of all tenants."""
    from touchstone.operations.draining import Drain
    from touchstone.operations.reporting import free_units
    from touchstone.records import Leases

    return Drain(
        evaluations=evaluations(),
        leases=Leases(table()),
        queue=deferred_queue(),
        desk=desk,
        free=lambda: free_units(judges=judges(NOBODY), quotas=quotas()),
    )


def sweep() -> Sweep:
    """Takes up what a crash left behind."""
    from touchstone.operations.sweeping import Sweep

    return Sweep(answers=answers(), evaluations=evaluations(), queue=deferred_queue(), workflows=workflows)


def batch_desk(tenant: str) -> BatchDesk:
    """A tenant's batches."""
    from touchstone.operations.batching import BatchDesk
    from touchstone.records import Leases, RequestKeys

    return BatchDesk(
        tenant=tenant,
        batches=batches(),
        inbox=inbox(),
        artifacts=artifacts(),
        keys=RequestKeys(table()),
        leases=Leases(table()),
    )


def line_work(tenant: str, *, ended: Callable[[AnswerRecord], None]) -> LineWork:
    """Does the lines of a tenant's batches; `ended` is told of each answer."""
    from touchstone.operations.line_work import LineWork

    return LineWork(
        batch_desk=batch_desk(tenant),
        desk=desk(tenant, patient=True),
        reception=lambda: reception(tenant),
        ended=ended,
    )


def idempotency(
    *, event_key_jmespath: str, payload_validation_jmespath: str, keep_seconds: int
) -> tuple[DynamoDBPersistenceLayer, IdempotencyConfig]:
    """Where results are remembered by their sender's key, and for how long."""
    import boto3
    from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig

    from functions.clients import for_tables

    config = IdempotencyConfig(
        event_key_jmespath=event_key_jmespath,
        payload_validation_jmespath=payload_validation_jmespath,
        expires_after_seconds=keep_seconds,
        hash_function="sha256",
        raise_on_no_idempotency_key=True,
    )
    # A client of the session that is there already: one of its own would load the service's model a second time.
    client = boto3.client("dynamodb", config=for_tables())
    table_name = environment().require("idempotency_table")
    return DynamoDBPersistenceLayer(table_name=table_name, boto3_client=client), config


@cache
def _runner() -> asyncio.Runner:
    import asyncio

    return asyncio.Runner()


def run[T](work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on the one event loop of this process, whose connections outlive an invocation."""
    return _runner().run(work)
