"""A deployment in the process: moto's stores, the doors' own composition, and the machines from their definitions."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions import environment, idempotency
from functions.composition import contexts, judging, stores, work
from tests.support.clocks import set_back_from_midnight
from tests.support.events import event
from tests.support.machines import Machines
from tests.support.table import TABLE_NAME, create_table
from touchstone.clock import OFFSET_VARIABLE
from touchstone.judges import Judges
from touchstone.operations.provider_batches.replaying import BatchApis
from touchstone.records import EventBus, Role, Tenants

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

BUCKET = "touchstone-artifacts"
IDEMPOTENCY = "touchstone-idempotency"
SECRET = "touchstone-judges"
EVENT_BUS = "touchstone"
REGION = "us-east-1"
MINUTE_MS = 60_000


class Context(LambdaContext):
    """What Lambda tells a handler of its invocation; `remaining_ms` of its time are left, and stay so."""

    def __init__(self, remaining_ms: int = MINUTE_MS) -> None:
        self._remaining_ms = remaining_ms
        self._function_name = "touchstone"
        self._memory_limit_in_mb = 1024
        self._invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:touchstone"
        self._aws_request_id = "52fdfc07-2182-454f-963f-5f0f9a621d72"

    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override] # Powertools declares it static
        """Milliseconds until the function is stopped."""
        return self._remaining_ms


@dataclass(kw_only=True)
class Deployment:
    """The parts of a deployment that tests look at from outside."""

    table: "Table"
    remembered: "Table"
    s3: "S3Client"
    sqs: "SQSClient"
    queue_url: str
    intake_url: str
    bus: "Bus"
    machines: Machines

    def tenant(self, tenant: str) -> None:
        """Make a tenant, where it is not there yet."""
        tenants = Tenants(self.table)
        if tenant not in tenants.ids():
            tenants.create(tenant=tenant, name=tenant)

    def token(self, tenant: str, role: Role = "member") -> str:
        """A new token of a tenant, which is made where it is not there yet."""
        self.tenant(tenant)
        return stores.tokens().issue(tenant=tenant, role=role, name="test")[0]

    def rows(self) -> list[dict[str, Any]]:
        """Every item of both tables."""
        return [*self.table.scan()["Items"], *self.remembered.scan()["Items"]]

    def keys(self) -> list[str]:
        """The keys of all objects in the bucket."""
        return [found["Key"] for found in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def drop(self, key: str, data: bytes) -> dict[str, Any]:
        """Put a file into the inbox; the event that EventBridge makes of it."""
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=data)
        dropped = event("s3_drop")
        dropped["detail"]["object"]["key"] = key
        return dropped

    def messages(self) -> list[str]:
        """The bodies of the messages in the queue of deferred evaluations, which stay there."""
        found = self.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10, VisibilityTimeout=0)
        return [message["Body"] for message in found.get("Messages", [])]

    def told(self) -> list[dict[str, Any]]:
        """What was told on the event bus, in order."""
        return [json.loads(entry["Detail"]) for entry in self.bus.entries]


@dataclass(kw_only=True)
class Bus:
    """A client of EventBridge that keeps what it is given."""

    entries: list[dict[str, Any]] = field(default_factory=list)

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - AWS's names
        """Take events."""
        self.entries += Entries
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"} for _ in Entries]}


@contextmanager
def deployed(
    monkeypatch: pytest.MonkeyPatch, *, keys: dict[str, str] | None = None, **variables: str
) -> Iterator[Deployment]:
    """A fresh deployment, whose secret holds `keys`. Must run inside moto's `mock_aws`."""
    dynamodb = boto3.resource("dynamodb", region_name=REGION)
    table = create_table(dynamodb)
    remembered = dynamodb.create_table(
        TableName=IDEMPOTENCY,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    s3 = boto3.client("s3", region_name=REGION)
    s3.create_bucket(Bucket=BUCKET)
    sqs = boto3.client("sqs", region_name=REGION)
    queue_url = sqs.create_queue(QueueName="deferred.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    intake_url = sqs.create_queue(QueueName="intake")["QueueUrl"]
    secrets = boto3.client("secretsmanager", region_name=REGION)
    secrets.create_secret(Name=SECRET, SecretString=json.dumps(keys or {}))
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "TOUCHSTONE_TABLE": TABLE_NAME,
        "TOUCHSTONE_IDEMPOTENCY_TABLE": IDEMPOTENCY,
        "TOUCHSTONE_BUCKET": BUCKET,
        "TOUCHSTONE_DEFERRED_QUEUE_URL": queue_url,
        "TOUCHSTONE_INTAKE_QUEUE_URL": intake_url,
        "TOUCHSTONE_SECRET_ID": SECRET,
        "TOUCHSTONE_SOLVE_MACHINE_ARN": "solve",
        "TOUCHSTONE_EVALUATE_MACHINE_ARN": "evaluate",
        "TOUCHSTONE_DRAIN_MACHINE_ARN": "drain",
        "TOUCHSTONE_TASK_MACHINE_ARN": "task",
        "TOUCHSTONE_SUBMISSION_MACHINE_ARN": "submission",
        "TOUCHSTONE_CHALLENGE_MACHINE_ARN": "challenge",
        "TOUCHSTONE_MEASURE_MACHINE_ARN": "measure",
        "TOUCHSTONE_EXPERIMENT_MACHINE_ARN": "experiment",
        "TOUCHSTONE_QUIZ_MACHINE_ARN": "quiz",
        "TOUCHSTONE_AUDIT_MACHINE_ARN": "audit",
        "TOUCHSTONE_PROVIDER_BATCH_MACHINE_ARN": "provider_batch",
        "TOUCHSTONE_BATCHES": "off",  # what waits for a batch waits for hours; tests of batches turn them on
        "TOUCHSTONE_SANDBOX_FUNCTION": "sandbox",
        "TOUCHSTONE_EVENT_BUS": EVENT_BUS,
        "POWERTOOLS_METRICS_NAMESPACE": "Touchstone",
        "TOUCHSTONE_EXPLORE_SHARE": "0",
        OFFSET_VARIABLE: str(-set_back_from_midnight(datetime.now(UTC)).total_seconds()),
        **variables,
    }.items():
        monkeypatch.setenv(name, value)
    _forget()
    made = _recorded_judges(monkeypatch)
    bus = Bus()
    monkeypatch.setattr(stores, "event_bus", lambda: EventBus(lambda: bus, EVENT_BUS))  # type: ignore[arg-type, return-value] # the part of a client that is used
    machines = Machines(sqs=sqs, s3=s3, queue_url=queue_url, bucket=BUCKET, context=Context())
    monkeypatch.setattr("touchstone.workflows.client", lambda: machines)
    try:
        yield Deployment(
            table=table,
            remembered=remembered,
            s3=s3,
            sqs=sqs,
            queue_url=queue_url,
            intake_url=intake_url,
            bus=bus,
            machines=machines,
        )
    finally:
        _close(made)
        _forget()


def _cached() -> Iterator[Any]:
    for module in (contexts, judging, stores, work, environment, idempotency):
        yield from (value for value in vars(module).values() if hasattr(value, "cache_clear"))


def _forget() -> None:
    """Forget every part that a process keeps between invocations."""
    for part in _cached():
        part.cache_clear()


def _recorded_judges(monkeypatch: pytest.MonkeyPatch) -> list[Judges | BatchApis]:
    """The judges and batch APIs that the composition opens from now on, so that their connections can be closed."""
    made: list[Judges | BatchApis] = []
    opened, opened_apis = judging._judges, judging.batch_apis

    def judges(*whose: Any, **how: Any) -> Judges:
        made.append(found := opened(*whose, **how))
        return found

    def apis(*listed: Any) -> BatchApis:
        made.append(found := opened_apis(*listed))
        return found

    monkeypatch.setattr(judging, "batch_apis", apis)
    monkeypatch.setattr(judging, "_judges", judges)
    return made


def _close(made: list[Judges | BatchApis]) -> None:
    for judges in made:
        work.run(judges.aclose())
    if work._runner.cache_info().currsize:
        work._runner().close()
