"""Faults of the store, put into a real boto client: refusals before a call has an effect, replies lost after it had."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from unittest.mock import patch

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ReadTimeoutError

CANCELLED = "TransactionCanceledException"


def cancelled(*reasons: str) -> dict[str, Any]:
    """The error body of a transaction that was cancelled for these reasons, one an action."""
    return _body(CANCELLED) | {"CancellationReasons": [{"Code": reason} for reason in reasons]}


@contextmanager
def refusing(client: Any, operation: str, error: str | dict[str, Any], *, times: int = 1) -> Iterator[list[str]]:
    """The next `times` calls of an operation are refused with an error's code, or body, and have no effect."""
    refused: list[str] = []
    service = client.meta.service_model.service_name
    event = f"before-call.{service}.{operation}"

    def refuse(**_: Any) -> tuple[AWSResponse, dict[str, Any]] | None:
        if len(refused) >= times:
            return None
        refused.append(operation)
        body = _body(error) if isinstance(error, str) else error
        return AWSResponse("http://store", 400, HTTPHeaders(), None), body

    client.meta.events.register_first(event, refuse)
    try:
        yield refused
    finally:
        client.meta.events.unregister(event, refuse)


@contextmanager
def losing_replies(client: Any, operation: str, *, times: int = 1) -> Iterator[list[str]]:
    """The next `times` calls of an operation take effect, but their replies never arrive."""
    lost: list[str] = []
    service = client.meta.service_model.service_name
    event = f"after-call.{service}.{operation}"

    def lose(**_: Any) -> None:
        if len(lost) < times:
            lost.append(operation)
            raise ReadTimeoutError(endpoint_url="http://store")

    client.meta.events.register(event, lose)
    try:
        yield lost
    finally:
        client.meta.events.unregister(event, lose)


@contextmanager
def sending_twice(client: Any, operation: str) -> Iterator[list[str]]:
    """The first call of an operation takes effect twice, as where boto sends it again since its reply was lost."""
    again: list[str] = []
    call = client._make_api_call

    def twice(name: str, arguments: Any) -> Any:
        if name == operation and not again:
            again.append(name)
            call(name, arguments)
        return call(name, arguments)

    with patch.object(client, "_make_api_call", twice):  # and not left on a client that other tests are given
        yield again


@contextmanager
def one_call_at_a_time(client: Any) -> Iterator[None]:
    """Each call is atomic, as in DynamoDB; moto, undoing a transaction, undoes what its neighbours wrote meanwhile."""
    lock, call = Lock(), client._make_api_call

    def locked(*arguments: Any) -> Any:
        with lock:
            return call(*arguments)

    with patch.object(client, "_make_api_call", locked):
        yield


def _body(code: str) -> dict[str, Any]:
    return {"Error": {"Code": code, "Message": "injected"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
