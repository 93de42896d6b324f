"""A whole experiment: pair by pair, several at a time, resumable, within a limit of cost."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing, closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from touchstone.errors import InputError, SettingsError, StoreError
from touchstone.judges.base import Judge
from touchstone.judges.keys import EnvironmentKeys
from touchstone.judges.opening import Judges
from touchstone.judges.panel import JudgePanel, panel_led_by
from touchstone.judges.questions import without_price
from touchstone.judges.registry import Registry, load_registry, unpriced_allowed
from touchstone.judges.spends import count_unpriced
from touchstone.surfaces.evaluation import SECONDS
from touchstone.surfaces.experiments.concluding import conclude
from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.estimate import Estimate, estimate_of
from touchstone.surfaces.experiments.folder import ExperimentFolder, ExperimentFolderRequest
from touchstone.surfaces.experiments.makers import CommandMaker, EndpointMaker, PromptMaker, called
from touchstone.surfaces.experiments.making import Makers, model_of
from touchstone.surfaces.experiments.model import Experiment, Pair
from touchstone.surfaces.experiments.pairs import PairResult, measure_pair
from touchstone.surfaces.experiments.programs import LocalPrograms
from touchstone.surfaces.experiments.recording import Ledger, RecordedJudge, Records
from touchstone.surfaces.measuring import AT_ONCE
from touchstone.surfaces.model import TIER
from touchstone.together import gather_all

CONCURRENCY = 4
"""Pairs under way at a time. All of them together have no more questions under way than one evaluation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentProgress:
    """How far an experiment is: `done` of `total` pairs, of which `resumed` were done by earlier runs.

    `cost_usd` is the cost of all runs so far, without the `unpriced_calls`. `estimate` is what the whole experiment was
    expected to take before it began.
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
    judges: Judges | None = None,
    allow_commands: bool = False,
    progress: Callable[[ExperimentProgress], None] | None = None,
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

    With a folder, no answered call is ever paid for twice, whenever the run was killed. Pairs with unanswered questions
    are measured again: only these questions are asked. `folder` None: nothing is kept.

    `judge` None: the strong model of the first provider whose key is in the environment. If only metrics are named that
    need no judge, nobody is asked, even if a judge is given, and there is no preference. `generator` None: the judge
    writes what is missing. `judges` have the models that the variants' prompts name, and the further judges if the
    experiment wants several; None: those of the environment.

    `allow_commands`: commands that the experiment names are run on this machine, and its endpoints are asked. Without
    it an experiment with a command or an endpoint is refused. `progress` is called once before the first pair, and
    after each pair. `concurrency` is the number of pairs at a time.

    `max_cost_usd` bounds the cost of all runs in the folder together. Before a call could pass it, the run ends with
    the results so far, and `stopped` says so; the same happens if a provider's quota of the day is spent. `registry`
    None: the registry of the environment, for prices.

    Raises `SettingsError` without a key if a judge or a prompt's model is needed, and if a cost is to be bounded and
    the model has no known price (see `TOUCHSTONE_UNPRICED`) or a command does not say what it costs. Raises
    `UnavailableModelError` if the provider does not know the model or refuses the key, and `ConflictError` if the
    folder holds another experiment, or another run is at work in it.
    """
    if concurrency < 1:
        raise InputError("At least one pair must be measured at a time.", where="concurrency")
    registry = registry or load_registry()
    _all_allowed(experiment, commands=allow_commands)
    own = aclosing(Judges(registry, EnvironmentKeys(registry))) if judges is None else nullcontext(judges)
    async with own as ours:
        asked = _judge(judge, ours, needed=experiment.needs_judge)
        panel = None if asked is None else panel_led_by(asked, ours, TIER, experiment.judges)
        if panel is not None and panel.shortage is not None:
            raise SettingsError(str(panel.shortage))
        named = _named(experiment, ours)
        asking = _Asking(
            judge=asked, several=panel, writer=generator or asked, named=named, seconds=seconds, use_cache=use_cache
        )
        if max_cost_usd is not None:
            for one in (*asking.judges, asking.writer, *named.values()):
                if one is not None:
                    _priced(registry, one)
            _all_priced(experiment)
        held = None if folder is None else _opened(folder, experiment, asking, generator)
        with nullcontext() if held is None else closing(held):
            run = _Run(experiment, held, registry, limit=max_cost_usd)
            await run.measure(asking, progress=progress, concurrency=concurrency)
            return run.conclusion()


class _Run:
    """One run of an experiment: the pairs that are done, and the cost."""

    def __init__(
        self, experiment: Experiment, folder: ExperimentFolder | None, registry: Registry, *, limit: float | None
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

    async def measure(
        self, asking: "_Asking", *, progress: Callable[[ExperimentProgress], None] | None, concurrency: int
    ) -> None:
        """Measure every pair that is not done."""
        left = [pair for pair in self._experiment.pairs if pair.number not in self._done]
        expected = None if progress is None else await self._estimate(asking)

        def tell() -> None:
            if progress is not None and expected is not None:
                progress(self._progress(expected))

        tell()
        asked = asking.recorded(self._recorded)
        makers = Makers(
            model_of=lambda maker: asked.named[maker.model or ""], programs=LocalPrograms(self._records, self._registry)
        )
        seats = asyncio.Semaphore(AT_ONCE)

        async def one(pair: Pair) -> None:
            if self._stopped():
                return
            result = await measure_pair(
                pair,
                self._experiment.terms,
                judge=asked.judge,
                several=asked.several,
                generator=asked.writer,
                makers=makers,
                seconds=asking.seconds,
                use_cache=asking.use_cache,
                seats=seats,
            )
            # A pair during which the run was stopped lacks replies that a later run will have, so it is not done.
            if not (self._stopped() and result.unanswered):
                await self._keep(result)
                tell()

        await gather_all(map(one, left), concurrency=concurrency)

    def conclusion(self) -> Conclusion:
        """The conclusion from the pairs that were measured."""
        ledger = self._records.ledger
        if ledger.unavailable is not None:
            raise ledger.unavailable
        if ledger.lost:  # with several judges, this failure of one of them was not raised
            raise StoreError("A reply that was paid for could not be kept; free some space, or name another folder.")
        short = len(self._done) < len(self._experiment.pairs)
        conclusion = conclude(
            self._experiment, self._results.values(), paid=self._records.paid, stopped=ledger.stopped if short else None
        )
        if self._folder is not None:
            self._folder.conclude(conclusion)
        return conclusion

    def _stopped(self) -> bool:
        """Whether nothing more is asked in this run."""
        return self._records.ledger.ended

    async def _estimate(self, asking: "_Asking") -> Estimate:
        models = [self._registry.listed(one.provider, one.model) for one in asking.judges]
        first, others = (models[0], models[1:]) if models else (None, ())
        writer = None if asking.writer is None else self._registry.listed(asking.writer.provider, asking.writer.model)
        return await estimate_of(self._experiment, first, others=others, writer=writer, registry=self._registry)

    async def _keep(self, result: PairResult) -> None:
        if self._folder is not None:
            await asyncio.to_thread(self._folder.store, result)
        self._results[result.number] = result
        self._done.add(result.number)

    def _progress(self, expected: Estimate) -> ExperimentProgress:
        return ExperimentProgress(
            done=len(self._done),
            total=len(self._experiment.pairs),
            resumed=self._resumed,
            cost_usd=self._records.ledger.spent,
            unpriced_calls=count_unpriced(self._records.paid),
            estimate=expected,
        )

    def _recorded(self, judge: Judge) -> RecordedJudge:
        return RecordedJudge(judge, self._records, model=self._registry.listed(judge.provider, judge.model))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """Who is asked, and how.

    `several`: these judges measure, and `judge` is the first of them; None: `judge` measures alone. `named` are the
    models of the variants' prompts, by the names that the prompts give.
    """

    judge: Judge | None
    several: JudgePanel | None
    writer: Judge | None
    named: Mapping[str, Judge]
    seconds: float
    use_cache: bool

    @property
    def judges(self) -> tuple[Judge, ...]:
        """All judges that measure."""
        if self.several is not None:
            return self.several.available
        return () if self.judge is None else (self.judge,)

    def recorded(self, by: Callable[[Judge], Judge]) -> "_Asking":
        """The same judges and models, each as `by` gives it."""
        several = self.several
        return replace(
            self,
            judge=None if self.judge is None else by(self.judge),
            several=None if several is None else replace(several, available=tuple(map(by, several.available))),
            writer=None if self.writer is None else by(self.writer),
            named={name: by(one) for name, one in self.named.items()},
        )


def _priced(registry: Registry, judge: Judge) -> None:
    """Refuse to bound a cost if a model's price is not known, unless `TOUCHSTONE_UNPRICED` allows it."""
    model = registry.listed(judge.provider, judge.model)
    if (model is None or not model.priced) and not unpriced_allowed():
        raise SettingsError(without_price(judge.provider, judge.model))


def _opened(path: Path, experiment: Experiment, asking: "_Asking", generator: Judge | None) -> ExperimentFolder:
    judges = ", ".join(f"{one.provider}/{one.model}" for one in asking.judges) or None
    return ExperimentFolder.open(
        path, ExperimentFolderRequest(experiment=experiment, judge=judges, generator=_name(generator))
    )


def _name(judge: Judge | None) -> str | None:
    return None if judge is None else f"{judge.provider}/{judge.model}"


def _all_allowed(experiment: Experiment, *, commands: bool) -> None:
    """Refuse commands and endpoints, which run something on this machine, if they are not allowed."""
    for variant in experiment.variants:
        if not commands and isinstance(variant.maker, CommandMaker | EndpointMaker):
            raise SettingsError(
                f"Variant {variant.name} is made by the {variant.maker.kind} {called(variant.maker)}; look at it, and "
                "allow commands and endpoints where you trust it (--allow-commands)."
            )


def _all_priced(experiment: Experiment) -> None:
    """Refuse to bound a cost if a command or endpoint does not say what an item costs."""
    for variant in experiment.variants:
        maker = variant.maker
        if isinstance(maker, CommandMaker | EndpointMaker) and maker.cost_usd is None and not unpriced_allowed():
            raise SettingsError(
                f"What an item of variant {variant.name} costs is not known, so no cost can be bounded; give its maker "
                "a cost_usd (0 where it is free)."
            )


def _named(experiment: Experiment, judges: Judges) -> dict[str, Judge]:
    """The models that the variants' prompts name. Raises `SettingsError` if one cannot be asked."""
    prompts = [maker for maker in experiment.makers if isinstance(maker, PromptMaker)]
    return {maker.model: model_of(judges, maker) for maker in prompts if maker.model is not None}


def _judge(given: Judge | None, judges: Judges, *, needed: bool) -> Judge | None:
    """The judge to ask; None if no judge is needed. Raises `SettingsError` if there is no key."""
    if given is not None or not needed:
        return given if needed else None
    judge = judges.default(TIER)
    if judge is None:
        raise SettingsError(f"No judge can be asked without a key: {judges.remedy}.")
    return judge
