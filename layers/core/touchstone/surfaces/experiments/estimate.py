"""What an experiment will take before it begins: judge calls, exact where their number follows from sizes, and cost.

The calls are counted by measuring the pairs with a judge that notes each question and answers none, so that they are
those of the metrics themselves. What follows only from replies is a range: how many topics a source has, how many
claims a summary makes. Replies that break the rules and are asked for again are not counted; they are few.
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
from touchstone.judges.base import JudgeQuestion, Reply
from touchstone.judges.questions import cost_usd, input_bytes
from touchstone.judges.registry import Model, Registry, load_registry
from touchstone.material import Deck, Flashcard, Quiz, Source, Summary
from touchstone.material import Question as QuizQuestion
from touchstone.material.sentences import sentences_of
from touchstone.material.source import sections_of
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import CATALOGUE, Material
from touchstone.surfaces.claims import claims_of
from touchstone.surfaces.evaluation import SECONDS
from touchstone.surfaces.experiments.generation import Failure, GeneratedPiece, generate
from touchstone.surfaces.experiments.makers import CommandMaker, EndpointMaker, Maker, PromptMaker
from touchstone.surfaces.experiments.making import PROVIDERS_TIER, SIDES, MakerOrder, Makers, not_made
from touchstone.surfaces.experiments.model import Experiment, ExperimentTerms, Generation, Pair
from touchstone.surfaces.experiments.preference import preference_of
from touchstone.surfaces.grounding import BASE_OUTPUT_TOKENS, TOKENS_AN_ITEM, sections_shown
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.summary_faithfulness import CLAIMS_A_CALL
from touchstone.surfaces.model import Claims, Topic, Topics
from touchstone.surfaces.topics import LEAST_A_SECTION, MOST_TOPICS, topics_of
from touchstone.text.language import Language, language_of
from touchstone.usage import Usage

MOST_SAMPLED = 100
"""Pairs that are looked at; of more an even sample stands for all, since each takes some 10 ms."""
CLAIMS_A_SENTENCE = (1, 4)
"""Few sentences make no claim, few more than four."""
BYTES_A_TOKEN = (2.5, 5.0)
"""Of the input, at least and at most: Chinese has about 3 bytes a token, English 4 to 5."""
LEAST_OF_ROOM = 0.1
"""The share of the room for a reply that one takes at least; at most all of it, with all the room for thinking."""
STAND_IN_CHARS = 120
"""How long a question, claim or topic that is not written yet will be, about."""
WORDS_A_SENTENCE = 20
PROMPT_BYTES = 4_000
"""What a prompt says besides what it is about."""


class EstimateShare(Strict):
    """What a part of an experiment is expected to take, as ranges. `cost_usd` None: a price in it is not known."""

    calls: tuple[int, int]
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None


class Estimate(Strict):
    """What an experiment is expected to take, as ranges; both ends are the same where it is known exactly.

    `calls` are questions to judges and generators, none of which has a reply yet, and the items that are to be made.
    `cost_usd` is their cost by the registry's prices of today; None where one's is not known. `making` and `judging`
    are the shares of what makes the material and of what measures it; None in an estimate from before they were told.
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
    """Estimate a whole experiment judged by `model`, in which `writer` makes what is missing.

    None: its price is not known. `others` are the further ones where the experiment wants several judges; those of them
    that are not given count as the first. `registry` has the models that variants' prompts name; None: the one of the
    environment. `on`: the day, UTC; None: today.
    """
    pairs = experiment.pairs
    day = on or system_clock().date()
    writes = model if writer == "judge" else writer
    panel = (model, *others, *[model] * experiment.judges)[: experiment.judges]
    # What material is taken apart into, the first judge finds for all of them.
    asked: dict[_Who, Sequence[Model | None]] = {
        "judge": [one for one in panel for _ in range(experiment.replicates)],
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
                for each in asked[one.who]:
                    tally.add(one, each, day=day, most=most)
        await asyncio.sleep(0)
    scale = len(pairs) / len(looked_at)
    made, judged = _share(*making, scale=scale), _share(*judging, scale=scale)
    low, high = (made.calls[end] + judged.calls[end] for end in (0, 1))
    cost = None
    if made.cost_usd is not None and judged.cost_usd is not None:
        cost = (made.cost_usd[0] + judged.cost_usd[0], made.cost_usd[1] + judged.cost_usd[1])
    return Estimate(pairs=len(pairs), calls=(low, high), cost_usd=cost, making=made, judging=judged)


type _Who = Literal["judge", "claims", "topics", "writer", "a", "b"]
_JUDGING: frozenset[_Who] = frozenset({"judge", "claims", "topics"})


def _model_of(maker: Maker, writer: Model | None, registry: Registry | None) -> Model | None:
    """The model of a variant's prompt; None where there is none, or its price is not known."""
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
    """A question's size: bytes of input, room for the reply in tokens, and how often it is asked.

    `who` is asked: the judges, the first of them for topics and claims, the model that generates what is missing, or
    the maker of a variant. `costs`: what a
    command or an endpoint says of itself, None where it says nothing; it has no tokens.
    """

    bytes: int
    room: int
    times: int = 1
    who: _Who = "judge"
    program: bool = False
    costs: float | None = None


@dataclass(slots=True)
class _Tally:
    """The sum of some questions; `unknown`: one of them has no known price."""

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
    """The questions of one pair, with the most or the fewest topics and claims; `first` of its source."""
    noting = _Noting()
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
                await CATALOGUE[name].measure(material, pair.source, without_claims, language=language)
    await preference_of(materials[0], materials[1], pair.source, measuring)
    return [*making, *noting.asked]


async def _made(pair: Pair, terms: ExperimentTerms, measuring: Measuring) -> tuple[list[_Size], list[Material]]:
    """The questions that make what is missing of a pair, and material of its size."""
    asked: list[_Size] = []
    materials: list[Material] = []
    wanted = terms.generation or Generation()
    given = ((pair.a, pair.passages_a), (pair.b, pair.passages_b))
    for side, maker, (material, passages) in zip(SIDES, terms.makers, given, strict=True):
        if material is None and maker is not None:
            writing = _Noting(who=side)
            order = MakerOrder(pair=pair, side=side, surface=terms.surface, passages=passages, wanted=wanted)
            if isinstance(maker, PromptMaker):
                maker = maker.model_copy(update={"model": None})  # noqa: PLW2901 - whom it names is not asked
            await Makers(programs=writing).make(maker, order, replace(measuring, judge=writing))
            asked.extend(writing.asked)
        elif material is None and terms.generation is not None:
            writing = _Noting(who="writer")
            await generate(terms.surface, passages, wanted, replace(measuring, judge=writing), whose=pair.item)
            asked.extend(writing.asked)
        materials.append(material or _stand_in(terms))
    return asked, materials


def _topics(source: Source, *, most: bool) -> Topics:
    """As many topics as a judge may find in a source, at least or at most."""
    sections = len(sections_of(source.text))
    count = max(MOST_TOPICS, LEAST_A_SECTION * sections) if most else 1
    return Topics(
        topics=tuple(
            Topic(id=str(number), text=f"Topic {number}", passages=("x" * STAND_IN_CHARS,))
            for number in range(1, count + 1)
        )
    )


def _grounded(summary: Summary, source: Source, *, most: bool) -> Iterator[_Size]:
    """The questions about the claims of a summary, which are not known yet."""
    sentences = sentences_of(summary.text)
    claims = math.ceil(len(sentences) * CLAIMS_A_SENTENCE[most])
    asked = min(claims, CLAIMS_A_CALL)
    for section in sections_shown(source):
        size = len(section.encode(errors="replace")) + asked * STAND_IN_CHARS + PROMPT_BYTES
        room = BASE_OUTPUT_TOKENS + TOKENS_AN_ITEM * asked
        yield _Size(bytes=size, room=room, times=math.ceil(claims / CLAIMS_A_CALL))


def _stand_in(terms: ExperimentTerms) -> Material:
    """Material of the size of what will be generated."""
    wanted = terms.generation or Generation()
    numbers = range(1, wanted.count + 1)
    text = "Water moves through it. "
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
            return Summary(text=text * max(1, wanted.words // WORDS_A_SENTENCE))
