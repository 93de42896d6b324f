"""A state machine read from its YAML, with a role that allows exactly the actions of its states."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from aws_cdk import ArnFormat, Aws, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.constructs.function import LOG_RETENTION, Function

EXECUTION_SEPARATORS = ("/", ":")
"""The characters behind the machine's name in the ARN of an execution.

"/" for an execution that a map starts for an item, ":" for any other execution.
"""
DEFINITIONS = Path(__file__).resolve().parent.parent / "state_machines"


def definition(name: str) -> dict[str, Any]:
    """The definition in `state_machines/<name>.asl.yaml`, with its `${…}` placeholders still in place."""
    content = yaml.safe_load((DEFINITIONS / f"{name}.asl.yaml").read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise TypeError(f"{name}.asl.yaml holds no state machine.")
    return content


def bounded(machine: dict[str, Any], at_once: int | None) -> dict[str, Any]:
    """The definition with the concurrency of its maps set to `at_once`.

    An inline map keeps its own limit if that is lower. None changes nothing.
    """
    for state in machine["States"].values():
        if state["Type"] == "Map" and at_once is not None:
            inline = state["ItemProcessor"].get("ProcessorConfig", {}).get("Mode", "INLINE") == "INLINE"
            state["MaxConcurrency"] = min(state["MaxConcurrency"], at_once) if inline else at_once
    return machine


class Machine(Construct):
    """A state machine. `calls` maps each placeholder `${Name}` of the definition to the function it stands for.

    `at_once` is how many items of a map are processed at once (see `bounded`). `places` gives the values of further
    placeholders. `${Partition}` is the AWS partition of the deployment: ARNs of China and of GovCloud begin
    differently.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        calls: dict[str, Function],
        express: bool = False,
        at_once: int | None = None,
        places: dict[str, str] | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.name = name
        self.express = express
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("states.amazonaws.com"))
        self.allow(["lambda:InvokeFunction"], *(function.arn for function in calls.values()))
        self.machine = sfn.StateMachine(
            self,
            "Machine",
            definition_body=sfn.DefinitionBody.from_string(
                json.dumps(bounded(definition(name), at_once), ensure_ascii=False)
            ),
            definition_substitutions={
                "Partition": Aws.PARTITION,
                **{placeholder: function.arn for placeholder, function in calls.items()},
                **(places or {}),
            },
            state_machine_type=sfn.StateMachineType.EXPRESS if express else sfn.StateMachineType.STANDARD,
            role=self.role,
            tracing_enabled=True,
            logs=sfn.LogOptions(
                destination=logs.LogGroup(
                    self,
                    "Logs",
                    # With this prefix no machine needs an entry in the account's log policy, which has a size limit.
                    log_group_name=f"/aws/vendedlogs/states/{self.node.addr}",
                    retention=LOG_RETENTION,
                    removal_policy=RemovalPolicy.DESTROY,
                ),
                level=sfn.LogLevel.ALL,
                include_execution_data=False,  # the data are only references, and still nobody should read them
            ),
        )

    def allow(self, actions: Sequence[str], *resources: str) -> None:
        """Allow the machine exactly `actions` on exactly `resources`."""
        self.role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=list(resources)))

    def let_map_over(self, lists: str) -> None:
        """Let a Distributed Map read its lists, and start an execution of its own machine for each item.

        This takes a separate policy: the machine depends on its role's own policy, which therefore cannot name the
        machine. An item's execution is named after its map run, `machine/label:…`; the form of any other execution,
        `machine:…`, is granted as well.
        """
        self.allow(["s3:GetObject"], lists)
        runs = [
            Stack.of(self).format_arn(
                service="states",
                resource="execution",
                resource_name=f"{self.machine.state_machine_name}{separator}*",
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            for separator in EXECUTION_SEPARATORS
        ]
        iam.Policy(
            self,
            "MapRuns",
            roles=[self.role],
            statements=[
                iam.PolicyStatement(actions=["states:StartExecution"], resources=[self.arn]),
                # A broken map run is redriven with its items: only the items that did not end are done again.
                iam.PolicyStatement(
                    actions=["states:DescribeExecution", "states:StopExecution", "states:RedriveExecution"],
                    resources=runs,
                ),
            ],
        )

    @property
    def arn(self) -> str:
        """The machine's ARN."""
        return self.machine.state_machine_arn

    def let_start(self, *functions: Function) -> None:
        """Let functions start the machine, and give them its ARN: `TOUCHSTONE_<NAME>_MACHINE_ARN`."""
        for function in functions:
            function.allow(["states:StartExecution"], self.arn)
            function.set(**{f"TOUCHSTONE_{self.name.upper()}_MACHINE_ARN": self.arn})
