"""Requests for material to be measured. A repeat meets the same record."""

from dataclasses import dataclass

from touchstone.errors import ConflictError
from touchstone.operations.jobs.intake import BatchedIntake
from touchstone.records import Measurements
from touchstone.references import Reference
from touchstone.surfaces.measured import MeasurementView
from touchstone.surfaces.measurement import AnyMeasurementRequest, Measurement, new_measurement, taken_from_batches


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementIntake(BatchedIntake):
    """Accepts one tenant's requests for measurements."""

    measurements: Measurements

    def measure(self, request: AnyMeasurementRequest, *, key: str | None) -> Measurement:
        """Measure some material; `key` is the sender's own. Raises `InputError` if nothing in it can be measured."""
        measurement_id = self.new_id(key, called="measurement")
        when, now = self.when(request.when), self.clock()
        measurement = self.measurements.create(
            new_measurement(request, tenant=self.tenant, measurement_id=measurement_id, now=now, when=when)
        )
        self.start(measurement)
        return measurement

    def ask_now(self, measurement_id: str, *, pay_twice: bool) -> Measurement:
        """From now on, ask at once for a measurement that goes by batches; any other measurement stays as it is.

        Raises `ConflictError` if one of its batches is at a provider, unless `pay_twice` is set, and for a measurement
        that a file carries: there the whole file must be asked for at once.
        """
        which = Reference(self.tenant, "measurement", measurement_id)
        measurement = self.measurements.get(which)
        if not measurement.open or not measurement.by_batch:
            return measurement
        if measurement.left_until is not None:
            raise ConflictError("A file carries this measurement; its line comes when the file's batches are answered.")
        self.refuse_paid(_batches(measurement), called="measurement", pay_twice=pay_twice)
        measurement = self.measurements.change(which, taken_from_batches)
        self.start(measurement, run=self.run_now())
        return measurement

    def shown(self, measurement: Measurement) -> MeasurementView:
        """The view of a measurement's record, with its batches at providers."""
        return MeasurementView.of(measurement, batches=self.made_batches(_batches(measurement)))

    def start(self, measurement: Measurement, *, run: str = "1") -> None:
        """Start the machine for the metrics that are not measured; `run` tells a later execution from the first."""
        if measurement.open:
            reference = measurement.ref
            self.workflows().start("measure", reference, run=run, metrics=list(measurement.open))


def _batches(measurement: Measurement) -> list[str]:
    """The id of the latest provider batch of each metric that has a batch of its own."""
    return [one.batch for one in measurement.metrics if one.batch is not None]
