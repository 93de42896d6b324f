"""All metrics: what each measures, whether it needs a source and a judge, and how it is called.

A metric is the function of its own name in the module of its own name in `touchstone.surfaces.metrics`. Its first
argument is the material. If it looks at a source, the source follows. If it asks a judge, a `Measuring` follows, and
the function is awaited; otherwise it takes the language of its reasons. The module is imported when the metric is first
measured.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from pydantic_core import PydanticCustomError

from touchstone.material import Deck, Quiz, Source, Summary
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import MetricResult
from touchstone.surfaces.names import MetricName, Surface
from touchstone.text.language import Language

type Material = Quiz | Summary | Deck
type SourceNeed = Literal["none", "optional", "required", "required_without_passages"]
"""How a metric uses a source. `required_without_passages`: it needs one unless cards name passages of their own."""

_OF_TOPICS: frozenset[MetricName] = frozenset({"quiz_coverage", "summary_coverage", "flashcard_coverage"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric, as it is chosen and called."""

    name: MetricName
    surface: Surface
    source: SourceNeed
    judged: bool

    @property
    def of_topics(self) -> bool:
        """Whether the metric goes by the topics of the source. It finds them itself if they were not found before.

        See `topics_of`.
        """
        return self.name in _OF_TOPICS

    def lacks_source(self, material: Material, source: Source | None) -> bool:
        """Whether the metric can measure nothing because there is no source."""
        if source is not None:
            return False
        passages = isinstance(material, Deck) and any(card.chunk for card in material.cards)
        return self.source == "required" or (self.source == "required_without_passages" and not passages)

    async def measure(
        self, material: Material, source: Source | None, measuring: Measuring | None, *, language: Language
    ) -> MetricResult:
        """Measure some material. `measuring` may be None only for a metric that asks no judge.

        `language` is the language of the reasons of a metric that asks no judge. A judge's reasons are in the language
        of `measuring`.
        """
        function = getattr(import_module(f"touchstone.surfaces.metrics.{self.name}"), self.name)
        given: list[object] = [material]
        if self.source != "none":
            given.append(source)
        if not self.judged:
            found: MetricResult = function(*given, language=language)
        else:
            found = await function(*given, measuring)
        return found


def _all() -> Iterator[Metric]:
    rows: tuple[tuple[MetricName, Surface, SourceNeed, bool], ...] = (
        ("quiz_answer_correctness", "quiz", "optional", True),
        ("quiz_distractor_quality", "quiz", "none", True),
        ("quiz_coverage", "quiz", "required", True),
        ("quiz_clarity", "quiz", "none", True),
        ("quiz_item_flaws", "quiz", "none", False),
        ("summary_faithfulness", "summary", "required", True),
        ("summary_coverage", "summary", "required", True),
        ("summary_coherence", "summary", "none", True),
        ("summary_information_density", "summary", "none", True),
        ("flashcard_answer_correctness", "flashcards", "required_without_passages", True),
        ("flashcard_atomicity", "flashcards", "none", True),
        ("flashcard_clarity", "flashcards", "none", True),
        ("flashcard_coverage", "flashcards", "required", True),
        ("flashcard_duplication", "flashcards", "none", False),
        ("flashcard_answer_leakage", "flashcards", "none", False),
    )
    for name, surface, source, judged in rows:
        yield Metric(name=name, surface=surface, source=source, judged=judged)


CATALOGUE: Mapping[MetricName, Metric] = {metric.name: metric for metric in _all()}


def metrics_of(surface: Surface) -> tuple[MetricName, ...]:
    """The metrics of a surface, in the order in which they are reported."""
    return tuple(metric.name for metric in CATALOGUE.values() if metric.surface == surface)


def refuse_others(surface: Surface, named: Sequence[MetricName] | None) -> None:
    """Refuse a name that is no metric of the surface, as an error of the model that is being validated."""
    known = metrics_of(surface)
    if unknown := [name for name in named or () if name not in known]:
        raise PydanticCustomError(
            "other_metric",
            "{metric} is no metric of {surface}; they are {known}",
            {"metric": unknown[0], "surface": surface, "known": ", ".join(known)},
        )


def chosen_of(surface: Surface, named: Sequence[MetricName] | None) -> tuple[MetricName, ...]:
    """The metrics of a surface that are named, in the order in which they are reported; None: all of them."""
    return tuple(name for name in metrics_of(surface) if named is None or name in named)


def text_of(material: Material) -> str:
    """The text of some material as a reader sees it. It serves to tell the language."""
    match material:
        case Quiz():
            return "\n".join(question.question_text for question in material.questions)
        case Summary():
            return material.text
        case Deck():
            return "\n".join(f"{card.front}\n{card.back}" for card in material.cards)
