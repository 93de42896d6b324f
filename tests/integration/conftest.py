"""What the integration tests share: the table in moto, and nothing of the account of whoever runs them."""

import importlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest

from tests.support import deaths, enforcement, replies
from tests.support.aws import REGION, in_process
from tests.support.aws import one_request_at_a_time as serialised
from tests.support.providers import ProviderServer
from tests.support.table import create_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

enforcement.mark_handlers()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Nobody dies while a test is cleared up."""
    deaths.spare()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """AWS in the process: credentials and endpoints of the machine are out of reach."""
    with in_process(monkeypatch):
        yield


@pytest.fixture(autouse=True)
def no_metrics_of_other_tests() -> None:
    """Metrics that no handler published: with a hundred values of one of them, Powertools would print them all."""
    if "functions.observability" in sys.modules:
        sys.modules["functions.observability"].metrics.clear_metrics()


@pytest.fixture(autouse=True)
def one_request_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests to AWS one after the other, and of a handler those alone that its function's grants admit."""
    serialised(monkeypatch, admitted=enforcement.enforce)


@pytest.fixture
def table(aws: None) -> "Table":
    """The single table, empty."""
    return create_table(boto3.resource("dynamodb", region_name=REGION))


@pytest.fixture(scope="session")
def sdks() -> None:
    """The providers' SDKs, loaded once, so that no test's time limit depends on how busy the machine is."""
    for name in ("anthropic", "google.genai", "openai"):
        importlib.import_module(name)


@pytest.fixture(scope="session")
def _server(sdks: None) -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


@pytest.fixture
def judges(_server: ProviderServer) -> ProviderServer:
    """The judges' server, answering every question well: the capital of Australia is Canberra, and
    submissions are graded as they say themselves."""
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
