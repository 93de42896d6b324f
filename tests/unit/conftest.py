"""A loopback judge for whoever names it: one server a module, reset for each test."""

from collections.abc import Iterator

import pytest

from tests.support.providers import ProviderServer


@pytest.fixture(scope="module")
def running() -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


@pytest.fixture
def server(running: ProviderServer) -> ProviderServer:
    running.reset()
    return running
