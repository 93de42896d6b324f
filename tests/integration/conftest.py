"""What the integration tests share: the table in moto, and nothing of the account of whoever runs them."""

import importlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.client import BaseClient
from moto import mock_aws

from tests.support import enforcement, moto_shortcuts, replies
from tests.support.providers import ProviderServer
from tests.support.table import create_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

REGION = "us-east-1"

moto_shortcuts.take()
enforcement.mark_handlers()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """AWS in the process: credentials and endpoints of the machine are out of reach."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    # One boto session for all tests: a new one reads its service models from disk each time, which is most of a test.
    with mock_aws(config={"core": {"reset_boto3_session": False}}):
        yield


@pytest.fixture(autouse=True)
def one_request_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """DynamoDB serialises the requests on an item; moto is one process whose dictionaries threads would tear.

    What interleaves in a test with threads are whole requests, as they do in AWS. A request of a handler that its
    function's grants do not admit is refused, as IAM refuses it.
    """
    lock, send = threading.RLock(), BaseClient._make_api_call  # type: ignore[attr-defined]

    def serialised(self: BaseClient, *arguments: Any) -> Any:
        if self.meta.service_model.service_name == "dynamodb":
            enforcement.enforce(*arguments)
        with lock:
            return send(self, *arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", serialised)


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
