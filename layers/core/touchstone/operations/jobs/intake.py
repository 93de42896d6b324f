"""Requests become records, under ids that follow from the senders' keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.clock import Clock, system_clock
from touchstone.errors import ConflictError
from touchstone.records import new_ulid
from touchstone.references import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from touchstone.attempts import When
    from touchstone.judges.batches.record import ProviderBatch
    from touchstone.records import ProviderBatchStore, RequestIds
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

    def run_now(self) -> str:
        """The name of a run of a machine that asks at once for work that waited."""
        return f"now-{self.clock():%Y%m%dT%H%M%S}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchedIntake(Intake):
    """An intake of jobs that may go by providers' batches. `batches` tells whether work that can wait does."""

    provider_batches: ProviderBatchStore
    batches: Callable[[], bool] = bool

    def when(self, asked: When | None) -> When:
        """When a job is done that was `asked` for so: without batches everything is done now."""
        return "cheap" if asked == "cheap" and self.batches() else "now"

    def made_batches(self, ids: Sequence[str]) -> list[ProviderBatch]:
        """The provider batches of these ids."""
        which = [Reference(self.tenant, "provider_batch", one) for one in ids]
        return list(self.provider_batches.find_many(tenant=self.tenant, which=which).values())

    def refuse_paid(self, ids: Sequence[str], *, called: str, pay_twice: bool) -> None:
        """Raise `ConflictError` if one of these batches is at its provider, unless `pay_twice` is set.

        Such a batch is paid for already, so whoever asks at once must confirm that the job may be paid for twice.
        """
        if pay_twice:
            return
        sent = next((one for one in self.made_batches(ids) if one.sent and not one.over), None)
        if sent is not None:
            ends = sent.ends_by
            until = "" if ends is None else f", answered by {ends:%Y-%m-%d %H:%M} UTC at the latest"
            raise ConflictError(
                f"This {called} is in a batch of {sent.provider} already{until}, and paid for. Wait for it, or say "
                "pay_twice to have it asked now and pay for it a second time."
            )
