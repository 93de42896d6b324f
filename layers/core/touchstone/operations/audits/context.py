"""What the steps of one tenant's audits work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.audits.record import failed
from touchstone.operations.audits.files import UnpackedBundles
from touchstone.operations.context import StepContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from touchstone.audits.agent import Library
    from touchstone.audits.record import AuditRecord, BundlePlace
    from touchstone.audits.sandbox.room import ProofOrder
    from touchstone.judges.conversing import Conversing
    from touchstone.judges.registry import Model
    from touchstone.operations.audits.files import BundleFiles, FilesOf
    from touchstone.records import Audits, Cases
    from touchstone.workflows.sandbox import SandboxFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditContext(StepContext):
    """One tenant's audits, who solves, and the sandbox.

    `solver` gives who solves for a provider, None: for nobody in particular; it raises `SettingsError` where nobody can
    be asked. `model` is the one that would be asked, None where its price is not known. `unpacked` keeps the
    last bundle on this machine, to be read and never run.
    """

    audits: Audits
    cases: Cases
    files: FilesOf
    bundles: BundleFiles
    sandbox: Callable[[], SandboxFunction]
    solver: Callable[[str | None], Conversing]
    model: Callable[[str | None], Model | None]
    unpacked: UnpackedBundles

    def record(self, audit_id: str) -> AuditRecord:
        """The record of an audit."""
        return self.audits.get(self.ref("audit", audit_id))

    def fail(self, record: AuditRecord, why: str) -> AuditRecord:
        """Keep that an audit came to nothing, and why."""
        progress = self.cases.progress(record.ref)
        return self.audits.change(record.ref, lambda one: failed(one, why, progress, now=self.clock()))

    def library(self, place: BundlePlace) -> Library:
        """What the bundle of an audit holds, on this machine, to be looked into."""
        return self.unpacked.get(place, lambda file: self.bundles.fetch(place, file))

    def order(self, record: AuditRecord, place: BundlePlace, script: str | None) -> ProofOrder:
        """What the sandbox is told: a link to the bundle, and the script."""
        from touchstone.audits.sandbox.room import ProofOrder

        return ProofOrder(url=self.bundles.link(place), sha256=place.sha256, script=script, limits=record.terms.limits)
