"""What the doors ask for: material to be measured. A repeat meets the same record."""

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.clock import Clock, system_clock
from touchstone.records import Measurements, RequestKeys, new_ulid
from touchstone.surfaces.measurement import AnyMeasurementRequest, Measurement, new_measurement
from touchstone.workflows import Workflows


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementReception:
    """Accepts what one tenant wants to be measured.

    Every method raises `NotFoundError` for what the tenant does not have, and `StoreError` where it is to be repeated.
    """

    tenant: str
    measurements: Measurements
    keys: RequestKeys
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def measure(self, request: AnyMeasurementRequest, *, key: str | None) -> Measurement:
        """Have some material measured; `key` is the sender's own. Raises `InputError` where nothing can be measured."""
        if key is None:
            measurement_id = new_ulid(self.clock())
        else:
            measurement_id = self.keys.id_for(tenant=self.tenant, key=f"measurement {key}")
        measurement = self.measurements.create(
            new_measurement(request, tenant=self.tenant, measurement_id=measurement_id, now=self.clock())
        )
        self.start(measurement)
        return measurement

    def start(self, measurement: Measurement, *, run: str = "1") -> None:
        """Start the machine for what is not measured; `run` tells a later execution from the first."""
        if measurement.open:
            reference = measurement.ref
            self.workflows().start("measure", reference, run=run, metrics=list(measurement.open))
