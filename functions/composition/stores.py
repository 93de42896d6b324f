"""The stores: the table, the bucket, the queue, and the classes that read and write them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from functions.environment import environment

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client

    from touchstone.budgets import Quotas, Spending
    from touchstone.records import (
        Answers,
        Artifacts,
        Audits,
        BatchedEvaluations,
        Batches,
        Cases,
        Challenges,
        Curricula,
        DeferredQueue,
        Evaluations,
        EventBus,
        Experiments,
        Learners,
        Measurements,
        Pairs,
        ProviderBatchStore,
        Quizzes,
        RequestIds,
        RoutingPins,
        Sessions,
        Statistics,
        Submissions,
        Tasks,
        Tenants,
        Tokens,
    )
    from touchstone.records.thresholds import Thresholds
    from touchstone.records.traces import Traces


@cache
def table() -> Table:
    """The table of all records."""
    import boto3

    from functions.clients import for_tables
    from touchstone.records.table import repeating_conflicts

    resource = boto3.resource("dynamodb", config=for_tables())
    return repeating_conflicts(resource.Table(environment().require("table")))


@cache
def request_keys() -> RequestIds:
    """The ids of records by the keys of the requests that asked for them."""
    from functions.idempotency import IdsOfClaims
    from touchstone.records.request_keys import RequestKeys

    return IdsOfClaims(RequestKeys(table()))


@cache
def tenants() -> Tenants:
    """The tenants, who own tokens and records."""
    from touchstone.records.tenants import Tenants

    return Tenants(table())


@cache
def tokens() -> Tokens:
    """The tokens of all tenants."""
    from touchstone.records.tokens import Tokens

    return Tokens(table())


@cache
def sessions() -> Sessions:
    """The sessions of people who are signed in to the pages, of all tenants."""
    from touchstone.records.sessions import Sessions

    return Sessions(table())


@cache
def _s3() -> S3Client:
    import boto3

    from functions.clients import for_objects

    return boto3.client("s3", config=for_objects())


@cache
def _objects(root: str) -> Artifacts:
    from touchstone.records.artifacts import Artifacts

    return Artifacts(_s3, environment().require("bucket"), root=root)


def artifacts() -> Artifacts:
    """The bodies kept in S3: large records, images."""
    return _objects("artifacts")


def scratch() -> Artifacts:
    """The objects that only serve unfinished work, such as lists of chunks and parts of batches; they expire."""
    return _objects("scratch")


@cache
def traces() -> Traces:
    """The calls to judges, by the record that they were for. With keeping off, earlier calls can still be read."""
    from touchstone.records.traces import Traces

    return Traces(lambda: _objects("traces"))


def traces_kept() -> Traces | None:
    """The store that keeps the calls to judges from now on; None if `TOUCHSTONE_KEEP_PROMPTS` is off."""
    return traces() if environment().keep_prompts == "on" else None


def inbox() -> Artifacts:
    """The files of requests that tenants upload, and the results beside them."""
    return _objects("inbox")


def courses() -> Artifacts:
    """The curricula and learners that are too large for a record."""
    return _objects("courses")


def bundles() -> Artifacts:
    """The installed targets of audits. A sandbox is given a link to one."""
    return _objects("bundles")


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
def batched_evaluations() -> BatchedEvaluations:
    """The deep evaluations of answers that go by providers' batches."""
    from touchstone.records import BatchedEvaluations

    return BatchedEvaluations(table(), artifacts())


@cache
def provider_batches() -> ProviderBatchStore:
    """The batches at providers, of all tenants."""
    from touchstone.records import PROVIDER_BATCH, JobStore

    return JobStore(PROVIDER_BATCH, table(), artifacts())


@cache
def statistics() -> Statistics:
    """The counters and statistics of all tenants."""
    from touchstone.records import Statistics

    return Statistics(table(), artifacts())


@cache
def batches() -> Batches:
    """The batches, files of requests, of all tenants."""
    from touchstone.records import Batches

    return Batches(table())


@cache
def tasks() -> Tasks:
    """The tasks of all tenants."""
    from touchstone.records import Tasks

    return Tasks(table(), artifacts())


@cache
def submissions() -> Submissions:
    """The submissions to tasks, of all tenants."""
    from touchstone.records.submissions import SUBMISSION, Submissions

    return Submissions(SUBMISSION, table(), artifacts())


@cache
def challenges() -> Challenges:
    """The challenges to rankings."""
    from touchstone.records.challenges import CHALLENGE, Challenges

    return Challenges(CHALLENGE, table(), artifacts())


@cache
def curricula() -> Curricula:
    """The curricula that tenants uploaded."""
    from touchstone.records.documents import CURRICULUM, Documents

    return Documents(CURRICULUM, table(), courses())


@cache
def learners() -> Learners:
    """The learners that tenants uploaded."""
    from touchstone.records.documents import LEARNER, Documents

    return Documents(LEARNER, table(), courses())


@cache
def measurements() -> Measurements:
    """The measurements of all tenants."""
    from touchstone.records.measurements import MEASUREMENT, Measurements

    return Measurements(MEASUREMENT, table(), artifacts())


@cache
def quizzes() -> Quizzes:
    """The quizzes that are made or checked, of all tenants."""
    from touchstone.records import QUIZ, JobStore

    return JobStore(QUIZ, table(), artifacts())


@cache
def experiments() -> Experiments:
    """The experiments of all tenants."""
    from touchstone.records import EXPERIMENT, JobStore

    return JobStore(EXPERIMENT, table(), artifacts())


@cache
def audits() -> Audits:
    """The audits of all tenants."""
    from touchstone.records.audits import AUDIT, AuditStore

    return AuditStore(AUDIT, table(), artifacts())


@cache
def pairs() -> Pairs:
    """The pairs of all experiments."""
    from touchstone.records import PAIRS, Parts

    return Parts(PAIRS, table(), artifacts())


@cache
def cases() -> Cases:
    """The cases of all audits."""
    from touchstone.records import CASES, Parts

    return Parts(CASES, table(), artifacts())


@cache
def event_bus() -> EventBus:
    """The event bus on which the events of tasks are published."""
    import boto3

    from functions.clients import for_events
    from touchstone.records import EventBus

    return EventBus(lambda: boto3.client("events", config=for_events()), environment().require("event_bus"))


@cache
def routing_pins() -> RoutingPins:
    """The subjects whose provider is pinned by hand."""
    from touchstone.records import RoutingPins

    return RoutingPins(table())


@cache
def thresholds() -> Thresholds:
    """The thresholds of judges: how sure each must be, computed from people's labels."""
    from touchstone.records.thresholds import Thresholds

    return Thresholds(table())


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
def deferred_queue() -> DeferredQueue:
    """The queue of deferred evaluations."""
    import boto3

    from touchstone.records import DeferredQueue

    return DeferredQueue(boto3.client("sqs"), environment().require("deferred_queue_url"))
