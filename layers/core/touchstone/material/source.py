"""What material was made from: content pillars (concepts with their passages), or a text.

A text too long for one prompt is cut into sections at the ends of its paragraphs. No character is lost or moved.
"""

import re
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from touchstone.material.parts import PartId, Text, all_different
from touchstone.strict import Strict

MAX_PILLARS = 500
MAX_CHUNKS = 200
MAX_MARKDOWN_CHARS = 1_000_000


class Pillar(Strict):
    """A concept that the source teaches, and the passages that teach it.

    `weight` is how much the concept matters beside the others.
    """

    concept: Text
    chunks: Annotated[tuple[Text, ...], Field(max_length=MAX_CHUNKS)] = ()
    weight: Annotated[float, Field(gt=0.0, le=1_000.0)] = 1.0


class Source(Strict):
    """One document: its pillars, its text as markdown, or both.

    `id` distinguishes it from the other sources of an experiment.
    """

    id: PartId = "source"
    pillars: Annotated[tuple[Pillar, ...], Field(max_length=MAX_PILLARS)] = ()
    markdown: Annotated[str, Field(max_length=MAX_MARKDOWN_CHARS)] | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.pillars and not (self.markdown or "").strip():
            raise PydanticCustomError("empty_source", "give its pillars or its markdown; it has neither")
        all_different((pillar.concept for pillar in self.pillars), of="concept")
        return self

    @property
    def text(self) -> str:
        """The whole source as one text: the markdown if there is one, else each concept with its passages."""
        if self.markdown and self.markdown.strip():
            return self.markdown
        return "\n\n".join("\n".join((f"# {pillar.concept}", *pillar.chunks)) for pillar in self.pillars)

    @property
    def sections(self) -> tuple[str, ...]:
        """The text in sections, each short enough to be shown to a judge at once. Blank ones are left out."""
        return tuple(section for section in sections_of(self.text) if section.strip())


MAX_SECTION_CHARS = 50_000
"""Longest text shown to a judge at once.

The smallest window of the listed models is 128,000 tokens (gpt-4o, gpt-4o-mini). Chinese takes up to 1.3 tokens a
character, English 0.3: a section beside 40,000 characters of something else (the longest description and criteria of a
task, say) comes to 117,000, which leaves room for the prompt's own words and the reply.
"""
EARLIEST_SECTION_END = 3 / 4
"""The share of a section's room after which it may end. It ends at the last paragraph's end there, so sections stay
few."""

_ENDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n[ \t\u3000]*\r?\n",  # a paragraph
        r"\n",  # a line
        r"[。！？]|[.!?](?=\s)",  # a sentence
        r"\s",  # a word
    )
)


def sections_of(text: str, *, most: int = MAX_SECTION_CHARS) -> tuple[str, ...]:
    """Sections of at most `most` characters (2 or more) that make up the text again when joined.

    Each section ends where a paragraph ends. If no paragraph ends near the limit, it ends where a line, a sentence or a
    word does, and else at the limit.
    """
    found = []
    start = 0
    while len(text) - start > most:
        end = _end(text, start, most)
        found.append(text[start:end])
        start = end
    return (*found, text[start:])


def _end(text: str, start: int, most: int) -> int:
    """Where the section that begins at `start` ends. It is always after `start`."""
    late = start + max(1, int(most * EARLIEST_SECTION_END))
    for pattern in _ENDS:
        ends = [found.end() for found in pattern.finditer(text, late, start + most)]
        if ends:
            return ends[-1]
    return start + most
