"""The stores: the table, the bucket, the queue, and the classes that read and write them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from functions.environment import environment
from touchstone import records

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

    from touchstone.aws import Table
    from touchstone.budgets import Quotas, Spending


@cache
def table() -> Table:
    """The table of all records."""
    import boto3

    from functions.clients import for_tables
    from touchstone.records.table import repeating_conflicts

    resource = boto3.resource("dynamodb", config=for_tables())
    return repeating_conflicts(resource.Table(environment().require("table")))


@cache
def request_keys() -> records.RequestIds:
    """The ids of records by the keys of the requests that asked for them."""
    from functions.idempotency import IdsOfClaims

    return IdsOfClaims(records.RequestKeys(table()))


@cache
def tenants() -> records.Tenants:
    """The tenants, who own tokens and records."""
    return records.Tenants(table())


@cache
def tokens() -> records.Tokens:
    """The tokens of all tenants."""
    return records.Tokens(table())


@cache
def sessions() -> records.Sessions:
    """The sessions of people who are signed in to the pages, of all tenants."""
    return records.Sessions(table())


@cache
def _s3() -> S3Client:
    import boto3

    from functions.clients import for_objects

    return boto3.client("s3", config=for_objects())


@cache
def _objects(root: str) -> records.Artifacts:
    return records.Artifacts(_s3, environment().require("bucket"), root=root)


def artifacts() -> records.Artifacts:
    """The bodies kept in S3: large records, images."""
    return _objects("artifacts")


def scratch() -> records.Artifacts:
    """The objects that only serve unfinished work, such as lists of chunks and parts of batches; they expire."""
    return _objects("scratch")


@cache
def traces() -> records.Traces:
    """The calls to judges, by the record that they were for. With keeping off, earlier calls can still be read."""
    return records.Traces(lambda: _objects("traces"))


def traces_kept() -> records.Traces | None:
    """The store that keeps the calls to judges from now on; None if `TOUCHSTONE_KEEP_PROMPTS` is off."""
    return traces() if environment().keep_prompts == "on" else None


def inbox() -> records.Artifacts:
    """The files of requests that tenants upload, and the results beside them."""
    return _objects("inbox")


def courses() -> records.Artifacts:
    """The curricula and learners that are too large for a record."""
    return _objects("courses")


def bundles() -> records.Artifacts:
    """The installed targets of audits. A sandbox is given a link to one."""
    return _objects("bundles")


@cache
def answers() -> records.Answers:
    """The records of answers."""
    return records.Answers(table(), artifacts())


@cache
def evaluations() -> records.Evaluations:
    """The deep evaluations of answers."""
    return records.Evaluations(table(), artifacts())


@cache
def batched_evaluations() -> records.BatchedEvaluations:
    """The deep evaluations of answers that go by providers' batches."""
    return records.BatchedEvaluations(table(), artifacts())


@cache
def provider_batches() -> records.ProviderBatchStore:
    """The batches at providers, of all tenants."""
    return records.JobStore(records.PROVIDER_BATCH, table(), artifacts())


@cache
def statistics() -> records.Statistics:
    """The counters and statistics of all tenants."""
    return records.Statistics(table(), artifacts())


@cache
def batches() -> records.Batches:
    """The batches, files of requests, of all tenants."""
    return records.Batches(table())


@cache
def tasks() -> records.Tasks:
    """The tasks of all tenants."""
    return records.Tasks(records.TASK, table(), artifacts())


@cache
def submissions() -> records.Submissions:
    """The submissions to tasks, of all tenants."""
    return records.Submissions(records.SUBMISSION, table(), artifacts())


@cache
def challenges() -> records.Challenges:
    """The challenges to rankings."""
    return records.Challenges(records.CHALLENGE, table(), artifacts())


@cache
def curricula() -> records.Curricula:
    """The curricula that tenants uploaded."""
    return records.Documents(records.CURRICULUM, table(), courses())


@cache
def learners() -> records.Learners:
    """The learners that tenants uploaded."""
    return records.Documents(records.LEARNER, table(), courses())


@cache
def measurements() -> records.Measurements:
    """The measurements of all tenants."""
    return records.Measurements(records.MEASUREMENT, table(), artifacts())


@cache
def quizzes() -> records.Quizzes:
    """The quizzes that are made or checked, of all tenants."""
    return records.JobStore(records.QUIZ, table(), artifacts())


@cache
def experiments() -> records.Experiments:
    """The experiments of all tenants."""
    return records.JobStore(records.EXPERIMENT, table(), artifacts())


@cache
def audits() -> records.Audits:
    """The audits of all tenants."""
    return records.AuditStore(records.AUDIT, table(), artifacts())


@cache
def pairs() -> records.Pairs:
    """The pairs of all experiments."""
    return records.Parts(records.PAIRS, table(), artifacts())


@cache
def cases() -> records.Cases:
    """The cases of all audits."""
    return records.Parts(records.CASES, table(), artifacts())


@cache
def event_bus() -> records.EventBus:
    """The event bus on which the events of tasks are published."""
    import boto3

    from functions.clients import for_messages

    return records.EventBus(lambda: boto3.client("events", config=for_messages()), environment().require("event_bus"))


@cache
def routing_pins() -> records.RoutingPins:
    """The subjects whose provider is pinned by hand."""
    return records.RoutingPins(table())


@cache
def thresholds() -> records.Thresholds:
    """The thresholds of judges: how sure each must be, computed from people's labels."""
    return records.Thresholds(table())


@cache
def quotas() -> Quotas:
    """The accounts of the providers' quotas."""
    from touchstone.budgets import Quotas, TenantShare

    told = environment()
    share = TenantShare(fraction=told.tenant_share, several=tenants().several)
    return Quotas(
        table(),
        fresh_share=told.fresh_share,
        quota_share=told.quota_share,
        tenant_share=share,
        most_leased=told.quota_lease,
    )


def leave_quotas() -> None:
    """Give back the quota that this function reserved but did not use: its next call may be long from now."""
    from contextlib import suppress

    from touchstone.errors import StoreError

    with suppress(StoreError):  # if this fails, the quota stays reserved, so no limit is exceeded
        quotas().end_leases()


@cache
def spending() -> Spending:
    """The spending of all tenants."""
    from functions.observability import measure_ceiling
    from touchstone.budgets import Spending

    return Spending(table(), near=measure_ceiling)


@cache
def sqs() -> SQSClient:
    """The client of the queues."""
    import boto3

    from functions.clients import for_messages

    return boto3.client("sqs", config=for_messages())


@cache
def deferred_queue() -> records.DeferredQueue:
    """The queue of deferred evaluations."""
    return records.DeferredQueue(sqs(), environment().require("deferred_queue_url"))
