"""Parts of the stack by themselves, under settings that the whole of it is not synthesized with."""

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
        Sandbox(stack, "Sandbox", runtime=runtime, store=Store(stack, "Store", local=False))

    resources = synthesized(Settings(zones=("us-east-1b", "us-east-1d")), build)
    subnets = [item["Properties"] for item in resources.values() if item["Type"] == "AWS::EC2::Subnet"]
    assert [subnet["AvailabilityZone"] for subnet in subnets] == ["us-east-1b", "us-east-1d"]
