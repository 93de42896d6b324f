"""All metrics of a quiz, a summary or a deck of flashcards, measured side by side."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from touchstone.clock import Deadline
from touchstone.errors import InputError, SettingsError
from touchstone.judges.base import Judge, JudgeCount, most_judges
from touchstone.judges.keys import EnvironmentKeys
from touchstone.judges.opening import Judges
from touchstone.judges.panel import JudgePanel
from touchstone.judges.registry import load_registry
from touchstone.judges.spends import Spend, known_cost
from touchstone.kinds import require_list, require_model, require_one_of, require_seconds
from touchstone.material import Deck, Quiz, Source, Summary
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import CATALOGUE, Material, Metric, chosen_of, metrics_of, text_of
from touchstone.surfaces.measuring import AT_ONCE, Measuring
from touchstone.surfaces.model import TIER, MetricResult
from touchstone.surfaces.names import MetricName, Surface
from touchstone.surfaces.panel import measured_by_several
from touchstone.text.language import Language, language_of
from touchstone.together import gather_all

SECONDS = 600.0
"""How long an evaluation may take. Items that a judge has not answered by then are unscored."""

MATERIALS: Mapping[Surface, type[Material]] = {"quiz": Quiz, "summary": Summary, "flashcards": Deck}
"""The type of each surface's material."""

type LeftOut = Literal["no_source", "no_judge"]
"""Why a metric was not measured: it needs a source, or a judge, and there was none."""


class Report(Strict):
    """The results of the metrics for one piece of material.

    `language` is the language of the prompts and of all reasons, whether a judge gives them or not. `results` are in
    the order of the catalogue. `left_out` names the metrics of the surface that were wanted and could not be measured.
    """

    surface: Surface
    language: Language
    results: dict[MetricName, MetricResult]
    left_out: dict[MetricName, LeftOut]

    @property
    def scores(self) -> dict[MetricName, float | None]:
        """The scores (0-100); None for a metric if nothing could be judged."""
        return {name: found.score for name, found in self.results.items()}

    @property
    def spends(self) -> tuple[Spend, ...]:
        """All calls that were paid for."""
        return tuple(spend for found in self.results.values() for spend in found.spends)

    @property
    def tokens(self) -> int:
        """The input and output tokens of all calls."""
        return sum(found.tokens for found in self.results.values())

    @property
    def cost_usd(self) -> float | None:
        """The known cost of the calls in US dollars; see `known_cost`."""
        return known_cost(self.spends)


async def evaluate_quiz(
    quiz: Quiz,
    source: Source | None = None,
    *,
    metrics: Sequence[MetricName] | None = None,
    judge: Judge | Sequence[Judge] | None = None,
    judges: JudgeCount = 1,
    seconds: float = SECONDS,
    language: Language | None = None,
    use_cache: bool = True,
) -> Report:
    """Measure a quiz, by all metrics of quizzes or by those named in `metrics`.

    ```python
    report = await evaluate_quiz(quiz, Source(markdown=text))
    report.scores["quiz_clarity"]  # 0-100
    report.results["quiz_clarity"].items  # question by question, with reasons
    ```

    `judge` None: the strong model of the first provider whose key is in the environment. It is opened for this
    evaluation and closed after it. Without any key, only the metrics that ask no judge are measured, and the others are
    in `left_out`. A metric that needs a source is left out if `source` is None. `language` None: the language of the
    quiz. `use_cache` False: the judge is asked anew even if it has a reply in its cache.

    `judges` is the number of judges that give each label. If it is 2 or 3, each judge is of another provider: more than
    half must agree on a class, and the median of their scores counts. `votes` holds what each of them said. If they do
    not agree, the item is unscored (`split`). `until_sure` asks one judge after the other, three at most, each about
    the items of which those before it were not sure: a class counts from a confidence of 0.8 on, and if no judge
    reaches it the item is unscored (`unsure`). Of scores, those of the first judge count. `judge` may be several judges
    to be asked in this way: as many as `judges`, or two if `judges` is 3.

    Raises `InputError` for a metric that is not one of quizzes, for more judges in `judge` than `judges`, and for an
    argument of another kind, such as a text as the quiz. Raises `SettingsError` if there is no key and a metric was
    named that needs a judge, or all metrics that can be measured need one; and if several judges are wanted and fewer
    can be asked than a majority takes.
    """
    return await _evaluate(_Request("quiz", quiz, source, metrics, judge, judges, language, use_cache), seconds)


async def evaluate_summary(
    summary: Summary,
    source: Source | None = None,
    *,
    metrics: Sequence[MetricName] | None = None,
    judge: Judge | Sequence[Judge] | None = None,
    judges: JudgeCount = 1,
    seconds: float = SECONDS,
    language: Language | None = None,
    use_cache: bool = True,
) -> Report:
    """Measure a summary. Everything else is as in `evaluate_quiz`; every metric of summaries asks a judge."""
    return await _evaluate(_Request("summary", summary, source, metrics, judge, judges, language, use_cache), seconds)


async def evaluate_flashcards(
    deck: Deck,
    source: Source | None = None,
    *,
    metrics: Sequence[MetricName] | None = None,
    judge: Judge | Sequence[Judge] | None = None,
    judges: JudgeCount = 1,
    seconds: float = SECONDS,
    language: Language | None = None,
    use_cache: bool = True,
) -> Report:
    """Measure a deck of flashcards. Everything else is as in `evaluate_quiz`."""
    return await _evaluate(_Request("flashcards", deck, source, metrics, judge, judges, language, use_cache), seconds)


@dataclass(frozen=True, slots=True)
class _Request:
    """The arguments of an evaluation of any surface."""

    surface: Surface
    material: Material
    source: Source | None
    metrics: Sequence[MetricName] | None
    judge: Judge | Sequence[Judge] | None
    judges: JudgeCount
    language: Language | None
    use_cache: bool


def _require_kinds(request: _Request, seconds: float) -> None:
    """Refuse an argument of another kind than its type says. `metrics` and `judge` are checked where they are used."""
    require_seconds(seconds)
    material = MATERIALS[request.surface]
    require_model(material.__name__.lower(), request.material, material)
    if request.source is not None:
        require_model("source", request.source, Source)
    require_one_of("judges", request.judges, (1, 2, 3, "until_sure"))
    require_one_of("language", request.language, (None, "zh", "en"))


async def _evaluate(request: _Request, seconds: float) -> Report:
    _require_kinds(request, seconds)
    deadline = Deadline.after(seconds)
    language = request.language or language_of(text_of(request.material))
    wanted = _wanted(request.surface, request.metrics)
    left_out: dict[MetricName, LeftOut] = {
        one.name: "no_source" for one in wanted if one.lacks_source(request.material, request.source)
    }
    able = [one for one in wanted if one.name not in left_out]
    judged = [one for one in able if one.judged]
    async with _judges(request, needed=bool(judged)) as found:
        if not found.available and judged:
            if request.metrics is not None or judged == able:
                raise SettingsError(f"No judge can be asked without a key: {found.remedy}.")
            left_out |= {one.name: "no_judge" for one in judged}
            able = [one for one in able if not one.judged]
            judged = []
        if judged and found.wanted > 1 and (lacking := found.shortage) is not None:
            raise SettingsError(str(lacking))
        seats = {judge.provider: asyncio.Semaphore(AT_ONCE) for judge in found.available}

        def measuring(asked: Judge) -> Measuring:
            return Measuring(
                judge=asked,
                deadline=deadline,
                language=language,
                use_cache=request.use_cache,
                seats=seats[asked.provider],
            )

        results = await gather_all(_measured(one, request, found, measuring, language) for one in able)
    return Report(
        surface=request.surface,
        language=language,
        results={one.metric: one for one in results},
        left_out={one.name: left_out[one.name] for one in wanted if one.name in left_out},
    )


def _wanted(surface: Surface, named: Sequence[MetricName] | None) -> list[Metric]:
    """The metrics to measure, in the catalogue's order."""
    if named is None:
        return [CATALOGUE[name] for name in metrics_of(surface)]
    require_list("metrics", named, of="names")
    chosen, known = tuple(named), metrics_of(surface)
    if not chosen:
        raise InputError("Name at least one metric, or none at all for all of them.", where="metrics")
    if unknown := [name for name in chosen if name not in known]:
        raise InputError(f"{unknown[0]} is no metric of {surface}; they are {', '.join(known)}.", where="metrics")
    return [CATALOGUE[name] for name in chosen_of(surface, chosen)]


async def _measured(
    metric: Metric,
    request: _Request,
    judges: JudgePanel,
    measuring: Callable[[Judge], Measuring],
    language: Language,
) -> MetricResult:
    if metric.judged and judges.wanted > 1:
        return await measured_by_several(metric, request.material, request.source, judges, measuring=measuring)
    one = measuring(judges.available[0]) if metric.judged else None
    return await metric.measure(request.material, request.source, one, language=language)


@asynccontextmanager
async def _judges(request: _Request, *, needed: bool) -> AsyncIterator[JudgePanel]:
    """The judges to ask: none if no judge is needed, or if there is no key.

    If there are too few, `remedy` says what to do. Judges that are opened here are closed at the end.
    """
    given, in_turn = request.judge, request.judges == "until_sure"
    wanted = most_judges(request.judges)
    if given is not None or not needed:
        able = () if given is None else tuple(given) if isinstance(given, Sequence) else (given,)
        for one in able:
            if not callable(getattr(one, "ask", None)):
                remedy = "touchstone.Judges opens those whose keys are there"
                raise InputError(f"A judge is wanted, and this is a {type(one).__name__}; {remedy}.", where="judge")
        if len(able) > wanted:
            raise InputError(f"{len(able)} judges are given where {wanted} is wanted; say how many.", where="judges")
        yield JudgePanel(wanted=wanted, available=able, remedy="give more", in_turn=in_turn)
        return
    registry = load_registry()
    async with aclosing(Judges(registry, EnvironmentKeys(registry))) as judges:
        yield JudgePanel(wanted=wanted, available=judges.distinct(TIER, wanted), remedy=judges.remedy, in_turn=in_turn)
