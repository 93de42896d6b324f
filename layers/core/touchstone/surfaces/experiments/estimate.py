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

from touchstone.checks.language import language_of
from touchstone.clock import Deadline, system_clock
from touchstone.errors import RefusedError
from touchstone.judges.base import Question, Reply
from touchstone.judges.cost import cost_usd
from touchstone.judges.questions import input_bytes
from touchstone.judges.registry import Model
from touchstone.material import Deck, Flashcard, Quiz, Source, Summary
from touchstone.material import Question as QuizQuestion
from touchstone.material.sections import sections_of
from touchstone.material.sentences import sentences_of
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import CATALOGUE, Material
from touchstone.surfaces.evaluation import SECONDS
from touchstone.surfaces.experiments.generation import generate
from touchstone.surfaces.experiments.model import Experiment, Generation, Pair, Terms
from touchstone.surfaces.experiments.preference import preference_of
from touchstone.surfaces.grounding import BASE_OUTPUT_TOKENS, TOKENS_AN_ITEM, sections_shown
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.summary_faithfulness import CLAIMS_A_CALL
from touchstone.surfaces.topic import Topic, Topics
from touchstone.surfaces.topics import LEAST_A_SECTION, MOST_TOPICS, topics_of
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


class Estimate(Strict):
    """What an experiment is expected to take, as ranges; both ends are the same where it is known exactly.

    `calls` are questions to judges and generators, none of which has a reply yet. `cost_usd` is their cost by the
    registry's prices of today; None where the model's is not known.
    """

    pairs: int
    calls: tuple[int, int]
    cost_usd: tuple[float, float] | None


async def estimate_of(
    experiment: Experiment,
    model: Model | None,
    *,
    writer: Model | Literal["judge"] | None = "judge",
    on: date | None = None,
) -> Estimate:
    """Estimate a whole experiment judged by `model`, in which `writer` makes what is missing.

    None: its price is not known. `on`: the day, UTC; None: today.
    """
    pairs = experiment.pairs
    if not experiment.needs_judge:
        return Estimate(pairs=len(pairs), calls=(0, 0), cost_usd=(0.0, 0.0))
    day = on or system_clock().date()
    models = _Models(judge=model, writer=model if writer == "judge" else writer)
    sample = [pairs[place * len(pairs) // MOST_SAMPLED] for place in range(MOST_SAMPLED)]
    looked_at = pairs if len(pairs) <= MOST_SAMPLED else sample
    low, high = _Tally(), _Tally()
    read: set[str] = set()
    for pair in looked_at:
        first = pair.source.id not in read
        read.add(pair.source.id)
        for tally, most in ((low, False), (high, True)):
            tally.add(await _questions_of(pair, experiment.terms, most=most, first=first), models, day=day, most=most)
        await asyncio.sleep(0)
    scale = len(pairs) / len(looked_at)
    asked = (models.judge, models.writer) if any(None in (pair.a, pair.b) for pair in pairs) else (models.judge,)
    known = all(one is not None and one.price_in is not None and one.price_out is not None for one in asked)
    return Estimate(
        pairs=len(pairs),
        calls=(math.floor(low.calls * scale), math.ceil(high.calls * scale)),
        cost_usd=(low.cost * scale, high.cost * scale) if known else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """A question's size: bytes of input, room for the reply in tokens, and how often it is asked.

    `writing`: it is for the model that makes what is missing.
    """

    bytes: int
    room: int
    times: int = 1
    writing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Models:
    """Who is asked; None: the price is not known."""

    judge: Model | None
    writer: Model | None


@dataclass(slots=True)
class _Tally:
    calls: int = 0
    cost: float = 0.0

    def add(self, sizes: Sequence[_Size], models: _Models, *, day: date, most: bool) -> None:
        for one in sizes:
            self.calls += one.times
            model = models.writer if one.writing else models.judge
            if model is not None:
                self.cost += one.times * (_cost(one, model, day=day, most=most) or 0.0)


def _cost(size: _Size, model: Model, *, day: date, most: bool) -> float | None:
    per_token = BYTES_A_TOKEN[0] if most else BYTES_A_TOKEN[1]
    output = size.room + model.thinking_tokens if most else LEAST_OF_ROOM * size.room
    usage = Usage(input_tokens=int(size.bytes / per_token), output_tokens=int(output))
    return cost_usd(model, usage, on=day)


@dataclass(slots=True)
class _Noting:
    """A judge that notes what it is asked and answers nothing."""

    provider: str = "nobody"
    model: str = "nobody"
    writing: bool = False
    asked: list[_Size] = field(default_factory=list)

    async def ask[T: BaseModel](self, question: Question[T], *, deadline: Deadline) -> Reply[T]:  # noqa: ARG002
        self.asked.append(_Size(bytes=input_bytes(question), room=question.max_output_tokens, writing=self.writing))
        raise RefusedError("Nobody is asked for an estimate.", sent=False)


async def _questions_of(pair: Pair, terms: Terms, *, most: bool, first: bool) -> list[_Size]:
    """The questions of one pair, with the most or the fewest topics and claims; `first` of its source."""
    noting, writing = _Noting(), _Noting(writing=True)
    language = terms.language or language_of(pair.source.text)
    measuring = Measuring(judge=noting, deadline=Deadline.after(SECONDS), language=language)
    if not pair.source.pillars and any(CATALOGUE[name].of_topics for name in terms.metrics):
        if first:
            await topics_of(pair.source, measuring)
        measuring = replace(measuring, topics=_topics(pair.source, most=most))
    materials = []
    for given, passages in ((pair.a, pair.passages_a), (pair.b, pair.passages_b)):
        if given is None and terms.generation is not None:
            asked = replace(measuring, judge=writing)
            await generate(terms.surface, passages, terms.generation, asked, whose=pair.item)
        materials.append(given or _stand_in(terms))
    for material in materials:
        for name in terms.metrics:
            if CATALOGUE[name].judged:
                await CATALOGUE[name].measure(material, pair.source, measuring, language=language)
        if isinstance(material, Summary) and "summary_faithfulness" in terms.metrics:
            noting.asked.extend(_grounded(material, pair.source, most=most))
    await preference_of(materials[0], materials[1], pair.source, measuring)
    return [*writing.asked, *noting.asked]


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


def _stand_in(terms: Terms) -> Material:
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
