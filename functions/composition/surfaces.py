"""What the functions do with measurements and experiments: desks for the steps, intakes for the doors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import judging, stores
from functions.composition.machines import workflows

if TYPE_CHECKING:
    from touchstone.judges import Judge
    from touchstone.judges.registry import Model
    from touchstone.operations.surfaces.desk import MeasuringDesk
    from touchstone.operations.surfaces.experiment_files import ExperimentFiles
    from touchstone.operations.surfaces.experiment_intake import ExperimentIntake
    from touchstone.operations.surfaces.experimenting import ExperimentDesk
    from touchstone.operations.surfaces.intake import MeasurementIntake


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
    from touchstone.surfaces.model import TIER

    judges = judging.judges(tenant, patient=True, apart=apart)
    judge = judges.prefer(TIER)
    if judge is None:
        raise SettingsError(f"No judge can be asked without a key: {judges.remedy}.")
    return judge


def intake(tenant: str) -> MeasurementIntake:
    """Accepts what a tenant wants to be measured."""
    from touchstone.operations.surfaces.intake import MeasurementIntake
    from touchstone.records import RequestKeys

    return MeasurementIntake(
        tenant=tenant,
        measurements=stores.measurements(),
        keys=RequestKeys(stores.table()),
        workflows=workflows,
    )


def experiment_desk(tenant: str) -> ExperimentDesk:
    """What the steps of a tenant's experiments work with; their judges wait for a minute's next slot."""
    from functions.observability import count_spends
    from touchstone.operations.surfaces.experimenting import ExperimentDesk

    return ExperimentDesk(
        tenant=tenant,
        experiments=stores.experiments(),
        pairs=stores.pairs(),
        files=lambda experiment_id: _files(tenant, experiment_id),
        judge=lambda apart: _judge(tenant, apart),
        model=lambda: _model(tenant),
        paid=count_spends,
    )


def experiment_intake(tenant: str) -> ExperimentIntake:
    """Accepts and shows a tenant's experiments."""
    from touchstone.operations.surfaces.experiment_intake import ExperimentIntake
    from touchstone.records import RequestKeys

    return ExperimentIntake(
        tenant=tenant,
        experiments=stores.experiments(),
        pairs=stores.pairs(),
        artifacts=stores.artifacts(),
        files=lambda experiment_id: _files(tenant, experiment_id),
        keys=RequestKeys(stores.table()),
        workflows=workflows,
    )


def _files(tenant: str, experiment_id: str) -> ExperimentFiles:
    from touchstone.operations.surfaces.experiment_files import ExperimentFiles

    return ExperimentFiles(
        artifacts=stores.artifacts(), scratch=stores.scratch(), tenant=tenant, experiment_id=experiment_id
    )


def _model(tenant: str) -> Model | None:
    """The model that would be asked; None without any key."""
    from touchstone.surfaces.model import TIER

    seat = judging.judges(tenant, patient=True).seat(TIER)
    return None if seat is None else seat.model
