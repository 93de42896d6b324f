"""A whole experiment: pair by pair, several at a time, resumable, within a limit of cost."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

from touchstone.errors import InputError, SettingsError
from touchstone.judges.base import Judge
from touchstone.judges.cost import without_price
from touchstone.judges.keys import EnvironmentKeys
from touchstone.judges.opening import Judges
from touchstone.judges.registry import Model, Registry, load_registry, unpriced_allowed
from touchstone.judges.spends import unpriced
from touchstone.surfaces.evaluation import SECONDS
from touchstone.surfaces.experiments.concluding import conclude
from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.estimate import Estimate, estimate_of
from touchstone.surfaces.experiments.folder import Asked, Folder
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pairs import PairResult, measure_pair
from touchstone.surfaces.experiments.recording import Ledger, RecordedJudge, Records
from touchstone.surfaces.measuring import AT_ONCE
from touchstone.surfaces.model import TIER

CONCURRENCY = 4
"""Pairs under way at a time; together they have no more questions under way than one evaluation has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an experiment is. `resumed` of the `done` pairs were done before; `cost_usd` is that of all runs so far.

    `cost_usd` leaves out `unpriced_calls`. `estimate` is what the whole was expected to take before it began.
    """

    done: int
    total: int
    resumed: int
    cost_usd: float
    unpriced_calls: int
    estimate: Estimate


async def run_experiment(
    experiment: Experiment,
    *,
    folder: Path | None = None,
    judge: Judge | None = None,
    generator: Judge | None = None,
    progress: Callable[[Progress], None] | None = None,
    concurrency: int = CONCURRENCY,
    max_cost_usd: float | None = None,
    seconds: float = SECONDS,
    use_cache: bool = True,
    registry: Registry | None = None,
) -> Conclusion:
    """Run an experiment to its conclusion, or go on with the one that was interrupted in `folder`.

    ```python
    conclusion = await run_experiment(experiment, folder=Path("runs/july"), max_cost_usd=5.0)
    ```

    In a folder no call that was answered is ever paid for again, whenever the run was killed; pairs with questions that
    nobody answered are measured again, and those questions asked. `folder` None: nothing is kept.

    `judge` None: the strong model of the first provider whose key is in the environment. Nobody is asked, whoever is
    given, where only metrics are named that need no judge, and then there is no preference. `generator` None: the judge
    writes what is missing. `progress` is called after each pair, and once before the first. `concurrency`: pairs at a
    time.
    `max_cost_usd` bounds the cost of all runs in the folder together: before a call could pass it, the run ends with
    what it has, and `stopped` says so, as where a provider's quota of the day is spent. `registry` None: the one of the
    environment, for prices.

    Raises `SettingsError` without a key where a judge is needed, or where a cost is to be bounded and the model has no
    known price (see `TOUCHSTONE_UNPRICED`); `UnavailableModelError` where the provider does not know the model or
    refuses the key; `ConflictError` where the folder holds another experiment, or another run is at work in it.
    """
    if concurrency < 1:
        raise InputError("At least one pair must be measured at a time.", where="concurrency")
    registry = registry or load_registry()
    async with _judge(judge, registry, needed=experiment.needs_judge) as asked:
        asking = _Asking(judge=asked, writer=generator or asked, seconds=seconds, use_cache=use_cache)
        for one in (asking.judge, asking.writer):
            if max_cost_usd is not None and one is not None:
                _priced(registry, one)
        held = None if folder is None else _opened(folder, experiment, asked, generator)
        with nullcontext() if held is None else closing(held):
            run = _Run(experiment, held, registry, limit=max_cost_usd)
            await run.measure(asking, progress=progress, concurrency=concurrency)
            return run.conclusion()


class _Run:
    """One run: what is done, and what it has cost."""

    def __init__(
        self, experiment: Experiment, folder: Folder | None, registry: Registry, *, limit: float | None
    ) -> None:
        self._experiment = experiment
        self._folder = folder
        self._registry = registry
        journal = None if folder is None else folder.journal
        before = () if journal is None else journal.spends
        ledger = Ledger(limit=limit, spent=0.0 if journal is None else journal.spent)
        self._records = Records(ledger=ledger, journal=journal, paid=list(before))
        self._results = {} if folder is None else {one.number: one for one in folder.results()}
        self._done = {number for number, one in self._results.items() if not one.unanswered}
        self._resumed = len(self._done)

    async def measure(self, terms: "_Asking", *, progress: Callable[[Progress], None] | None, concurrency: int) -> None:
        """Measure every pair that is not done."""
        left = iter([pair for pair in self._experiment.pairs if pair.number not in self._done])
        judge, writer = self._model(terms.judge), self._model(terms.writer)
        expected = None if progress is None else await estimate_of(self._experiment, judge, writer=writer)

        def tell() -> None:
            if progress is not None and expected is not None:
                progress(self._progress(expected))

        tell()
        asked, written = self._recorded(terms.judge), self._recorded(terms.writer)
        seats = asyncio.Semaphore(AT_ONCE)

        async def work() -> None:
            for pair in left:
                if self._stopped():
                    return
                result = await measure_pair(
                    pair,
                    self._experiment.terms,
                    judge=asked,
                    generator=written,
                    seconds=terms.seconds,
                    use_cache=terms.use_cache,
                    seats=seats,
                )
                # A pair during which the run was stopped lacks replies that a later run will have: it is not done.
                if not (self._stopped() and result.unanswered):
                    await self._keep(result)
                    tell()

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    group.create_task(work())
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None

    def conclusion(self) -> Conclusion:
        """What the pairs that were measured come to."""
        ledger = self._records.ledger
        if ledger.unavailable is not None:
            raise ledger.unavailable
        short = len(self._done) < len(self._experiment.pairs)
        conclusion = conclude(
            self._experiment,
            self._results.values(),
            paid=self._records.paid,
            stopped=ledger.stopped if short else None,
        )
        if self._folder is not None:
            self._folder.conclude(conclusion)
        return conclusion

    def _stopped(self) -> bool:
        """Whether nothing more is asked in this run."""
        return self._records.ledger.ended

    async def _keep(self, result: PairResult) -> None:
        if self._folder is not None:
            await asyncio.to_thread(self._folder.store, result)
        self._results[result.number] = result
        self._done.add(result.number)

    def _progress(self, expected: Estimate) -> Progress:
        return Progress(
            done=len(self._done),
            total=len(self._experiment.pairs),
            resumed=self._resumed,
            cost_usd=self._records.ledger.spent,
            unpriced_calls=unpriced(self._records.paid),
            estimate=expected,
        )

    def _recorded(self, judge: Judge | None) -> RecordedJudge | None:
        return None if judge is None else RecordedJudge(judge, self._records, model=self._model(judge))

    def _model(self, judge: Judge | None) -> Model | None:
        return None if judge is None else listed(self._registry, judge)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """Who is asked, and how."""

    judge: Judge | None
    writer: Judge | None
    seconds: float
    use_cache: bool


def listed(registry: Registry, judge: Judge) -> Model | None:
    """The model of a judge in the registry; None where it is not listed, so that nothing of its price is known."""
    try:
        return registry.find(judge.provider, judge.model)
    except SettingsError:
        return None


def _priced(registry: Registry, judge: Judge) -> None:
    """Refuse to bound the cost of a model whose price is not known, unless told to let it pass."""
    model = listed(registry, judge)
    if (model is None or not model.priced) and not unpriced_allowed():
        raise SettingsError(without_price(judge.provider, judge.model))


def _opened(path: Path, experiment: Experiment, judge: Judge | None, generator: Judge | None) -> Folder:
    return Folder.open(path, Asked(experiment=experiment, judge=_name(judge), generator=_name(generator)))


def _name(judge: Judge | None) -> str | None:
    return None if judge is None else f"{judge.provider}/{judge.model}"


@asynccontextmanager
async def _judge(given: Judge | None, registry: Registry, *, needed: bool) -> AsyncIterator[Judge | None]:
    """The judge to ask; None where nobody need be asked."""
    if given is not None or not needed:
        yield given if needed else None
        return
    judges = Judges(registry, EnvironmentKeys(registry))
    try:
        judge = judges.prefer(TIER)
        if judge is None:
            raise SettingsError(f"No judge can be asked without a key: {judges.remedy}.")
        yield judge
    finally:
        await judges.aclose()
