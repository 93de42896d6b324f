"""What a door asks for becomes a record, under the id that follows from the sender's key."""

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.clock import Clock, system_clock
from touchstone.records import RequestIds, new_ulid
from touchstone.workflows import Workflows


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """Accepts what one tenant asks for. A `key` is the sender's own: a repeat with it meets the same record.

    Every method raises `NotFoundError` for what the tenant does not have, and `StoreError` where it is to be repeated.
    """

    tenant: str
    keys: RequestIds
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def new_id(self, key: str | None, *, called: str = "") -> str:
        """The id of what is asked for under a sender's key, which belongs to one kind of request, `called` so."""
        if key is None:
            return new_ulid(self.clock())
        return self.keys.id_for(tenant=self.tenant, key=f"{called} {key}" if called else key)
