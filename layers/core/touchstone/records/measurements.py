"""Measurements of quizzes, summaries and decks of flashcards."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from touchstone.clock import Clock, system_clock
from touchstone.judges.spends import known_cost, models_of, providers_of, unpriced
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import Increment, action_of, changes, counted_tallies
from touchstone.records.jobs import Job
from touchstone.records.judge_counts import calls_of
from touchstone.records.keys import of_tenant
from touchstone.records.labelled import UNLABELLED, LabelledQuery, LabelledStore
from touchstone.records.labels import Labels
from touchstone.records.list_query import (
    CostFrom,
    CostTo,
    Findable,
    LineFilter,
    SearchText,
    ShortText,
    beginning,
    is_cut,
    standing,
)
from touchstone.records.lists import all_of
from touchstone.records.table import Action
from touchstone.records.versioned import Versioned
from touchstone.statistics.tallies import CardTally
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import text_of
from touchstone.surfaces.labelling import CARDS_OF_CALLS, CLASSES, agreement_of
from touchstone.surfaces.measurement import Measurement, MeasurementState
from touchstone.surfaces.model import MetricName, Surface
from touchstone.text.language import Language

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


class MeasurementSummary(Strict):
    """One line of a list of measurements.

    `scores` (0-100) are those of its metrics, null where there is none. `cost_usd` is what the calls so far cost, of
    those whose price is known; null where it was stored before that was kept. `title` is how the material begins, in
    160 characters at most, and `language` that of the judge's reasons. `models` and `providers` are those that were
    asked so far. Measurements that an earlier release stored have none of these here until they change.
    """

    id: str
    surface: Surface
    state: MeasurementState
    created_at: datetime
    finished_at: datetime | None
    scores: dict[MetricName, float | None]
    cost_usd: float | None = None
    unpriced_calls: int = 0
    title: str | None = None
    language: Language | None = None
    models: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()


FINDABLE = Findable[Measurement, MeasurementSummary](
    filters={
        "status": LineFilter(of=lambda line: standing(line.state, over=line.finished_at is not None)),
        "surface": LineFilter(of=lambda line: (line.surface,)),
        "metric": LineFilter(of=lambda line: line.scores),
        "language": LineFilter(of=lambda line: (line.language,), field="language"),
        "model": LineFilter(of=lambda line: line.models, field="models"),
        "provider": LineFilter(of=lambda line: line.providers, field="providers"),
    },
    said=lambda line: (line.title,),
    texts=lambda record: (text_of(record.request.material),),
    cut=lambda line: line.title is None or is_cut(line.title),
)
"""By what measurements are found."""


LABELS = (*dict.fromkeys(each for classes in CLASSES.values() for each in classes), UNLABELLED)
"""What people can have called an item, of whatever metric; the last: nothing."""


def _a_label(text: str) -> str:
    if text not in LABELS:
        raise ValueError(f"it can be {', '.join(LABELS[:-1])} or {LABELS[-1]}")
    return text


class MeasurementQuery(LabelledQuery):
    """Which measurements a list shows. What is left out (null) leaves out nothing; all that is given must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["waiting", "measuring", "done", "failed", "unfinished", "ended"] | None,
        Field(description="How far they are; `unfinished`: the first two, `ended`: the others."),
    ] = None
    surface: Annotated[Surface | None, Field(description="What was measured.")] = None
    metric: Annotated[MetricName | None, Field(description="A metric that is among those measured.")] = None
    language: Annotated[Language | None, Field(description="The language of the judge's reasons.")] = None
    model: Annotated[ShortText | None, Field(description="A model that was asked, to the letter.")] = None
    provider: Annotated[ShortText | None, Field(description="Whose model was asked.")] = None
    label: Annotated[
        Annotated[str, AfterValidator(_a_label), WithJsonSchema({"type": "string", "enum": LABELS})] | None,
        Field(description="What people called one of its items; `none`: nobody labelled any."),
    ] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None, Field(description="Words of which each stands in the material, whatever their case.")
    ] = None


def _summary(measurement: Measurement) -> MeasurementSummary:
    spends = tuple(measurement.spends())
    return MeasurementSummary(
        id=measurement.id,
        surface=measurement.surface,
        state=measurement.state,
        created_at=measurement.created_at,
        finished_at=measurement.finished_at,
        scores={one.metric: one.result.score if one.result else None for one in measurement.metrics},
        cost_usd=known_cost(spends),
        unpriced_calls=unpriced(spends),
        title=beginning(text_of(measurement.request.material)),
        language=measurement.language,
        models=models_of(spends),
        providers=providers_of(spends),
    )


def _due(measurement: Measurement) -> datetime | None:
    """When the first of its metrics is due: one that nobody began is due since the measurement came.

    What goes by batches is carried by somebody else until a time of its own.
    """
    if measurement.open and measurement.left_until is not None:
        return measurement.left_until
    due = (one.attempts.not_before or measurement.created_at for one in measurement.metrics if not one.over)
    return min(due, default=None)


def _counted(measurement: Measurement) -> tuple[Increment, ...]:
    """What a measurement counts for judges: the calls that were made to them, and how several agreed on its items."""
    tallies = calls_of(measurement.spends(), CARDS_OF_CALLS)
    for judge, tally in agreement_of(measurement):
        tallies[judge] = tallies.get(judge, CardTally()) + tally
    return tuple(counted_tallies(measurement.tenant, measurement.id, tallies))


def _follows(before: Measurement | None, after: Measurement) -> Sequence[Action]:
    return tuple(map(action_of, changes(() if before is None else _counted(before), _counted(after))))


MEASUREMENT = Job(
    kind="measurement",
    plural="measurements",
    model=Measurement,
    asked=lambda one: one.request.model_dump_json(),
    line=MeasurementSummary,
    summary=_summary,
    due=_due,
    follows=_follows,
)
"""How measurements are stored."""


class Measurements(LabelledStore[Measurement, MeasurementSummary]):
    """The measurements of all tenants."""

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(MEASUREMENT, table, artifacts, clock=clock, pause=pause)

    def labels_given(
        self, tenant: str, wanted: str, lines: Mapping[str, MeasurementSummary]
    ) -> Mapping[str, AbstractSet[str]]:
        """What people called the items of each, of the metrics whose items can be called so: a read for each metric."""
        labels = Labels(self._table, pause=self._pause)
        given = {}
        for line in lines.values():
            kinds = [one for one in line.scores if one in CLASSES and wanted in {*CLASSES[one], UNLABELLED}]
            said = (labels.of_record(tenant=tenant, kind=kind, record_id=line.id) for kind in kinds)
            given[line.id] = {label.label for found in said for label in found.values()}
        return given


def counted_measurements(table: "Table", artifacts: Artifacts, tenant: str) -> Iterator[Increment]:
    """What all measurements of a tenant count, each read anew."""
    records = Versioned(MEASUREMENT.stored(), table, artifacts, pause=time.sleep)
    for item in all_of(table, "the measurements", scope=of_tenant(tenant, "MEASUREMENTS")):
        found = records.find(tenant, {"pk": item["pk"], "sk": item["sk"]})
        yield from () if found is None else _counted(found.record)
