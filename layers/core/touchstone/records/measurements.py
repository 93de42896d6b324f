"""Measurements of quizzes, summaries and decks of flashcards; each step of a metric is one write."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from touchstone.attempts import TryEnd
from touchstone.clock import Clock, system_clock
from touchstone.judges.spends import known_cost, unpriced
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import Increment, action_of, changes, counted_calls
from touchstone.records.cursors import Page
from touchstone.records.keys import measurement_key, of_tenant, record_of, sortable
from touchstone.records.lists import all_of, due_until, newest
from touchstone.records.table import Action, Item
from touchstone.records.versioned import Kind, Versioned
from touchstone.strict import Strict
from touchstone.surfaces import measurement as steps
from touchstone.surfaces.labelling import CARDS_OF_CALLS
from touchstone.surfaces.measurement import AnyMeasurementRequest, Measurement, MeasurementState, Unmeasured
from touchstone.surfaces.model import MetricName, MetricResult, Surface

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

UNFINISHED = "MEASUREMENT#unfinished"
"""The partition of the `deferred` index where measurements that are not over are, of all tenants."""


class MeasurementSummary(Strict):
    """One line of a list of measurements.

    `scores` (0-100) are those of its metrics, null where there is none. `cost_usd` is what the calls so far cost, of
    those whose price is known; null where it was stored before that was kept.
    """

    id: str
    surface: Surface
    state: MeasurementState
    created_at: datetime
    finished_at: datetime | None
    scores: dict[MetricName, float | None]
    cost_usd: float | None = None
    unpriced_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedMeasurement:
    """A measurement that is not over."""

    tenant: str
    measurement_id: str


class Measurements:
    """The records of measurements.

    Every method raises `NotFoundError` for an id that this tenant does not have, and `StoreError` where the store
    fails; all are safe to repeat, and a repeat returns the record as it is stored by then.
    """

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._records = Versioned(MEASUREMENT, table, artifacts, pause=pause)
        self._clock = clock

    def create(self, *, tenant: str, measurement_id: str, request: AnyMeasurementRequest) -> Measurement:
        """Store a new measurement; a repeat returns the stored one, however far it has come.

        Raises `InputError` where nothing can be measured, `ConflictError` where the id belongs to another request.
        """
        return self._records.insert(
            steps.new_measurement(request, tenant=tenant, measurement_id=measurement_id, now=self._clock())
        )

    def get(self, *, tenant: str, measurement_id: str) -> Measurement:
        """The record of a measurement."""
        return self._records.read(tenant, measurement_key(tenant, measurement_id)).record

    def page(self, *, tenant: str, limit: int = 50, cursor: str | None = None) -> Page[MeasurementSummary]:
        """A tenant's measurements, newest first.

        Raises `InputError` for a cursor of another list and for a limit outside 1 to 100.
        """
        scope = of_tenant(tenant, "MEASUREMENTS")
        items, after = newest(self._table, "the measurements", scope=scope, limit=limit, cursor=cursor)
        summaries = (MeasurementSummary.model_validate_json(str(item["summary"])) for item in items)
        return Page(items=tuple(summaries), cursor=after)

    def unfinished(self, *, older_than: timedelta, limit: int = 100) -> tuple[UnfinishedMeasurement, ...]:
        """Measurements of all tenants of which a metric was due longer ago than `older_than`, oldest first.

        Read from an index: one that went on a moment ago may still be among them.
        """
        moment = self._clock() - older_than
        found = due_until(self._table, "unfinished measurements", kind=UNFINISHED, moment=moment, limit=limit)
        owners = (record_of(str(item["pk"])) for item in found)
        return tuple(UnfinishedMeasurement(tenant=tenant, measurement_id=one) for tenant, one in owners)

    def begin(self, *, tenant: str, measurement_id: str, metric: MetricName) -> tuple[Measurement, bool]:
        """Begin a try at a metric, and whether it may be made: of many at once exactly one may."""
        key = measurement_key(tenant, measurement_id)
        return self._records.begin(tenant, key, lambda one: steps.begun(one, metric, now=self._clock()))

    def keep(self, measurement: Measurement, found: MetricResult) -> Measurement:
        """Keep the result of a metric, which is over; a repeat keeps the first."""
        return self._step(measurement, lambda one: steps.measured(one, found, now=self._clock()))

    def put_back(
        self,
        measurement: Measurement,
        metric: MetricName,
        *,
        why: Unmeasured,
        found: MetricResult | None,
        until: datetime,
        ended: TryEnd,
    ) -> Measurement:
        """Keep what a try brought that left something unscored, and why; `ended` is what it tells of the work."""

        def step(one: Measurement) -> Measurement:
            return steps.put_back(one, metric, why, found=found, until=until, ended=ended, now=self._clock())

        return self._step(measurement, step)

    def give_up(
        self, measurement: Measurement, metric: MetricName, *, why: Unmeasured, found: MetricResult | None = None
    ) -> Measurement:
        """Keep that a metric is over with something unscored, and why; what was scored stays so."""
        return self._step(measurement, lambda one: steps.given_up(one, metric, why, found=found, now=self._clock()))

    def _step(self, measurement: Measurement, step: Callable[[Measurement], Measurement]) -> Measurement:
        return self._records.change(measurement.tenant, MEASUREMENT.key(measurement), step)


def _derived(measurement: Measurement) -> Item:
    spends = tuple(measurement.spends())
    summary = MeasurementSummary(
        id=measurement.id,
        surface=measurement.surface,
        state=measurement.state,
        created_at=measurement.created_at,
        finished_at=measurement.finished_at,
        scores={one.metric: one.result.score if one.result else None for one in measurement.metrics},
        cost_usd=known_cost(spends),
        unpriced_calls=unpriced(spends),
    )
    item: Item = {
        "gsi1pk": of_tenant(measurement.tenant, "MEASUREMENTS"),
        "gsi1sk": measurement.id,
        "summary": summary.model_dump_json(),
    }
    # Its next step is that of the metric that is due first: one that nobody began is due since the measurement came.
    due = [one.attempts.not_before or measurement.created_at for one in measurement.metrics if not one.over]
    return item | ({"gsi2pk": UNFINISHED, "gsi2sk": f"{sortable(min(due))}#{measurement.id}"} if due else {})


def _counted(measurement: Measurement) -> tuple[Increment, ...]:
    """What a measurement's calls count for the judges they were made to."""
    return tuple(counted_calls(measurement.tenant, measurement.id, measurement.spends(), CARDS_OF_CALLS))


def _follows(before: Measurement | None, after: Measurement) -> Sequence[Action]:
    return tuple(map(action_of, changes(() if before is None else _counted(before), _counted(after))))


MEASUREMENT = Kind(
    name="measurement",
    model=Measurement,
    key=lambda one: measurement_key(one.tenant, one.id),
    asked=lambda one: one.request.model_dump_json(),
    derived=_derived,
    follows=_follows,
)
"""How measurements are stored."""


def counted_measurements(table: "Table", artifacts: Artifacts, tenant: str) -> Iterator[Increment]:
    """What all measurements of a tenant count, each read anew."""
    records = Versioned(MEASUREMENT, table, artifacts, pause=time.sleep)
    for item in all_of(table, "the measurements", scope=of_tenant(tenant, "MEASUREMENTS")):
        found = records.find(tenant, {"pk": item["pk"], "sk": item["sk"]})
        yield from () if found is None else _counted(found.record)
