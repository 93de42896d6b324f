"""The passages of a source that a question is about, if nobody said which passage it was made from."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from touchstone.material import Source
from touchstone.material.source import sections_of

PIECE_CHARS = 2_000
"""The longest piece of a source, some paragraphs. A piece is shown or left out as a whole."""
SHOWN_CHARS = 12_000
"""Most characters shown with one question. A shorter source is shown whole."""

_WORD = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff]{3,}|\d+(?:\.\d+)?|[\u3400-\u9fff\uf900-\ufaff]+")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Pieces:
    """A source in pieces, with the places of the pieces in which each term occurs."""

    pieces: tuple[str, ...]
    places: Mapping[str, frozenset[int]]

    def near(self, text: str) -> tuple[str, ...]:
        """The pieces that have most in common with a text, in the source's order; all pieces of a short source.

        A shared term counts more the fewer pieces have it (the inverse document frequency of Spärck Jones 1972). A
        piece that shares no term is not shown.
        """
        if sum(map(len, self.pieces)) <= SHOWN_CHARS:
            return self.pieces
        scores: dict[int, float] = defaultdict(float)
        for term in set(_terms(text)) & self.places.keys():
            rarity = math.log(1 + len(self.pieces) / len(self.places[term]))
            for place in self.places[term]:
                scores[place] += rarity
        shown: list[int] = []
        room = SHOWN_CHARS
        for place, _ in sorted(scores.items(), key=lambda one: (-one[1], one[0])):
            if len(self.pieces[place]) <= room:
                shown.append(place)
                room -= len(self.pieces[place])
        return tuple(self.pieces[place] for place in sorted(shown))


def pieces_of(source: Source | None) -> Pieces:
    """A source in pieces; no pieces without a source."""
    pieces = tuple(piece for piece in sections_of(source.text, most=PIECE_CHARS) if piece.strip()) if source else ()
    places: dict[str, set[int]] = defaultdict(set)
    if sum(map(len, pieces)) > SHOWN_CHARS:
        for place, piece in enumerate(pieces):
            for term in _terms(piece):
                places[term].add(place)
    return Pieces(pieces, {term: frozenset(found) for term, found in places.items()})


def _terms(text: str) -> Iterator[str]:
    """The terms of a text: words, numbers, and pairs of neighbouring Chinese characters."""
    for found in _WORD.findall(text.casefold()):
        if _HAN.match(found) and len(found) > 1:
            yield from (found[start : start + 2] for start in range(len(found) - 1))
        else:
            yield found
