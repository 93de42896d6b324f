"""Requests become records, under ids that follow from the senders' keys."""

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.clock import Clock, system_clock
from touchstone.records import RequestIds, new_ulid
from touchstone.workflows import Workflows


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """Accepts the requests of one tenant.

    A `key` is the sender's own: a repeat with the same key meets the same record. Every method raises `NotFoundError`
    for a record that the tenant does not have, and `StoreError` if the request is to be repeated.
    """

    tenant: str
    keys: RequestIds
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def new_id(self, key: str | None, *, called: str = "") -> str:
        """The id of a request under the sender's `key`; a new id if `key` is None.

        `called` names the kind of request: the same key for another kind of request gives another id.
        """
        if key is None:
            return new_ulid(self.clock())
        return self.keys.id_for(tenant=self.tenant, key=f"{called} {key}" if called else key)
