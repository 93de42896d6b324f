"""The sweep of all jobs but answers, which have one of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import stores
from functions.composition.machines import workflows

if TYPE_CHECKING:
    from touchstone.operations.jobs.sweep import Sweep


def sweep() -> Sweep:
    """Takes up what a crash left behind: a new job is one more line here."""
    from touchstone.operations.audits import sweeping as audits
    from touchstone.operations.jobs.sweep import Sweep
    from touchstone.operations.quizzes import sweeping as quizzes
    from touchstone.operations.surfaces import sweeping as surfaces
    from touchstone.operations.tasks import sweeping as tasks

    return Sweep(
        jobs=(
            *tasks.swept(tasks=stores.tasks(), submissions=stores.submissions(), challenges=stores.challenges()),
            *surfaces.swept(measurements=stores.measurements(), experiments=stores.experiments(), pairs=stores.pairs()),
            quizzes.swept(stores.quizzes()),
            audits.swept(audits=stores.audits(), cases=stores.cases()),
        ),
        workflows=workflows,
    )
