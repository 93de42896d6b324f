"""How the budgets speak to DynamoDB: one client, and every failure of the store as a `StoreError`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from touchstone.errors import StoreError

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.service_resource import Table

type Item = Mapping[str, Any]
"""An item of the table in Python types, as the resource's client takes and gives them."""

_CONDITION_FAILED = "ConditionalCheckFailedException"
_CONFLICT = "TransactionConflictException"
_CANCELED = "TransactionCanceledException"
_RACED = frozenset({"None", "ConditionalCheckFailed", "TransactionConflict"})
"""What the parts of a transaction say when it was cancelled only because another writer came first."""


def client_of(table: "Table") -> "DynamoDBClient":
    """The resource's own client: unlike the resource it may be shared by threads, and it takes Python types."""
    return table.meta.client


@contextmanager
def store_errors(doing: str) -> Iterator[None]:
    """Raise what goes wrong in the store as `StoreError`; `doing` completes "The table could not be reached to …"."""
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


def put_together(client: "DynamoDBClient", puts: Sequence[Mapping[str, Any]], *, last_marks_done: bool = False) -> bool:
    """Put one item, or several in one transaction. False: another writer came first and it must be decided anew.

    With `last_marks_done` the last put is a mark that exists once the work is done: that it exists already counts as
    success. Any other refusal is raised as botocore's error.
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
        codes = _cancellation_codes(error)
        if not codes or not _RACED.issuperset(codes):
            raise
        return last_marks_done and codes[-1] == "ConditionalCheckFailed"
    return True


def _cancellation_codes(error: "ClientError") -> tuple[str, ...]:
    """Why each part of a cancelled transaction failed, "None" for those that did not; empty for other errors."""
    if error.response.get("Error", {}).get("Code") != _CANCELED:
        return ()
    reasons: Sequence[Mapping[str, str]] = error.response.get("CancellationReasons", ())  # type: ignore[assignment]
    return tuple(reason.get("Code", "None") for reason in reasons)
