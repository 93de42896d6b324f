"""One Lambda function: its own role, its own log group, only the layers and variables that it needs."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import AssetHashType, Duration, RemovalPolicy
from aws_cdk import Size as Storage
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.layers import CARRIED, PARTS, Code
from infra.settings import ASSETS_BUCKET, Settings

SMALL_MB = 512
"""The storage in MB that every function has without asking for more."""
LOG_RETENTION = logs.RetentionDays.ONE_MONTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """`memory_mb` also sets the share of a processor: 1,769 MB is one whole. `storage_mb` is the size of `/tmp`."""

    memory_mb: int
    timeout_s: int
    storage_mb: int = 512


class Runtime(Construct):
    """The parts that all functions share: the code of the handlers, the library, and the third-party layers.

    If `code` is None, the template names `<part>.zip` in `ASSETS_BUCKET`, and the deploying program puts the parts
    there. This lets a laptop synthesize once and then deploy each change of code without the CDK.
    """

    def __init__(self, scope: Construct, construct_id: str, *, code: Code | None, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.settings = settings
        self.architecture = (
            lambda_.Architecture.ARM_64 if settings.architecture == "arm64" else lambda_.Architecture.X86_64
        )
        self._assets = s3.Bucket.from_bucket_name(self, "Assets", ASSETS_BUCKET) if code is None else None
        self._code = code
        self.entry_points = self._part("functions")
        self._layers = {
            name: lambda_.LayerVersion(
                self,
                name.capitalize(),
                code=self._part(name),
                compatible_architectures=[self.architecture],
                compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
                description=f"Touchstone: {name}",
            )
            for name in PARTS
            if name != "functions"
        }

    def _part(self, name: str) -> lambda_.Code:
        if self._assets is not None:
            return lambda_.Code.from_bucket(self._assets, f"{name}.zip")
        folder: Path = getattr(self._code, name)
        # The folder's name is a hash of its content already; the CDK need not read a hundred megabytes to compute one.
        digest = hashlib.sha256(folder.name.encode()).hexdigest()
        return lambda_.Code.from_asset(str(folder), asset_hash=digest, asset_hash_type=AssetHashType.CUSTOM)

    def function(self, scope: Construct, *, handler: str, role: iam.IRole, size: Size, **more: Any) -> lambda_.Function:
        """A Lambda function that calls `handler`, a Python function, under `role`; `more` as in `lambda_.Function`.

        Its layers are the library, its basic dependencies, and the layers from `CARRIED`.
        """
        carried = CARRIED.get(door_of(handler), ())
        return lambda_.Function(
            scope,
            "Function",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=self.architecture,
            code=self.entry_points,
            handler=handler,
            layers=[self._layers[name] for name in ("core", "runtime", *carried)],
            role=role,
            memory_size=size.memory_mb,
            ephemeral_storage_size=Storage.mebibytes(size.storage_mb) if size.storage_mb > SMALL_MB else None,
            timeout=Duration.seconds(size.timeout_s),
            **more,
        )


def door_of(handler: str) -> str:
    """The key of the Python function that Lambda calls, in `infra.grants` and in `infra.layers`."""
    return handler.removesuffix(".handler")


class Function(Construct):
    """A Lambda function that may write logs and traces, and nothing else yet.

    `handler` is the path of the Python function that Lambda calls. Without `.handler` it is the function's door: its
    key in `infra.grants` and, for its layers, in `infra.layers`. `waited_for`: a caller waits for the function, so that
    executions are reserved for it if the deployment reserves any.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        runtime: Runtime,
        handler: str,
        size: Size,
        waited_for: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        settings = runtime.settings
        self.entry_point = door_of(handler)
        self._local = settings.local
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY if settings.local else RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.allow(["logs:CreateLogStream", "logs:PutLogEvents"], self.log_group.log_group_arn)
        self.function = runtime.function(
            self,
            handler=handler,
            role=self.role,
            size=size,
            reserved_concurrent_executions=settings.api_concurrency if waited_for else None,
            tracing=lambda_.Tracing.ACTIVE,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            environment={"POWERTOOLS_SERVICE_NAME": "touchstone", **settings.environment},
        )

    def allow(
        self, actions: Sequence[str], *resources: str, leading: Sequence[str] = ("*",), but: Sequence[str] = ()
    ) -> None:
        """Allow the function exactly `actions` on exactly `resources`.

        `leading` holds patterns of the partition keys on which it may use the actions; `but` holds patterns of
        exceptions.
        """
        conditions = {
            comparison: {"dynamodb:LeadingKeys": list(patterns)}
            for comparison, patterns in (("ForAllValues:StringLike", leading), ("ForAllValues:StringNotLike", but))
            if patterns and list(patterns) != ["*"]
        }
        self.role.add_to_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resources), conditions=conditions or None)
        )

    def set(self, **variables: str) -> None:
        """Set environment variables of the function."""
        for name, value in variables.items():
            self.function.add_environment(name, value)

    def keep_failures(self, dead_letters: sqs.IQueue) -> None:
        """Keep each call that nobody waits for and that failed three times. A laptop's cloud keeps none."""
        if self._local:
            return
        self.allow(["sqs:SendMessage"], dead_letters.queue_arn)
        kept = lambda_.CfnEventInvokeConfig(
            self,
            "Failures",
            function_name=self.function.function_name,
            qualifier="$LATEST",
            destination_config={"onFailure": {"destination": dead_letters.queue_arn}},
        )
        kept.node.add_dependency(self.role)  # Lambda looks whether the role may send there

    @property
    def arn(self) -> str:
        """The function's unqualified ARN."""
        return self.function.function_arn


class JobConstruct(Construct):
    """The part of the stack that does one job. Its functions have their doors in the package `functions.<package>`."""

    def __init__(self, scope: Construct, construct_id: str, *, runtime: Runtime, package: str) -> None:
        super().__init__(scope, construct_id)
        self._runtime = runtime
        self._package = package

    def _function(self, construct_id: str, size: Size) -> Function:
        """The function of the job's door that is called as the construct, in lower case."""
        handler = f"functions.{self._package}.{construct_id.lower()}"
        return Function(self, construct_id, runtime=self._runtime, handler=handler, size=size)
