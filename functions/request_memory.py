"""The memory of requests: one item per key, which also stores when the key was first used, however its runs end.

The id of a record is computed from that moment and the key. If a run dies, the next run therefore finds the same
record, and no second item is needed to remember the id.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyItemAlreadyExistsError
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import DataRecord
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CLAIMED = "claimed_at"
"""The attribute that holds the moment of the first use, in milliseconds since 1970."""
_CLAIM = (
    "SET #status = :inprogress, expiration = :expiration, in_progress_expiration = :until, validation = :validation, "
    f"{CLAIMED} = "
)
_OVER = "(expiration >= :now_seconds AND #status = :inprogress AND in_progress_expiration < :now)"
_AGAIN = (f"attribute_not_exists(id) OR {_OVER}", f"{_CLAIM}if_not_exists({CLAIMED}, :now)")
"""Condition and update that claim a key if it is new, or if the time of its last run is over without a result."""
_ANEW = ("attribute_not_exists(id) OR expiration < :now_seconds", f"{_CLAIM}:now")
"""Condition and update that claim an expired key as if it were new. The table removes expired items only days later."""


class FirstUse(Protocol):
    """The key of the current request, if its records get their ids from the key. `at` is when it was first used."""

    at: datetime | None


class RequestMemory(DynamoDBPersistenceLayer):
    """Powertools' memory of requests; its items also store the moment of their first claim until they expire.

    `claim` returns the claim of the current request, whose `at` is set to that moment. It returns None if no record
    gets its id from the request's key.
    """

    def __init__(self, *, table_name: str, client: DynamoDBClient, claim: Callable[[], FirstUse | None]) -> None:
        super().__init__(table_name=table_name, boto3_client=client)
        self._claim = claim

    def _put_record(self, data_record: DataRecord) -> None:
        now = time.time_ns() // 1_000_000
        until = data_record.in_progress_expiry_timestamp
        values: dict[str, Any] = {
            ":inprogress": {"S": data_record.status},
            ":expiration": {"N": str(data_record.expiry_timestamp)},
            ":until": {"N": str(now if until is None else until)},
            ":validation": {"S": data_record.payload_hash},
            ":now": {"N": str(now)},
            ":now_seconds": {"N": str(now // 1_000)},
        }
        item, mine = self._claimed(data_record, _AGAIN, values)
        if not mine and int(item[self.expiry_attr]["N"]) < now // 1_000:
            item, mine = self._claimed(data_record, _ANEW, values)
        if not mine:
            found = self._item_to_data_record(item)
            self._validate_payload(data_payload=data_record, stored_data_record=found)
            raise IdempotencyItemAlreadyExistsError(old_data_record=found)
        held = self._claim()
        if held is not None:
            held.at = datetime.fromtimestamp(int(item[CLAIMED]["N"]) / 1000, UTC)

    def _claimed(
        self, data_record: DataRecord, claim: tuple[str, str], values: dict[str, Any]
    ) -> tuple[dict[str, Any], bool]:
        """Try to claim a key. Return the item as it is afterwards, and whether this call claimed it."""
        condition, update = claim
        try:
            claimed = self.client.update_item(
                TableName=self.table_name,
                Key=self._get_key(data_record.idempotency_key),
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames={"#status": self.status_attr},
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "ConditionalCheckFailedException":
                raise
            return error.response["Item"], False  # type: ignore[typeddict-item] # botocore's own field
        return claimed["Attributes"], True

    def _delete_record(self, data_record: DataRecord) -> None:
        """Free a key whose run failed. If records get their ids from it, its item stays, so the next run finds them."""
        if self._claim() is None:
            super()._delete_record(data_record)
            return
        self.client.update_item(
            TableName=self.table_name,
            Key=self._get_key(data_record.idempotency_key),
            UpdateExpression="SET in_progress_expiration = :over",
            ExpressionAttributeValues={":over": {"N": "0"}},
        )
