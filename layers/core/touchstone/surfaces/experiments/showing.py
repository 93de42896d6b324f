"""Material and sources as they are shown to a judge as a whole: as text, or, if too long, as an excerpt.

An excerpt has pieces from all parts of the text.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.judges.fence import contains_verbatim
from touchstone.material import Deck, Question, Quiz, Summary
from touchstone.material.source import sections_of
from touchstone.surfaces.catalogue import Material

SOURCE_CHARS, MATERIAL_CHARS = 30_000, 20_000
"""Most characters of the source, and of each of two pieces of material, in one prompt: together with the prompt and the
reply they stay within the smallest window of the listed models (see `MAX_SECTION_CHARS`).
"""
PIECES = 8
GAP = "\n[…]\n"
"""Stands in the place of the parts that are left out."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text as it is shown. `left_out` is the number of its characters that are not shown, 0 if it is whole."""

    text: str
    left_out: int

    def holds(self, quote: str) -> bool:
        """Whether a quote occurs in a shown piece of the text. A quote without a letter or digit does not count."""
        says = any(character.isalnum() for character in quote)
        return says and any(contains_verbatim(quote, piece) for piece in self.text.split(GAP))

    @property
    def values(self) -> dict[str, object]:
        """The excerpt as the templates of prompts take it."""
        return {"text": self.text, "left_out": self.left_out}


def excerpt(text: str, *, most: int) -> Excerpt:
    """The text itself, or pieces of it, evenly spread from its beginning to its end, of at most `most` characters.

    If possible, pieces end where paragraphs end, so that few questions or cards are cut in two.
    """
    if len(text) <= most:
        return Excerpt(text, 0)
    pieces = sections_of(text, most=most // PIECES)
    chosen = sorted({round(place * (len(pieces) - 1) / (PIECES - 1)) for place in range(PIECES)})
    parts: list[str] = []
    for before, place in zip((-1, *chosen), chosen, strict=False):
        if place > before + 1:
            parts.append(GAP)
        parts.append(pieces[place])
    return Excerpt("".join(parts), len(text) - sum(len(pieces[place]) for place in chosen))


def text_of(material: Material) -> str:
    """Material as a learner would read it, with the answers; questions and cards are paragraphs."""
    match material:
        case Summary():
            return material.text
        case Quiz():
            return "\n\n".join("\n".join(_question(n, one)) for n, one in enumerate(material.questions, start=1))
        case Deck():
            return "\n\n".join(f"{n}. {one.front}\n= {one.back}" for n, one in enumerate(material.cards, start=1))


def _question(number: int, question: Question) -> Iterator[str]:
    yield f"{number}. {question.question_text}"
    yield from (f"- {choice}" for choice in question.choices)
    yield f"= {' / '.join(question.answers)}"
    if question.explanation:
        yield f"({question.explanation})"
