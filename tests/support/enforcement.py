"""The grants and the layers of each function, held while its handler runs in process.

What its grants do not admit is refused as by IAM, and what its layers do not bring cannot be imported.

Every deployed handler is wrapped where its module keeps it, so that a call to the table is known to be its own.
"""

import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

from botocore.exceptions import ClientError

from infra.grants import FOLDER_GRANTS, GRANTS, admits
from tests.support.carried import watch_imports
from tests.support.handlers import HANDLERS, place_of
from tests.support.table import TABLE_NAME

ELSEWHERE = "elsewhere"
_running: list[str] = []
"""The names of the handlers at work; one that another one waits for is the last. No context variable: functions
keep one runner of event loops, which keeps the context that it was first used in."""


def enforce(service: str, operation: str, given: Mapping[str, Any]) -> None:
    """Refuse a call to DynamoDB or S3 that the handler at work may not make; a test by itself may make any."""
    if not _running or _running[-1] == ELSEWHERE:
        return
    module = _running[-1]
    if service == "dynamodb":
        for action, table, key in keys_of(operation, given):
            if table == TABLE_NAME and (module not in GRANTS or not admits(GRANTS[module], action, key)):
                raise _refused(operation, f"{module} is not authorized to perform dynamodb:{action} on {key}")
    elif service == "s3":
        folders = FOLDER_GRANTS[module].actions if module in FOLDER_GRANTS else {}
        for action, key in objects_of(operation, given):
            if key.partition("/")[0] not in folders.get(action, ()):
                raise _refused(operation, f"{module} is not authorized to perform {action} on {key}")


def _refused(operation: str, words: str) -> ClientError:
    return ClientError({"Error": {"Code": "AccessDeniedException", "Message": words}}, operation)


@contextmanager
def elsewhere() -> Iterator[None]:
    """What is done within is done by somebody else than the handler at work: a machine, or whoever has a link."""
    with _at_work(ELSEWHERE):
        yield


def mark_handlers() -> None:
    """Wrap every handler, once."""
    if not hasattr(builtins.__import__, "__wrapped__"):
        watch_imports(_running)
    for name in HANDLERS:
        module, attribute = place_of(name)
        handler = getattr(module, attribute)
        if not hasattr(handler, "marked"):
            setattr(module, attribute, _marked(name, handler))


def _marked(name: str, handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    def marked(*arguments: Any, **named: Any) -> Any:
        with _at_work(name):
            return handler(*arguments, **named)

    setattr(marked, "marked", True)  # noqa: B010 - a function has no such attribute
    return marked


@contextmanager
def _at_work(name: str) -> Iterator[None]:
    _running.append(name)
    try:
        yield
    finally:
        _running.remove(name)


def keys_of(operation: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The action, table and partition key of each item that a call to DynamoDB is about."""
    match operation:
        case "GetItem" | "UpdateItem" | "DeleteItem":
            yield operation, given["TableName"], _text(given["Key"].get("pk"))
        case "PutItem":
            yield "PutItem", given["TableName"], _text(given["Item"].get("pk"))
        case "Query":
            yield "Query", given["TableName"], _queried(given)
        case "BatchGetItem":
            for table, asked in given["RequestItems"].items():
                yield from (("BatchGetItem", table, _text(key.get("pk"))) for key in asked["Keys"])
        case "TransactWriteItems":
            for action in given["TransactItems"]:
                ((kind, body),) = action.items()
                name = "ConditionCheckItem" if kind == "ConditionCheck" else f"{kind}Item"
                yield name, body["TableName"], _text((body.get("Key") or body["Item"]).get("pk"))


def objects_of(operation: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The action and key of each object that a call to S3 is about; what it asks of the bucket all may ask."""
    match operation:
        case "GetObject" | "HeadObject":
            yield "s3:GetObject", given["Key"]
        case "CopyObject":
            yield "s3:GetObject", given["CopySource"]["Key"]
            yield "s3:PutObject", given["Key"]
        case "PutObject" | "CreateMultipartUpload" | "UploadPart" | "CompleteMultipartUpload":
            yield "s3:PutObject", given["Key"]
        case "DeleteObject":
            yield "s3:DeleteObject", given["Key"]


def _queried(given: Mapping[str, Any]) -> str:
    (placeholder,) = re.findall(r"\b(?:pk|gsi\dpk)\s*=\s*(:\w+)", given["KeyConditionExpression"])
    return _text(given["ExpressionAttributeValues"][placeholder])


def _text(value: Any) -> str:
    return str(value["S"] if isinstance(value, dict) else value)
