"""The stack as it would go to AWS, synthesized once for all tests, with every AwsSolutions rule asked."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from infra import layers, toolchain
from infra.layers import PARTS, Code
from infra.settings import Settings
from tests.support.templates import Resources


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The CloudFormation template; a broken rule fails every test that asks for it."""
    os.environ[toolchain.NODE_VARIABLE] = toolchain.choose_node()
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks

    from infra import nag
    from infra.stack import TouchstoneStack

    folder = tmp_path_factory.mktemp("code")
    parts: dict[str, Path] = {}
    for name in PARTS:
        parts[name] = folder / name
        parts[name].mkdir()
        (parts[name] / "a.py").touch()
    settings = Settings(environment={"TOUCHSTONE_FRESH_SHARE": "0.2"}, alarm_email="operator@example.org")
    as_deployed = json.loads((layers.ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    app = App(outdir=str(folder / "cdk.out"), context=as_deployed)
    stack = TouchstoneStack(app, settings=settings, code=Code(**parts))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    nag.acknowledge(stack)
    content: dict[str, Any] = app.synth().get_stack_by_name("Touchstone").template
    return content


@pytest.fixture(scope="session")
def resources(template: dict[str, Any]) -> Resources:
    """The resources of the template by logical id."""
    found: Resources = template["Resources"]
    return found
