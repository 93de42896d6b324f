"""A loopback judge for whoever names it: one server a test."""

from collections.abc import Iterator

import pytest

from tests.support.providers import ProviderServer


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    """A server of the test's own: what a call sent that was cut off may reach its server late, and take a reply."""
    with ProviderServer() as server:
        yield server
