"""Audits: the functions of each step, the sandbox that proofs run in, the machine, and the weekly schedule.

The sandbox is the function that runs untrusted code. It has no permissions, no network and no secrets. In an account,
the function itself is the sandbox. Its role may not even write logs: the output of a script belongs in nobody's log,
and its result is in the reply. The function runs in subnets whose only way out leads to the store, where it can only
read bundles, by an expiring link that another function has signed. A local cloud has neither subnets nor a machine per
function: there each proof runs in bubblewrap, in a network of its own without a way out.
"""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import Function, JobConstruct, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.queues import Queues
from infra.constructs.schedules import call_regularly
from infra.constructs.store import Store
from infra.grants import BUNDLES, SCRATCH

MODULE = "functions.sandbox"
PROVING = Size(memory_mb=3008, timeout_s=400, storage_mb=6144)
"""The memory is enough for the import of a large target, and 512 MB for its proof. It also gives nearly two processors,
by which imports are limited. The time is enough for two imports of a target and two runs of a script, each a minute at
most, and the download of a bundle. The storage is enough for the archive of a bundle, the unpacked bundle, and the
files that a proof writes."""
ZONES = 2
"""How many zones, the region's first, are used if none are named. In a few old accounts one cannot hold functions."""
INTERFACES = (
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
)
"""The actions that Lambda needs, under the function's role, to place it in a subnet. The function's code is denied
them."""


class ProofSandbox(Construct):
    """The function, its role, and in an account its subnets."""

    def __init__(self, scope: Construct, construct_id: str, *, runtime: Runtime, store: Store) -> None:
        super().__init__(scope, construct_id)
        local = runtime.settings.local
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.vpc = None if local else self._isolated(store, runtime.settings.zones)
        self.function = runtime.function(
            self,
            handler=f"{MODULE}.handler",
            role=self.role,
            size=PROVING,
            tracing=lambda_.Tracing.DISABLED,
            environment={"TOUCHSTONE_SANDBOX": "bubblewrap" if local else "function"},
            vpc=self.vpc,
            vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED) if self.vpc else None,
            security_groups=[self._group(self.vpc)] if self.vpc else None,
        )
        if self.vpc is not None:
            self._let_lambda_place_it()

    def let_run_proofs(self, *functions: Function) -> None:
        """Let functions run proofs in the sandbox, and give them its name."""
        for function in functions:
            function.allow(["lambda:InvokeFunction"], self.function.function_arn)
            function.set(TOUCHSTONE_SANDBOX_FUNCTION=self.function.function_name)

    def _isolated(self, store: Store, zones: Sequence[str]) -> ec2.Vpc:
        """Subnets without a gateway, and an endpoint of the store by which only bundles can be read."""
        vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=None if zones else ZONES,
            availability_zones=list(zones) or None,
            nat_gateways=0,
            # The default group of a network lets its members reach each other; preventing that takes a function.
            restrict_default_security_group=False,
            subnet_configuration=[
                ec2.SubnetConfiguration(name="Isolated", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24)
            ],
        )
        endpoint = vpc.add_gateway_endpoint("Bundles", service=ec2.GatewayVpcEndpointAwsService.S3)
        endpoint.add_to_policy(
            iam.PolicyStatement(
                principals=[iam.AnyPrincipal()], actions=["s3:GetObject"], resources=[store.objects(BUNDLES)]
            )
        )
        return vpc

    def _group(self, vpc: ec2.Vpc) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, allow_all_outbound=False, description="The sandbox: to the store alone"
        )
        # The only route out of the subnets leads to the store.
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "Bundles, by the gateway to the store")
        return group

    def _let_lambda_place_it(self) -> None:
        """Let Lambda create network interfaces, but not the function's own code.

        Requests of the code carry the function's ARN as their source, and are denied by it.
        """
        allowed = iam.PolicyStatement(actions=list(INTERFACES), resources=["*"])
        interfaces = iam.Policy(self, "Interfaces", roles=[self.role], statements=[allowed])
        self.function.node.add_dependency(interfaces)
        denied = iam.PolicyStatement(
            effect=iam.Effect.DENY,
            actions=list(INTERFACES),
            resources=["*"],
            conditions={"ArnEquals": {"lambda:SourceFunctionArn": self.function.function_arn}},
        )
        iam.Policy(self, "Withheld", roles=[self.role], statements=[denied])


INSTALLING = Size(memory_mb=3008, timeout_s=900, storage_mb=10_240)
"""For a function that downloads, unpacks and compiles a target with its dependencies, and packs the result."""
PREPARING = Size(memory_mb=1024, timeout_s=900)
"""For a function that waits for the target's import in the sandbox, and writes a file for each case."""
TURNING = Size(memory_mb=1769, timeout_s=900, storage_mb=6144)
"""For a function that reads the target's sources, which it keeps on disk, and waits for the model and for proofs."""
CONCLUDING = Size(memory_mb=3008, timeout_s=900)
"""For a function that holds all proofs of a thousand cases, about 50 KB each."""
BEGINNING = Size(memory_mb=512, timeout_s=300)


class Audits(JobConstruct):
    """Audits, from their definitions to their reports."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        runtime: Runtime,
        store: Store,
        queues: Queues,
        answers: AnswerFunctions,
    ) -> None:
        super().__init__(scope, construct_id, runtime=runtime, package="audits")
        self.sandbox = ProofSandbox(self, "Sandbox", runtime=runtime, store=store)
        self._functions(store)
        self.machine = Machine(
            self,
            "Machine",
            name="audit",
            calls={
                "AuditInstallFunction": self.install,
                "AuditPrepareFunction": self.prepare,
                "AuditTurnFunction": self.turn,
                "AuditConcludeFunction": self.conclude,
            },
            places={"Bucket": store.bucket.bucket_name},
            # Each case occupies a function for minutes, and a second function while a proof runs.
            at_once=max(1, runtime.settings.batch_concurrency // 2),
        )
        self.machine.let_map_over(store.objects(SCRATCH))
        self.let_start_machines(answers.sweep, self.weekly)
        call_regularly(
            self,
            "EachWeek",
            self.weekly,
            description="Audit again what is to be audited each week",
            schedule=scheduler.ScheduleExpression.cron(minute="0", hour="3", week_day="MON"),
            within=Duration.minutes(60),
            dead_letters=queues.dead_letters,
        )

    def let_start_machines(self, *functions: Function) -> None:
        """Let functions start the machine that runs audits."""
        self.machine.let_start(*functions)

    def _functions(self, store: Store) -> None:
        self.install = self._function("Install", INSTALLING)
        self.prepare = self._function("Prepare", PREPARING)
        self.turn = self._function("Turn", TURNING)
        self.conclude = self._function("Conclude", CONCLUDING)
        self.weekly = self._function("Weekly", BEGINNING)
        # A function's home is read-only, and a function that installs one target downloads nothing twice.
        self.install.set(UV_NO_CACHE="1")
        everyone = (self.install, self.prepare, self.turn, self.conclude, self.weekly)
        store.let_use(*everyone)
        store.let_read_judge_keys(self.prepare, self.turn)
        self.sandbox.let_run_proofs(self.prepare, self.turn)
