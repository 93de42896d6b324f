"""What a course teaches: chapters in their order, each with its words and its grammar."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from touchstone.errors import InputError
from touchstone.material.items import MAX_WORD_CHARS
from touchstone.material.parts import PartId, Text, all_different
from touchstone.strict import Strict
from touchstone.text import normalised

MAX_CHAPTERS = 200
MAX_WORDS, MAX_PATTERNS = 300, 60
"""The most words and patterns of one chapter: several times what a chapter of a textbook has, and still one prompt."""
MAX_EXAMPLES = 10
MAX_NOTE_CHARS = 400
"""The most characters of a title, meaning, explanation or example."""
LANGUAGE_TAG = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
NAMED = 10
"""How many ids the sentence of an error lists."""

type Note = Annotated[Text, Field(max_length=MAX_NOTE_CHARS)]
type Item = Annotated[Text, Field(max_length=MAX_WORD_CHARS)]
"""A word or a pattern."""
type LanguageTag = Annotated[str, StringConstraints(pattern=LANGUAGE_TAG, max_length=35)]
"""A BCP 47 tag: en, zh-TW, ja."""

_GAP = re.compile(r"\.{2,}|[…⋯~～]+")


class Word(Strict):
    """A word that a chapter teaches. `pinyin` is null if not given. `meanings` are by language; empty if not given."""

    hanzi: Item
    pinyin: Item | None = None
    meanings: Annotated[dict[LanguageTag, Note], Field(max_length=MAX_EXAMPLES)] = Field(default_factory=dict)


class GrammarPoint(Strict):
    """A pattern that a chapter teaches (因為…所以…), with sentences that use it. `explanation` is null if not given."""

    pattern: Item
    explanation: Note | None = None
    examples: Annotated[tuple[Note, ...], Field(max_length=MAX_EXAMPLES)] = ()


class Chapter(Strict):
    """The content of one chapter: at least one word or pattern. A word with two readings may occur twice."""

    id: PartId
    title: Note
    vocabulary: Annotated[tuple[Word, ...], Field(max_length=MAX_WORDS)] = ()
    grammar: Annotated[tuple[GrammarPoint, ...], Field(max_length=MAX_PATTERNS)] = ()

    @property
    def items(self) -> tuple[str, ...]:
        """Its words and then its patterns, each once, in their order: what a question of the chapter may test."""
        return tuple(
            dict.fromkeys((*(word.hanzi for word in self.vocabulary), *(point.pattern for point in self.grammar)))
        )

    @model_validator(mode="after")
    def _teaches(self) -> Self:
        if not self.vocabulary and not self.grammar:
            raise PydanticCustomError("nothing_taught", "a chapter needs at least one word or pattern")
        readings = Counter((folded(word.hanzi), folded(word.pinyin or "")) for word in self.vocabulary)
        patterns = Counter((folded(point.pattern), "") for point in self.grammar)
        if twice := [item for counted in (readings, patterns) for (item, _), times in counted.items() if times > 1]:
            raise PydanticCustomError("duplicate_item", "it teaches {item} twice", {"item": twice[0][:64]})
        return self


class Curriculum(Strict):
    """A course: its chapters in the order in which they are taught, each with an id of its own."""

    id: PartId
    title: Note
    chapters: Annotated[tuple[Chapter, ...], Field(min_length=1, max_length=MAX_CHAPTERS)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        all_different((chapter.id for chapter in self.chapters), of="chapter")
        return self

    def chapter(self, chapter: str) -> Chapter:
        """The chapter with this id. Raises `InputError`, naming the ids that there are."""
        return self._until(chapter)[-1]

    def known_words(self, chapter: str) -> tuple[str, ...]:
        """The words and patterns of a chapter and of all chapters before it, each once: what its learner has met.

        Raises `InputError` if there is no such chapter.
        """
        return tuple(dict.fromkeys(item for taught in self._until(chapter) for item in taught.items))

    def _until(self, chapter: str) -> tuple[Chapter, ...]:
        for at, one in enumerate(self.chapters, start=1):
            if one.id == chapter:
                return self.chapters[:at]
        raise InputError(
            f"The curriculum {self.id} has no chapter {chapter[:64]}; {_named(one.id for one in self.chapters)}.",
            where="chapter",
        )


def folded(item: str) -> str:
    """The form that all ways to type an item share: one width and case, no white space, each gap (……, ~) one `…`."""
    return _GAP.sub("…", normalised("".join(item.split()), "NFKC")).casefold()


def _named(ids: Iterable[str]) -> str:
    listed = list(ids)
    rest = "" if len(listed) <= NAMED else f" and {len(listed) - NAMED} more"
    return f"it has {', '.join(listed[:NAMED])}{rest}"
