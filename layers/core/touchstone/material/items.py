"""The material that is evaluated: a quiz, a deck of flashcards, a summary."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from touchstone.material.parts import MAX_TEXT_CHARS, PartId, Text, all_different, not_blank
from touchstone.strict import Strict
from touchstone.text import normalised

MAX_QUESTIONS = 500
MAX_CHOICES = 50
"""The most choices: far more than a question should have. A rule finds too many choices; this limit only bounds the
work."""

type QuestionKind = Literal["single_choice", "multiple_choice", "true_false", "fill_in_the_blank"]
type Choice = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]

MAX_READINGS = 50
"""The most readings: more words than a question could show with their pinyin."""
MAX_WORD_CHARS = 200
"""The most characters of a word, pattern or pinyin. A sentence with its pinyin fits too."""


class Reading(Strict):
    """Characters and their pinyin. A question shows the two beside each other."""

    hanzi: Annotated[Text, Field(max_length=MAX_WORD_CHARS)]
    pinyin: Annotated[Text, Field(max_length=MAX_WORD_CHARS)]


class Question(Strict):
    """One question of a quiz. Rules and metrics check whether it is good, and whether its key is right.

    `answers` is its key: the text of each right choice, `true` or `false`, or each wording that fills the blank.
    `choices` is empty if there is nothing to choose from. `chunk` is the passage of the source that it was made from,
    null if that is not known.
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
        """Whether the question is answered by choosing from its choices."""
        return self.kind in {"single_choice", "multiple_choice"}

    @property
    def distractors(self) -> tuple[str, ...]:
        """The choices that are not in the question's key. Empty if it is not answered by choosing."""
        return tuple(choice for choice in self.choices if choice not in self.answers) if self.chosen else ()


class Quiz(Strict):
    """The questions of a quiz in order. Each has its own id."""

    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=MAX_QUESTIONS)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        all_different((question.id for question in self.questions), of="question")
        return self


MAX_CARDS = 1_000


class Flashcard(Strict):
    """One flashcard. `chunk` is the passage of the source that it was made from, null if that is not known."""

    id: PartId
    front: Text
    back: Text
    chunk: Text | None = None


class Deck(Strict):
    """The cards of a deck in order. Each has its own id."""

    cards: Annotated[tuple[Flashcard, ...], Field(min_length=1, max_length=MAX_CARDS)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        all_different((card.id for card in self.cards), of="card")
        return self


MAX_SUMMARY_CHARS = 50_000
"""The most characters of a summary: longer than any summary that a person would read as one."""


class Summary(Strict):
    """A summary, as text or markdown."""

    text: Annotated[str, Field(max_length=MAX_SUMMARY_CHARS), AfterValidator(not_blank)]


TRUE_WORDS = frozenset(
    {"true", "對", "正確", "是", "对", "正确", "wahr", "richtig", "vrai", "verdadero", "cierto", "verdadeiro", "vero"}
)
FALSE_WORDS = frozenset(
    {"false", "錯", "錯誤", "不對", "不正確", "否", "不是", "错", "错误", "不对", "不正确"}
    | {"falsch", "unwahr", "faux", "falso"}
)
_ENDS = " \t\r\n.。;,"


def truth_value(answer: str) -> bool | None:
    """The truth value that an answer names; None if it names none.

    Case and widths do not count, nor do white space and full stops at the ends.
    """
    word = normalised(answer, "NFKC").strip(_ENDS).casefold()
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
