"""Deployments for the functions' tests: without judges, and with judges on loopback."""

from collections.abc import Iterator

import pytest

from tests.support import replies
from tests.support.deployment import Deployment, deployed
from tests.support.providers import ProviderServer

TENANT = "demo"
"""The tenant that the sample events name; it is there."""


@pytest.fixture
def deployment(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment without any judge's key."""
    with deployed(monkeypatch) as here:
        here.tenant(TENANT)
        yield here


@pytest.fixture(scope="session")
def _server() -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


@pytest.fixture
def judges(_server: ProviderServer) -> ProviderServer:
    """The judges' server, answering every question well: the capital of Australia is Canberra."""
    _server.reset()
    for schema, value in {
        "AnalyzeReply": replies.analyze(),
        "SolveReply": replies.solve(),
        "VerifyReply": replies.verify(),
        "EnrichReply": replies.enrich(),
        "EvaluateReply": replies.evaluate(),
        "ImageReply": replies.image(),
    }.items():
        _server.reply(value, schema=schema)
    return _server


@pytest.fixture
def judged(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment whose secret holds keys of all three providers, which are led to the judges' server."""
    everything = judges.environment()
    keys = {name: value for name, value in everything.items() if name.endswith("_KEY")}
    addresses = {name: value for name, value in everything.items() if name.endswith("_URL")}
    with deployed(monkeypatch, keys=keys, **addresses) as here:
        here.tenant(TENANT)
        yield here
