"""One pair, measured: both variants' items by every metric, and which of the two a judge prefers."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace

from touchstone.clock import Deadline
from touchstone.errors import TimedOutError
from touchstone.judges.base import Judge
from touchstone.judges.panel import JudgePanel
from touchstone.judges.spends import Spend
from touchstone.judges.sureness import NO_THRESHOLDS, JudgeThresholds
from touchstone.material import Source
from touchstone.material.parts import PartId
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import CATALOGUE, Material, Metric
from touchstone.surfaces.evaluation import SECONDS
from touchstone.surfaces.experiments.generation import Failure, GeneratedPiece, generate, not_made
from touchstone.surfaces.experiments.makers import Maker
from touchstone.surfaces.experiments.making import MakerOrder, Makers, Nobody
from touchstone.surfaces.experiments.model import AnyMaterial, ExperimentTerms, Generation, Pair, Side
from touchstone.surfaces.experiments.preference import Preference, no_preference, preference_by, preference_of
from touchstone.surfaces.measuring import AT_ONCE, Measuring
from touchstone.surfaces.model import MetricResult, Topics
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.panel import measured_by_several
from touchstone.surfaces.topics import topics_of
from touchstone.text.language import Language, language_of
from touchstone.together import gather_all, gather_two


class Measured(Strict):
    """One variant's side of a pair.

    `material` is the measured material, given or generated. It is None if making it failed, and `failure` says why.
    `results` are in the order of the catalogue, and empty without material. `spends` are the calls that made the
    material.
    """

    material: AnyMaterial | None
    results: dict[MetricName, MetricResult]
    failure: Failure | None = None
    spends: tuple[Spend, ...] = ()


class Replicate(Strict):
    """The results of asking everything once: the metrics of both variants, and the preference."""

    a: dict[MetricName, MetricResult]
    b: dict[MetricName, MetricResult]
    preference: Preference


class PairResult(Strict):
    """The result of one pair. `source` is the id of its source, `language` the language of the judge's reasons.

    `replicates` are the results of the second and later times, if the same was asked several times. `spends` are the
    calls that served both variants: those that found the topics of the source.
    """

    number: int
    item: PartId
    source: PartId
    language: Language
    a: Measured
    b: Measured
    preference: Preference
    replicates: tuple[Replicate, ...] = ()
    spends: tuple[Spend, ...] = ()

    @property
    def runs(self) -> tuple[Replicate, ...]:
        """The results of each time that the same was asked, the first time included."""
        return (Replicate(a=self.a.results, b=self.b.results, preference=self.preference), *self.replicates)

    def all_spends(self) -> Iterator[Spend]:
        """Every call that was paid for."""
        yield from self.spends
        for side in (self.a, self.b):
            yield from side.spends
        for run in self.runs:
            for found in (*run.a.values(), *run.b.values()):
                yield from found.spends
            yield from run.preference.spends

    @property
    def unanswered(self) -> bool:
        """Whether something has no score because nobody answered, so that asking again may bring one."""
        return bool(self._reasons - _SETTLED)

    @property
    def unsure(self) -> bool:
        """Whether something has no score because no judge that was asked was sure enough."""
        return "unsure" in self._reasons

    @property
    def late(self) -> bool:
        """Whether something has no score because the time was over before it was answered."""
        return TimedOutError.reason in self._reasons

    @property
    def _reasons(self) -> set[str | None]:
        """The reasons why things have no score. None is among them if a verdict was given in some order."""
        found = [result for run in self.runs for result in (*run.a.values(), *run.b.values())]
        return {
            *(one.reason for result in found for one in result.unscored),
            *(side.failure.reason for side in (self.a, self.b) if side.failure is not None),
            *(why for run in self.runs for why in run.preference.lacking),
        }


_SETTLED = frozenset({None, "invalid_reply", "no_source", "no_material", "not_asked", "split", "unsure"})
"""The reasons for which something has no score although everybody asked has answered."""


async def measure_pair(
    pair: Pair,
    terms: ExperimentTerms,
    *,
    judge: Judge | None,
    several: JudgePanel | None = None,
    thresholds: JudgeThresholds = NO_THRESHOLDS,
    generator: Judge | None = None,
    makers: Makers | None = None,
    seconds: float = SECONDS,
    use_cache: bool = True,
    seats: asyncio.Semaphore | None = None,
) -> PairResult:
    """Measure one pair: first what is missing is made, then everything is asked side by side.

    The topics of the source are found once and serve both variants, so that both are measured by the same topics. Items
    that nobody could judge are unscored; the others are measured. `judge` None, or `terms.judged` False: only metrics
    that ask no judge are measured, no judge generates anything, and there is no preference. `several`: these judges
    measure and prefer, and `judge` is the first of them; `MisconfiguredError` is raised if they are fewer than a
    majority takes. `thresholds` says how sure each of them must be of a class by people's labels; it needs `several`,
    which may be one judge. `generator` None: the judge writes what is missing. `makers` makes the items of variants
    that have a maker. `seconds` hold for the making, and again for the measuring. `seats` bounds the questions under
    way, of several pairs together.
    """
    judge = judge if terms.judged else None
    if judge is not None and several is not None and several.shortage is not None:
        raise several.shortage
    language = terms.language or language_of(pair.source.text)
    seats = seats or asyncio.Semaphore(AT_ONCE)

    def asking(one: Judge) -> Measuring:
        return Measuring(
            judge=one, deadline=Deadline.after(seconds), language=language, use_cache=use_cache, seats=seats
        )

    writer = asking(generator or judge or Nobody())
    a, b = await _materials(pair, terms, writer, makers or Makers())
    measuring = None if judge is None else asking(judge)
    topics = await _topics(pair, terms, measuring)
    if measuring is not None and topics is not None:
        measuring = replace(measuring, topics=replace(topics, spends=()))
    asked = _Asked(
        pair=pair, terms=terms, measuring=measuring, several=several, thresholds=thresholds, language=language
    )
    numbers = range(1, 1 + (terms.replicates if measuring is not None else 1))
    first, *later = await gather_all(_run(a.material, b.material, asked.again(number)) for number in numbers)
    return PairResult(
        number=pair.number,
        item=pair.item,
        source=pair.source.id,
        language=language,
        a=Measured(material=a.material, results=first.a, failure=a.failure, spends=a.spends),
        b=Measured(material=b.material, results=first.b, failure=b.failure, spends=b.spends),
        preference=first.preference,
        replicates=tuple(later),
        spends=topics.spends if topics is not None else (),
    )


async def _materials(
    pair: Pair, terms: ExperimentTerms, writing: Measuring, makers: Makers
) -> tuple[GeneratedPiece, GeneratedPiece]:
    """Both variants' material. What is missing is made."""
    wanted = terms.generation or Generation()

    async def of(side: Side, given: Material | None, passages: Source, maker: Maker | None) -> GeneratedPiece:
        if given is not None:
            return GeneratedPiece(material=given, failure=None, spends=())
        if maker is not None:
            order = MakerOrder(pair=pair, side=side, surface=terms.surface, passages=passages, wanted=wanted)
            return await makers.make(maker, order, writing)
        if isinstance(writing.judge, Nobody) or terms.generation is None:
            return not_made(Failure(reason="misconfigured", details=("There is no model that could write it.",)))
        return await generate(terms.surface, passages, wanted, writing, whose=f"{side} {pair.item}")

    a, b = await gather_all(
        [of("a", pair.a, pair.passages_a, terms.makers[0]), of("b", pair.b, pair.passages_b, terms.makers[1])]
    )
    return a, b


async def _topics(pair: Pair, terms: ExperimentTerms, measuring: Measuring | None) -> Topics | None:
    """The topics of the source; None if no metric goes by them, or if nobody can be asked."""
    if measuring is None or not any(CATALOGUE[name].of_topics for name in terms.metrics):
        return None
    return await topics_of(pair.source, measuring)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What is asked about one pair, and who is asked.

    `measuring` None: nobody is asked. `several` None: the judge of `measuring` is asked alone. `thresholds` says how
    sure the judges of `several` must be by people's labels.
    """

    pair: Pair
    terms: ExperimentTerms
    measuring: Measuring | None
    several: JudgePanel | None
    thresholds: JudgeThresholds
    language: Language

    def again(self, number: int) -> "_Asked":
        """The same questions, asked for the time with this number; 1 is the first."""
        return self if self.measuring is None else replace(self, measuring=replace(self.measuring, replicate=number))

    def by(self, judge: Judge) -> Measuring:
        """The `measuring` of one of several judges."""
        if self.measuring is None:
            raise ValueError("nobody is asked")
        return replace(self.measuring, judge=judge)

    async def measured(self, metric: Metric, material: Material) -> MetricResult:
        """The result of one metric for one variant."""
        if self.several is None or not metric.judged:
            return await metric.measure(material, self.pair.source, self.measuring, language=self.language)
        return await measured_by_several(
            metric, material, self.pair.source, self.several, measuring=self.by, thresholds=self.thresholds
        )


async def _run(a: Material | None, b: Material | None, asked: _Asked) -> Replicate:
    """Measure both variants, and ask which is preferred."""
    (results_a, results_b), preference = await gather_two(
        gather_all([_results(a, asked), _results(b, asked)]), _preference(a, b, asked)
    )
    return Replicate(a=results_a, b=results_b, preference=preference)


async def _results(material: Material | None, asked: _Asked) -> dict[MetricName, MetricResult]:
    """The results of one variant, in the order of the catalogue."""
    if material is None:
        return {}
    metrics = [
        CATALOGUE[name] for name in asked.terms.metrics if asked.measuring is not None or not CATALOGUE[name].judged
    ]
    found = await gather_all(asked.measured(one, material) for one in metrics)
    return {one.metric: one for one in found}


async def _preference(a: Material | None, b: Material | None, asked: _Asked) -> Preference:
    if asked.measuring is None:
        return no_preference("not_asked")
    if a is None or b is None:
        return no_preference("no_material")
    if asked.several is not None and asked.several.wanted > 1:
        return await preference_by(a, b, asked.pair.source, asked.several, asked.by)
    return await preference_of(a, b, asked.pair.source, asked.measuring)
