"""What the purge works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import stores
from functions.environment import environment

if TYPE_CHECKING:
    from touchstone.operations.purging import Purging


def purging() -> Purging:
    """Removes the records of all tenants whose retention is over."""
    from touchstone.operations.purging import PurgedStores, Purging
    from touchstone.records.purges import Purges

    return Purging(
        stores=PurgedStores(
            tenants=stores.tenants(),
            answers=stores.answers(),
            audits=stores.audits(),
            batches=stores.batches(),
            experiments=stores.experiments(),
            measurements=stores.measurements(),
            quizzes=stores.quizzes(),
            tasks=stores.tasks(),
            artifacts=stores.artifacts(),
        ),
        purges=Purges(table=stores.table(), artifacts=stores.artifacts(), inbox=stores.inbox()),
        days=environment().retention_days,
    )
