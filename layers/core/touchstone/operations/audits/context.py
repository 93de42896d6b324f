"""The stores, models and sandbox that the steps of one tenant's audits use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from touchstone.operations.audits.files import UnpackedBundles
from touchstone.operations.jobs.context import StepContext
from touchstone.operations.jobs.waiting import PartsByBatch
from touchstone.parts import failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from touchstone.audits.agent import AgentState, Library
    from touchstone.audits.case_work import BatchTurn
    from touchstone.audits.record import AuditRecord, BundlePlace
    from touchstone.audits.report.model import QualityReport
    from touchstone.audits.sandbox.room import ProofOrder
    from touchstone.judges.conversing import Conversing
    from touchstone.judges.registry import Model
    from touchstone.operations.audits.files import BundleFiles, FilesOf
    from touchstone.operations.jobs.waiting import WantedQuestion
    from touchstone.records import Audits, Cases
    from touchstone.workflows.sandbox import SandboxFunction


class CasesByBatch(PartsByBatch["AuditRecord"], Protocol):
    """Sends first turns of audit cases through batches of providers."""

    async def wanted(self, record: AuditRecord, state: AgentState) -> WantedQuestion | None:
        """The question that a batch is to answer as a case's first turn. None if no batch takes it.

        Nothing is asked here.
        """
        ...

    async def recorded(self, record: AuditRecord, state: AgentState, brought: BatchTurn) -> Conversing | None:
        """A model that gives only the first turn that a batch brought.

        None if the turn answers a question that has changed since.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditContext(StepContext):
    """One tenant's audits, the models that solve cases, and the sandbox.

    `solver` gives the model that solves, of the named provider, or of any if the name is None; it raises
    `SettingsError` if no model can be asked. `model` gives the model that would be asked, None if its price is not
    known. `unpacked` keeps the last bundle on this machine, to be read and never run. `by_batch` gives what sends first
    turns that can wait through batches, and is called only for these; None if there are no batches.
    """

    audits: Audits
    cases: Cases
    files: FilesOf
    bundles: BundleFiles
    sandbox: Callable[[], SandboxFunction]
    solver: Callable[[str | None], Conversing]
    model: Callable[[str | None], Model | None]
    unpacked: UnpackedBundles
    by_batch: Callable[[], CasesByBatch] | None = None

    def record(self, audit_id: str) -> AuditRecord:
        """The record of an audit."""
        return self.audits.get(self.ref("audit", audit_id))

    def earlier_report(self, record: AuditRecord) -> QualityReport | None:
        """The report of the earlier audit whose proofs are run first. None if there is none."""
        previous = record.terms.previous
        return None if previous is None else self.files(previous).quality_report()

    def fail(self, record: AuditRecord, why: str) -> AuditRecord:
        """Store that an audit failed, and why."""
        progress = self.cases.progress(record.ref)
        return self.audits.change(record.ref, lambda one: failed(one, why, progress, now=self.clock()))

    def library(self, place: BundlePlace) -> Library:
        """The library in the bundle of an audit, unpacked on this machine for reading."""
        return self.unpacked.get(place, lambda file: self.bundles.fetch(place, file))

    def order(self, record: AuditRecord, place: BundlePlace, script: str | None) -> ProofOrder:
        """The order for the sandbox: a link to the bundle, its hash, the script, and the limits."""
        from touchstone.audits.sandbox.room import ProofOrder

        return ProofOrder(url=self.bundles.link(place), sha256=place.sha256, script=script, limits=record.terms.limits)
