"""An experiment as a deployment stores it: what was asked, how far its pairs are, and the result.

    waiting ─ its pairs are listed ─> measuring ─ every pair is over ─┬─> done
       └─ it cannot be read ─> failed                                 └─> failed   nothing could be measured

Steps are pure functions. If a step finds its work done, it returns the same record.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from touchstone.attempts import When
from touchstone.judges.batches.record import BatchesMade, ProviderBatch
from touchstone.judges.spends import cost_to_show
from touchstone.material.parts import PartId
from touchstone.parts import PartedRecord, PartsProgress
from touchstone.references import Reference
from touchstone.strict import Strict
from touchstone.surfaces.experiments.conclusion import Conclusion, Overall
from touchstone.surfaces.experiments.estimate import Estimate
from touchstone.surfaces.experiments.makers import CommandMaker, EndpointMaker
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.names import Surface

MAX_PAIRS = 2_000
"""Most pairs of an experiment in a deployment: as many as a function can hold at once for the conclusion, some 40 KB a
pair. A larger experiment runs on one's own machine."""
MAX_KEY_CHARS = 1024
"""Longest key of an object in S3."""

type ExperimentState = Literal["waiting", "measuring", "done", "failed"]


class ExperimentRequest(Strict):
    """An experiment to run. Exactly one of `experiment` and `experiment_key` is given.

    `experiment_key` is the key of a JSON file that was uploaded. `use_cache` false asks again even what was asked
    before. `when` is how judges and models are asked. `now` asks at once. `cheap` asks through a provider's batches,
    which cost part of the price and take days. If there are no batches, or several judges are wanted, it asks at once.
    """

    experiment: Experiment | None = None
    experiment_key: Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY_CHARS)] | None = None
    use_cache: bool = True
    when: When = "now"

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.experiment is None) == (self.experiment_key is None):
            raise PydanticCustomError(
                "one_of", "give the experiment, or the experiment_key of an uploaded file; exactly one"
            )
        if self.experiment is not None and (why := not_deployable(self.experiment)) is not None:
            raise PydanticCustomError("not_deployable", "{why}", {"why": why})
        return self


def not_deployable(experiment: Experiment) -> str | None:
    """Why a deployment does not run this experiment, in a sentence; None if it does."""
    for variant in experiment.variants:
        if isinstance(variant.maker, CommandMaker | EndpointMaker):
            return (
                f"A deployment runs no commands and asks no endpoints; variant {variant.name} is made by "
                f"{_ARTICLES[variant.maker.kind]} {variant.maker.kind}, so run it on your own machine."
            )
    return None


_ARTICLES = {"command": "a", "endpoint": "an"}


class ExperimentPlan(Strict):
    """What is known of an experiment once it was read: the names of its variants, its size, the estimate."""

    name: PartId
    surface: Surface
    a: PartId
    b: PartId
    pairs: int
    sources: int
    estimate: Estimate


class ExperimentRecord(PartedRecord):
    """An experiment as it is stored; its parts are its pairs.

    `plan` is None until the request was read. `verdict` and `headline` are the result, None before the end and if there
    is none. `when` says how judges are asked from now on.
    """

    use_cache: bool = True
    when: When = "now"
    plan: ExperimentPlan | None = None
    verdict: Overall | None = None
    headline: str | None = None

    @property
    def ref(self) -> Reference:
        """The reference to this experiment."""
        return Reference(self.tenant, "experiment", self.id)

    @property
    def state(self) -> ExperimentState:
        """The state of the experiment."""
        if self.finished_at is not None:
            return "done" if self.failure is None else "failed"
        return "waiting" if self.plan is None else "measuring"


class ExperimentView(Strict):
    """An experiment and its progress.

    `pairs`, `estimate`, `name`, `surface`, `a` and `b` are null until the experiment was read. `done` pairs are over,
    at `cost_usd` US dollars so far. `because` is the stable word for why the last try left something unscored, null if
    it left nothing. `conclusion` exists once the state is `done`, and `headline` says it in a sentence. From then on,
    `items_url` leads to a CSV of the scores of every item; the link is valid for a quarter of an hour. `when` is how
    judges are asked. `batches` says what is in providers' batches for this experiment, null if there was never
    anything.
    """

    id: str
    state: ExperimentState
    name: str | None
    surface: Surface | None
    a: str | None
    b: str | None
    pairs: int | None
    done: int
    cost_usd: float | None
    unpriced_calls: int
    estimate: Estimate | None
    because: str | None
    failure: str | None
    created_at: datetime
    finished_at: datetime | None
    verdict: Overall | None
    headline: str | None
    conclusion: Conclusion | None
    items_url: str | None
    when: When = "now"
    batches: BatchesMade | None = None

    @classmethod
    def of(
        cls,
        record: ExperimentRecord,
        progress: PartsProgress,
        *,
        conclusion: Conclusion | None = None,
        items_url: str | None = None,
        batches: Sequence[ProviderBatch] = (),
    ) -> "ExperimentView":
        """The view of an experiment."""
        plan = record.plan
        return cls(
            id=record.id,
            state=record.state,
            name=plan.name if plan else None,
            surface=plan.surface if plan else None,
            a=plan.a if plan else None,
            b=plan.b if plan else None,
            pairs=plan.pairs if plan else None,
            done=progress.done,
            cost_usd=cost_to_show(progress.cost_usd, progress.unpriced_calls),
            unpriced_calls=progress.unpriced_calls,
            estimate=plan.estimate if plan else None,
            because=progress.because if record.finished_at is None else None,
            failure=record.failure,
            created_at=record.created_at,
            finished_at=record.finished_at,
            verdict=record.verdict,
            headline=record.headline,
            conclusion=conclusion,
            items_url=items_url,
            when=record.when,
            batches=BatchesMade.of(batches),
        )


def planned(record: ExperimentRecord, plan: ExperimentPlan) -> ExperimentRecord:
    """The experiment with its plan, after it was read. The first plan stays."""
    if record.plan is not None or record.finished_at is not None:
        return record
    return record.model_copy(update={"plan": plan})


def set_to_now(record: ExperimentRecord) -> ExperimentRecord:
    """The experiment whose judges are asked at once from now on; the same record if they are already."""
    if record.finished_at is not None or record.when == "now":
        return record
    return record.model_copy(update={"when": "now", "carried_until": None})


def concluded(
    record: ExperimentRecord, verdict: Overall, headline: str, progress: PartsProgress, *, now: datetime
) -> ExperimentRecord:
    """The experiment with its result. The first conclusion stays."""
    if record.finished_at is not None:
        return record
    told = {"verdict": verdict, "headline": headline, "finished_at": now}
    return record.model_copy(update={**told, **progress.paid})
