"""Which of many texts say the same but for a word or two.

They are found by shared shingles, without comparing all pairs.

A shingle is a pair of neighbouring words (in Chinese, characters), as in Broder 1997, "On the resemblance and
containment of documents". Two texts are near if three things hold: they share at least three fifths of their shingles
(their Jaccard index); they have the same numbers, symbols and negations; and at most one of them has a word that the
other lacks, slips of the pen apart. "The family of sodium" and "the family of potassium" are two questions, whatever
else they share. Texts that differ in articles alone are near, however short. Texts that say the same in other words are
not found here, nor in another script (学, 學): that takes tables that need not be installed.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, pairwise

from touchstone.surfaces.wording import ARTICLES, NEGATIONS, ComparedWord, read

NEAR = 0.6
"""The smallest share of shingles of near texts. If one word of ten is changed 0.64 of them are shared, if it is left
out 0.7."""
MISTYPED = 0.8
"""Two words at least this alike (difflib's ratio) are one word with a slip of the pen, or two forms of one word."""

LONGEST_WORD, MOST_SLIPS = 60, 20
"""The longest word that is compared letter by letter, and the most words of a text that may be slips of the pen. They
bound the work on hostile texts; nobody types more letters without a space, and a text with more slips is another."""

type Shingle = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text as it is compared: its words in order, its shingles, and two kinds of its words.

    `core` are its words without articles, unless it has only articles. `shingles` are its pairs of words, or its only
    word. `fixed` are the numbers, symbols and negations: they change what the text says, however much else is the same.
    `telling` are the words that could change it.
    """

    words: tuple[str, ...]
    core: tuple[str, ...]
    shingles: frozenset[Shingle]
    fixed: tuple[str, ...]
    telling: frozenset[str]


def reading(text: str) -> ComparedText:
    """A text as it is compared. Texts with the same words have equal readings."""
    words = read(text)
    keys = tuple(word.key for word in words)
    return ComparedText(
        words=keys,
        core=tuple(key for key in keys if key not in ARTICLES) or keys,
        shingles=frozenset(pairwise(keys) if len(keys) > 1 else [keys]),
        fixed=tuple(sorted(word.key for word in words if _changes(word))),
        telling=frozenset(word.key for word in words if word.tells),
    )


def alike(one: ComparedText, other: ComparedText) -> bool:
    """Whether two texts are the same or near."""
    if one.core == other.core:
        return True
    if one.fixed != other.fixed:
        return False
    shared = len(one.shingles & other.shingles)
    if shared < NEAR * (len(one.shingles) + len(other.shingles) - shared):
        return False
    mine, theirs = one.telling - other.telling, other.telling - one.telling
    if not mine or not theirs:
        return True
    few = max(len(mine), len(theirs)) <= MOST_SLIPS
    return few and all(any(_mistyped(word, each) for each in theirs) for word in mine)


def pairs(readings: Sequence[ComparedText]) -> Iterator[tuple[int, int]]:
    """The places of all pairs of alike texts: the earlier text first, in the order of the later ones.

    Only texts with the same core, or with one of their rarest shingles in common, are compared: two texts with a
    Jaccard index of `NEAR` must share one of the (1 - NEAR) rarest (the prefix filter of Bayardo, Ma & Srikant 2007,
    "Scaling up all pairs similarity search").
    """
    frequency = Counter(chain.from_iterable(one.shingles for one in readings))
    index: dict[Shingle, list[int]] = defaultdict(list)
    same: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(readings):
        rarest = sorted(one.shingles, key=lambda shingle: (frequency[shingle], shingle))
        prefix = rarest[: len(rarest) - math.ceil(NEAR * len(rarest)) + 1]
        candidates = chain(same[one.core], *(index[shingle] for shingle in prefix))
        for earlier in sorted(set(candidates)):
            if alike(readings[earlier], one):
                yield earlier, place
        same[one.core].append(place)
        for shingle in prefix:
            index[shingle].append(place)


def _changes(word: ComparedWord) -> bool:
    return word.kind in {"number", "symbol"} or word.key.casefold() in NEGATIONS


def _mistyped(one: str, other: str) -> bool:
    compared = 1 < len(one) <= LONGEST_WORD and len(other) <= LONGEST_WORD
    return compared and SequenceMatcher(None, one, other).ratio() >= MISTYPED
