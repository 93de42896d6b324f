"""A measurement as its reader sees it: each metric's score or why it has none, item by item, and the cost."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from touchstone.attempts import When
from touchstone.judges.base import JudgeCount
from touchstone.judges.batches.record import BatchesMade, ProviderBatch
from touchstone.judges.spends import Spend, batch_savings, count_unpriced, known_cost
from touchstone.strict import Strict
from touchstone.surfaces.measurement import LeftOut, Measurement, MeasurementState, MetricWork
from touchstone.surfaces.model import ItemLabel, UnscoredItem
from touchstone.surfaces.names import MetricName, Surface
from touchstone.text.language import Language


class PromptUsed(Strict):
    """A prompt that was used: its purpose, and the start of the SHA-256 of its file."""

    purpose: str
    version: str


class Outlay(Strict):
    """What was asked, and what it cost.

    `models` are the models that answered, by the name that they give themselves, and `prompts` are the prompts that
    they were asked by. `cost_usd` is the cost of the calls whose price is known, in US dollars; `unpriced` is the
    number of the others. `cached` questions were answered from the cache. `saved_usd` is what providers' batches saved,
    null if none was used.
    """

    models: tuple[str, ...]
    prompts: tuple[PromptUsed, ...]
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    unpriced: int
    cached: int
    saved_usd: float | None = None

    @classmethod
    def of(cls, spends: Iterable[Spend]) -> "Outlay":
        """The outlay of some calls."""
        paid = tuple(spends)
        prompts = {(one.purpose, one.prompt_version): None for one in paid}
        return cls(
            models=tuple(dict.fromkeys(one.model for one in paid)),
            prompts=tuple(PromptUsed(purpose=purpose, version=version) for purpose, version in prompts),
            input_tokens=sum(one.input_tokens for one in paid),
            output_tokens=sum(one.output_tokens for one in paid),
            cost_usd=known_cost(paid),
            unpriced=count_unpriced(paid),
            cached=sum(one.cached for one in paid),
            saved_usd=batch_savings(paid),
        )


class MetricView(Strict):
    """One metric of a measurement.

    `score` is 0-100, the weighted mean of the values of the `items`; null if none was judged, or none yet. `unscored`
    are the items that nobody could judge so far, and `over` says whether this is final. `because` is the stable word
    for why the last try left something unscored, and `details` say it in sentences; they are null and empty if it left
    nothing. `because` is also `split` if several judges agree on nothing that could be scored, and `unsure` if no judge
    was sure enough of anything. `next_try_at` is when the next try may begin (UTC), null if that is now or never.
    `split` is the number of items on which the judges did not all say the same, whether or not a majority decided.
    """

    metric: MetricName
    over: bool
    score: float | None
    unit: str
    items: tuple[ItemLabel, ...]
    unscored: tuple[UnscoredItem, ...]
    because: str | None
    details: tuple[str, ...]
    next_try_at: datetime | None
    outlay: Outlay
    split: int = 0

    @classmethod
    def of(cls, work: MetricWork) -> "MetricView":
        """The view of one metric."""
        found, failure = work.result, work.failure
        split = sum(one.split for one in work.all_items)
        nobody = None
        if work.over and found is not None and found.score is None:
            unsure = any(one.reason == "unsure" for one in found.unscored)
            nobody = "split" if split else "unsure" if unsure else None
        return cls(
            metric=work.metric,
            over=work.over,
            score=found.score if found else None,
            unit=found.unit if found else "percent",
            items=found.items if found else (),
            unscored=found.unscored if found else (),
            because=failure.reason if failure else nobody,
            details=failure.details if failure else (),
            next_try_at=work.attempts.not_before if failure and not work.over else None,
            outlay=Outlay.of(found.spends if found else ()),
            split=split,
        )


class MeasurementView(Strict):
    """A measurement and its results so far.

    `left_out` holds the wanted metrics that need a source, if no source was given. `outlay` is that of all metrics.
    `judges` is how many judges were wanted for each label. `when` is how the judges are asked; `cheap` as long as the
    measurement goes by batches of a provider. `batches` says what is in providers' batches of its own; null if nothing
    is, or if it was not looked up, as in a list and in the results of a file.
    """

    id: str
    surface: Surface
    state: MeasurementState
    language: Language
    created_at: datetime
    finished_at: datetime | None
    metrics: tuple[MetricView, ...]
    left_out: dict[MetricName, LeftOut]
    outlay: Outlay
    judges: JudgeCount = 1
    when: When = "now"
    batches: BatchesMade | None = None

    @classmethod
    def of(cls, measurement: Measurement, *, batches: Sequence[ProviderBatch] = ()) -> "MeasurementView":
        """The view of a measurement, with the batches at providers that its metrics have."""
        return cls(
            id=measurement.id,
            surface=measurement.surface,
            state=measurement.state,
            language=measurement.language,
            created_at=measurement.created_at,
            finished_at=measurement.finished_at,
            metrics=tuple(MetricView.of(one) for one in measurement.metrics),
            left_out=measurement.left_out,
            outlay=Outlay.of(measurement.spends()),
            judges=measurement.request.judges,
            when=measurement.when,
            batches=BatchesMade.of(batches),
        )
