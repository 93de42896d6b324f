"""How the budgets write to DynamoDB: on condition, and several items together or none."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from touchstone.aws import CONDITION_FAILED, Table, code_of

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_dynamodb import DynamoDBClient

type Item = Mapping[str, Any]
"""An item of the table in Python types, as the resource's client takes and returns it."""

_CONFLICT = "TransactionConflictException"
_CANCELED = "TransactionCanceledException"
_RACED = frozenset({"None", "ConditionalCheckFailed", "TransactionConflict"})
"""The codes of a transaction's parts if it was cancelled only because another writer came first."""


def client_of(table: Table) -> "DynamoDBClient":
    """The resource's own client. Unlike the resource it may be shared by threads, and it takes Python types."""
    return table.meta.client


def condition_failed(error: "ClientError") -> bool:
    """Whether a write was refused because its condition did not hold."""
    return code_of(error) == CONDITION_FAILED


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
        if condition_failed(error) or code_of(error) == _CONFLICT:
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
    if code_of(error) != _CANCELED:
        return ()
    reasons: Sequence[Mapping[str, str]] = error.response.get("CancellationReasons", ())  # type: ignore[assignment]
    return tuple(reason.get("Code", "None") for reason in reasons)
