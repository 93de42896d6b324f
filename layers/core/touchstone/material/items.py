"""The material that is evaluated: a quiz, a deck of flashcards, a summary."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from touchstone.material.parts import MAX_TEXT_CHARS, PartId, Text, all_different, not_blank
from touchstone.strict import Strict

MAX_QUESTIONS = 500
MAX_CHOICES = 50
"""Far more than a question should have: a rule finds that, and a limit only bounds the work."""

type QuestionKind = Literal["single_choice", "multiple_choice", "true_false", "fill_in_the_blank"]
type Choice = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]

MAX_READINGS = 50
"""More words than a question could show with their pinyin."""
MAX_WORD_CHARS = 200
"""Longest word, pattern or pinyin: a sentence with its pinyin fits too."""


class Reading(Strict):
    """Characters and their pinyin, as a question shows them beside each other."""

    hanzi: Annotated[Text, Field(max_length=MAX_WORD_CHARS)]
    pinyin: Annotated[Text, Field(max_length=MAX_WORD_CHARS)]


class Question(Strict):
    """One question. Whether it is a good one, or has a right key at all, is for rules and metrics to say.

    `answers` is its key: the text of each right choice, `true` or `false`, or every wording that fills the blank.
    `choices` are empty where there is nothing to choose from. `chunk` is the passage of the source that it was made
    from, None where that is not known.
    """

    id: PartId
    kind: QuestionKind
    question_text: Text
    choices: Annotated[tuple[Choice, ...], Field(max_length=MAX_CHOICES)] = ()
    answers: Annotated[tuple[Choice, ...], Field(max_length=MAX_CHOICES)] = ()
    explanation: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] | None = None
    chunk: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] | None = None
    target: Annotated[Text, Field(max_length=MAX_WORD_CHARS)] | None = None
    readings: Annotated[tuple[Reading, ...], Field(max_length=MAX_READINGS)] = ()

    @property
    def chosen(self) -> bool:
        """Whether it is answered by choosing from its choices."""
        return self.kind in {"single_choice", "multiple_choice"}

    @property
    def distractors(self) -> tuple[str, ...]:
        """The choices that are not in its key."""
        return tuple(choice for choice in self.choices if choice not in self.answers) if self.chosen else ()


class Quiz(Strict):
    """Questions in their order, each with an id of its own."""

    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=MAX_QUESTIONS)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        all_different((question.id for question in self.questions), of="question")
        return self


MAX_CARDS = 1_000


class Flashcard(Strict):
    """One card. `chunk` is the passage of the source that it was made from, None where that is not known."""

    id: PartId
    front: Text
    back: Text
    chunk: Text | None = None


class Deck(Strict):
    """Cards in their order, each with an id of its own."""

    cards: Annotated[tuple[Flashcard, ...], Field(min_length=1, max_length=MAX_CARDS)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        all_different((card.id for card in self.cards), of="card")
        return self


MAX_SUMMARY_CHARS = 50_000
"""Longer than any summary that a person would read as one."""


class Summary(Strict):
    """A summary, as text or markdown."""

    text: Annotated[str, Field(max_length=MAX_SUMMARY_CHARS), AfterValidator(not_blank)]
