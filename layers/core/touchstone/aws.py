"""How records and budgets reach AWS: its errors become our own, and many items of a table are read at once."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from touchstone.errors import NotFoundError, StoreError

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_dynamodb.service_resource import Table as _Table

type Table = _Table
"""A table of DynamoDB, as boto3's resource gives it."""

MAX_KEYS = 100
"""The most keys of one read of many items: DynamoDB's limit. Items beyond 16 MB are returned as unprocessed keys."""
CONFLICT_TRIES = 8
"""How often a conflict is tried again. With full jitter from 20 ms up to 640 ms this outlasts the collisions of a few
hundred writers on one counter."""
CONDITION_FAILED = "ConditionalCheckFailedException"
"""DynamoDB's code for a write whose condition did not hold."""
_ABSENT = frozenset({"NoSuchKey", "404", "NotFound"})
"""S3's codes for an object that does not exist."""
_FIRST_PAUSE_SECONDS = 0.02
_LAST_PAUSE_SECONDS = 0.64


class ConditionFailedError(Exception):
    """A condition of a write did not hold; nothing was written. `failed` are the positions in the transaction."""

    def __init__(self, failed: tuple[int, ...] = (0,)) -> None:
        super().__init__("a condition did not hold")
        self.failed = failed


@contextmanager
def store_faults(what: str) -> Iterator[None]:
    """Turn AWS's errors into `StoreError`; `what` completes "The store could not …".

    A write's condition that did not hold is `ConditionFailedError`.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = code_of(error)
        if code == CONDITION_FAILED:
            raise ConditionFailedError from error
        raise StoreError(f"The store could not {what} ({code}); it is safe to repeat.") from error
    except BotoCoreError as error:
        raise StoreError(f"The store could not {what} ({type(error).__name__}); it is safe to repeat.") from error


@contextmanager
def object_faults(what: str) -> Iterator[None]:
    """As `store_faults`, for S3: an object that does not exist is `NotFoundError`."""
    from botocore.exceptions import ClientError

    with store_faults(what):
        try:
            yield
        except ClientError as error:
            if code_of(error) in _ABSENT:
                raise missing_object() from error
            raise


def code_of(error: "ClientError") -> str:
    """The code by which a service names its error."""
    return error.response.get("Error", {}).get("Code", "unknown")


def missing_object() -> NotFoundError:
    """The error for an object that does not exist."""
    return NotFoundError("There is no object with this key.")


def read_many(
    table: Table, keys: Sequence[dict[str, str]], what: str, *, pause: Callable[[float], None] = time.sleep
) -> Iterator[dict[str, Any]]:
    """The existing items of these keys, in no order, strongly consistent; one read for each hundred keys."""
    left = list({(key["pk"], key["sk"]): key for key in keys}.values())
    refused = 0
    while left:
        asked, left = left[:MAX_KEYS], left[MAX_KEYS:]
        with store_faults(f"read {what}"):
            reply: Any = table.meta.client.batch_get_item(
                RequestItems={table.name: {"Keys": asked, "ConsistentRead": True}}
            )
        yield from reply["Responses"].get(table.name, [])
        unread = reply.get("UnprocessedKeys", {}).get(table.name, {}).get("Keys", [])
        left += unread
        refused = refused + 1 if len(unread) == len(asked) else 0
        if refused == CONFLICT_TRIES:
            raise StoreError(f"The store could not read {what}: it is too busy; it is safe to repeat.")
        if refused:
            pause(jitter(refused))


def jitter(attempt: int) -> float:
    """The seconds to wait before a repeat: full jitter under a bound that doubles."""
    bound = min(_LAST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**attempt)
    return random.uniform(0, bound)  # noqa: S311 - spreads writers, guards nothing
