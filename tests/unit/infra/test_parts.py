"""Parts of the stack by themselves, under settings that the whole of it is not synthesized with."""

import json
import os
from collections.abc import Callable
from typing import Any

from infra import toolchain
from infra.settings import Settings


def synthesized(settings: Settings, build: Callable[[Any, Any], object]) -> dict[str, Any]:
    """The resources of a stack of what `build` makes, which is given the stack and what all functions share."""
    os.environ[toolchain.NODE_VARIABLE] = toolchain.choose_node()
    from aws_cdk import App, Stack

    from infra.constructs.function import Runtime

    app = App()
    stack = Stack(app, "Parts")
    build(stack, Runtime(stack, "Code", code=None, settings=settings))
    resources: dict[str, Any] = app.synth().get_stack_by_name("Parts").template["Resources"]
    return resources


def test_the_sandbox_lies_in_the_zones_that_are_named() -> None:
    from infra.constructs.sandbox import Sandbox
    from infra.constructs.store import Store

    def build(stack: Any, runtime: Any) -> None:
        Sandbox(stack, "Sandbox", runtime=runtime, store=Store(stack, "Store", settings=Settings()))

    resources = synthesized(Settings(zones=("us-east-1b", "us-east-1d")), build)
    subnets = [item["Properties"] for item in resources.values() if item["Type"] == "AWS::EC2::Subnet"]
    assert [subnet["AvailabilityZone"] for subnet in subnets] == ["us-east-1b", "us-east-1d"]


def test_a_larger_account_has_wider_maps_and_room_that_is_reserved_for_callers() -> None:
    from infra.constructs.answers import QUICK
    from infra.constructs.function import Function
    from infra.constructs.machine import Machine

    def build(stack: Any, runtime: Any) -> None:
        made = [
            Function(stack, name, runtime=runtime, module=f"functions.{name}", size=QUICK, waited_for=waited_for)
            for name, waited_for in (("Api", True), ("Lines", False))
        ]
        Machine(stack, "Batch", name="batch", calls={"LinesFunction": made[1]}, at_once=40)
        Machine(stack, "Task", name="task", calls={"CompareFunction": made[1]}, at_once=40)

    resources = synthesized(Settings(api_concurrency=5), build)
    functions = [item["Properties"] for item in resources.values() if item["Type"] == "AWS::Lambda::Function"]
    assert [one.get("ReservedConcurrentExecutions") for one in functions] == [5, None]
    machines = [item for item in resources.values() if item["Type"] == "AWS::StepFunctions::StateMachine"]
    states = [
        state
        for machine in machines
        for state in json.loads(machine["Properties"]["DefinitionString"])["States"].values()
        if state["Type"] == "Map"
    ]
    assert sorted(state["MaxConcurrency"] for state in states) == [6, 40], "six dimensions are all that there are"


def test_a_stack_goes_on_with_the_table_and_bucket_of_an_earlier_one() -> None:
    """As the whole stack under every rule: what was kept is granted and named, and nothing empty is made beside it."""
    os.environ[toolchain.NODE_VARIABLE] = toolchain.choose_node()
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks

    from infra import nag
    from infra.stack import TouchstoneStack

    app = App()
    settings = Settings(table="Old-Records-1", bucket="old-bodies-1", local=False)
    stack = TouchstoneStack(app, settings=settings, code=None)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    nag.acknowledge(stack)
    template = app.synth().get_stack_by_name("Touchstone").template
    made = [item["Type"] for item in template["Resources"].values()]
    assert made.count("AWS::DynamoDB::Table") == 1, "the idempotency keys' own"
    assert "AWS::S3::Bucket" not in made
    outputs = {name: output["Value"] for name, output in template["Outputs"].items()}
    assert (outputs["TableName"], outputs["BucketName"]) == ("Old-Records-1", "old-bodies-1")
    granted = json.dumps([item for item in template["Resources"].values() if item["Type"] == "AWS::IAM::Policy"])
    assert ":table/Old-Records-1/index/by_time" in granted
    assert ":s3:::old-bodies-1/inbox/*" in granted
    variables = [
        item["Properties"]["Environment"]["Variables"]
        for item in template["Resources"].values()
        if item["Type"] == "AWS::Lambda::Function"
    ]
    assert {one["TOUCHSTONE_TABLE"] for one in variables if "TOUCHSTONE_TABLE" in one} == {"Old-Records-1"}
