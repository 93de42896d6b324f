"""What people say of verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import stores

if TYPE_CHECKING:
    from touchstone.operations.labelling import Labelling
    from touchstone.records import Labels


def labels() -> Labels:
    """The labels of all tenants."""
    from touchstone.records.labels import Labels

    return Labels(stores.table())


def labelling(tenant: str) -> Labelling:
    """How a tenant labels what was judged for it."""
    from touchstone.clock import system_clock
    from touchstone.operations.labelling import Labelling, readings_of

    readings = readings_of(
        answers=stores.answers, measurements=stores.measurements, tasks=stores.tasks, submissions=stores.submissions
    )
    return Labelling(labels(), readings, tenant=tenant, clock=system_clock)
