"""How the budgets reach DynamoDB: one client, and every failure of the store as a `StoreError`."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from touchstone.errors import StoreError

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.service_resource import Table

type Item = Mapping[str, Any]
"""An item of the table in Python types, as the resource's client takes and returns it."""

READ_TRIES = 6
"""The most tries of a read of several items. Such a read may leave items out for want of throughput; with full jitter
up to 0.6 s that passes."""
_FIRST_PAUSE_SECONDS = 0.04
_CONDITION_FAILED = "ConditionalCheckFailedException"
_CONFLICT = "TransactionConflictException"
_CANCELED = "TransactionCanceledException"
_RACED = frozenset({"None", "ConditionalCheckFailed", "TransactionConflict"})
"""The codes of a transaction's parts if it was cancelled only because another writer came first."""


def client_of(table: "Table") -> "DynamoDBClient":
    """The resource's own client. Unlike the resource it may be shared by threads, and it takes Python types."""
    return table.meta.client


@contextmanager
def store_errors(doing: str) -> Iterator[None]:
    """Raise a failure of the store as `StoreError`; `doing` completes "The table could not be reached to …"."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        raise StoreError(f"The table refused to {doing} ({code}); repeat the request.") from error
    except BotoCoreError as error:
        raise StoreError(f"The table could not be reached to {doing} ({type(error).__name__}); repeat it.") from error


def condition_failed(error: "ClientError") -> bool:
    """Whether a write was refused because its condition did not hold."""
    return error.response.get("Error", {}).get("Code") == _CONDITION_FAILED


def read_together(client: "DynamoDBClient", table: str, keys: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Up to a hundred items by their keys, strongly consistent, in one call and in any order.

    Keys without an item are left out. Raises `StoreError` if the table goes on leaving out items that exist.
    """
    found: list[Any] = []
    wanted: Any = {table: {"Keys": list(keys), "ConsistentRead": True}}
    for tried in range(READ_TRIES):
        page = client.batch_get_item(RequestItems=wanted)
        found += page["Responses"].get(table, [])
        wanted = page.get("UnprocessedKeys")
        if not wanted:
            return found
        time.sleep(random.uniform(0, _FIRST_PAUSE_SECONDS * 2**tried))  # noqa: S311 - spreads readers, guards nothing
    raise StoreError("The table has too much to do to be read; repeat the request.")


def put_together(client: "DynamoDBClient", puts: Sequence[Mapping[str, Any]], *, last_marks_done: bool = False) -> bool:
    """Put one item, or several in one transaction. False if another writer came first, so the caller must decide again.

    With `last_marks_done` the last put is a mark that exists once the work is done: if the mark exists already, that
    counts as success. Any other refusal is raised as botocore's error.
    """
    from botocore.exceptions import ClientError

    try:
        if len(puts) == 1:
            client.put_item(**puts[0])
        else:
            client.transact_write_items(TransactItems=[{"Put": put} for put in puts])  # type: ignore[typeddict-item]
    except ClientError as error:
        if condition_failed(error) or error.response.get("Error", {}).get("Code") == _CONFLICT:
            return False
        codes = _raced(error)
        return last_marks_done and codes[-1] == "ConditionalCheckFailed"
    return True


def updated_together(client: "DynamoDBClient", updates: Sequence[Mapping[str, Any]]) -> bool:
    """Update several items in one transaction. False if another writer came first; nothing was written then.

    Any other refusal is raised as botocore's error.
    """
    from botocore.exceptions import ClientError

    try:
        client.transact_write_items(
            TransactItems=[{"Update": update} for update in updates]  # type: ignore[typeddict-item]
        )
    except ClientError as error:
        _raced(error)
        return False
    return True


def _raced(error: "ClientError") -> tuple[str, ...]:
    """The codes of a cancelled transaction's parts if another writer came first; any other refusal is raised."""
    codes = _cancellation_codes(error)
    if not codes or not _RACED.issuperset(codes):
        raise error
    return codes


def _cancellation_codes(error: "ClientError") -> tuple[str, ...]:
    """The code of each part of a cancelled transaction, "None" for a part that did not fail; empty for other errors."""
    if error.response.get("Error", {}).get("Code") != _CANCELED:
        return ()
    reasons: Sequence[Mapping[str, str]] = error.response.get("CancellationReasons", ())  # type: ignore[assignment]
    return tuple(reason.get("Code", "None") for reason in reasons)
