"""What the functions do with measurements: a desk for the steps, a reception for the doors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import judging, stores, work

if TYPE_CHECKING:
    from touchstone.judges import Judge
    from touchstone.operations.surfaces.desk import MeasuringDesk
    from touchstone.operations.surfaces.reception import MeasurementReception
    from touchstone.operations.surfaces.sweeping import SurfaceSweep


def desk(tenant: str) -> MeasuringDesk:
    """What the steps of a tenant's measurements work with; their judges wait for a minute's next slot."""
    from functions.observability import count_spends
    from touchstone.operations.surfaces.desk import MeasuringDesk

    return MeasuringDesk(
        tenant=tenant,
        measurements=stores.measurements(),
        judge=lambda apart: _judge(tenant, apart),
        paid=count_spends,
    )


def _judge(tenant: str, apart: str | None) -> Judge:
    """Who measures for a tenant. Raises `SettingsError` where nobody can be asked."""
    from touchstone.errors import SettingsError
    from touchstone.surfaces.evaluation import TIER

    judges = judging.judges(tenant, patient=True, apart=apart)
    judge = judges.prefer(TIER)
    if judge is None:
        raise SettingsError(f"No judge can be asked without a key: {judges.remedy}.")
    return judge


def reception(tenant: str) -> MeasurementReception:
    """Accepts what a tenant wants to be measured."""
    from touchstone.operations.surfaces.reception import MeasurementReception
    from touchstone.records import RequestKeys

    return MeasurementReception(
        tenant=tenant,
        measurements=stores.measurements(),
        keys=RequestKeys(stores.table()),
        workflows=work.workflows,
    )


def sweep() -> SurfaceSweep:
    """Takes up what a crash left behind of measurements."""
    from touchstone.operations.surfaces.sweeping import SurfaceSweep

    return SurfaceSweep(measurements=stores.measurements(), workflows=work.workflows)
