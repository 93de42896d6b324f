"""Subjects whose provider a tenant pinned by hand."""

from typing import TYPE_CHECKING

from touchstone.errors import InputError
from touchstone.records.keys import Key, of_tenant, part
from touchstone.records.table import query, store_faults

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

MAX_SUBJECT_CHARS = 64


class RoutingPins:
    """Pinned providers by subject. Raises `StoreError` where the store fails."""

    def __init__(self, table: "Table") -> None:
        self._table = table

    def all(self, tenant: str) -> dict[str, str]:
        """A tenant's pins: subject → provider."""
        found = query(
            self._table,
            "the routing pins",
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": of_tenant(tenant, "ROUTING")},
            ConsistentRead=True,
        )
        return {str(item["subject"]): str(item["provider"]) for item in found}

    def pin(self, *, tenant: str, subject: str, provider: str) -> None:
        """Answer a subject's problems by this provider from now on; replaces an earlier pin."""
        item = {**_key(tenant, subject), "subject": subject, "provider": provider}
        with store_faults("store the routing pin"):
            self._table.put_item(Item=item)

    def unpin(self, *, tenant: str, subject: str) -> None:
        """Leave a subject to the data again; nothing happens where it was not pinned."""
        with store_faults("remove the routing pin"):
            self._table.delete_item(Key=_key(tenant, subject))


def _key(tenant: str, subject: str) -> Key:
    if not 1 <= len(subject) <= MAX_SUBJECT_CHARS:
        raise InputError(f"A subject has 1 to {MAX_SUBJECT_CHARS} characters.", where="subject")
    return {"pk": of_tenant(tenant, "ROUTING"), "sk": part(subject)}
