"""Parts of the stack by themselves, under settings that the whole of it is not synthesized with."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from infra import toolchain
from infra.grants import GRANTS
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
    from infra.constructs.audits import ProofSandbox
    from infra.constructs.store import Store

    def build(stack: Any, runtime: Any) -> None:
        ProofSandbox(stack, "Sandbox", runtime=runtime, store=Store(stack, "Store", settings=Settings()))

    resources = synthesized(Settings(zones=("us-east-1b", "us-east-1d")), build)
    subnets = [item["Properties"] for item in resources.values() if item["Type"] == "AWS::EC2::Subnet"]
    assert [subnet["AvailabilityZone"] for subnet in subnets] == ["us-east-1b", "us-east-1d"]


def test_only_a_deployment_with_a_retention_has_a_function_that_may_purge_and_what_calls_it() -> None:
    from infra.constructs.answers import AnswerFunctions
    from infra.constructs.queues import Queues
    from infra.constructs.schedules import Schedules
    from infra.constructs.store import Store

    def build(stack: Any, runtime: Any) -> None:
        store, queues = Store(stack, "Store", settings=runtime.settings), Queues(stack, "Queues", local=False)
        answers = AnswerFunctions(stack, "A", runtime=runtime, store=store, queues=queues)
        Schedules(stack, "Schedules", answers=answers, dead_letters=queues.dead_letters)

    for days, there in (("", 0), ("answers=365", 1)):
        resources = synthesized(Settings(environment={"TOUCHSTONE_RETENTION_DAYS": days}), build)
        purges = {
            name: item["Properties"]
            for name, item in resources.items()
            if item.get("Properties", {}).get("Handler") == "functions.purge.handler"
        }
        called = [item for item in resources.values() if item["Type"] == "AWS::Scheduler::Schedule"]
        assert len(purges) == there
        assert sum(any(name in json.dumps(item) for name in purges) for item in called) == there
    ((_, purge),) = purges.items()
    assert purge["Environment"]["Variables"]["TOUCHSTONE_RETENTION_DAYS"] == "answers=365"
    role = purge["Role"]["Fn::GetAtt"][0]
    statements = [
        statement
        for item in resources.values()
        if item["Type"] == "AWS::IAM::Policy" and {"Ref": role} in item["Properties"]["Roles"]
        for statement in item["Properties"]["PolicyDocument"]["Statement"]
    ]
    objects = [one for one in statements if "s3:DeleteObject" in one["Action"]]
    assert [one["Action"] for one in objects] == ["s3:DeleteObject"]
    assert sorted(re.findall(r"/(\w+)/\*", json.dumps(objects[0]["Resource"]))) == ["artifacts", "inbox"]
    leading = [
        one["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] for one in statements if "Condition" in one
    ]
    grant = GRANTS["functions.purge"]
    assert sorted(map(sorted, leading)) == sorted(map(sorted, (grant.read, grant.written)))


def test_as_many_drains_are_started_by_the_clock_as_go_side_by_side() -> None:
    from infra.constructs.answers import AnswerFunctions
    from infra.constructs.queues import Queues
    from infra.constructs.schedules import Schedules
    from infra.constructs.store import Store

    def build(stack: Any, runtime: Any) -> None:
        store, queues = Store(stack, "Store", settings=runtime.settings), Queues(stack, "Queues", local=False)
        answers = AnswerFunctions(stack, "A", runtime=runtime, store=store, queues=queues)
        Schedules(stack, "Schedules", answers=answers, dead_letters=queues.dead_letters, drains=3)

    resources = synthesized(Settings(), build)
    targets = [
        item["Properties"]["Target"] for item in resources.values() if item["Type"] == "AWS::Scheduler::Schedule"
    ]
    inputs = [json.loads(target["Input"]) for target in targets if "DrainMachine" in json.dumps(target["Arn"])]
    assert sorted(given["shard"] for given in inputs) == [0, 0, 1, 1, 2, 2]


def test_a_larger_account_has_wider_maps_and_room_that_is_reserved_for_callers() -> None:
    from infra.constructs.answers import QUICK
    from infra.constructs.function import Function
    from infra.constructs.machine import Machine

    def build(stack: Any, runtime: Any) -> None:
        made = [
            Function(stack, name, runtime=runtime, handler=f"functions.{name}.handler", size=QUICK, waited_for=waits)
            for name, waits in (("Api", True), ("Lines", False))
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


def test_what_starts_an_execution_is_let_through_at_a_rate_of_its_own() -> None:
    from infra.constructs.answers import AnswerFunctions
    from infra.constructs.api import STARTING, Api
    from infra.constructs.queues import Queues
    from infra.constructs.store import Store

    def build(stack: Any, runtime: Any) -> None:
        store, queues = Store(stack, "Store", settings=runtime.settings), Queues(stack, "Queues", local=False)
        answers = AnswerFunctions(stack, "A", runtime=runtime, store=store, queues=queues)
        Api(stack, "Api", runtime=runtime, store=store, answers=answers, jobs=())

    described = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text(encoding="utf-8"))["paths"]
    methods = {(route.partition(" ")[2], route.partition(" ")[0].lower()) for route in STARTING}
    assert all(method in described[path] for path, method in methods)
    starters = {
        path for path in described if path.endswith(("/now", "/recheck")) and not path.startswith("/v1/batches")
    }
    assert {path for path, _ in methods} > starters, "work that is taken up again starts an execution too"
    assert ("/v1/tasks/{task_id}", "patch") in methods, "a moved deadline is waited for by another execution"
    resources = synthesized(Settings(start_rate=30), build)
    (stage,) = [item for item in resources.values() if item["Type"] == "AWS::ApiGatewayV2::Stage"]
    assert stage["Properties"]["DefaultRouteSettings"]["ThrottlingRateLimit"] == 100
    told = stage["Properties"]["RouteSettings"]
    assert set(told) == set(STARTING)
    assert all(one == {"ThrottlingRateLimit": 30, "ThrottlingBurstLimit": 60} for one in told.values())
    routes = {
        name: item["Properties"] for name, item in resources.items() if item["Type"] == "AWS::ApiGatewayV2::Route"
    }
    starting = {name for name, route in routes.items() if route["RouteKey"] in told}
    assert {routes[name]["RouteKey"] for name in starting} == set(told)
    assert all(routes[name]["AuthorizationType"] == "CUSTOM" for name in starting)
    assert starting <= set(stage["DependsOn"])


def test_a_stack_with_every_setting_goes_on_with_the_table_and_bucket_of_an_earlier_one() -> None:
    """As the whole stack under every rule: what was kept is granted and named, and nothing empty is made beside it."""
    os.environ[toolchain.NODE_VARIABLE] = toolchain.choose_node()
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks

    from infra import nag
    from infra.stack import TouchstoneStack

    app = App()
    settings = Settings(
        environment={"TOUCHSTONE_DRAINS": "2", "TOUCHSTONE_RETENTION_DAYS": "answers=365"},
        zones=("us-east-1b", "us-east-1d"),
        api_concurrency=5,
        start_rate=30,
        table="Old-Records-1",
        bucket="old-bodies-1",
    )
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
