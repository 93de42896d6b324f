"""Measurements that nothing carries any more are taken up again."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from touchstone.clock import Clock, system_clock
from touchstone.errors import TouchstoneError
from touchstone.records import Measurements
from touchstone.workflows import Workflows

STALLED_AFTER = timedelta(minutes=10)
"""Past its time by so much, a piece of work has lost whoever carried it. Leases are longer than any step."""
MOST = 200
"""In one sweep; the next one, a quarter of an hour later, takes the rest."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptSurfaces:
    """What a sweep did: `restarted` measurements, and `stuck` ones that could not be started."""

    restarted: int
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSweep:
    """Looks for what a crash left behind. The index that it reads holds only what is not over."""

    measurements: Measurements
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> SweptSurfaces:
        """Start again what stalled."""
        # The hour in the name: a sweep that is itself repeated starts nothing twice.
        run = f"sweep-{self.clock():%Y%m%d%H}"
        stalled = self.measurements.unfinished(older_than=STALLED_AFTER, limit=MOST)
        restarted = sum(self._restarted(one.tenant, one.measurement_id, run) for one in stalled)
        return SweptSurfaces(restarted=restarted, stuck=len(stalled) - restarted)

    def _restarted(self, tenant: str, measurement_id: str, run: str) -> bool:
        try:
            measurement = self.measurements.get(tenant=tenant, measurement_id=measurement_id)
            if measurement.open:
                self.workflows().measurement(
                    tenant=tenant, measurement_id=measurement_id, metrics=measurement.open, run=run
                )
        except TouchstoneError:
            logger.error("Measurement %s could not be started again", measurement_id)  # noqa: TRY400 - the words add nothing
            return False
        return True
