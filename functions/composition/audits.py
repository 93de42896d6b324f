"""What the functions do with audits: desks for the steps, intakes for the doors, and the sandbox."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from functions.composition import judging, stores
from functions.composition.machines import workflows
from functions.environment import environment

if TYPE_CHECKING:
    from touchstone.audits.bundles import Bundles
    from touchstone.judges.base import Conversing
    from touchstone.judges.registry import Model
    from touchstone.operations.audits.desk import AuditDesk
    from touchstone.operations.audits.files import AuditFiles
    from touchstone.operations.audits.intake import AuditIntake
    from touchstone.operations.audits.sweeping import WeeklyAudits
    from touchstone.operations.audits.unpacked import Unpacked
    from touchstone.workflows.sandbox import SandboxFunction


def desk(tenant: str) -> AuditDesk:
    """What the steps of a tenant's audits work with; who solves waits for a minute's next slot."""
    from functions.observability import count_spends
    from touchstone.operations.audits.desk import AuditDesk
    from touchstone.operations.audits.files import BundleFiles

    return AuditDesk(
        tenant=tenant,
        audits=stores.audits(),
        cases=stores.cases(),
        files=lambda audit_id: _files(tenant, audit_id),
        bundles=BundleFiles(bundles=stores.bundles(), tenant=tenant),
        sandbox=_sandbox,
        solver=lambda provider: _solver(tenant, provider),
        model=lambda provider: _model(tenant, provider),
        unpacked=_unpacked(),
        paid=count_spends,
    )


def builder(folder: Path) -> Bundles:
    """What installs targets in a folder."""
    from touchstone.audits.bundles import Bundles

    return Bundles(folder)


def intake(tenant: str) -> AuditIntake:
    """Accepts and shows a tenant's audits."""
    from touchstone.operations.audits.intake import AuditIntake
    from touchstone.records import RequestKeys

    return AuditIntake(
        tenant=tenant,
        audits=stores.audits(),
        cases=stores.cases(),
        files=lambda audit_id: _files(tenant, audit_id),
        keys=RequestKeys(stores.table()),
        workflows=workflows,
    )


def weekly() -> WeeklyAudits:
    """Begins the audits of a week."""
    from touchstone.operations.audits.sweeping import WeeklyAudits

    return WeeklyAudits(audits=stores.audits(), intake=intake)


def _files(tenant: str, audit_id: str) -> AuditFiles:
    from touchstone.operations.audits.files import AuditFiles

    return AuditFiles(artifacts=stores.artifacts(), scratch=stores.scratch(), tenant=tenant, audit_id=audit_id)


@cache
def _sandbox() -> SandboxFunction:
    from touchstone.workflows.sandbox import SandboxFunction, client

    return SandboxFunction(lambdas=client(), name=environment().require("sandbox_function"))


@cache
def _unpacked() -> Unpacked:
    from touchstone.operations.audits.unpacked import Unpacked

    return Unpacked(Path(tempfile.mkdtemp(prefix="touchstone-bundle-")))


def _solver(tenant: str, provider: str | None) -> Conversing:
    """Who solves for a tenant. Raises `SettingsError` where nobody can be asked."""
    from touchstone.audits.agent import open_solver

    return open_solver(judging.judges(tenant), provider)


def _model(tenant: str, provider: str | None) -> Model | None:
    """Who would solve, as the registry lists it; None where its price is not known or nobody can be asked."""
    from touchstone.errors import MisconfiguredError, SettingsError

    try:
        solver = _solver(tenant, provider)
        return judging.registry().find(solver.provider, solver.model)
    except (SettingsError, MisconfiguredError):
        return None
