"""AWS in the process, by moto: nothing of the account of whoever runs this is within reach."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.client import BaseClient
from moto import mock_aws

from tests.support import moto_shortcuts

REGION = "us-east-1"

moto_shortcuts.take()


@contextmanager
def in_process(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Credentials and endpoints of the machine are out of reach."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_PROFILE"):
        patch.delenv(name, raising=False)
    patch.setenv("AWS_DEFAULT_REGION", REGION)
    patch.setenv("AWS_ACCESS_KEY_ID", "test")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    # One boto session for all tests: a new one reads its service models from disk each time, which is most of a test.
    with mock_aws(config={"core": {"reset_boto3_session": False}}):
        yield


def one_request_at_a_time(
    patch: pytest.MonkeyPatch, *, admitted: Callable[[str, Mapping[str, Any]], None] | None = None
) -> None:
    """DynamoDB serialises the requests on an item; moto is one process whose dictionaries threads would tear.

    What interleaves in a test with threads are whole requests, as they do in AWS. `admitted` raises for a request that
    is refused, as IAM refuses one; None: all are admitted.
    """
    lock, send = threading.RLock(), BaseClient._make_api_call  # type: ignore[attr-defined]

    def serialised(self: BaseClient, *arguments: Any) -> Any:
        if admitted is not None and self.meta.service_model.service_name == "dynamodb":
            admitted(*arguments)
        with lock:
            return send(self, *arguments)

    patch.setattr(BaseClient, "_make_api_call", serialised)
