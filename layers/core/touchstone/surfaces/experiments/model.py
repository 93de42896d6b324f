"""An experiment: two variants of the same items, made from the same sources, and the questions about them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from touchstone.judges.base import JudgeCount
from touchstone.material import Deck, QuestionKind, Quiz, Source, Summary
from touchstone.material.parts import PartId, all_different
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import CATALOGUE, Material, chosen_of, refuse_others
from touchstone.surfaces.experiments.makers import MAX_FILLED_CHARS, Maker, PromptMaker, filled_chars
from touchstone.surfaces.names import MetricName, Surface
from touchstone.text.language import Language

MAX_ITEMS = 10_000
MAX_SOURCES = 10_000
MAX_COUNT = 40
"""Most questions or cards of one item: as many as fit into one reply of the listed models (gpt-4o writes 16,384
tokens)."""
MIN_WORDS, MAX_WORDS = 30, 3_000
DEFAULT_COUNT, DEFAULT_WORDS = 10, 200
MAX_REPLICATES = 5
"""Most times that each judge is asked the same. So many tell how much its replies vary, and further times cost as much
each."""

type Side = Literal["a", "b"]
"""One of the two variants."""
SIDES: tuple[Side, Side] = ("a", "b")

type Replicates = Annotated[int, Field(ge=1, le=MAX_REPLICATES, strict=True)]
"""The number of times that each judge is asked the same."""

_FIELDS = {"questions": "quiz", "text": "summary", "cards": "flashcards"}


def _surface_in(value: object) -> str | None:
    """The surface of some material, parsed or not, by the field that only its kind has; None if it is no material."""
    match value:
        case Quiz() | Summary() | Deck():
            return surface_of(value)
        case dict():
            return next((surface for field, surface in _FIELDS.items() if field in value), None)
        case _:
            return None


type AnyMaterial = Annotated[
    Annotated[Quiz, Tag("quiz")] | Annotated[Summary, Tag("summary")] | Annotated[Deck, Tag("flashcards")],
    Discriminator(
        _surface_in,
        custom_error_type="no_material",
        custom_error_message="material has questions (a quiz), a text (a summary) or cards (flashcards)",
    ),
]
"""A quiz, a summary or a deck, told apart by its fields."""


def surface_of(material: Material) -> Surface:
    """The surface of some material."""
    match material:
        case Quiz():
            return "quiz"
        case Summary():
            return "summary"
        case Deck():
            return "flashcards"


class Item(Strict):
    """One piece of material of a variant, and the source that it was made from.

    `id` is the name that it shares with the item of the other variant. If `material` is null, it is to be generated.
    """

    id: PartId
    source: PartId
    material: AnyMaterial | None = None


class Variant(Strict):
    """One of the two variants that are compared: its `items`, or the `maker` of its items.

    A maker makes an item for each item that the other variant has; if both variants have a maker, one for each source.
    `passages` is a source as this variant divides it (its own pillars, or its own text), by the source's id. What is
    generated for the variant, or made by its maker, is made from these passages, or from the source itself if there are
    none.
    """

    name: PartId
    items: Annotated[tuple[Item, ...], Field(max_length=MAX_ITEMS)] = ()
    maker: Maker | None = None
    passages: dict[PartId, Source] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ids(self) -> Self:
        if bool(self.items) == (self.maker is not None):
            raise PydanticCustomError(
                "items_or_maker",
                "variant {variant} takes either items or a maker of them; give one of the two",
                {"variant": self.name},
            )
        all_different((item.id for item in self.items), of=f"item of variant {self.name}")
        return self


class Generation(Strict):
    """What to generate for an item that has no material. It is the same for both variants.

    `count` is the number of questions or cards of an item, 1-40. `words` is about how long a summary should be. `kinds`
    are the kinds of questions of a quiz. A field that does not belong to the surface of the experiment has no effect.
    """

    count: Annotated[int, Field(ge=1, le=MAX_COUNT)] = DEFAULT_COUNT
    words: Annotated[int, Field(ge=MIN_WORDS, le=MAX_WORDS)] = DEFAULT_WORDS
    kinds: Annotated[tuple[QuestionKind, ...], Field(min_length=1)] = ("single_choice",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The unit of work: one item of both variants with its source.

    `a` or `b` None: that variant's material must be made.

    `number` counts pairs from 1. `passages_a` and `passages_b` are the sources that the material of A and of B is made
    from.
    """

    number: int
    item: str
    source: Source
    a: Material | None
    b: Material | None
    passages_a: Source
    passages_b: Source


class ExperimentTerms(Strict):
    """The terms that are the same for all pairs of an experiment: what is measured, how, and in which language.

    `metrics` are in the order of the catalogue. `judged`: a judge or model is asked (see `Experiment.needs_judge`).
    `makers` are those of A and of B, None if the items of the variant are given or generated. See `Experiment` for the
    other fields.
    """

    surface: Surface
    metrics: tuple[MetricName, ...]
    judged: bool = True
    language: Language | None = None
    generation: Generation | None = None
    makers: tuple[Maker | None, Maker | None] = (None, None)
    judges: JudgeCount = 1
    replicates: Replicates = 1


class Experiment(Strict):
    """The question which of two variants is better, asked of the same items.

    The first variant is A, the second is B. Every difference is B less A. `metrics` null means all metrics of the
    surface. `language` is the language of the judge's reasons; null means that of each source. `seed` draws the
    intervals, so that the same results give the same figures. `generation` null means that nothing is generated, so
    every item must have its material.

    `judges` is how many judges measure both variants and prefer one. With 2 or 3, each is of another provider; more
    than half must agree on a class and on which variant is better, and the median of the scores counts. `until_sure`
    asks one after the other, at most three: about the items of whose class the earlier judges were not sure enough, and
    about which variant is better if the earlier judges were undecided between the orders; scores are those of the first
    judge. `replicates` is how often each judge is asked the same: the mean of all times counts, and how much they
    differ is told. Each time is paid for.
    """

    name: PartId = "experiment"
    surface: Surface
    sources: Annotated[tuple[Source, ...], Field(min_length=1, max_length=MAX_SOURCES)]
    variants: tuple[Variant, Variant]
    metrics: Annotated[tuple[MetricName, ...], Field(min_length=1)] | None = None
    language: Language | None = None
    generation: Generation | None = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    judges: JudgeCount = 1
    replicates: Replicates = 1

    @model_validator(mode="after")
    def _comparable(self) -> Self:
        all_different((source.id for source in self.sources), of="source")
        if self.variants[0].name == self.variants[1].name:
            raise PydanticCustomError("same_name", "both variants have the same name; give each a name of its own")
        if all(variant.items for variant in self.variants):
            _all_paired(*self.variants)
        known = {source.id for source in self.sources}
        for variant in self.variants:
            _all_known((item.source for item in variant.items), known, variant.name)
            _all_known(variant.passages, known, variant.name)
            _all_of(self.surface, variant, generated=self.generation is not None)
        used = {item.source for item in self.items}
        for variant in self.variants:
            _none_too_long(variant, [source for source in self.sources if source.id in used])
        refuse_others(self.surface, self.metrics)
        return self

    @property
    def measured(self) -> tuple[MetricName, ...]:
        """The metrics that are measured, in the order of the catalogue."""
        return chosen_of(self.surface, self.metrics)

    @property
    def terms(self) -> ExperimentTerms:
        """The terms that are the same for all pairs."""
        return ExperimentTerms(
            surface=self.surface,
            metrics=self.measured,
            judged=self.needs_judge,
            language=self.language,
            generation=self.generation,
            makers=self.makers,
            judges=self.judges,
            replicates=self.replicates,
        )

    @property
    def makers(self) -> tuple[Maker | None, Maker | None]:
        """The makers of A and of B."""
        a, b = self.variants
        return a.maker, b.maker

    @property
    def items(self) -> tuple[Item, ...]:
        """The items to compare, in the order of the first variant that has items.

        If none has, one item for each source.
        """
        given = next((variant.items for variant in self.variants if variant.items), None)
        return given or tuple(Item(id=source.id, source=source.id) for source in self.sources)

    @property
    def needs_judge(self) -> bool:
        """Whether a judge or model must be asked.

        It need not be if only metrics are named that ask no judge, no material is missing, and no maker writes with the
        judge.
        """
        missing = any(item.material is None for variant in self.variants for item in variant.items)
        writes = any(isinstance(maker, PromptMaker) and maker.model is None for maker in self.makers)
        return missing or writes or self.metrics is None or any(CATALOGUE[name].judged for name in self.measured)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The items of both variants, in the order of `items`."""
        return tuple(self._pairs())

    def _pairs(self) -> Iterator[Pair]:
        a, b = self.variants
        sources = {source.id: source for source in self.sources}
        of_a, of_b = ({item.id: item.material for item in variant.items} for variant in (a, b))
        for number, item in enumerate(self.items, start=1):
            source = sources[item.source]
            yield Pair(
                number=number,
                item=item.id,
                source=source,
                a=of_a.get(item.id),
                b=of_b.get(item.id),
                passages_a=a.passages.get(source.id, source),
                passages_b=b.passages.get(source.id, source),
            )


def _all_paired(a: Variant, b: Variant) -> None:
    """Refuse variants that do not have the same items from the same sources."""
    of_a, of_b = ({item.id: item.source for item in variant.items} for variant in (a, b))
    for lacking, missing in (
        (b, [one for one in of_a if one not in of_b]),
        (a, [one for one in of_b if one not in of_a]),
    ):
        if missing:
            raise PydanticCustomError(
                "unpaired",
                "the comparison would be unpaired: variant {variant} lacks item {item}, which the other one has",
                {"variant": lacking.name, "item": missing[0]},
            )
    if moved := [one for one, source in of_a.items() if of_b[one] != source]:
        raise PydanticCustomError(
            "unpaired",
            "the comparison would be unpaired: item {item} is from source {a} in one variant and {b} in the other",
            {"item": moved[0], "a": of_a[moved[0]], "b": of_b[moved[0]]},
        )


def _all_known(named: Iterable[str], known: set[str], variant: str) -> None:
    if unknown := [source for source in named if source not in known]:
        raise PydanticCustomError(
            "unknown_source",
            "variant {variant} names source {source}, which is not among the sources",
            {"variant": variant, "source": unknown[0]},
        )


def _none_too_long(variant: Variant, sources: Iterable[Source]) -> None:
    """Refuse a prompt that would be too long with the text of one of the sources in it, before it is filled."""
    if not isinstance(variant.maker, PromptMaker):
        return
    templates = {"prompt": variant.maker.prompt, "system": variant.maker.system or ""}
    for source in sources:
        size = len(variant.passages.get(source.id, source).text)
        for field, template in templates.items():
            if (chars := filled_chars(template, source_chars=size)) > MAX_FILLED_CHARS:
                raise PydanticCustomError(
                    "prompt_too_long",
                    "the {field} of variant {variant} would have {chars} characters with source {source} in it, "
                    "{most} at most; name {place} fewer times, or give a shorter source",
                    {
                        "field": field,
                        "variant": variant.name,
                        "chars": f"{chars:,}",
                        "source": source.id,
                        "most": f"{MAX_FILLED_CHARS:,}",
                        "place": "{{ source }}",
                    },
                )


def _all_of(surface: Surface, variant: Variant, *, generated: bool) -> None:
    """Refuse material of another surface, and items without material if none is to be generated."""
    for item in variant.items:
        values: dict[str, Any] = {"item": item.id, "variant": variant.name, "surface": surface}
        if item.material is None and not generated:
            raise PydanticCustomError(
                "no_material",
                "item {item} of variant {variant} has no material: give it, or say in generation what is to be made",
                values,
            )
        if item.material is not None and surface_of(item.material) != surface:
            raise PydanticCustomError(
                "other_surface",
                "item {item} of variant {variant} is of {found}, and the experiment of {surface}",
                {**values, "found": surface_of(item.material)},
            )
