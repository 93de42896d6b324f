"""Measurements and experiments that nothing carries any more are taken up again."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from touchstone.attempts import LEASE
from touchstone.clock import Clock, system_clock
from touchstone.errors import TouchstoneError
from touchstone.records import Experiments, Measurements, Pairs
from touchstone.references import Reference
from touchstone.surfaces.experiments.record import failed
from touchstone.workflows import Workflows

STALLED_AFTER = timedelta(minutes=10)
"""Past its time by so much, a piece of work has lost whoever carried it. Leases are longer than any step."""
GIVEN_UP_AFTER = timedelta(days=14)
"""An experiment's pairs are tried for a week, and its machine lives two: what still breaks off will do so again."""
BROKEN_OFF = "Its steps broke off each time they were begun, for two weeks. Ask anew, or tell the operator."
MOST = 200
"""In one sweep; the next one, a quarter of an hour later, takes the rest."""
LOOKED_AT = 2_000
"""Experiments that are not over, of which most are carried; a look takes some 10 ms, and the sweep has minutes."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptSurfaces:
    """What a sweep did: `restarted` measurements and experiments, and `stuck` ones that could not be started."""

    restarted: int
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSweep:
    """Looks for what a crash left behind. The index that it reads holds only what is not over."""

    measurements: Measurements
    experiments: Experiments
    pairs: Pairs
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> SweptSurfaces:
        """Start again what stalled."""
        # The hour in the name: a sweep that is itself repeated starts nothing twice.
        run = f"sweep-{self.clock():%Y%m%d%H}"
        experimented = (
            self._experimented(one, run)
            for one in self.experiments.unfinished(older_than=STALLED_AFTER, limit=LOOKED_AT)
        )
        started = [
            *(self._measured(one, run) for one in self.measurements.unfinished(older_than=STALLED_AFTER, limit=MOST)),
            *islice((each for each in experimented if each is not None), MOST),
        ]
        return SweptSurfaces(restarted=started.count(True), stuck=started.count(False))

    def _measured(self, one: Reference, run: str) -> bool | None:
        """Whether a measurement could be started again; None where it is over."""
        try:
            measurement = self.measurements.get(one)
            if not measurement.open:
                return None
            self.workflows().start("measure", one, run=run, metrics=list(measurement.open))
        except TouchstoneError:
            logger.error("Measurement %s could not be started again", one.id)  # noqa: TRY400 - the words add nothing
            return False
        return True

    def _experimented(self, one: Reference, run: str) -> bool | None:
        """Whether an experiment could be started again; None where it is over, or carried by what its pairs say."""
        try:
            progress = self.pairs.progress(one)
            if self._carried(progress.until, progress.at and progress.at + LEASE):
                return None
            # What happened last says nothing of a pair that is put off for longer than those that ended after it.
            if self._carried(self.pairs.carried_until(one)):
                return None
            record = self.experiments.get(one)
            if record.finished_at is not None:
                return None
            if self.clock() - record.created_at > GIVEN_UP_AFTER:
                self.experiments.change(one, lambda it: failed(it, BROKEN_OFF, now=self.clock()))
                logger.error("Experiment %s was given up: its steps broke off each time", one.id)
                return False
            self.workflows().start("experiment", one, run=run)
        except TouchstoneError:
            logger.error("Experiment %s could not be started again", one.id)  # noqa: TRY400 - the words add nothing
            return False
        return True

    def _carried(self, *moments: datetime | None) -> bool:
        return any(each is not None and each + STALLED_AFTER > self.clock() for each in moments)
