"""What differs between two texts: word by word, and in Chinese and Japanese character by character.

The result is the shortest list of changes (Myers 1986, "An O(ND) difference algorithm"), if that is short enough to be
found. If two texts have little in common, everything between their common beginning and their common end is marked.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_CHANGES = 500
"""The most words that may differ, of both texts together. Work and memory grow with its square (some 0.1 s)."""
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]\s*|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+\s*|[^\w\s]\s*|\s+"
)
"""A character of a script without spaces, a word, or a sign, each with the space after it."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A part of a text. `changed`: the other text does not have it in this place."""

    text: str
    changed: bool


def differences(a: str, b: str) -> tuple[tuple[TextPiece, ...], tuple[TextPiece, ...]]:
    """Both texts in pieces; a piece that the other text lacks is marked. Spaces alone make no difference."""
    of_a, of_b = _TOKEN.findall(a), _TOKEN.findall(b)
    same = list(_common([one.strip() for one in of_a], [one.strip() for one in of_b]))
    return tuple(_pieces(of_a, {x for x, _ in same})), tuple(_pieces(of_b, {y for _, y in same}))


def _pieces(tokens: Sequence[str], same: set[int]) -> Iterator[TextPiece]:
    """The text in pieces: neighbouring tokens of one kind, common or changed, together."""
    run: list[str] = []
    for place, token in enumerate(tokens):
        if run and (place in same) != (place - 1 in same):
            yield TextPiece("".join(run), changed=place - 1 not in same)
            run = []
        run.append(token)
    if run:
        yield TextPiece("".join(run), changed=len(tokens) - 1 not in same)


def _common(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of the tokens that both texts have in common: (place in a, place in b)."""
    shorter = min(len(a), len(b))
    start = next((place for place in range(shorter) if a[place] != b[place]), shorter)
    rest = shorter - start
    end = next((place for place in range(rest) if a[-1 - place] != b[-1 - place]), rest)
    yield from ((place, place) for place in range(start))
    yield from ((start + x, start + y) for x, y in _shortest(a[start : len(a) - end], b[start : len(b) - end]))
    yield from ((len(a) - place, len(b) - place) for place in range(end, 0, -1))


def _shortest(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of the longest common subsequence; nothing if it takes more than `MOST_CHANGES` changes."""
    reached = {1: 0}
    before: list[dict[int, int]] = []
    for changes in range(min(len(a) + len(b), MOST_CHANGES) + 1):
        before.append(dict(reached))
        for diagonal in range(-changes, changes + 1, 2):
            down = diagonal == -changes or (
                diagonal != changes and reached.get(diagonal - 1, -1) < reached.get(diagonal + 1, -1)
            )
            x = reached[diagonal + 1] if down else reached[diagonal - 1] + 1
            while x < len(a) and x - diagonal < len(b) and a[x] == b[x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= len(a) and x - diagonal >= len(b):
                yield from _back(before, len(a), len(b))
                return


def _back(before: Sequence[dict[int, int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """The places of the common tokens, from the end of the path back to its beginning."""
    for changes in range(len(before) - 1, -1, -1):
        reached, diagonal = before[changes], x - y
        down = diagonal == -changes or (
            diagonal != changes and reached.get(diagonal - 1, -1) < reached.get(diagonal + 1, -1)
        )
        came = diagonal + 1 if down else diagonal - 1
        from_x = reached[came]
        from_y = from_x - came
        while x > max(from_x, 0) and y > max(from_y, 0):
            x, y = x - 1, y - 1
            yield x, y
        x, y = from_x, from_y
