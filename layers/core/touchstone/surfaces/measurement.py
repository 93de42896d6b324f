"""A measurement: some material handed in to be measured, metric by metric, as it is stored.

    waiting ─ the first metric is begun ─> measuring ─ every metric is over ─┬─> done     as far as judges answered
                                                                             └─> failed   nothing could be measured

Each metric has tries of its own. The next try loses nothing that an earlier one judged: its calls are answered from the
cache. Items that nobody judges at the last try stay unscored; they do not count as zero. Steps are pure functions. If a
step finds its work done, it returns the same record.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from touchstone.attempts import Attempts, TryEnd, When
from touchstone.errors import InputError, NotFoundError, Unscored
from touchstone.judges.base import JudgeCount, most_judges
from touchstone.judges.spends import Spend
from touchstone.material import Deck, Quiz, Source, Summary
from touchstone.references import Reference
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import CATALOGUE, chosen_of, refuse_others, text_of
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem
from touchstone.surfaces.names import MetricName, Surface
from touchstone.text.language import Language, language_of

type LeftOut = Literal["no_source"]
"""Why a metric that was wanted is not measured: it needs a source, which was not given."""
type MeasurementState = Literal["waiting", "measuring", "done", "failed"]


MAX_CHOICES = 4_000
"""Most choices of all questions together. Each choice is labelled with a reason, and a result is read in one reply (6
MB). Several judges give a reason each, so that with them fewer choices can be measured."""


class _Request(Strict):
    """The terms of a measurement, the same for all surfaces.

    Some metrics need `source`, and are left out without it. `metrics` None: all of the surface. `language` is the
    language of the judge's reasons; None: that of the material. `use_cache` False asks anew even what was asked before.
    `judges` is the number of judges that give each label. 1: one judge; a second one is asked only if the first is less
    sure of a class than people's labels require. 2 or 3, of different providers: more than half must agree on a class,
    and the median of scores counts. `until_sure`: one after the other until one is sure of a class; scores are those of
    the first. `when` is how judges are asked. `now`: at once. `cheap`: through a provider's batch at a part of the
    price, within days; judges without a batch, and several judges, are asked at once. None: `now` at the API, `cheap`
    for a line of a file.
    """

    source: Source | None = None
    metrics: Annotated[tuple[MetricName, ...], Field(min_length=1)] | None = None
    language: Language | None = None
    use_cache: bool = True
    judges: JudgeCount = 1
    when: When | None = None

    @model_validator(mode="after")
    def _of_the_surface(self) -> Self:
        refuse_others(self.surface, self.metrics)  # type: ignore[attr-defined] # each kind of request has one
        return self


class QuizMeasurementRequest(_Request):
    """A quiz to be measured."""

    surface: Literal["quiz"]
    material: Quiz

    @model_validator(mode="after")
    def _readable(self) -> Self:
        choices = sum(len(question.choices) for question in self.material.questions)
        judges = most_judges(self.judges)
        most = MAX_CHOICES // judges
        if choices > most:
            raise PydanticCustomError(
                "too_long",
                "the quiz has {choices} choices; at most {most} are measured at once{by}, so send it in parts",
                {"choices": choices, "most": most, "by": "" if judges == 1 else f" by {judges} judges"},
            )
        return self


class SummaryMeasurementRequest(_Request):
    """A summary to be measured."""

    surface: Literal["summary"]
    material: Summary


class FlashcardsMeasurementRequest(_Request):
    """A deck of flashcards to be measured."""

    surface: Literal["flashcards"]
    material: Deck


REQUESTS: Mapping[Surface, type[_Request]] = MappingProxyType(
    {"quiz": QuizMeasurementRequest, "summary": SummaryMeasurementRequest, "flashcards": FlashcardsMeasurementRequest}
)
"""The request of each surface."""
AnyMeasurementRequest = QuizMeasurementRequest | SummaryMeasurementRequest | FlashcardsMeasurementRequest
MeasurementRequest = Annotated[AnyMeasurementRequest, Field(discriminator="surface")]
"""The possible requests, told apart by their surface. No `type` alias: the API's description is made from it."""


class Unmeasured(Strict):
    """Why a try at a metric left something unscored: the reason's stable word, and sentences that say what failed."""

    reason: Unscored
    details: tuple[str, ...] = ()


class MetricWork(Strict):
    """One metric of a measurement and its progress.

    `result` is what the tries so far brought, with the unscored items in it; None: no try brought anything. `failure`
    is why the last try left something unscored; None if it left nothing. `over`: the metric is not tried again. `batch`
    is our own id of the last batch at a provider that was made for the metric's questions; None: no batch was made for
    it alone.
    """

    metric: MetricName
    attempts: Attempts = Attempts()
    result: MetricResult | None = None
    failure: Unmeasured | None = None
    over: bool = False
    batch: str | None = None

    @property
    def measured(self) -> bool:
        """Whether the metric has a result: a score, or the finding that the material has nothing for it to score."""
        return self.result is not None and (self.result.score is not None or not self.result.unscored)

    @property
    def all_items(self) -> tuple[ItemLabel | UnscoredItem, ...]:
        """All items of the result so far: first those with a label, then those without."""
        return () if self.result is None else self.result.all_items


class Measurement(Strict):
    """A measurement as it is stored. Times are UTC.

    `language` is the language of the prompts, and so of the judge's reasons. `metrics` are those to be measured, in the
    order of the catalogue. `left_out` are metrics that were wanted and need a source, which was not given. `when` says
    how judges are asked from now on. `left_until` is set for a line of a file that goes by batches (`cheap`): until
    that time the file carries the measurement, and from then on the sweep takes it up.
    """

    tenant: str
    id: str
    request: MeasurementRequest
    language: Language
    created_at: datetime
    metrics: tuple[MetricWork, ...]
    left_out: dict[MetricName, LeftOut] = Field(default_factory=dict)
    finished_at: datetime | None = None
    when: When = "now"
    left_until: datetime | None = None

    @property
    def ref(self) -> Reference:
        """The reference to this measurement."""
        return Reference(self.tenant, "measurement", self.id)

    @property
    def surface(self) -> Surface:
        """The kind of material that is measured."""
        return self.request.surface

    @property
    def state(self) -> MeasurementState:
        """The state of the measurement. It follows from the states of its metrics."""
        if self.open:
            begun = any(one.over or one.attempts.not_before or one.failure for one in self.metrics)
            return "measuring" if begun else "waiting"
        return "done" if any(one.measured for one in self.metrics) else "failed"

    @property
    def open(self) -> tuple[MetricName, ...]:
        """The metrics that are not over."""
        return tuple(one.metric for one in self.metrics if not one.over)

    @property
    def by_batch(self) -> bool:
        """Whether a metric that is not over goes by a provider's batch."""
        return self.when == "cheap" or any(one.batch is not None and not one.over for one in self.metrics)

    def work(self, metric: str) -> MetricWork:
        """The work of one metric. Raises `NotFoundError` for a metric that is not measured here."""
        found = next((one for one in self.metrics if one.metric == metric), None)
        if found is None:
            raise NotFoundError("There is no such metric in this measurement.")
        return found

    def spends(self) -> Iterator[Spend]:
        """Every call that was paid for."""
        for one in self.metrics:
            yield from one.result.spends if one.result is not None else ()


def new_measurement(
    request: AnyMeasurementRequest,
    *,
    tenant: str,
    measurement_id: str,
    now: datetime,
    when: When = "now",
    left_until: datetime | None = None,
) -> Measurement:
    """The measurement that a request begins. Several judges are asked at once, whatever `when` says.

    Raises `InputError` if nothing can be measured without a source.
    """
    cheap = when == "cheap" and request.judges == 1
    wanted = [CATALOGUE[name] for name in chosen_of(request.surface, request.metrics)]
    lacking = [one.name for one in wanted if one.lacks_source(request.material, request.source)]
    if len(lacking) == len(wanted):
        raise InputError(f"{' and '.join(lacking)} need the source; give it.", where="source")
    return Measurement(
        tenant=tenant,
        id=measurement_id,
        request=request,
        language=request.language or language_of(text_of(request.material)),
        created_at=now,
        metrics=tuple(MetricWork(metric=one.name) for one in wanted if one.name not in lacking),
        left_out=dict.fromkeys(lacking, "no_source"),
        when="cheap" if cheap else "now",
        left_until=left_until if cheap else None,
    )


def begun(measurement: Measurement, metric: MetricName, *, now: datetime) -> Measurement:
    """The measurement with one more try at a metric; the same record if no try is to be made now."""
    work = measurement.work(metric)
    if work.over:
        return measurement
    attempts = work.attempts.begun(now=now)
    return measurement if attempts is None else _with(measurement, work, now=now, attempts=attempts)


def measured(measurement: Measurement, found: MetricResult, *, now: datetime) -> Measurement:
    """The measurement with the result of a metric, which is then over.

    If the metric was over already, the first result stays, and only the calls of the later one are added.
    """
    work = measurement.work(found.metric)
    if work.over:
        return _paid(measurement, work, found.spends, now=now)
    return _with(measurement, work, now=now, result=_joined(work.result, found), failure=None, over=True)


def put_back(
    measurement: Measurement,
    metric: MetricName,
    why: Unmeasured,
    *,
    found: MetricResult | None,
    until: datetime,
    ended: TryEnd,
    now: datetime,
) -> Measurement:
    """The measurement after a try that left something unscored. The next try is not before `until`.

    `found` is what the try brought, None for nothing. `ended` is how the try ended.
    """
    work = measurement.work(metric)
    if work.over:
        return _paid(measurement, work, () if found is None else found.spends, now=now)
    attempts = work.attempts.put_back(until=until, ended=ended)
    return _with(measurement, work, now=now, attempts=attempts, result=_joined(work.result, found), failure=why)


def given_up(
    measurement: Measurement, metric: MetricName, why: Unmeasured, *, found: MetricResult | None = None, now: datetime
) -> Measurement:
    """The measurement with a metric that is over although something is unscored, with the reason.

    Scored items stay scored.
    """
    work = measurement.work(metric)
    if work.over:
        return _paid(measurement, work, () if found is None else found.spends, now=now)
    return _with(measurement, work, now=now, result=_joined(work.result, found), failure=why, over=True)


def brought(measurement: Measurement, found: MetricResult, *, whole: bool, now: datetime) -> Measurement:
    """The measurement with what batches brought for a metric. The metric is over if the result is `whole`.

    A call whose line the measurement already has, by the line's id, is not added again.
    """
    known = {spend.line_id for spend in measurement.spends() if spend.line_id is not None}
    spends = tuple(spend for spend in found.spends if spend.line_id is None or spend.line_id not in known)
    found = found.model_copy(update={"spends": spends})
    work = measurement.work(found.metric)
    if whole or work.over:
        return measured(measurement, found, now=now)
    if all(spend.cached for spend in spends):
        return measurement
    return _with(measurement, work, now=now, result=_joined(work.result, found))


def in_batch(measurement: Measurement, metric: MetricName, batch: str) -> Measurement:
    """The measurement with the batch that will hold a metric's questions."""
    return _with(measurement, measurement.work(metric), batch=batch)


def awaiting(measurement: Measurement, metric: MetricName, *, until: datetime) -> Measurement:
    """The measurement with a metric that waits for its batch. It is looked at again at `until`; no try is counted."""
    work = measurement.work(metric)
    return measurement if work.over else _with(measurement, work, attempts=Attempts(not_before=until))


def set_to_now(measurement: Measurement) -> Measurement:
    """The measurement whose judges are asked at once from now on; the same record if they are already."""
    if measurement.when == "now":
        return measurement
    return measurement.model_copy(update={"when": "now", "left_until": None})


def taken_from_batches(measurement: Measurement) -> Measurement:
    """The measurement in which no metric waits for a batch any more; the same record if none does."""
    if not measurement.by_batch:
        return measurement
    metrics = tuple(
        one if one.over or one.batch is None else one.model_copy(update={"batch": None, "attempts": Attempts()})
        for one in measurement.metrics
    )
    return measurement.model_copy(update={"when": "now", "left_until": None, "metrics": metrics})


def _joined(before: MetricResult | None, found: MetricResult | None) -> MetricResult | None:
    """The result with more items, the later one if both have as many, with the calls of both.

    A call of the later try that was answered from the cache is left out: the earlier try has it.
    """
    if before is None or found is None:
        return found or before
    fresh = tuple(spend for spend in found.spends if not spend.cached)
    fuller = found if len(found.items) >= len(before.items) else before
    return fuller.model_copy(update={"spends": (*before.spends, *fresh)})


def _paid(measurement: Measurement, work: MetricWork, spends: Sequence[Spend], *, now: datetime) -> Measurement:
    """The measurement with further calls that were paid for after the metric was over, each once."""
    known = () if work.result is None else work.result.spends
    fresh = tuple(spend for spend in spends if not spend.cached and spend not in known)
    if not fresh or work.result is None:
        return measurement
    return _with(measurement, work, now=now, result=work.result.model_copy(update={"spends": (*known, *fresh)}))


def _with(measurement: Measurement, work: MetricWork, *, now: datetime | None = None, **changes: object) -> Measurement:
    """The measurement with these changes of a metric. `now` is when it finishes if no metric is left open by them."""
    after = work.model_copy(update=changes)
    metrics = tuple(after if one.metric == work.metric else one for one in measurement.metrics)
    over = all(one.over for one in metrics)
    finished = measurement.finished_at or (now if over else None)
    return measurement.model_copy(update={"metrics": metrics, "finished_at": finished})
