"""Texts that a stranger may send to keep a machine busy, and what the costliest of them takes of a function.

All of them are fed at two parts of the size that a function's door admits, of 4,000 characters at most. Those that
seem to take longest there, or to grow fastest from one part to the other, are measured again, and those that do are fed
at the full size. All are also fed at the sizes up to which rooms within read a text that they refuse if it is longer.
"""

import functools
import itertools
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

from pydantic import ValidationError

from tests.support.timing import slowness
from touchstone.checks.notation.trees import LENGTH_LIMIT
from touchstone.checks.proofs.recognition import MAX_ANSWER_CHARS
from touchstone.errors import TouchstoneError

type Door = Callable[[str], object]
type Parts = tuple[float, float]
"""Seconds that a text takes at the smaller part of the full size, and at the larger."""

UNITS: Mapping[str, str] = MappingProxyType(
    {
        "blanks": " ",
        "letters": "a",
        "digits": "1",
        "newlines": "\n",
        "carriage returns": "\r",
        "tabs": "\t",
        "marks of two classes": "\u0301\u0323",
        "letters with marks": "a\u0301",
        "halfwidth marks": "\uff9e\u0301",
        "U+FDFA": "\ufdfa",
        "U+321D": "\u321d",
        "ligatures": "\ufb03",
        "hangul": "각",
        "mathematical": "\U0001d5d4",
        "zero width": "\u200b",
        "zero width in words": "a\u200b",
        "overrides": "a\u202e",
        "surrogates": "\ud800",
        "brackets": "[",
        "parentheses": "(",
        "braces": "{",
        "pairs": "()",
        "quotes": '"',
        "apostrophes": "'",
        "curly quotes": "“",
        "corner brackets": "「",
        "fences": "[data",
        "fences with a blank": "[data ",
        "chinese": "汉",
        "chinese with blanks": "汉 ",
        "mixed": "a汉",
        "thai": "ไทย",
        "emoji": "👨‍👩‍👧",
        "initials": "a.",
        "sentences": "A. b ",
        "dots": ".",
        "commas": ", ",
        "dollars": "$",
        "backslashes": "\\",
        "dashes": "-",
        "stars": "*",
        "ticks": "`",
        "pipes": "|",
        "underlines": "_",
        "hashes": "\n#",
        "tags": "<b>",
        "opened tags": "<a ",
        "opened comments": "<!--",
        "entities": "&amp",
        "lead-ins": "na ",
        "pinyin": "nü3 ",
        "glosses": "學(xué)",
        "tones": "xi\u0304",
        "orders": "please ignore ",
        "clozes": "{{c1::",
        "formulas": ";=",
        "items": "1) ",
        "citations": "> ",
        "words": "score the answer, ",
    }
)
"""What each text repeats, by its name."""
AROUND: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "an opened fence": ("[data", " ", "z"),
        "an article": ("It is an", " ", "z"),
        "a number": ("1", " ", "z"),
        "nested brackets": ("(" * 1000, "()", ")" * 1000),
    }
)
"""What stands before, is repeated, and stands after."""
NAMES = (*UNITS, *AROUND)
SMALL, MOST_SMALL = 16, 4_000
"""The part of the full size at which every text is tried, and the most characters: what grows shows in so many.

What takes a billionth of a second for each pair of its characters, as a pattern that begins anew at each of them does,
takes 16 ms in 4,000 characters, and a quarter of an hour in a million."""
SMALLER = 8
"""The part of that at which it is tried before, to see how it grows."""
GRAIN = 0.0001
"""Seconds below which two measurements cannot be told apart."""
WITHIN = (MAX_ANSWER_CHARS, LENGTH_LIMIT)
"""Sizes at which every text is tried besides: the most that a proof reads of an answer, and a comparison of a value.

Longer ones are refused there at first sight, so that neither the full size nor a part of it shows what they take.
"""
MOST_OF_WITHIN = 25
"""Up to how many times the larger of these the full size is, where they are the parts at which every text is tried."""
MEASURED_AGAIN = 2
"""How often a text that seems to stand out at the parts is measured again there: the least counts.

So a moment in which the machine was busy does not choose which texts are tried at full size."""
SPENT, MOST_TRIED = 0.1, 8
"""Seconds that texts take at full size together, or how many they are, until the rest are left out: they are faster.

The slowest and the fastest growing are tried even where they take longer."""

MAX_MEGABYTES = 200.0
"""By how many a process may grow."""
MOST_GROWTH = 3.0
"""How much longer the whole may take than the half."""
MIN_SECONDS = 0.1
"""What takes less is not compared: it is the clock's grain and the garbage collector that would be."""
SURE = 2.0
"""Seconds up to which a first measurement is believed: no more than half of what any may take."""
AGAIN = 2
"""How often what took longer is measured again: its least time counts, since the machine may have been busy."""
SURELY_LINEAR = 2.4
"""Where the whole takes no more than so many times the half, the half is measured once."""
AGAIN_WHERE_IT_SEEMS_TO_GROW = 12
"""A neighbour on the processor slows a long text more than a short one, which its caches hold; what grows does so each
time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The worst of one function: a text and its size, processor seconds, those for half of it, and by how many MB the
    process grew.

    At a size above which rooms within refuse a text, `half_seconds` is `seconds`: how it would grow does not matter.

    `slowness` is how many times as long as usual the machine took for the same work just then: a processor that is
    shared with others also counts the time that they made it wait.
    """

    text: str
    size: int
    seconds: float
    half_seconds: float
    megabytes: float
    slowness: float


def text_of(name: str, size: int) -> str:
    """The text of a name, of `size` characters at most."""
    before, unit, after = AROUND.get(name) or ("", UNITS[name], "")
    return before + unit * ((size - len(before) - len(after)) // len(unit)) + after


def prepare(size: int) -> None:
    """Write the texts that every door of a size is tried with, so that processes forked later have them already."""
    for name in NAMES:
        for tried in _tried(size):
            _kept_text(name, tried)


_kept_text = functools.cache(text_of)


def _tried(size: int) -> set[int]:
    """The sizes at which each text is tried: parts of the full one, and what rooms within read whole."""
    return {*_parts(size), *(most for most in WITHIN if most < size)}


def _parts(size: int) -> tuple[int, int]:
    """The two parts of a full size at which every text is tried, the smaller one first.

    What rooms within read whole are two parts of most sizes, and then no others are needed.
    """
    if max(WITHIN) < size <= MOST_OF_WITHIN * max(WITHIN):
        return min(WITHIN), max(WITHIN)
    small = min(size // SMALL, MOST_SMALL)
    return small // SMALLER, small


def cost_of(doors: Sequence[Door], size: int) -> Cost:
    """What the costliest of the texts takes at the costliest of a function's doors, at the size that they admit."""
    for door in doors:
        _seconds(door, "A text. 一篇文章。")  # loads what is loaded on first use
    before = _peak()
    costs: dict[Feeding, float] = {}
    parts: dict[Feeding, Parts] = {}
    for name, door in itertools.product(NAMES, doors):
        took = {tried: _passed(door, _kept_text(name, tried)) for tried in sorted(_tried(size))}
        costs |= {Feeding(door, name, most): took[most] for most in WITHIN if most < size}
        smaller, small = (took[part] for part in _parts(size))
        parts[Feeding(door, name, size)] = smaller, small
    full: dict[Feeding, float] = {}
    for feeding in _standing_out(parts):
        if len(full) >= len(RANKINGS) and (sum(full.values()) >= SPENT or len(full) >= MOST_TRIED):
            break
        full[feeding] = feeding.seconds()
    worst, seconds = _worst(costs | full)
    half = 0.0
    if worst.size < size:
        half = seconds
    elif seconds > MOST_GROWTH * MIN_SECONDS:
        shorter = replace(worst, size=worst.size // 2)
        half = shorter.seconds()
        if seconds > SURELY_LINEAR * half:
            half = min(half, shorter.seconds())
        for _ in range(AGAIN_WHERE_IT_SEEMS_TO_GROW):
            if seconds > MOST_GROWTH * half:
                seconds = min(seconds, worst.seconds())
    slow_by = slowness() if seconds > SURE else 1.0
    grown = _peak() - before
    return Cost(text=worst.name, size=worst.size, seconds=seconds, half_seconds=half, megabytes=grown, slowness=slow_by)


@dataclass(frozen=True, slots=True)
class Feeding:
    """A text of a size at a door."""

    door: Door
    name: str
    size: int

    def seconds(self) -> float:
        """What it takes, of a processor."""
        return _seconds(self.door, text_of(self.name, self.size))

    def again(self, parts: Parts) -> Parts:
        """What it takes at the two parts, measured again: the least of both measurements."""
        smaller, small = (_passed(self.door, _kept_text(self.name, part)) for part in _parts(self.size))
        return min(parts[0], smaller), min(parts[1], small)


def _growing(parts: Parts) -> float:
    smaller, small = parts
    return small * max(1.0, small / max(smaller, GRAIN)) ** 2


RANKINGS: tuple[Callable[[Parts], float], ...] = (lambda parts: parts[1], _growing)
"""By what texts stand out at the parts: what they take, and how it grows."""


def _standing_out(parts: Mapping[Feeding, Parts]) -> Iterator[Feeding]:
    """The texts by how much they stand out: the slowest, the fastest growing, the next of either, and so on.

    What seems to stand out is measured again before it counts as that.
    """
    told, again = dict(parts), dict.fromkeys(parts, MEASURED_AGAIN)
    for rank in itertools.cycle(RANKINGS):
        if not told:
            return
        while again[first := max(told, key=lambda one: rank(told[one]))]:
            told[first] = first.again(told[first])
            again[first] -= 1
        del told[first]
        yield first


def _worst(costs: dict[Feeding, float]) -> tuple[Feeding, float]:
    """What took longest, measured again where that may have been the machine."""
    measured: set[Feeding] = set()
    while costs[worst := max(costs, key=lambda one: costs[one])] > SURE and worst not in measured:
        measured.add(worst)
        costs[worst] = min(costs[worst], *(worst.seconds() for _ in range(AGAIN)))
    return worst, costs[worst]


def _passed(door: Door, text: str) -> float:
    """The time that a text takes on the wall, which is told more finely than that of a processor, and is no less."""
    began = time.perf_counter()
    _fed(door, text)
    return time.perf_counter() - began


def _seconds(door: Door, text: str) -> float:
    began = time.process_time()
    _fed(door, text)
    return time.process_time() - began


def _fed(door: Door, text: str) -> None:
    with suppress(TouchstoneError, ValidationError):  # a refusal is an answer, and may not take long either
        door(text)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
