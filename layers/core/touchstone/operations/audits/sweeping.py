"""Audits that nothing carries any more are taken up again, and those of a week are made anew."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from touchstone.attempts import LEASE
from touchstone.audits.record import failed
from touchstone.clock import Clock, system_clock
from touchstone.errors import TouchstoneError
from touchstone.operations.audits.reception import AuditReception
from touchstone.records import WEEKLY, Audits, Cases
from touchstone.references import Reference
from touchstone.workflows import Workflows

STALLED_AFTER = timedelta(minutes=20)
"""Past its time by so much, an audit has lost whoever carried it. To install a large target takes a quarter hour."""
GIVEN_UP_AFTER = timedelta(days=14)
"""An audit's cases are tried for a week, and its machine lives two: what still breaks off will do so again."""
BROKEN_OFF = "Its steps broke off each time they were begun, for two weeks. Ask anew, or tell the operator."
MOST = 200
"""In one sweep; the next one, a quarter of an hour later, takes the rest."""
LOOKED_AT = 2_000
"""Audits that are not over, of which most are carried; a look takes some 10 ms, and the sweep has minutes."""
WEEK = timedelta(days=6)
"""An audit of a week that ended less than this ago is left to the next: it was made late."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptAudits:
    """What a sweep did: `restarted` audits, and `stuck` ones that could not be started."""

    restarted: int
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSweep:
    """Looks for what a crash left behind. The index that it reads holds only what is not over."""

    audits: Audits
    cases: Cases
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> SweptAudits:
        """Start again what stalled."""
        # The hour in the name: a sweep that is itself repeated starts nothing twice.
        run = f"sweep-{self.clock():%Y%m%d%H}"
        found = self.audits.unfinished(older_than=STALLED_AFTER, limit=LOOKED_AT)
        looked_at = (self._started(one, run) for one in found)
        started = list(islice((each for each in looked_at if each is not None), MOST))
        return SweptAudits(restarted=started.count(True), stuck=started.count(False))

    def _started(self, one: Reference, run: str) -> bool | None:
        """Whether an audit could be started again; None where it is over, or carried by what its cases say."""
        try:
            progress = self.cases.progress(one)
            if self._carried(progress.until, progress.at and progress.at + LEASE):
                return None
            # What happened last says nothing of a case that is put off for longer than those that ended after it.
            if self._carried(self.cases.carried_until(one)):
                return None
            record = self.audits.get(one)
            if record.finished_at is not None:
                return None
            if self.clock() - record.created_at > GIVEN_UP_AFTER:
                self.audits.change(one, lambda it: failed(it, BROKEN_OFF, now=self.clock()))
                logger.error("Audit %s was given up: its steps broke off each time", one.id)
                return False
            self.workflows().start("audit", one, run=run)
        except TouchstoneError:
            logger.error("Audit %s could not be started again", one.id)  # noqa: TRY400 - the words add nothing
            return False
        return True

    def _carried(self, *moments: datetime | None) -> bool:
        return any(each is not None and each + STALLED_AFTER > self.clock() for each in moments)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyAudits:
    """Begins the audits of a week: each takes over from the one before, whose proofs are run first."""

    audits: Audits
    reception: Callable[[str], AuditReception]

    def run(self) -> SweptAudits:
        """Begin all that are due; `restarted` are those that were begun."""
        started = [self._begun(one) for one in self.audits.listed(WEEKLY, older_than=WEEK, limit=MOST)]
        return SweptAudits(restarted=started.count(True), stuck=started.count(False))

    def _begun(self, one: Reference) -> bool | None:
        try:
            before = self.audits.get(one)
            if not before.weekly or before.followed_by is not None:
                return None
            self.reception(one.tenant).next_of(before)
        except TouchstoneError:
            logger.error("The week's audit after %s could not be begun", one.id)  # noqa: TRY400 - the words add nothing
            return False
        return True
