"""The stack as it would go to AWS, synthesized once for all tests, with every AwsSolutions rule asked."""

import fcntl
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
    """The CloudFormation template; a broken rule fails every test that asks for it.

    Of the processes that share a run's tests the first makes it for all.
    """
    shared = "PYTEST_XDIST_TESTRUNUID" in os.environ
    kept = (tmp_path_factory.getbasetemp().parent if shared else tmp_path_factory.mktemp("stack")) / "template.json"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.is_file():
            kept.write_text(json.dumps(_synthesized(tmp_path_factory.mktemp("code"))), encoding="utf-8")
    content: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return content


def _synthesized(folder: Path) -> Any:
    os.environ[toolchain.NODE_VARIABLE] = toolchain.choose_node()
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks

    from infra import nag
    from infra.stack import TouchstoneStack

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
    return app.synth().get_stack_by_name("Touchstone").template


@pytest.fixture(scope="session")
def resources(template: dict[str, Any]) -> Resources:
    """The resources of the template by logical id."""
    found: Resources = template["Resources"]
    return found
