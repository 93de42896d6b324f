"""Measurements of quizzes, summaries and decks of flashcards."""

import time
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from touchstone.aws import Table
from touchstone.judges.spends import count_unpriced, known_cost, models_of, providers_of
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import Increment, counted_tallies, writes_of
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
    ListQuery,
    SearchText,
    ShortText,
    beginning,
    is_cut,
    standing,
)
from touchstone.records.lists import all_of
from touchstone.records.versioned import Versioned
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import text_of
from touchstone.surfaces.labelling import CARDS_OF_CALLS, CLASSES, agreement_of
from touchstone.surfaces.measurement import Measurement, MeasurementState
from touchstone.surfaces.names import MetricName, Surface
from touchstone.text.language import Language


class MeasurementSummary(Strict):
    """One line of a list of measurements.

    `scores` (0-100) are the scores of its metrics, null where there is no score. `cost_usd` is what the calls so far
    cost in US dollars, as far as prices are known; null for a measurement stored before this was kept. `title` is the
    beginning of the material, at most 160 characters, and `language` is the language of the judge's reasons. `models`
    and `providers` are those that were asked so far. Measurements that an earlier release stored have none of these
    fields here until they change.
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
"""The filters and texts by which measurements are found."""


LABELS = (*dict.fromkeys(each for classes in CLASSES.values() for each in classes), UNLABELLED)
"""All labels that people can give to an item, of any metric; the last one means no label."""


def _a_label(text: str) -> str:
    if text not in LABELS:
        raise ValueError(f"it can be {', '.join(LABELS[:-1])} or {LABELS[-1]}")
    return text


class MeasurementQuery(LabelledQuery):
    """The filters of a list of measurements. A filter that is null excludes nothing; all given filters must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["waiting", "measuring", "done", "failed", "unfinished", "ended"] | None,
        Field(description="The state. `unfinished`: `waiting` or `measuring`. `ended`: `done` or `failed`."),
    ] = None
    surface: Annotated[Surface | None, Field(description="The kind of material that was measured.")] = None
    metric: Annotated[MetricName | None, Field(description="A metric that was measured.")] = None
    language: Annotated[Language | None, Field(description="The language of the judge's reasons.")] = None
    model: Annotated[ShortText | None, Field(description="The exact name of a model that was asked.")] = None
    provider: Annotated[ShortText | None, Field(description="A provider whose model was asked.")] = None
    label: Annotated[
        Annotated[str, AfterValidator(_a_label), WithJsonSchema({"type": "string", "enum": LABELS})] | None,
        Field(description="A label that people gave one of the items. `none`: nobody labelled an item."),
    ] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None, Field(description="Words. Each must be in the material. Upper and lower case are the same.")
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
        unpriced_calls=count_unpriced(spends),
        title=beginning(text_of(measurement.request.material)),
        language=measurement.language,
        models=models_of(spends),
        providers=providers_of(spends),
    )


def _due(measurement: Measurement) -> datetime | None:
    """When the first of its metrics is due. A metric that has not begun is due since the measurement arrived.

    A measurement that goes by batches is carried by another process until `left_until`.
    """
    if measurement.open and measurement.left_until is not None:
        return measurement.left_until
    due = (one.attempts.not_before or measurement.created_at for one in measurement.metrics if not one.over)
    return min(due, default=None)


def _counted(measurement: Measurement) -> tuple[Increment, ...]:
    """What a measurement adds to judges' counters: its calls to them, and how several judges agreed on its items."""
    tallies = calls_of(measurement.spends(), CARDS_OF_CALLS, also=agreement_of(measurement))
    return tuple(counted_tallies(measurement.tenant, measurement.id, tallies))


MEASUREMENT = Job(
    kind="measurement",
    plural="measurements",
    model=Measurement,
    asked=lambda one: one.request.model_dump_json(),
    line=MeasurementSummary,
    summary=_summary,
    due=_due,
    counter_writes=writes_of(_counted),
)
"""How measurements are stored."""


class Measurements(LabelledStore[Measurement, MeasurementSummary]):
    """The measurements of all tenants."""

    def reads_of(self, query: ListQuery, line: MeasurementSummary) -> int:
        """One read of the record if the line does not tell enough, and one of the labels of each metric."""
        if not isinstance(query, MeasurementQuery) or query.said is None:
            return super().reads_of(query, line)
        return (query.matches_without_label(line) is None) + len(_called(line, query.said))

    def labels_given(
        self, tenant: str, wanted: str, lines: Mapping[str, MeasurementSummary]
    ) -> Mapping[str, AbstractSet[str]]:
        """The labels of each measurement's items, for the metrics whose items can have the wanted label.

        This makes one read for each such metric.
        """
        labels = Labels(self._table, pause=self._pause)
        given = {}
        for line in lines.values():
            said = (labels.of_record(tenant=tenant, kind=kind, record_id=line.id) for kind in _called(line, wanted))
            given[line.id] = {label.label for found in said for label in found.values()}
        return given


def _called(line: MeasurementSummary, label: str) -> list[MetricName]:
    """The metrics of a measurement whose items people can have given this label."""
    return [one for one in line.scores if one in CLASSES and label in {*CLASSES[one], UNLABELLED}]


def counted_measurements(table: Table, artifacts: Artifacts, tenant: str) -> Iterator[Increment]:
    """What all measurements of a tenant add to the counters; each measurement is read again."""
    records = Versioned(MEASUREMENT.stored(), table, artifacts, pause=time.sleep)
    for item in all_of(table, "the measurements", scope=of_tenant(tenant, "MEASUREMENTS")):
        found = records.find(tenant, {"pk": item["pk"], "sk": item["sk"]})
        yield from () if found is None else _counted(found.record)
