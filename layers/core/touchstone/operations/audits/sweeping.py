"""How audits are taken up again, and how those of a week are made anew."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from touchstone.audits.record import failed
from touchstone.errors import TouchstoneError
from touchstone.operations.audits.intake import AuditIntake
from touchstone.operations.jobs.parts import PartedJob
from touchstone.operations.jobs.sweep import MOST, SweptJob, SweptJobs
from touchstone.records import WEEKLY, Audits, Cases
from touchstone.references import Reference

STALLED_AFTER = timedelta(minutes=20)
"""Past its time by so much, an audit has lost whoever carried it. To install a large target takes a quarter hour."""
WEEK = timedelta(days=6)
"""An audit of a week that ended less than this ago is left to the next: it was made late."""

logger = logging.getLogger(__name__)


def swept(*, audits: Audits, cases: Cases) -> SweptJob:
    """The job, as the sweep takes it up."""
    return PartedJob(store=audits, parts=cases, failed=failed, stalled_after=STALLED_AFTER).swept("audit")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyAudits:
    """Begins the audits of a week: each takes over from the one before, whose proofs are run first."""

    audits: Audits
    intake: Callable[[str], AuditIntake]

    def run(self) -> SweptJobs:
        """Begin all that are due; `restarted` are those that were begun."""
        started = [self._begun(one) for one in self.audits.listed(WEEKLY, older_than=WEEK, limit=MOST)]
        return SweptJobs(restarted=started.count(True), stuck=started.count(False))

    def _begun(self, one: Reference) -> bool | None:
        try:
            before = self.audits.get(one)
            if not before.weekly or before.followed_by is not None:
                return None
            self.intake(one.tenant).next_of(before)
        except TouchstoneError:
            logger.error("The week's audit after %s could not be begun", one.id)  # noqa: TRY400 - the words add nothing
            return False
        return True
