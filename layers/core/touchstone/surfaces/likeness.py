"""Which texts of many say the same but for a word or two: found by shared shingles, without comparing all pairs.

A shingle is a pair of neighbouring words (in Chinese, characters), as in Broder 1997, "On the resemblance and
containment of documents". Two texts are near where they share at least three fifths of their shingles (their Jaccard
index), have the same numbers, symbols and negations, and do not each have a word of its own that the other lacks: "the
family of sodium" and "the family of potassium" are two questions, whatever else they share. Texts that differ in
articles alone are near, however short. What is rephrased in other words is not found here, nor what is written in
another script (学, 學): that takes tables that need not be installed.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, pairwise

from touchstone.surfaces.wording import NEGATIONS, ComparedWord, read

NEAR = 0.6
"""Least share of shingles of near texts: a word changed or left out of ten leaves 0.64 of them, or 0.7."""
MISTYPED = 0.8
"""Words this alike (difflib's ratio) are one word and a slip of the pen, or two forms of one."""

ARTICLES = frozenset({"a", "an", "the"})

type Shingle = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text as it is compared: its words in order, its shingles, and of its words two kinds.

    `core` are its words without articles, unless there is nothing else. `shingles` are its pairs of words, or its only
    word. `fixed` change what it says, however much else is the same; `telling` are those that could.
    """

    words: tuple[str, ...]
    core: tuple[str, ...]
    shingles: frozenset[Shingle]
    fixed: tuple[str, ...]
    telling: frozenset[str]


def reading(text: str) -> ComparedText:
    """A text as it is compared; texts with the same words are the same."""
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
    return not mine or not theirs or all(any(_mistyped(word, each) for each in theirs) for word in mine)


def pairs(readings: Sequence[ComparedText]) -> Iterator[tuple[int, int]]:
    """The places of texts that are alike, each pair with the later one second, in the order of the later ones.

    Only texts with the same core, or that share one of their rarest shingles, are compared: two with a Jaccard index of
    `NEAR` must share one of the (1 - NEAR) rarest (the prefix filter of Bayardo, Ma & Srikant 2007, "Scaling up all
    pairs similarity search").
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
    return len(one) > 1 and SequenceMatcher(None, one, other).ratio() >= MISTYPED
