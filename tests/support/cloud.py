"""A deployed stack as its users meet it: the API, the bucket, the queues, the schedules, and the judge behind it all.

Everything is found by the environment (`AWS_ENDPOINT_URL` and credentials, `TOUCHSTONE_STACK`, `TOUCHSTONE_API_URL`,
`TOUCHSTONE_TEST_JUDGE`), so the same tests run against any endpoint that the stack was deployed into.
"""

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import httpx
from botocore.config import Config
from localstack_client.session import Session

from tests.support.callers import CALL_SECONDS, Caller
from tests.support.judge_server import JudgeServer
from tests.support.stack_functions import Functions
from tests.support.waiting import eventually
from touchstone.budgets import QuotaKey, Quotas
from touchstone.records import Artifacts, Role, Statistics, Tenants, Tokens

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
API_VARIABLE = "TOUCHSTONE_API_URL"
JUDGE_VARIABLE = "TOUCHSTONE_TEST_JUDGE"
STACK_VARIABLE = "TOUCHSTONE_STACK"
CLOUDS_VARIABLE = "TOUCHSTONE_TEST_CLOUDS"
"""Several clouds, a JSON list with the variables of each: one for each process that shares the tests."""
CONFIG = Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 2}, inject_host_prefix=False)
"""No endpoint but AWS itself has a sub-host for each bucket and service."""


def take_cloud() -> None:
    """Take the cloud of this process, where several processes share the tests."""
    clouds = json.loads(os.environ.get(CLOUDS_VARIABLE, "[]"))
    if clouds:
        number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        os.environ.update(clouds[number % len(clouds)])


@dataclass(frozen=True)
class Cloud:
    """The deployed stack."""

    stack: str
    api_url: str
    judge: JudgeServer
    http: httpx.Client
    _open: ExitStack

    @classmethod
    @contextmanager
    def of_environment(cls) -> Iterator["Cloud"]:
        """The stack that the environment names, with connections for the length of a `with`."""
        api_url = os.environ[API_VARIABLE].rstrip("/") + "/"
        with ExitStack() as opened:
            http = opened.enter_context(httpx.Client(base_url=api_url, timeout=CALL_SECONDS))
            judge = JudgeServer(url=os.environ[JUDGE_VARIABLE])
            yield cls(stack=os.environ[STACK_VARIABLE], api_url=api_url, judge=judge, http=http, _open=opened)

    def client(self, service: str) -> Any:
        """A boto3 client for a service of the endpoint."""
        client = self._session.client(service, config=CONFIG)
        self._open.callback(client.close)
        return client

    @cached_property
    def _session(self) -> Any:
        """Clients of whatever `AWS_ENDPOINT_URL` names: the local cloud, LocalStack, or what answers as they do."""
        known = {name: os.environ.get(name.upper()) for name in ("aws_access_key_id", "aws_secret_access_key")}
        return Session(
            **{name: value for name, value in known.items() if value},
            aws_session_token=os.environ.get("AWS_SESSION_TOKEN") or None,
            region_name=os.environ.get("AWS_REGION", "us-east-1"),
        )

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The stack's outputs by name."""
        found = self.client("cloudformation").describe_stacks(StackName=self.stack)["Stacks"][0]["Outputs"]
        return {output["OutputKey"]: output["OutputValue"] for output in found}

    @cached_property
    def resources(self) -> dict[str, tuple[str, str]]:
        """Type and physical id of the stack's resources, by logical id."""
        pages = self.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=self.stack)
        return {
            found["LogicalResourceId"]: (found["ResourceType"], found["PhysicalResourceId"])
            for page in pages
            for found in page["StackResourceSummaries"]
        }

    @cached_property
    def functions(self) -> Functions:
        """The stack's functions."""
        return Functions(
            self.client("lambda"),
            {
                logical.partition("Function")[0]: physical
                for logical, (kind, physical) in self.resources.items()
                if kind == "AWS::Lambda::Function"
            },
        )

    @cached_property
    def s3(self) -> Any:
        """The bucket's client."""
        return self.client("s3")

    @cached_property
    def sqs(self) -> Any:
        """The queues' client."""
        return self.client("sqs")

    @cached_property
    def machines(self) -> Any:
        """The state machines' client."""
        return self.client("stepfunctions")

    @cached_property
    def table(self) -> Any:
        """The table, for what only an operator does: making tenants, and counting again."""
        resource = self._session.resource("dynamodb", config=CONFIG)
        self._open.callback(resource.meta.client.close)
        return resource.Table(self.outputs["TableName"])

    def anybody(self, token: str | None = None, *, tenant: str = "nobody") -> Caller:
        """A caller with this token, or with none."""
        return Caller(http=self.http, tenant=tenant, token=token)

    def tenant(self, name: str = "t") -> Caller:
        """The admin of a tenant made for one test."""
        tenant = f"{name}-{uuid.uuid4().hex[:12]}"
        Tenants(self.table).create(tenant=tenant, name=name)
        return self.with_role(tenant, "admin")

    def with_role(self, tenant: str, role: Role) -> Caller:
        """A caller with a new token of this role."""
        token, _ = Tokens(self.table).issue(tenant=tenant, role=role, name=role)
        return self.anybody(token, tenant=tenant)

    def logged(self, since: float) -> Iterator[tuple[str, str]]:
        """Log group and message of everything that the stack logged since a moment (Unix time)."""
        logs = self.client("logs")
        groups = [physical for kind, physical in self.resources.values() if kind == "AWS::Logs::LogGroup"]
        groups += [f"/aws/lambda/{name}" for name in self.functions.names.values()]
        for group in dict.fromkeys(groups):
            try:
                pages = logs.get_paginator("filter_log_events").paginate(
                    logGroupName=group, startTime=int(since * 1000)
                )
                for page in pages:
                    yield from ((group, event["message"]) for event in page["events"])
            except logs.exceptions.ResourceNotFoundException:
                continue

    @contextmanager
    def judge_keys(self, keys: Mapping[str, str]) -> Iterator[None]:
        """Other keys in the deployment's secret for the length of a `with`; functions remember those they have read."""
        secrets, where = self.client("secretsmanager"), self.outputs["JudgeKeysSecretArn"]
        before = secrets.get_secret_value(SecretId=where)["SecretString"]
        secrets.put_secret_value(SecretId=where, SecretString=json.dumps(dict(keys)))
        try:
            yield
        finally:
            secrets.put_secret_value(SecretId=where, SecretString=before)

    def fire(self, name: str) -> None:
        """Let a schedule of the stack come round now: one like it, once, to the same target by the same role."""
        scheduler = self.client("scheduler")
        [known] = [
            physical
            for logical, (kind, physical) in self.resources.items()
            if kind == "AWS::Scheduler::Schedule" and name in logical
        ]
        scheduler.create_schedule(
            Name=f"now-{uuid.uuid4().hex[:12]}",
            ScheduleExpression=f"at({datetime.now(UTC) + timedelta(seconds=1):%Y-%m-%dT%H:%M:%S})",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target=scheduler.get_schedule(Name=known)["Target"],
            ActionAfterCompletion="DELETE",
        )

    def start_machine(self, output: str) -> str:
        """Start the machine of an output, as its schedule does; the execution's ARN."""
        return str(self.machines.start_execution(stateMachineArn=self.outputs[output], input="{}")["executionArn"])

    def failed_runs(self, output: str, prefix: str) -> list[str]:
        """The names of failed executions of the machine of an output that begin so."""
        found = self.machines.list_executions(stateMachineArn=self.outputs[output], statusFilter="FAILED")
        return [run["name"] for run in found["executions"] if run["name"].startswith(prefix)]

    def execution(self, arn: str, *, seconds: float = 120.0) -> dict[str, Any]:
        """An execution once it has ended."""

        def look() -> dict[str, Any] | None:
            found: dict[str, Any] = self.machines.describe_execution(executionArn=arn)
            return None if found["status"] == "RUNNING" else found

        return eventually(look, what=f"the end of {arn}", seconds=seconds)

    def waiting_messages(self, output: str) -> int:
        """How many messages lie in the queue of an output, seen or unseen."""
        counts = self.sqs.get_queue_attributes(QueueUrl=self.outputs[output], AttributeNames=["All"])["Attributes"]
        return sum(
            int(counts[f"ApproximateNumberOfMessages{kind}"])
            for kind in ("", "NotVisible", "Delayed")
            if f"ApproximateNumberOfMessages{kind}" in counts
        )

    def evaluations(self, tenant: str) -> dict[str, int]:
        """How many deep evaluations of a tenant are in which state."""
        return self._statistics.evaluations(tenant)

    def peek(self, output: str) -> list[str]:
        """The bodies of the first messages in the queue of an output, which stay there."""
        url = self.outputs[output]
        found = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        for message in found:
            handle = message["ReceiptHandle"]
            self.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
        return [str(message["Body"]) for message in found]

    @contextmanager
    def impatient_intake(self, *, seconds: int = 4) -> Iterator[None]:
        """An intake that gives a message back after seconds, so that a hopeless one is given up within a test."""
        url = self.outputs["IntakeQueueUrl"]
        name = "VisibilityTimeout"
        before = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"][name]
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={name: str(seconds)})
        try:
            yield
        finally:
            self.sqs.set_queue_attributes(QueueUrl=url, Attributes={name: before})

    def dead_letter(self, mark: str) -> dict[str, Any] | None:
        """The dead letter that holds this text, None while there is none."""
        url = self.outputs["DeadLetterQueueUrl"]
        found = self.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=2, MessageSystemAttributeNames=["All"]
        )
        return next((dict(message) for message in found.get("Messages", []) if mark in message["Body"]), None)

    def forget(self, letter: Mapping[str, Any]) -> None:
        """Take a message out of the dead letters."""
        self.sqs.delete_message(QueueUrl=self.outputs["DeadLetterQueueUrl"], ReceiptHandle=letter["ReceiptHandle"])

    def forget_refusals(self) -> None:
        """Forget what providers said of their models and keys, as an operator does who has mended them."""
        quotas = Quotas(self.table)
        for page in self.table.meta.client.get_paginator("scan").paginate(
            TableName=self.table.name,
            FilterExpression="begins_with(pk, :quota) AND sk = :current",
            ExpressionAttributeValues={":quota": "QUOTA#", ":current": "CURRENT"},
        ):
            for item in page["Items"]:
                _, provider, model, account, *share = item["pk"].split("#")
                if not share:
                    quotas.forget(QuotaKey(provider=provider, model=model, account=account))

    def counters(self, tenant: str) -> dict[str, Any]:
        """Everything that has accumulated for a tenant."""
        statistics = self._statistics
        rates = statistics.rates(tenant)
        return {
            "provider": rates.provider_subject,
            "subject": rates.model_subject,
            "difficulty": rates.model_difficulty,
            "evaluations": self.evaluations(tenant),
            "volume": statistics.volume(tenant, days=90),
            "trends": statistics.trends(tenant, days=90),
            "suggestions": statistics.suggestions(tenant, limit=100),
            "approaches": statistics.approaches(tenant, limit=100),
        }

    def assert_counted_once(self, tenant: str) -> None:
        """Every counter of a tenant says what a recount of its records says."""
        before = self.counters(tenant)
        self._statistics.rebuild(tenant)
        assert self.counters(tenant) == before

    @cached_property
    def _statistics(self) -> Statistics:
        return Statistics(self.table, Artifacts(lambda: self.s3, self.outputs["BucketName"], root="artifacts"))
