"""What the functions do with tasks and submissions: desks for the steps, intake and readers for the doors."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from functions.composition import judging, stores
from functions.composition.machines import workflows

if TYPE_CHECKING:
    from touchstone.judges import Judges
    from touchstone.operations.tasks.announcing import Announcer
    from touchstone.operations.tasks.desk import TaskDesk
    from touchstone.operations.tasks.intake import TaskIntake
    from touchstone.operations.tasks.reading import PartyReader


def desk(tenant: str, *, patient: bool = False) -> TaskDesk:
    """What the steps of a tenant's tasks work with. `patient`: judges wait for a minute's next slot."""
    from functions.observability import count_spends
    from touchstone.operations.tasks.desk import TaskDesk
    from touchstone.oracle.choice import open_another_judge, open_judge
    from touchstone.oracle.model import TIER
    from touchstone.records import Comparisons, Judgements

    def judges() -> Judges:
        """Made where somebody is to be asked: most steps ask nobody."""
        return judging.judges_of_submissions(tenant, patient=patient)

    return TaskDesk(
        tenant=tenant,
        tasks=stores.tasks(),
        submissions=stores.submissions(),
        judgements=Judgements(stores.table(), stores.artifacts()),
        comparisons=Comparisons(stores.table(), stores.artifacts()),
        challenges=stores.challenges(),
        scratch=stores.scratch(),
        announcer=announcer(),
        judge=lambda: open_judge(judges(), judging.choice()),
        other_judge=lambda than: open_another_judge(judges(), judging.choice(), than=than),
        judge_at=lambda provider: judges().get(provider, TIER),
        paid=count_spends,
    )


@cache
def announcer() -> Announcer:
    """Sends the events of tasks."""
    from touchstone.operations.tasks.announcing import Announcer
    from touchstone.records import Outbox

    return Announcer(outbox=Outbox(stores.table()), bus=stores.event_bus)


def intake(tenant: str) -> TaskIntake:
    """Accepts what a tenant asks for of tasks."""
    from touchstone.operations.tasks.intake import TaskIntake
    from touchstone.records import RequestKeys

    return TaskIntake(
        tenant=tenant,
        tasks=stores.tasks(),
        submissions=stores.submissions(),
        challenges=stores.challenges(),
        artifacts=stores.artifacts(),
        keys=RequestKeys(stores.table()),
        workflows=workflows,
    )


def reader(tenant: str, party: str | None) -> PartyReader:
    """Reads for one party of a tenant's tasks; None: for nobody in particular."""
    from touchstone.operations.tasks.reading import PartyReader

    return PartyReader(
        tenant=tenant,
        party=party,
        tasks=stores.tasks(),
        submissions=stores.submissions(),
        challenges=stores.challenges(),
    )
