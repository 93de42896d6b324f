"""Tenants: the owners of tokens and records."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from touchstone.aws import ConditionFailedError, Table, store_faults
from touchstone.clock import Clock, system_clock
from touchstone.errors import ConflictError, NotFoundError
from touchstone.records.keys import LEAVING, profile_key
from touchstone.records.lists import all_of
from touchstone.records.table import read, update

ALONE_HOLDS = timedelta(minutes=5)
"""How long the answer of `several` is remembered, which saves a query for each call."""
_DIRECTORY = "TENANTS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A tenant: its id is part of every key, its name is for people."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantInDeletion:
    """A tenant that is being deleted. `emptied_at` is when its data was last removed, None before that."""

    tenant: str
    since: datetime
    emptied_at: datetime | None


class Tenants:
    """The tenants of this deployment. Raises `StoreError` if the store fails."""

    def __init__(self, table: Table, *, clock: Clock = system_clock) -> None:
        self._table = table
        self._clock = clock
        self._several = False
        self._looked_at: datetime | None = None

    def create(self, *, tenant: str, name: str) -> Tenant:
        """Create a tenant. Raises `InputError` for a malformed id, `ConflictError` if the id is taken."""
        created = Tenant(id=tenant, name=name, created_at=self._clock())
        item = {
            **profile_key(tenant),
            "tenant": tenant,
            "name": name,
            "created_at": created.created_at.isoformat(),
            "gsi1pk": _DIRECTORY,
            "gsi1sk": tenant,
        }
        try:
            with store_faults("create the tenant"):
                self._table.put_item(Item=item, ConditionExpression="attribute_not_exists(pk)")
        except ConditionFailedError:
            raise ConflictError(f"The tenant {tenant} exists already.") from None
        return created

    def get(self, tenant: str, *, in_deletion: bool = False) -> Tenant:
        """A tenant; with `in_deletion` also one that is being deleted. Raises `NotFoundError` if there is none."""
        item = read(self._table, profile_key(tenant), "the tenant")
        if item is None:
            raise NotFoundError(f"There is no tenant {tenant}; name one that exists, or let the operator create it.")
        if LEAVING in item and not in_deletion:
            raise NotFoundError(f"The tenant {tenant} is being deleted.")
        return Tenant(id=item["tenant"], name=item["name"], created_at=datetime.fromisoformat(item["created_at"]))

    def begin_deletion(self, tenant: str) -> TenantInDeletion:
        """Mark a tenant as being deleted since the first such call: it gets no token and begins nothing any more.

        Raises `NotFoundError` if there is no such tenant.
        """
        return self._mark(tenant, "SET #leaving = if_not_exists(#leaving, :now)")

    def mark_emptied(self, tenant: str) -> TenantInDeletion:
        """Record that all data of a tenant that is being deleted was removed just now."""
        return self._mark(tenant, "SET #leaving = if_not_exists(#leaving, :now), emptied_at = :now")

    def remove(self, tenant: str) -> None:
        """Remove the tenant itself; nothing happens if it is gone."""
        with store_faults("remove the tenant"):
            self._table.delete_item(Key=profile_key(tenant))

    def several(self) -> bool:
        """Whether there is more than one tenant. A change from one to two may be seen `ALONE_HOLDS` late.

        So may a change from two tenants to one. Several threads may call this.
        """
        now = self._clock()
        if self._looked_at is not None and abs(now - self._looked_at) < ALONE_HOLDS:
            return self._several
        with store_faults("count the tenants"):
            # The resource's own client: unlike the resource it may be shared by threads.
            found = self._table.meta.client.query(
                TableName=self._table.name,
                IndexName="by_time",
                KeyConditionExpression="gsi1pk = :directory",
                ExpressionAttributeValues={":directory": _DIRECTORY},
                Select="COUNT",
                Limit=2,
            )
        self._several, self._looked_at = found["Count"] > 1, now
        return self._several

    def _mark(self, tenant: str, expression: str) -> TenantInDeletion:
        marked = update(
            self._table,
            "mark the tenant",
            profile_key(tenant),
            expression,
            condition="attribute_exists(pk)",
            values={":now": self._clock().isoformat()},
            ExpressionAttributeNames={"#leaving": LEAVING},
        )
        if marked is None:
            raise NotFoundError(f"There is no tenant {tenant}.")
        emptied = marked.get("emptied_at")
        return TenantInDeletion(
            tenant=tenant,
            since=datetime.fromisoformat(str(marked[LEAVING])),
            emptied_at=None if emptied is None else datetime.fromisoformat(str(emptied)),
        )

    def ids(self) -> tuple[str, ...]:
        """The ids of all tenants, in alphabetical order; a tenant created just now may still be missing."""
        return tuple(str(item["gsi1sk"]) for item in all_of(self._table, "the tenants", scope=_DIRECTORY))
