"""A state machine read from its YAML, with a role that may do what its states do and nothing more."""

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
"""What follows the machine's name in the ARN of an execution of a map's item, and of one started by itself."""
DEFINITIONS = Path(__file__).resolve().parent.parent / "state_machines"


def definition(name: str) -> dict[str, Any]:
    """The definition in `state_machines/<name>.asl.yaml`, with its `${…}` still in place."""
    content = yaml.safe_load((DEFINITIONS / f"{name}.asl.yaml").read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise TypeError(f"{name}.asl.yaml holds no state machine.")
    return content


def bounded(machine: dict[str, Any], at_once: int | None) -> dict[str, Any]:
    """The definition with maps of so many items at once: what is inline no wider than it says itself."""
    for state in machine["States"].values():
        if state["Type"] == "Map" and at_once is not None:
            inline = state["ItemProcessor"].get("ProcessorConfig", {}).get("Mode", "INLINE") == "INLINE"
            state["MaxConcurrency"] = min(state["MaxConcurrency"], at_once) if inline else at_once
    return machine


class Machine(Construct):
    """A state machine. `calls` maps the `${Name}` of a definition to the function it stands for.

    `at_once`: how many items of a map are in work at once, whatever the definition says.

    `${Partition}` stands for where it is deployed: ARNs of China and of GovCloud begin otherwise.
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
                    # The prefix spares the account's log policy, which would outgrow its limit machine by machine.
                    log_group_name=f"/aws/vendedlogs/states/{self.node.addr}",
                    retention=LOG_RETENTION,
                    removal_policy=RemovalPolicy.DESTROY,
                ),
                level=sfn.LogLevel.ALL,
                include_execution_data=False,  # references only, and still nobody's to read
            ),
        )

    def allow(self, actions: Sequence[str], *resources: str) -> None:
        """Let the machine do exactly `actions` on exactly `resources`."""
        self.role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=list(resources)))

    def let_map_over(self, lists: str) -> None:
        """Let a Distributed Map read its lists, and start its items as executions of its own machine.

        A policy apart, since the machine waits for its role's own policy and could not be named in that. An item is
        named after its map run, `machine/label:…`; the form of any other execution, `machine:…`, is granted beside it.
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
                # What broke off is redriven with its items: only those that did not end are done again.
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

    def let_start(self, *functions: Function, variable: str) -> None:
        """Let functions start it, and tell them where it is."""
        for function in functions:
            function.allow(["states:StartExecution"], self.arn)
            function.set(**{variable: self.arn})
