"""What the steps of one tenant's audits work with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from touchstone.audits.record import failed
from touchstone.clock import Clock, system_clock
from touchstone.errors import JudgeError, LimitError
from touchstone.operations.audits.unpacked import Unpacked
from touchstone.references import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from touchstone.audits.agent import Library
    from touchstone.audits.record import AuditRecord, Place
    from touchstone.audits.sandbox.room import Order
    from touchstone.clock import Deadline
    from touchstone.judges.base import Conversing, Reply
    from touchstone.judges.conversing import Turn, TurnRequest
    from touchstone.judges.registry import Model
    from touchstone.judges.spends import Spend
    from touchstone.operations.audits.files import BundleFiles, FilesOf
    from touchstone.records import Audits, Cases
    from touchstone.workflows.sandbox import SandboxFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDesk:
    """One tenant's audits, who solves, and the sandbox.

    `solver` gives who solves for a provider, None: for nobody in particular; it raises `SettingsError` where nobody can
    be asked. `model` is the one that would be asked, None where its price is not known. `paid` is told of calls that
    were paid for. `unpacked` keeps the last bundle on this machine, to be read and never run.
    """

    tenant: str
    audits: Audits
    cases: Cases
    files: FilesOf
    bundles: BundleFiles
    sandbox: Callable[[], SandboxFunction]
    solver: Callable[[str | None], Conversing]
    model: Callable[[str | None], Model | None]
    unpacked: Unpacked
    paid: Callable[[Sequence[Spend]], None] = lambda _: None
    clock: Clock = system_clock

    def record(self, audit_id: str) -> AuditRecord:
        """The record of an audit."""
        return self.audits.get(Reference(self.tenant, "audit", audit_id))

    def fail(self, record: AuditRecord, why: str) -> AuditRecord:
        """Keep that an audit came to nothing, and why."""
        return self.audits.change(record.ref, lambda one: failed(one, why, now=self.clock()))

    def library(self, place: Place) -> Library:
        """What the bundle of an audit holds, on this machine, to be looked into."""
        return self.unpacked.get(place, lambda file: self.bundles.fetch(place, file))

    def order(self, record: AuditRecord, place: Place, script: str | None) -> Order:
        """What the sandbox is told: a link to the bundle, and the script."""
        from touchstone.audits.sandbox.room import Order

        return Order(url=self.bundles.link(place), sha256=place.sha256, script=script, limits=record.terms.limits)


@dataclass(frozen=True, slots=True)
class NotingSolver:
    """As who is behind it; `failures` are the errors that its turns ended with, in their order."""

    behind: Conversing
    failures: list[JudgeError | LimitError] = field(default_factory=list)

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self.behind.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self.behind.model

    async def converse(self, request: TurnRequest, *, deadline: Deadline) -> Reply[Turn]:
        """The next turn; raises as any model does."""
        try:
            return await self.behind.converse(request, deadline=deadline)
        except (JudgeError, LimitError) as error:
            self.failures.append(error)
            raise
