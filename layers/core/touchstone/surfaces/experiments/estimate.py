"""What an experiment will take, before it begins: the number of judge calls, and their cost.

The calls are counted by measuring the pairs with a judge that notes each question and answers none, so that they are
the calls of the metrics themselves. They are exact if their number follows from sizes. If it follows from replies (the
topics of a source, the claims of a summary), it is a range. Questions that are asked again because a reply broke the
rules are not counted; they are few.
"""

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from pydantic import BaseModel

from touchstone.clock import Deadline, system_clock
from touchstone.errors import RefusedError, SettingsError
from touchstone.judges.base import JudgeQuestion, Reply, asks_in_turn, most_judges
from touchstone.judges.questions import cost_usd, input_bytes
from touchstone.judges.registry import Model, Registry, load_registry
from touchstone.material import Deck, Flashcard, Quiz, Source, Summary
from touchstone.material import Question as QuizQuestion
from touchstone.material.sentences import sentences_of
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import CATALOGUE, Material
from touchstone.surfaces.claims import claims_of
from touchstone.surfaces.evaluation import SECONDS
from touchstone.surfaces.experiments.generation import Failure, GeneratedPiece, generate, not_made
from touchstone.surfaces.experiments.makers import CommandMaker, EndpointMaker, Maker, PromptMaker
from touchstone.surfaces.experiments.making import PROVIDERS_TIER, MakerOrder, Makers
from touchstone.surfaces.experiments.model import SIDES, Experiment, ExperimentTerms, Generation, Pair
from touchstone.surfaces.experiments.preference import preference_of
from touchstone.surfaces.grounding import TOKENS_AN_ITEM
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.summary_faithfulness import CLAIMS_A_CALL
from touchstone.surfaces.model import Claims, Topic, Topics
from touchstone.surfaces.numbered import BASE_OUTPUT_TOKENS
from touchstone.surfaces.panel import SCORES
from touchstone.surfaces.topics import LEAST_A_SECTION, MOST_TOPICS, topics_of
from touchstone.text.language import Language, language_of
from touchstone.usage import Usage

MOST_SAMPLED = 100
"""Most pairs that are looked at, since each takes some 10 ms. If there are more, an even sample stands for all."""
CLAIMS_A_SENTENCE = (1, 4)
"""The fewest and the most claims of a sentence: few sentences make no claim, few more than four."""
BYTES_A_TOKEN = (2.5, 5.0)
"""The fewest and the most bytes of input for each token: Chinese has about 3 bytes a token, English 4 to 5."""
LEAST_OF_ROOM = 0.1
"""The smallest share of the room for a reply that a reply takes. The largest is all of it, and all the room for
thinking."""
STAND_IN_CHARS = 120
"""The assumed length of a question, claim or topic that is not written yet, in characters."""
WORDS_A_SENTENCE = 20
PROMPT_BYTES = 4_000
"""The assumed size of a prompt without its subject, in bytes."""


class EstimateShare(Strict):
    """What a part of an experiment is expected to take, as ranges. `cost_usd` is null if a price in it is not known."""

    calls: tuple[int, int]
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None


class Estimate(Strict):
    """What an experiment is expected to take, as ranges. Both ends are the same if the figure is known exactly.

    `calls` counts the questions to judges and generators that have no reply yet, and the items that are to be made.
    `cost_usd` is their cost by today's prices of the registry; null if a price is not known. `making` and `judging` are
    the shares of making the material and of measuring it; null in an estimate from before they were kept.
    """

    pairs: int
    calls: tuple[int, int]
    cost_usd: tuple[float, float] | None
    making: EstimateShare | None = None
    judging: EstimateShare | None = None


async def estimate_of(
    experiment: Experiment,
    model: Model | None,
    *,
    others: Sequence[Model | None] = (),
    writer: Model | Literal["judge"] | None = "judge",
    registry: Registry | None = None,
    on: date | None = None,
) -> Estimate:
    """Estimate a whole experiment. `model` judges, and `writer` makes what is missing; None: the price is not known.

    `others` are the further judges: if the experiment wants several judges, those; if it wants one, the judge that is
    asked when the first is not sure enough by its labels. Judges that are wanted and not given count as the first one.
    If judges are asked in turn, the first alone is asked at least, and all of them about everything at most. `registry`
    has the models that the variants' prompts name; None: the registry of the environment. `on` is the day of the
    prices, UTC; None: today.
    """
    pairs = experiment.pairs
    day = on or system_clock().date()
    writes = model if writer == "judge" else writer
    wanted = max(most_judges(experiment.judges), 1 + len(others))
    panel = (model, *others, *[model] * wanted)[:wanted]
    runs = range(experiment.replicates)
    # The first judge takes material apart for all judges.
    asked: dict[_Who, Sequence[Model | None]] = {
        "judge": [one for one in panel for _ in runs],
        "first": [model] * experiment.replicates,
        "claims": [model] * experiment.replicates,
        "topics": [model],
        "writer": [writes],
    }
    for side, maker in zip(SIDES, experiment.makers, strict=True):
        asked[side] = [writes if maker is None else _model_of(maker, writes, registry)]
    sample = [pairs[place * len(pairs) // MOST_SAMPLED] for place in range(MOST_SAMPLED)]
    looked_at = pairs if len(pairs) <= MOST_SAMPLED else sample
    making, judging = (_Tally(), _Tally()), (_Tally(), _Tally())
    read: set[str] = set()
    for pair in looked_at:
        first = pair.source.id not in read
        read.add(pair.source.id)
        for most in (False, True):
            for one in await _questions_of(pair, experiment.terms, most=most, first=first):
                tally = (judging if one.who in _JUDGING else making)[most]
                alone = one.who == "judge" and not most and asks_in_turn(experiment.judges)
                for each in asked["first" if alone else one.who]:
                    tally.add(one, each, day=day, most=most)
        await asyncio.sleep(0)
    scale = len(pairs) / len(looked_at)
    made, judged = _share(*making, scale=scale), _share(*judging, scale=scale)
    low, high = (made.calls[end] + judged.calls[end] for end in (0, 1))
    cost = None
    if made.cost_usd is not None and judged.cost_usd is not None:
        cost = (made.cost_usd[0] + judged.cost_usd[0], made.cost_usd[1] + judged.cost_usd[1])
    return Estimate(pairs=len(pairs), calls=(low, high), cost_usd=cost, making=made, judging=judged)


type _Who = Literal["judge", "first", "claims", "topics", "writer", "a", "b"]
_JUDGING: frozenset[_Who] = frozenset({"judge", "first", "claims", "topics"})


def _model_of(maker: Maker, writer: Model | None, registry: Registry | None) -> Model | None:
    """The model that makes a variant's items; None if no model does, or if its price is not known."""
    if not isinstance(maker, PromptMaker):
        return None
    if maker.provider is None:
        return writer
    listed = registry or load_registry()
    try:
        if maker.model_name is None:
            return listed.model(maker.provider, PROVIDERS_TIER)
        return listed.find(maker.provider, maker.model_name)
    except SettingsError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """The size of a question: the bytes of input, the room for the reply in tokens, and how often it is asked.

    `who` is asked: all judges; the first of them (for topics, for claims, and for what no other judge is asked about);
    the model that generates what is missing; or the maker of a variant. `program`: a command or endpoint makes the
    item, and takes no tokens; `costs` is what it says that an item costs, None if it says nothing.
    """

    bytes: int
    room: int
    times: int = 1
    who: _Who = "judge"
    program: bool = False
    costs: float | None = None


@dataclass(slots=True)
class _Tally:
    """The sum of several questions. `unknown`: the price of one of them is not known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unknown: bool = False

    def add(self, one: _Size, model: Model | None, *, day: date, most: bool) -> None:
        self.calls += one.times
        usage = _usage(one, model, most=most)
        cost = one.costs if one.program else None if model is None else cost_usd(model, usage, on=day)
        self.input_tokens += one.times * usage.input_tokens
        self.output_tokens += one.times * usage.output_tokens
        self.cost += one.times * (cost or 0.0)
        self.unknown = self.unknown or cost is None


def _usage(size: _Size, model: Model | None, *, most: bool) -> Usage:
    if size.program:
        return Usage()
    per_token = BYTES_A_TOKEN[0] if most else BYTES_A_TOKEN[1]
    thinking = 0 if model is None else model.thinking_tokens
    output = size.room + thinking if most else LEAST_OF_ROOM * size.room
    return Usage(input_tokens=int(size.bytes / per_token), output_tokens=int(output))


def _share(low: _Tally, high: _Tally, *, scale: float) -> EstimateShare:
    return EstimateShare(
        calls=(math.floor(low.calls * scale), math.ceil(high.calls * scale)),
        input_tokens=(math.floor(low.input_tokens * scale), math.ceil(high.input_tokens * scale)),
        output_tokens=(math.floor(low.output_tokens * scale), math.ceil(high.output_tokens * scale)),
        cost_usd=None if low.unknown or high.unknown else (low.cost * scale, high.cost * scale),
    )


@dataclass(slots=True)
class _Noting:
    """A model, or a runner of commands, that notes what it is asked and answers nothing."""

    who: _Who = "judge"
    provider: str = "nobody"
    model: str = "nobody"
    asked: list[_Size] = field(default_factory=list)

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:  # noqa: ARG002
        self.asked.append(_Size(bytes=input_bytes(question), room=question.max_output_tokens, who=self.who))
        raise RefusedError("Nobody is asked for an estimate.", sent=False)

    async def make(self, maker: CommandMaker | EndpointMaker, order: MakerOrder, language: Language) -> GeneratedPiece:  # noqa: ARG002
        self.asked.append(_Size(bytes=0, room=0, who=self.who, program=True, costs=maker.cost_usd))
        return not_made(Failure(reason="refused"))


async def _questions_of(pair: Pair, terms: ExperimentTerms, *, most: bool, first: bool) -> list[_Size]:
    """The questions of one pair, with the most or the fewest topics and claims.

    `first`: the pair is the first of its source, so that finding the source's topics is counted.
    """
    noting, alone = _Noting(), _Noting(who="first")
    language = terms.language or language_of(pair.source.text)
    measuring = Measuring(judge=noting, deadline=Deadline.after(SECONDS), language=language)
    making, materials = await _made(pair, terms, measuring)
    if not terms.judged:
        return making
    if not pair.source.pillars and any(CATALOGUE[name].of_topics for name in terms.metrics):
        if first:
            finding = _Noting(who="topics")
            await topics_of(pair.source, replace(measuring, judge=finding))
            noting.asked.extend(finding.asked)
        measuring = replace(measuring, topics=_topics(pair.source, most=most))
    for material in materials:
        if isinstance(material, Summary) and "summary_faithfulness" in terms.metrics:
            apart = _Noting(who="claims")
            await claims_of(material, replace(measuring, judge=apart))
            noting.asked.extend((*apart.asked, *_grounded(material, pair.source, most=most)))
        without_claims = replace(measuring, claims=Claims(claims=()))
        for name in terms.metrics:
            if CATALOGUE[name].judged:
                # Judges say of no number how sure they are, so no further judge is asked about one.
                asked = alone if name in SCORES and asks_in_turn(terms.judges) else noting
                measuring_by = replace(without_claims, judge=asked)
                await CATALOGUE[name].measure(material, pair.source, measuring_by, language=language)
    asked = alone if terms.judges == 1 else noting
    await preference_of(materials[0], materials[1], pair.source, replace(measuring, judge=asked))
    return [*making, *noting.asked, *alone.asked]


async def _made(pair: Pair, terms: ExperimentTerms, measuring: Measuring) -> tuple[list[_Size], list[Material]]:
    """The questions that make the missing material of a pair, and material of about its size."""
    asked: list[_Size] = []
    materials: list[Material] = []
    wanted = terms.generation or Generation()
    given = ((pair.a, pair.passages_a), (pair.b, pair.passages_b))
    for side, maker, (material, passages) in zip(SIDES, terms.makers, given, strict=True):
        if material is None and maker is not None:
            writing = _Noting(who=side)
            order = MakerOrder(pair=pair, side=side, surface=terms.surface, passages=passages, wanted=wanted)
            if isinstance(maker, PromptMaker):
                maker = maker.model_copy(update={"model": None})  # noqa: PLW2901 - the model that it names is not asked
            await Makers(programs=writing).make(maker, order, replace(measuring, judge=writing))
            asked.extend(writing.asked)
        elif material is None and terms.generation is not None:
            writing = _Noting(who="writer")
            await generate(terms.surface, passages, wanted, replace(measuring, judge=writing), whose=pair.item)
            asked.extend(writing.asked)
        materials.append(material or _stand_in(terms))
    return asked, materials


def _topics(source: Source, *, most: bool) -> Topics:
    """Stand-ins for the fewest topics, or the most, that a judge may find in a source."""
    sections = len(source.sections)
    count = max(MOST_TOPICS, LEAST_A_SECTION * sections) if most else 1
    return Topics(
        topics=tuple(
            Topic(id=str(number), text=f"Topic {number}", passages=("x" * STAND_IN_CHARS,))
            for number in range(1, count + 1)
        )
    )


def _grounded(summary: Summary, source: Source, *, most: bool) -> Iterator[_Size]:
    """The questions about the claims of a summary, whose number is not known yet."""
    sentences = sentences_of(summary.text)
    claims = math.ceil(len(sentences) * CLAIMS_A_SENTENCE[most])
    asked = min(claims, CLAIMS_A_CALL)
    for section in source.sections:
        size = len(section.encode(errors="replace")) + asked * STAND_IN_CHARS + PROMPT_BYTES
        room = BASE_OUTPUT_TOKENS + TOKENS_AN_ITEM * asked
        yield _Size(bytes=size, room=room, times=math.ceil(claims / CLAIMS_A_CALL))


def _stand_in(terms: ExperimentTerms) -> Material:
    """Material of the size of the material that will be generated."""
    wanted = terms.generation or Generation()
    numbers = range(1, wanted.count + 1)
    match terms.surface:
        case "quiz":
            question = QuizQuestion(
                id="q",
                kind="single_choice",
                question_text="x" * STAND_IN_CHARS,
                choices=("one of them", "another one", "the third", "the fourth"),
                answers=("the third",),
            )
            return Quiz(questions=tuple(question.model_copy(update={"id": f"q{number}"}) for number in numbers))
        case "flashcards":
            card = Flashcard(id="c", front="x" * (STAND_IN_CHARS // 2), back="y" * (STAND_IN_CHARS // 2))
            return Deck(cards=tuple(card.model_copy(update={"id": f"c{number}"}) for number in numbers))
        case "summary":
            return Summary(text="Water moves through it. " * max(1, wanted.words // WORDS_A_SENTENCE))
