"""Where an answer comes apart: separators and relation signs outside of all brackets."""

import re
from collections.abc import Iterator
from typing import Literal

from touchstone.checks.tokens import OutOfBoundsError

type Connector = Literal["", "or", "and", "list"]

PIECE_LIMIT = 30
"""Pieces of one answer; two such lists are compared in at most the square of it."""
EQUALITY = re.compile(r"(?<![<>!=:])=(?!=)|\\approx(?![A-Za-z])")
ORDER = re.compile(r"<=|>=|=<|!=|[<>]")
UNION = re.compile(r"\\cup(?![A-Za-z])")
RATIO = re.compile(r":")
MEMBERSHIP = re.compile(r"\\in(?![A-Za-z])")

_OPENING, _CLOSING = "([{⦃", ")]}⦄"
_SEPARATORS = re.compile(
    r"[,;、]|或者?|\bor\b|\\vee(?![A-Za-z])|\band\b|以及|[和与及且]|\\wedge(?![A-Za-z])", re.IGNORECASE
)
_OR = ("或", "或者", "or", "OR", "Or", r"\vee")
_AND = ("and", "And", "AND", "且", r"\wedge", "以及", "和", "与", "及")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")


def matches(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The matches of `pattern` outside of all brackets and bars. `[0,1)` is a pair of brackets, too."""
    depth = place = 0
    paired_bars = text.count("|") % 2 == 0
    inside_bars = False
    while place < len(text):
        character = text[place]
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif character == "|" and paired_bars:
            inside_bars = not inside_bars
        elif depth == 0 and not inside_bars and (match := pattern.match(text, place)) is not None:
            yield match
            place = match.end()
            continue
        place += 1


def split(text: str, pattern: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """The pieces of `text` between the matches of `pattern`, and those. Raises OutOfBoundsError past the limit."""
    pieces: list[str] = []
    separators: list[str] = []
    start = 0
    for match in matches(text, pattern):
        pieces.append(text[start : match.start()].strip())
        separators.append(match[0].strip())
        start = match.end()
        if len(pieces) > PIECE_LIMIT:
            raise OutOfBoundsError("more pieces than any answer that is read")
    return [*pieces, text[start:].strip()], separators


def connected(text: str) -> tuple[list[str], Connector]:
    """The items of a list and what connects them; a comma between groups of three digits connects nothing."""
    guarded = _THOUSANDS.sub(lambda grouped: grouped[0].replace(",", "\x00"), text)
    pieces, separators = split(guarded, _SEPARATORS)
    items = [piece.replace("\x00", ",") for piece in pieces if piece]
    if len(items) < 2:  # noqa: PLR2004 - one item is no list
        return items, ""
    if not set(separators).isdisjoint(_OR):
        return items, "or"
    return items, "list" if set(separators).isdisjoint(_AND) else "and"


def unbracketed(text: str) -> tuple[str, str]:
    """The inside of brackets that enclose the whole of `text`, and the two of them; `text` and "" where none do."""
    if len(text) < 2 or text[0] not in _OPENING or text[-1] not in _CLOSING:  # noqa: PLR2004
        return text, ""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0 and place < len(text) - 1:
            return text, ""
    return (text[1:-1].strip(), text[0] + text[-1]) if depth == 0 else (text, "")
