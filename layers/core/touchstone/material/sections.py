"""A text too long for one prompt, cut into sections at the ends of its paragraphs. No character is lost or moved."""

import re

MAX_SECTION_CHARS = 50_000
"""Longest text shown to a judge at once.

The smallest window of the listed models is 128,000 tokens (gpt-4o, gpt-4o-mini). Chinese takes up to 1.3 tokens a
character, English 0.3: a section beside 40,000 characters of something else (the longest description and criteria of a
task, say) comes to 117,000, which leaves room for the prompt's own words and the reply.
"""
LATE = 3 / 4
"""A section ends at the last paragraph's end past this share of its room, so that sections stay few."""

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

    Each ends where a paragraph ends; without one near, where a line, a sentence or a word does, and else at its limit.
    """
    found = []
    start = 0
    while len(text) - start > most:
        end = _end(text, start, most)
        found.append(text[start:end])
        start = end
    return (*found, text[start:])


def _end(text: str, start: int, most: int) -> int:
    """Where the section that begins at `start` ends, past `start`."""
    late = start + max(1, int(most * LATE))
    for pattern in _ENDS:
        ends = [found.end() for found in pattern.finditer(text, late, start + most)]
        if ends:
            return ends[-1]
    return start + most
