"""A real browser before pages that this process serves. Where the machine has none, these tests are set aside.

A test makes its records before it opens the browser, whose own loop stands in the way of those that handlers run.
"""

from functools import partial
from pathlib import Path

import pytest

from infra.local import browser
from tests.support.api import Api
from tests.support.browser import Browsing, browsing, set_aside
from tests.support.deployed_audits import lambdas, wheels
from tests.support.deployment import Deployment
from tests.support.everything import own_one_of_everything
from tests.support.providers import ProviderServer

__all__ = ["browsers", "lambdas", "owner", "wheels"]

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set these tests aside where there is no browser."""
    if browser.find() is None:
        set_aside(config, items, HERE)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why."""
    if browser.find() is None:
        terminalreporter.write_line(
            f"tests/integration/api/browser: set aside, as this machine has no Chromium; set {browser.VARIABLE} to "
            "the path of one."
        )


@pytest.fixture
def browsers() -> Browsing:
    """What opens a browser before the pages, for the length of a `with`."""
    return partial(browsing, browser.find() or "")


@pytest.fixture
def owner(judged: Deployment, judges: ProviderServer) -> Api:
    """An admin of a tenant that has one of everything."""
    return own_one_of_everything(judged, judges, "acme")
