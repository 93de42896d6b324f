"""AWS in the process, by moto: nothing of the account of whoever runs this is within reach."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest
from boto3.session import Session
from botocore.client import BaseClient
from moto import mock_aws

from tests.support import moto_shortcuts, s3_shortcuts

REGION = "us-east-1"

moto_shortcuts.take()
s3_shortcuts.take()


@contextmanager
def in_process(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Credentials and endpoints of the machine are out of reach."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_PROFILE"):
        patch.delenv(name, raising=False)
    patch.setenv("AWS_DEFAULT_REGION", REGION)
    patch.setenv("AWS_ACCESS_KEY_ID", "test")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    # One boto session for all tests: a new one reads its service models from disk each time, which is most of a test.
    with mock_aws(config={"core": {"reset_boto3_session": False}}), kept_clients(patch):
        yield


_kept: dict[tuple[Any, ...], Any] = {}
"""Clients and resources of boto3 by all that they were made of."""


@contextmanager
def kept_clients(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let tests have the clients of those before them: making one takes longer than all that a test asks it for.

    One on whose events somebody hung something is not handed on.
    """
    changed: set[int] = set()
    for name in ("client", "resource"):
        patch.setattr(Session, name, _keeping(getattr(Session, name), changed))
    try:
        yield
    finally:
        for key in [key for key, made in _kept.items() if id(_client(made)) in changed]:
            del _kept[key]


def _keeping(make: Callable[..., Any], changed: set[int]) -> Callable[..., Any]:
    @wraps(make)
    def kept(session: Session, *given: Any, **named: Any) -> Any:
        machine = sorted(item for item in os.environ.items() if item[0].startswith("AWS_"))
        config = vars(named["config"]) if named.get("config") else {}
        said = {**named, "config": sorted(config.get("_user_provided_options", config).items())}
        key = (make.__name__, session.region_name, repr((given, sorted(said.items()), machine)))
        if key not in _kept:
            _kept[key] = make(session, *given, **named)
            _watch(_client(_kept[key]))
        events = _client(_kept[key]).meta.events
        events.tell = changed.add
        return _kept[key]

    return kept


def _client(made: Any) -> Any:
    return made if isinstance(made, BaseClient) else made.meta.client


def _watch(client: Any) -> None:
    """Have a client's events tell when somebody hangs something on them, from now on.

    What boto3's own resources hang on them, under a name, and what Powertools does, is hung once and is no change.
    """
    events = client.meta.events
    hung: set[str] = set()
    for name in ("register", "register_first", "register_last"):
        register = vars(type(events))[name]

        def told(event: str, handler: Any, *given: Any, register: Callable[..., Any] = register, **named: Any) -> None:
            if handler.__module__.startswith("aws_lambda_powertools."):
                if event in hung:
                    return
                hung.add(event)
            elif "unique_id" not in named and not given:
                events.tell(id(client))
            register(events, event, handler, *given, **named)

        setattr(events, name, told)


def one_request_at_a_time(
    patch: pytest.MonkeyPatch, *, admitted: Callable[[str, str, Mapping[str, Any]], None] | None = None
) -> None:
    """DynamoDB serialises the requests on an item; moto is one process whose dictionaries threads would tear.

    What interleaves in a test with threads are whole requests, as they do in AWS. `admitted` is given each request's
    service, operation and parameters, and raises for one that is refused, as IAM refuses one; None: all are admitted.
    """
    lock, send = threading.RLock(), BaseClient._make_api_call  # type: ignore[attr-defined]

    def serialised(self: BaseClient, *arguments: Any) -> Any:
        if admitted is not None:
            admitted(self.meta.service_model.service_name, *arguments)
        with lock:
            return send(self, *arguments)

    patch.setattr(BaseClient, "_make_api_call", serialised)
