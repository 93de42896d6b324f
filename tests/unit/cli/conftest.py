"""The command as a user runs it: in a home of its own, without keys, and without waiting."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.support.commands import Command
from tests.support.loopback import Loopback
from touchstone.cli.app import app
from touchstone.cli.terminal import waiting
from touchstone.judges import load_registry

SETTINGS = ("TOUCHSTONE_API_URL", "TOUCHSTONE_TOKEN", "TOUCHSTONE_TABLE", "TOUCHSTONE_DEBUG")
ORACLE = ("ORACLE_LLM_PROVIDER", "ORACLE_LLM_MODEL", "ORACLE_LLM_BASE_URL")
OTHERS = (
    "LLM_MODEL",
    "TOUCHSTONE_COMPATIBLE_BASE_URL",
    "TOUCHSTONE_REGISTRY_OVERRIDES",
    "COLUMNS",
    "NO_COLOR",
    "FORCE_COLOR",
)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without settings, and an environment without keys."""
    keys = {name for provider in load_registry({}).providers.values() for name in provider.key_variables}
    for name in (*SETTINGS, *ORACLE, *OTHERS, *keys):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path_factory.mktemp("home")
    for variable, name in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(variable, str(folder / name))
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been waited for, in seconds."""
    waited: list[float] = []
    monkeypatch.setattr(waiting, "pause", waited.append)
    return waited


@pytest.fixture
def touchstone() -> Command:
    def run(*arguments: str, stdin: str | bytes | None = None, env: Mapping[str, str] = {}) -> Result:
        return CliRunner(env=env).invoke(app, arguments, input=stdin, prog_name="touchstone")

    return run


@pytest.fixture
def api() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def online(api: Loopback, touchstone: Command) -> Command:
    """The command, led to the API on loopback."""

    def run(*arguments: str, stdin: str | bytes | None = None, env: Mapping[str, str] = {}) -> Result:
        return touchstone(*arguments, stdin=stdin, env={**api.environment(), **env})

    return run
