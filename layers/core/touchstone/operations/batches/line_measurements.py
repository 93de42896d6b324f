"""Measurements that lines of a batch hand in: taken like any other, and measured beside the other lines.

A measurement that can wait goes by the providers' batches: it is tried without asking anybody, and its open questions
are left to the batch of its file.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from touchstone.clock import Deadline
from touchstone.operations.batches.chunks import request_of
from touchstone.operations.batches.job_lines import MeasurementLine, tried_or
from touchstone.operations.jobs.waiting import WantedQuestion
from touchstone.operations.surfaces.context import MeasuringContext
from touchstone.operations.surfaces.intake import MeasurementIntake
from touchstone.operations.surfaces.measuring import measure_once
from touchstone.surfaces.measured import MeasurementView
from touchstone.surfaces.measurement import Measurement, new_measurement, set_to_now

LEAST_SECONDS = 120.0
"""The least time left in which a measurement is begun: a metric of a long quiz may take that long, and a try that the
end of its chunk cuts short is paid for and counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMeasurements:
    """Takes and measures what the lines of one tenant's batches carry.

    `by_batch` tries a measurement with the replies that batches of providers brought: it returns the record, or the
    questions that are still open; None if there are no batches. `abandoned_after` is how long the sweep leaves a
    measurement alone that goes by batches.
    """

    context: MeasuringContext
    intake: MeasurementIntake
    abandoned_after: timedelta
    by_batch: Callable[[Measurement], Awaitable[Measurement | tuple[WantedQuestion, ...]]] | None = None

    def hand_in(self, line: MeasurementLine, measurement_id: str) -> str:
        """Accept the material and return its measurement's id; a repeat of the line finds it.

        Raises `InputError` if nothing can be measured.
        """
        now, tenant = self.context.clock(), self.context.tenant
        cheap = self.by_batch is not None and line.when != "now"
        return self.context.measurements.create(
            new_measurement(
                request_of(line),
                tenant=tenant,
                measurement_id=measurement_id,
                now=now,
                when="cheap" if cheap else "now",
                left_until=now + self.abandoned_after if cheap else None,
            )
        ).id

    async def judge(
        self, measurement_id: str, *, deadline: Deadline, last: bool, at_once: bool
    ) -> MeasurementView | tuple[WantedQuestion, ...]:
        """Measure as far as possible before the deadline. Return the view then, or the questions for batches.

        Nothing is begun with less than `LEAST_SECONDS` left. The measurement's own state machine does the rest, however
        long that waits for a judge.
        """
        measurement = self.context.measurements.get(self.context.ref("measurement", measurement_id))
        if measurement.open and measurement.when == "cheap":
            tried = await self._by_batch(measurement, at_once=last or at_once)
            if isinstance(tried, tuple):
                return tried
            measurement = tried
        if measurement.open and deadline.remaining >= LEAST_SECONDS:
            which = measurement.ref
            measurement = await tried_or(
                measure_once(self.context, measurement, deadline=deadline),
                lambda: self.context.measurements.get(which),
                f"Measurement {which.id} was not made with its line",
            )
        self.intake.start(measurement)
        return MeasurementView.of(measurement)

    async def _by_batch(self, measurement: Measurement, *, at_once: bool) -> Measurement | tuple[WantedQuestion, ...]:
        """A measurement's questions for batches; or its record, which is over or to be asked about at once."""
        found: Measurement | tuple[WantedQuestion, ...] = measurement
        if self.by_batch is not None and not at_once:
            fault = f"Measurement {measurement.id} goes by no batch"
            found = await tried_or(self.by_batch(measurement), lambda: measurement, fault)
        if isinstance(found, tuple) or not found.open:
            return found
        return self.context.measurements.change(measurement.ref, set_to_now)
