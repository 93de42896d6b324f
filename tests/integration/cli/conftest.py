"""The command against the real API: the deployed functions in the process, behind a loopback server."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.support.api_door import Door
from tests.support.commands import TenantCommand
from tests.support.deployment import Deployment, deployed
from tests.support.loopback import Loopback
from touchstone.cli.app import app
from touchstone.cli.terminal import waiting
from touchstone.records import Role

MOST_LOOKS = 20


@pytest.fixture
def deployment(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment without any judge's key: what checks can prove is decided, all else is not."""
    with deployed(monkeypatch, POWERTOOLS_METRICS_DISABLED="true") as here:
        yield here


@pytest.fixture
def door(deployment: Deployment) -> Iterator[Door]:
    with Loopback() as server:
        yield Door(server=server, deployment=deployment)


@pytest.fixture
def touchstone(door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> TenantCommand:
    looks = iter(range(MOST_LOOKS))
    monkeypatch.setattr(waiting, "pause", lambda _: next(looks))  # what never ends is an error here, not a wait
    home: Path = tmp_path_factory.mktemp("home")
    tokens: dict[tuple[str, Role], str] = {}

    def run(*arguments: str, role: Role = "member", tenant: str = "acme") -> Result:
        token = tokens.setdefault((tenant, role), door.deployment.token(tenant, role))
        folders = {f"XDG_{name}_HOME": str(home / name) for name in ("CONFIG", "STATE", "CACHE")}
        env: Mapping[str, str] = {"TOUCHSTONE_API_URL": door.server.url, "TOUCHSTONE_TOKEN": token, **folders}
        return CliRunner(env=env).invoke(app, arguments, prog_name="touchstone")

    return run
