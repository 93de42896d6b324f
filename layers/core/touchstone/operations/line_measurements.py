"""What lines of a batch hand in to be measured: taken like any other material, measured beside the other lines."""

import logging
from dataclasses import dataclass

from touchstone.clock import Deadline
from touchstone.errors import StoreError
from touchstone.operations.job_lines import MeasurementLine, request_in
from touchstone.operations.surfaces.context import MeasuringContext
from touchstone.operations.surfaces.intake import MeasurementIntake
from touchstone.operations.surfaces.measuring import measure_once
from touchstone.surfaces.measured import MeasurementView
from touchstone.surfaces.measurement import Measurement, new_measurement

LEAST_SECONDS = 120.0
"""A metric of a long quiz may take that long; a try that the end of its chunk cuts short is paid for and counts."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMeasurements:
    """Takes and measures what the lines of one tenant's batches carry."""

    context: MeasuringContext
    intake: MeasurementIntake

    def hand_in(self, line: MeasurementLine, measurement_id: str) -> str:
        """Take the material; a repeat of the line finds it. Its id.

        Raises `InputError` where nothing can be measured.
        """
        now, tenant = self.context.clock(), self.context.tenant
        return self.context.measurements.create(
            new_measurement(request_in(line), tenant=tenant, measurement_id=measurement_id, now=now)
        ).id

    async def judge(self, measurement_id: str, *, deadline: Deadline, last: bool) -> MeasurementView:  # noqa: ARG002 - its machine goes on
        """Measure as far as it comes before the deadline; what there is then.

        Nothing is begun with less than `LEAST_SECONDS` left. What is left to do, its own state machine does, however
        long that waits for a judge.
        """
        measurement = self.context.measurements.get(self.context.ref("measurement", measurement_id))
        if measurement.open and deadline.remaining >= LEAST_SECONDS:
            measurement = await self._tried(measurement, deadline)
        self.intake.start(measurement)
        return MeasurementView.of(measurement)

    async def _tried(self, measurement: Measurement, deadline: Deadline) -> Measurement:
        """The measurement after a try, whatever came of that: it is taken, and its line is done."""
        try:
            return await measure_once(self.context, measurement, deadline=deadline)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - its machine tries again, and says what is wrong
            # Its type only: its words may quote the material.
            logger.error("Measurement %s was not made with its line: %s", measurement.id, type(error).__name__)  # noqa: TRY400
            return self.context.measurements.get(measurement.ref)
