"""Deployed audits in the process: a scripted agent, the real sandbox, a library that is really installed."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from functions.audits import install, sandbox
from tests.integration.functions.audits.auditing import Agent
from tests.support.api import Api
from tests.support.deployment import BUCKET, Deployment
from tests.support.lambdas import Lambdas
from tests.support.providers import ProviderServer
from tests.support.wheels import make_wheels
from touchstone.audits.bundles import Bundles


@pytest.fixture
def agent(judges: ProviderServer) -> Agent:
    agent = Agent()
    judges.reset()
    judges.script(agent.answer)
    return agent


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def lambdas(judged: Deployment, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lambdas]:
    """The sandbox function, which reaches the store by nothing but its links."""
    double = Lambdas(sandbox.handler)
    monkeypatch.setenv(sandbox.VARIABLE, "bubblewrap")
    monkeypatch.setattr("touchstone.workflows.sandbox.client", lambda: double)
    monkeypatch.setattr(install, "builder", lambda folder: Bundles(folder, wheels=wheels))

    def fetched(url: str, **_: Any) -> io.BytesIO:
        assert "Signature=" in url
        key = unquote(urlsplit(url).path).lstrip("/").removeprefix(f"{BUCKET}/")
        return io.BytesIO(judged.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read())

    monkeypatch.setattr("urllib.request.urlopen", fetched)
    sandbox._room.cache_clear()
    yield double
    sandbox._room.cache_clear()


@pytest.fixture
def demo(judged: Deployment, agent: Agent, lambdas: Lambdas) -> Api:
    """A member of the tenant that the sample events name."""
    return Api(token=judged.token("demo"))
