"""Making the material that a variant lacks, from the passages of that variant.

Both variants are asked for the same number of parts of the same kinds, by the same model, so that they differ only in
the passages that they are made from.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict, ValidationError

from touchstone.errors import Unscored
from touchstone.judges.base import Prompt
from touchstone.judges.calls import Checked, JudgeReply
from touchstone.judges.prompts import load_prompt
from touchstone.judges.spends import Spend
from touchstone.material import Deck, Flashcard, Question, QuestionKind, Quiz, Source, Summary
from touchstone.material.source import MAX_SECTION_CHARS
from touchstone.strict import Strict, fault_sentence
from touchstone.surfaces.catalogue import Material
from touchstone.surfaces.experiments.model import Generation
from touchstone.surfaces.experiments.showing import excerpt
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.names import Surface
from touchstone.surfaces.wording import read

BASE_OUTPUT_TOKENS, TOKENS_A_QUESTION, TOKENS_A_CARD, TOKENS_A_WORD = 512, 350, 150, 5
MOST_WORDS = 2.0
"""The longest summary that is accepted, as a multiple of the words asked for: writers keep no exact count."""


type NotMade = Unscored | Literal["maker_failed"]
"""Why there is no material. `maker_failed`: a variant's command or endpoint ended without any."""


class Failure(Strict):
    """Why there is no material to measure: making it failed. `details` say so in sentences."""

    reason: NotMade
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedPiece:
    """The result of making one piece: either `material` or `failure` is None."""

    material: Material | None
    failure: Failure | None
    spends: tuple[Spend, ...]


def not_made(failure: Failure, spends: tuple[Spend, ...] = ()) -> GeneratedPiece:
    """A piece that was not made, with the reason."""
    return GeneratedPiece(material=None, failure=failure, spends=spends)


class QuestionReply(JudgeReply):
    """One question as a model writes it."""

    kind: QuestionKind
    question_text: str
    choices: list[str]
    answers: list[str]
    explanation: str | None


class WrittenQuiz(JudgeReply):
    """A quiz as a model writes it. The model is shown the title, which stays what it was."""

    model_config = ConfigDict(title="QuizReply")

    questions: list[QuestionReply]


class CardReply(JudgeReply):
    """One card as a model writes it."""

    front: str
    back: str


class DeckReply(JudgeReply):
    """A deck as a model writes it."""

    cards: list[CardReply]


class SummaryReply(JudgeReply):
    """A summary as a model writes it."""

    text: str


REPLIES: Mapping[Surface, type[JudgeReply]] = {"quiz": WrittenQuiz, "flashcards": DeckReply, "summary": SummaryReply}


async def generate(
    surface: Surface, passages: Source, wanted: Generation, measuring: Measuring, *, whose: str
) -> GeneratedPiece:
    """Make a piece of material. `measuring.judge` is the model that writes it.

    `whose` tells this piece from others made of the same passages: each is written anew, though the prompt is the same.
    If the passages are too long for one prompt, the model sees an excerpt from all parts of them. A reply that breaks
    the rules is asked for once more; if that reply breaks them too, the piece has failed.
    """
    name = f"generate_{surface}"
    shown = excerpt(passages.text, most=MAX_SECTION_CHARS)

    def render(faults: list[str]) -> Prompt:
        values: Mapping[str, object] = {**wanted.model_dump(mode="json"), "source": shown.values}
        # No template shows `whose`. It is part of the question's identity, so that a cache takes each piece for its
        # own.
        return load_prompt(__package__, name, measuring.language).render(**values, whose=whose, faults=faults)

    found = await measuring.ask_with(
        name,
        render,
        REPLIES[surface],
        lambda reply: _faults(reply, wanted),
        max_output_tokens=max_reply_tokens(surface, wanted),
    )
    if isinstance(found, Checked):
        return GeneratedPiece(material=material_of(found.value), failure=None, spends=found.spends)
    return not_made(Failure(reason=found.reason, details=found.details), found.spends)


def max_reply_tokens(surface: Surface, wanted: Generation) -> int:
    """The most tokens of a reply that holds the material of a surface."""
    sizes = {
        "quiz": TOKENS_A_QUESTION * wanted.count,
        "flashcards": TOKENS_A_CARD * wanted.count,
        "summary": TOKENS_A_WORD * wanted.words,
    }
    return BASE_OUTPUT_TOKENS + sizes[surface]


def material_of(reply: JudgeReply) -> Material:
    """The material in a model's reply. Its parts get their number as id.

    Raises `ValidationError` if it is no material.
    """
    match reply:
        case WrittenQuiz():
            questions = (
                Question.model_validate({"id": f"q{number}", **one.model_dump()})
                for number, one in enumerate(reply.questions, start=1)
            )
            return Quiz(questions=tuple(questions))
        case DeckReply():
            cards = (
                Flashcard(id=f"c{number}", front=one.front, back=one.back)
                for number, one in enumerate(reply.cards, start=1)
            )
            return Deck(cards=tuple(cards))
        case SummaryReply():
            return Summary(text=reply.text)
        case _:
            raise TypeError(f"{type(reply).__name__} is of no surface.")


def unfit(reply: JudgeReply) -> tuple[str, ...]:
    """Why a reply is no material at all (a blank question, a question that is far too long), in sentences."""
    try:
        material_of(reply)
    except ValidationError as error:
        return fault_sentences(error)
    return ()


def fault_sentences(error: ValidationError) -> tuple[str, ...]:
    """Why something is no material, in sentences, without quoting it."""
    return tuple(f"{fault_sentence(one)}." for one in error.errors(include_url=False, include_input=False))


def _faults(reply: JudgeReply, wanted: Generation) -> Iterator[str]:
    """What breaks the rules in a piece, in sentences. Whether the piece is good is for the metrics to say."""
    match reply:
        case WrittenQuiz():
            if len(reply.questions) != wanted.count:
                yield f"There are {len(reply.questions)} questions; write {wanted.count}."
            for number, one in enumerate(reply.questions, start=1):
                if one.kind not in wanted.kinds:
                    yield f"Question {number} is of kind {one.kind}; write {', '.join(wanted.kinds)}."
                yield from (f"Question {number} {fault}" for fault in _faults_of_key(one))
        case DeckReply() if len(reply.cards) != wanted.count:
            yield f"There are {len(reply.cards)} cards; write {wanted.count}."
        case SummaryReply() if (words := len(read(reply.text))) > wanted.words * MOST_WORDS:
            yield f"The summary has {words} words; write about {wanted.words}."
    yield from unfit(reply)


def _faults_of_key(one: QuestionReply) -> Iterator[str]:
    chosen = one.kind in {"single_choice", "multiple_choice"}
    if not one.answers:
        yield "has no answer."
    if chosen and len(one.choices) < 2:  # noqa: PLR2004 - nothing can be chosen among fewer
        yield f"has {len(one.choices)} choices; give at least 2."
    if not chosen and one.choices:
        yield "is not answered by choosing; give it no choices."
    if chosen and any(answer not in one.choices for answer in one.answers):
        yield "has an answer that is none of its choices; repeat the choice as it is."
    if one.kind == "single_choice" and len(one.answers) > 1:
        yield f"has {len(one.answers)} answers; a single choice has one."
    if one.kind == "true_false" and [answer.casefold() for answer in one.answers] not in (["true"], ["false"]):
        yield "is a statement; its one answer is true or false."
