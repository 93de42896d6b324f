"""How the audits of a week are made anew."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from touchstone.errors import TouchstoneError
from touchstone.operations.audits.intake import AuditIntake
from touchstone.operations.jobs.sweep import MOST, SweptJobs
from touchstone.records import WEEKLY, Audits
from touchstone.references import Reference

WEEK = timedelta(days=6)
"""An audit of a week that ended less than this ago is left to the next: it was made late."""

logger = logging.getLogger(__name__)


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
