"""What the doors ask for: material to be measured. A repeat meets the same record."""

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.attempts import When
from touchstone.operations.jobs.intake import Intake
from touchstone.records import Measurements
from touchstone.surfaces.measurement import AnyMeasurementRequest, Measurement, new_measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementIntake(Intake):
    """Accepts what one tenant wants to be measured."""

    measurements: Measurements
    batches: Callable[[], bool] = bool
    """Whether what can wait goes by a provider's batches."""

    def measure(self, request: AnyMeasurementRequest, *, key: str | None) -> Measurement:
        """Have some material measured; `key` is the sender's own. Raises `InputError` where nothing can be measured."""
        measurement_id = self.new_id(key, called="measurement")
        when: When = "cheap" if request.when == "cheap" and self.batches() else "now"
        measurement = self.measurements.create(
            new_measurement(request, tenant=self.tenant, measurement_id=measurement_id, now=self.clock(), when=when)
        )
        self.start(measurement)
        return measurement

    def start(self, measurement: Measurement, *, run: str = "1") -> None:
        """Start the machine for what is not measured; `run` tells a later execution from the first."""
        if measurement.open:
            reference = measurement.ref
            self.workflows().start("measure", reference, run=run, metrics=list(measurement.open))
