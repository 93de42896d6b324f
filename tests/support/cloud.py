"""A deployed stack as its users meet it: the API, the bucket, the queues, the schedules, and the judge behind it all.

Everything is found by the environment (`AWS_ENDPOINT_URL` and credentials, `TOUCHSTONE_STACK`, `TOUCHSTONE_API_URL`,
`TOUCHSTONE_TEST_JUDGE`), so the same tests run against any endpoint that the stack was deployed into.
"""

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import boto3
import httpx
from botocore.config import Config

from touchstone.clock import OFFSET_VARIABLE
from touchstone.records import Artifacts, Role, Statistics, Tenants, Tokens

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
API_VARIABLE = "TOUCHSTONE_API_URL"
JUDGE_VARIABLE = "TOUCHSTONE_TEST_JUDGE"
STACK_VARIABLE = "TOUCHSTONE_STACK"
REGISTRY_VARIABLE = "TOUCHSTONE_REGISTRY_OVERRIDES"
CALL_SECONDS = 60.0
"""Longest wait for one reply: a cold start on a busy machine takes a few seconds, a hang is a failure."""
PAUSE_SECONDS = 0.1


def eventually[T](look: Callable[[], T | None], *, what: str, seconds: float = 60.0, pause: float = PAUSE_SECONDS) -> T:
    """What `look` returns once it is neither None nor False, looked at every `pause` seconds.

    Fails, naming `what`, after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        assert time.monotonic() < deadline, f"Not within {seconds:g} s: {what}"
        time.sleep(pause)


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Somebody with a token (None: without one), talking to the API."""

    http: httpx.Client
    tenant: str
    token: str | None

    def send(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **options: Any
    ) -> httpx.Response:
        """One request, with the caller's token unless `headers` says otherwise."""
        own = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        return self.http.request(method, path.lstrip("/"), headers={**own, **(headers or {})}, **options)

    def get(self, path: str, **options: Any) -> Any:
        """What a successful GET returns."""
        return said(self.send("GET", path, **options), 200)

    def verify(self, *, key: str | None = None, **request: Any) -> dict[str, Any]:
        """Verify an answer; the view that comes back."""
        return dict(said(self.send("POST", "v1/verifications", json=request, headers=_key(key)), 201))

    def solve(self, *, key: str | None = None, **request: Any) -> dict[str, Any]:
        """Start solving a problem; the view that comes back at once."""
        return dict(said(self.send("POST", "v1/solutions", json=request, headers=_key(key)), 202))

    def answer(self, answer_id: str) -> dict[str, Any]:
        """An answer as it is now."""
        return dict(self.get(f"v1/answers/{answer_id}"))

    def ended(self, answer_id: str, *, seconds: float = 90.0) -> dict[str, Any]:
        """An answer once it is finished or failed."""

        def look() -> dict[str, Any] | None:
            view = self.answer(answer_id)
            return view if view["stage"] in {"finished", "failed"} else None

        return eventually(look, what=f"the end of answer {answer_id}", seconds=seconds)

    def evaluated(self, answer_id: str, *, states: Sequence[str] = ("done", "failed"), seconds: float = 60.0) -> Any:
        """An answer once its deep evaluation is in one of `states`."""

        def look() -> dict[str, Any] | None:
            view = self.answer(answer_id)
            return view if view["evaluation"]["state"] in states else None

        return eventually(look, what=f"evaluation of {answer_id} {' or '.join(states)}", seconds=seconds)

    def batch_ended(self, *, seconds: float = 300.0) -> dict[str, Any]:
        """The caller's latest batch once it runs no more."""

        def look() -> dict[str, Any] | None:
            batches = self.get("v1/batches")["items"]
            return batches[0] if batches and batches[0]["state"] != "running" else None

        return eventually(look, what="the end of the batch", seconds=seconds, pause=0.5)

    def summaries(self) -> list[dict[str, Any]]:
        """All the caller's answers as they are listed, newest first, page by page."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = self.get("v1/answers", params={"limit": 100, **({"cursor": cursor} if cursor else {})})
            found += page["items"]
            cursor = page["cursor"]
            if cursor is None:
                return found


def said(reply: httpx.Response, status: int) -> Any:
    """The JSON of a reply that must have this status."""
    assert reply.status_code == status, f"{reply.request.method} {reply.request.url.path}: {reply.text}"
    return reply.json()


def refusal(reply: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of a request that must be refused with this status."""
    assert reply.status_code == status, f"{reply.status_code}: {reply.text}"
    assert reply.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = reply.json()
    assert document["status"] == status
    assert document["type"].startswith("urn:touchstone:problem:")
    assert document["detail"]
    return document


def _key(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


@dataclass(frozen=True, kw_only=True)
class JudgeServer:
    """The judge on loopback, arranged and read back through its control endpoint."""

    url: str

    def arrange(self, **control: Any) -> None:
        """Send a control message: `script`, `rules`, `quotas`, `fallback`, `new_day`, `reset`."""
        httpx.post(f"{self.url}/__control__", json=control, timeout=CALL_SECONDS).raise_for_status()

    def rule(self, behaviour: Mapping[str, Any], **fits: Any) -> None:
        """Answer the requests that fit so from now on; the newest rule that fits decides."""
        self.arrange(rules=[{"behaviour": dict(behaviour), **fits}])

    def reply(self, title: str, value: Any, **fits: Any) -> None:
        """Answer the questions for this reply with `value` from now on."""
        self.rule({"value": value}, schema_title=title, **fits)

    def calls(self, *, model: str | None = None, title: str | None = None, text: str = "") -> list[dict[str, Any]]:
        """The requests that arrived, in order: of this model, for this reply, with this text in their prompt."""
        reply = httpx.get(f"{self.url}/__control__", timeout=CALL_SECONDS)
        return [
            call
            for call in reply.raise_for_status().json()["calls"]
            if model in {None, call["model"]} and title in {None, call["title"]} and text in call["prompt"]
        ]


@dataclass(frozen=True)
class Functions:
    """The stack's functions, by the names of their constructs (`AnswersEvaluate`, `ApiApp`, `Intake` …)."""

    client: Any
    names: Mapping[str, str]

    def environment(self, name: str) -> dict[str, str]:
        """The variables of a function."""
        reply = self.client.get_function_configuration(FunctionName=self.names[name])
        return dict(reply.get("Environment", {}).get("Variables", {}))

    def set(self, *names: str, timeout: int | None = None, variables: Mapping[str, str] | None = None) -> None:
        """Change variables, or the timeout in seconds, of functions; the next call of each is cold in any case."""
        for name in names:
            changes: dict[str, Any] = {} if timeout is None else {"Timeout": timeout}
            changes["Environment"] = {"Variables": {**self.environment(name), **(variables or {})}}
            self.client.update_function_configuration(FunctionName=self.names[name], **changes)
        for name in names:
            self._settled(name)

    @contextmanager
    def changed(
        self, *names: str, timeout: int | None = None, variables: Mapping[str, str] | None = None
    ) -> Iterator[None]:
        """Functions with other variables, or another timeout, for the length of a `with`."""
        before = {name: self.client.get_function_configuration(FunctionName=self.names[name]) for name in names}
        self.set(*names, timeout=timeout, variables=variables)
        try:
            yield
        finally:
            for name, known in before.items():
                self.client.update_function_configuration(
                    FunctionName=self.names[name], Environment=known["Environment"], Timeout=known["Timeout"]
                )
            for name in names:
                self._settled(name)

    @contextmanager
    def side_by_side(self, name: str, most: int) -> Iterator[None]:
        """A function that takes messages with at most so many of its kind, for the length of a `with`."""
        [source] = self.client.list_event_source_mappings(FunctionName=self.names[name])["EventSourceMappings"]
        before = source["ScalingConfig"]
        self.client.update_event_source_mapping(UUID=source["UUID"], ScalingConfig={"MaximumConcurrency": most})
        try:
            yield
        finally:
            self.client.update_event_source_mapping(UUID=source["UUID"], ScalingConfig=before)

    def run(self, name: str, event: Any) -> Any:
        """What a function returns for an event, as a schedule would invoke it."""
        reply = self.client.invoke(FunctionName=self.names[name], Payload=json.dumps(event).encode())
        result = json.loads(reply["Payload"].read())
        assert "FunctionError" not in reply, result
        return result

    def _settled(self, name: str) -> None:
        def look() -> bool:
            state = self.client.get_function_configuration(FunctionName=self.names[name])
            return bool(state.get("LastUpdateStatus", "Successful") == "Successful" and state["State"] == "Active")

        eventually(look, what=f"the update of {name}")


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
        make: Any = boto3.client  # typed for literal names of services only
        client = make(service, config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 2}))
        self._open.callback(client.close)
        return client

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
        make: Any = boto3.resource
        resource = make("dynamodb")
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
    def impatient_intake(self) -> Iterator[None]:
        """An intake that gives a message back after seconds, so that a hopeless one is given up within a test."""
        url = self.outputs["IntakeQueueUrl"]
        name = "VisibilityTimeout"
        before = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"][name]
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={name: "4"})
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
        return Statistics(self.table, Artifacts(self.s3, self.outputs["BucketName"], root="artifacts"))


def clock_at(moment: datetime) -> dict[str, str]:
    """The variable that makes functions believe that it is `moment` now."""
    offset: timedelta = moment - datetime.now(UTC)
    return {OFFSET_VARIABLE: f"{offset.total_seconds():.0f}"}


def own_model(*, tier: str, per_day: int | None = None, per_minute: int | None = None) -> tuple[str, dict[str, Any]]:
    """A model for one test alone, whose quota nobody else uses: its name, and the registry override that makes it."""
    name = f"{tier}-{uuid.uuid4().hex[:8]}"
    model = {"price_in": 0.1, "price_out": 0.4, "per_day": per_day, "per_minute": per_minute}
    return name, {"tiers": {tier: name}, "models": {name: model}}


def registry(**providers: Any) -> dict[str, str]:
    """The variable that lays these over the model registry."""
    return {REGISTRY_VARIABLE: json.dumps(providers)}
