"""Deployments for the functions' tests: without judges, and with judges on loopback."""

from collections.abc import Iterator

import pytest

from tests.support.deployment import Deployment, deployed
from tests.support.events import TENANT
from tests.support.providers import ProviderServer


@pytest.fixture
def deployment(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment without any judge's key."""
    with deployed(monkeypatch) as here:
        here.tenant(TENANT)
        yield here


@pytest.fixture
def judged(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment whose secret holds keys of all three providers, which are led to the judges' server."""
    keys, addresses = judges.led_here()
    with deployed(monkeypatch, keys=keys, **addresses) as here:
        here.tenant(TENANT)
        yield here
