"""Compares what is written in pinyin with how the characters are read."""

from collections.abc import Iterator, Sequence

from touchstone.checks.findings import Finding
from touchstone.checks.pinyin.alignment import Pair
from touchstone.checks.pinyin.letters import Span, spelled
from touchstone.checks.pinyin.parsing import Readings, Syllable, fits
from touchstone.checks.pinyin.syllables import Reading

type Placed = tuple[Syllable, Span]
"""A syllable and where it stands in the text."""


def misread(
    pinyin: str, placed: Sequence[Placed], characters: list[str], readings: Readings, pairs: list[Pair]
) -> Iterator[Finding]:
    """Syllables that do not fit their characters, that have none, and characters without a syllable."""
    end = 0
    for at, to in pairs:
        if at is None:
            if to is not None and readings[to]:
                detail = f"No syllable stands for “{characters[to]}”."
                yield Finding(rule="missing_syllable", span=(end, end), detail=detail)
            continue
        syllable, span = placed[at]
        end = span[1]
        if to is None:
            if syllable.base not in ("r", ""):
                detail = f"No character stands for “{pinyin[slice(*span)]}”."
                yield Finding(rule="extra_syllable", span=span, detail=detail, suggestion="")
        elif syllable.base and not fits(syllable, readings, to):
            yield _misread(pinyin[slice(*span)], placed[at], characters[to], readings[to])


def _misread(written: str, placed: Placed, character: str, readings: frozenset[Reading]) -> Finding:
    syllable, span = placed
    ways = sorted(spelled(base, tone) for base, tone in readings)
    suggestion = ways[0].capitalize() if syllable.capitals[0] else ways[0]
    return Finding(
        rule="wrong_reading",
        span=span,
        detail=f"“{character}” is not read “{written}” but {', '.join(ways)}.",
        suggestion=suggestion if len(ways) == 1 else None,
    )
