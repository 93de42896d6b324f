"""All metrics of a quiz, a summary or a deck of flashcards, measured side by side."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from touchstone.clock import Deadline
from touchstone.errors import InputError, SettingsError
from touchstone.judges.base import Judge
from touchstone.judges.keys import EnvironmentKeys
from touchstone.judges.opening import Judges
from touchstone.judges.registry import load_registry
from touchstone.judges.spends import Spend, known_cost
from touchstone.material import Deck, Quiz, Source, Summary
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import CATALOGUE, Material, Metric, metrics_of, text_of
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import TIER, MetricName, MetricResult, Surface
from touchstone.text.language import Language, language_of

SECONDS = 600.0
"""How long an evaluation may take. What a judge has not answered by then is unscored."""

type LeftOut = Literal["no_source", "no_judge"]
"""Why a metric was not measured: it needs a source, or a judge, and there was none."""


class Report(Strict):
    """What the metrics say of one piece of material.

    `language` is that of the prompts and of all reasons, a judge's or not. `results` are in the order of the catalogue;
    `left_out` names the metrics of the surface that were wanted and could not be measured.
    """

    surface: Surface
    language: Language
    results: dict[MetricName, MetricResult]
    left_out: dict[MetricName, LeftOut]

    @property
    def scores(self) -> dict[MetricName, float | None]:
        """The scores (0-100), None where nothing could be judged."""
        return {name: found.score for name, found in self.results.items()}

    @property
    def spends(self) -> tuple[Spend, ...]:
        """All calls that were paid for."""
        return tuple(spend for found in self.results.values() for spend in found.spends)

    @property
    def tokens(self) -> int:
        """Tokens of all calls, in and out."""
        return sum(found.tokens for found in self.results.values())

    @property
    def cost_usd(self) -> float | None:
        """What the calls cost, as far as that is known; see `known_cost`."""
        return known_cost(self.spends)


async def evaluate_quiz(
    quiz: Quiz,
    source: Source | None = None,
    *,
    metrics: Sequence[MetricName] | None = None,
    judge: Judge | None = None,
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

    `judge` None: the strong model of the first provider whose key is in the environment; it is opened for this
    evaluation and closed after it. Without any key the metrics that ask no judge are measured, and the others are in
    `left_out`. A metric that needs a source is left out where `source` is None. `language` None: that of the quiz.
    `use_cache` False asks anew even where the judge has a reply in its cache.

    Raises `InputError` for a metric that is none of quizzes, and `SettingsError` where a metric was named, or is the
    only kind there is, that needs a judge, and there is no key.
    """
    told = language or language_of(text_of(quiz))
    return await _evaluate(_Request("quiz", quiz, source, metrics, judge, told, use_cache), Deadline.after(seconds))


async def evaluate_summary(
    summary: Summary,
    source: Source | None = None,
    *,
    metrics: Sequence[MetricName] | None = None,
    judge: Judge | None = None,
    seconds: float = SECONDS,
    language: Language | None = None,
    use_cache: bool = True,
) -> Report:
    """Measure a summary. All else is as for `evaluate_quiz`; every metric of summaries asks a judge."""
    told = language or language_of(text_of(summary))
    request = _Request("summary", summary, source, metrics, judge, told, use_cache)
    return await _evaluate(request, Deadline.after(seconds))


async def evaluate_flashcards(
    deck: Deck,
    source: Source | None = None,
    *,
    metrics: Sequence[MetricName] | None = None,
    judge: Judge | None = None,
    seconds: float = SECONDS,
    language: Language | None = None,
    use_cache: bool = True,
) -> Report:
    """Measure a deck of flashcards. All else is as for `evaluate_quiz`."""
    told = language or language_of(text_of(deck))
    request = _Request("flashcards", deck, source, metrics, judge, told, use_cache)
    return await _evaluate(request, Deadline.after(seconds))


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked for, of whatever surface."""

    surface: Surface
    material: Material
    source: Source | None
    metrics: Sequence[MetricName] | None
    judge: Judge | None
    language: Language
    use_cache: bool


async def _evaluate(request: _Request, deadline: Deadline) -> Report:
    wanted = _wanted(request.surface, request.metrics)
    left_out: dict[MetricName, LeftOut] = {
        one.name: "no_source" for one in wanted if one.lacks_source(request.material, request.source)
    }
    able = [one for one in wanted if one.name not in left_out]
    judged = [one for one in able if one.judged]
    async with _judge(request.judge, needed=bool(judged)) as (judge, remedy):
        if judge is None and judged:
            if request.metrics is not None or judged == able:
                raise SettingsError(f"No judge can be asked without a key: {remedy}.")
            left_out |= {one.name: "no_judge" for one in judged}
            able = [one for one in able if not one.judged]
        measuring = (
            None
            if judge is None
            else Measuring(judge=judge, deadline=deadline, language=request.language, use_cache=request.use_cache)
        )
        results = await asyncio.gather(
            *(one.measure(request.material, request.source, measuring, language=request.language) for one in able)
        )
    return Report(
        surface=request.surface,
        language=request.language,
        results={one.metric: one for one in results},
        left_out={one.name: left_out[one.name] for one in wanted if one.name in left_out},
    )


def _wanted(surface: Surface, named: Sequence[MetricName] | None) -> list[Metric]:
    """The metrics to measure, in the catalogue's order."""
    known = metrics_of(surface)
    if named is None:
        return [CATALOGUE[name] for name in known]
    if not named:
        raise InputError("Name at least one metric, or none at all for all of them.", where="metrics")
    if unknown := [name for name in named if name not in known]:
        raise InputError(f"{unknown[0]} is no metric of {surface}; they are {', '.join(known)}.", where="metrics")
    return [CATALOGUE[name] for name in known if name in named]


@asynccontextmanager
async def _judge(given: Judge | None, *, needed: bool) -> AsyncIterator[tuple[Judge | None, str]]:
    """The judge to ask, and what to do where there is none, as the end of a sentence."""
    if given is not None or not needed:
        yield given, ""
        return
    registry = load_registry()
    judges = Judges(registry, EnvironmentKeys(registry))
    try:
        yield judges.prefer(TIER), judges.remedy
    finally:
        await judges.aclose()
