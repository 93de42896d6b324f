"""Texts on which a pattern would show that its time grows faster than its input, derived from the pattern itself.

A backtracking engine is slow where a repeat can be entered at many places, or left at many, and what follows it fails.
So for each unbounded repeat of a pattern a text is made of what leads to it, what it accepts many times over, and
something that neither it nor what follows accepts.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

type Node = tuple[Any, Any]
type Style = Callable[[re.Pattern[str], str], object]

STYLES: dict[str, Style] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "finditer": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
}
"""The ways of running a pattern that differ in their cost; `sub`, `split` and `findall` cost what `finditer` does."""

SHARED = frozenset({"match", "search", "finditer"})
"""Ways that finding all begins with, so that it takes at least as long as each of them."""

LONG_REPEAT = 1000
"""A repeat bounded below this is a constant factor, which the corpus of hostile texts holds at full size."""
MOST_LETTERS = 5
"""Characters tried for one repeat, those first which most parts of the pattern accept."""
CLIMB = (20, 28, 40, 60, 90, 130)
"""Lengths run before the two that are compared, so that an exponential pattern is seen before it holds the test."""
SHORT, LONG = 2000, 8000
"""The lengths compared: a linear search of 8,000 characters takes about a millisecond, a quadratic one ten and more."""
MOST_GROWTH = 8.0
"""What is linear grows by 4 from one to the other, and what is quadratic by 16: a busy machine may double either."""
FLOOR_SECONDS = 0.003
"""Below this a pattern is not suspected: the slowest quadratic scan, of one character class, takes more for `LONG`."""
TRIES = 25
"""How often a suspicion is measured. The least time of each length counts, so that a busy machine harms none."""

_PROBES = "a1 \n\t.,'\"-_=*#>|([{<$\\汉。“「AzEé:;/~`!?+"
_NEVER = "\x01"
_SINGLE = {ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY}
_REPEATS = {ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT}
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    ops.CATEGORY_DIGIT: str.isdecimal,
    ops.CATEGORY_SPACE: str.isspace,
    ops.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
    ops.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdecimal(),
    ops.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    ops.CATEGORY_NOT_WORD: lambda letter: not (letter.isalnum() or letter == "_"),
}


@dataclass(frozen=True, slots=True)
class Growth:
    """A text on which a pattern took more than eight times as long as on a quarter of its length; seconds for each."""

    style: str
    text: str
    short_seconds: float
    long_seconds: float


def find_growth(
    pattern: re.Pattern[str], styles: Sequence[str] = tuple(STYLES), *, tries: int = TRIES
) -> Growth | None:
    """The first text on which a pattern's time grows faster than its input; None where no pumped text shows it.

    `tries` is how often what looks as if it grew is measured.
    """
    for lead, unit, tail in pumps(pattern):
        shared = SHARED if "finditer" in styles and not _is_slow(pattern, lead, unit, tail) else frozenset[str]()
        for style in (one for one in styles if one not in shared):
            if (found := _grows(pattern, style, lead, unit, tail, tries=tries)) is not None:
                return found
    return None


def pumps(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """What leads to a repeat, what it accepts again and again, and what then fails; each once."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    singles = [node for node in _walk(tree) if node[0] in _SINGLE]
    letters = dict.fromkeys([*_own_letters(singles), *_PROBES])
    ranked = sorted(letters, key=lambda letter: -sum(_accepts(node, letter) for node in singles))
    seen: dict[tuple[str, str, str], None] = {}
    for lead, body in _repeats(list(tree), "", ranked):
        for unit in _units(body, ranked):
            for tail in ("", _NEVER):
                repeated = [("", unit, tail), ("", lead + unit, tail), ("", f"{lead + unit} ", tail)]
                seen.update(dict.fromkeys([(lead, unit, tail), *repeated]))
    return iter(seen)


def _is_slow(pattern: re.Pattern[str], lead: str, unit: str, tail: str) -> bool:
    """Whether finding all is ever slow enough to be suspected; if not, no way that it begins with is."""
    run = STYLES["finditer"]
    texts = (lead + unit * max(1, length // len(unit)) + tail for length in (*CLIMB, LONG))
    return any(_seconds(run, pattern, text) > FLOOR_SECONDS for text in texts)


def _grows(pattern: re.Pattern[str], style: str, lead: str, unit: str, tail: str, *, tries: int) -> Growth | None:
    def text(length: int) -> str:
        return lead + unit * max(1, length // len(unit)) + tail

    run = STYLES[style]
    for length in CLIMB:
        taken, tried = _seconds(run, pattern, text(length)), 1
        while taken > FLOOR_SECONDS and tried < tries:
            taken, tried = min(taken, _seconds(run, pattern, text(length))), tried + 1
        if taken > FLOOR_SECONDS:
            return Growth(style, text(length), 0.0, taken)
    best = (0.0, 0.0)
    for tried in range(tries):
        long = _seconds(run, pattern, text(LONG))
        if long <= FLOOR_SECONDS:
            return None
        short = _seconds(run, pattern, text(SHORT))
        best = (short, long) if not tried else (min(best[0], short), min(best[1], long))
        if best[1] <= MOST_GROWTH * best[0]:
            return None
    return Growth(style, text(LONG), *best)


def _seconds(run: Style, pattern: re.Pattern[str], text: str) -> float:
    began = time.thread_time()
    run(pattern, text)
    return time.thread_time() - began


def _repeats(nodes: list[Node], lead: str, ranked: Sequence[str]) -> Iterator[tuple[str, list[Node]]]:
    """Each long repeat of a sequence with what leads to it and what is repeated, at whatever depth it stands."""
    for node in nodes:
        if node[0] in _REPEATS:
            _, most, body = node[1]
            if most > LONG_REPEAT:
                yield lead, list(body)
        for part in _parts(node):
            yield from _repeats(part, lead, ranked)
        lead += _shortest([node], ranked)


def _units(body: list[Node], ranked: Sequence[str]) -> list[str]:
    """What a repeat accepts: some single characters, or the shortest text of each of its alternatives."""
    if len(body) == 1 and body[0][0] in _SINGLE:
        return [letter for letter in ranked if _accepts(body[0], letter)][:MOST_LETTERS]
    units = [_shortest(body, ranked)]
    for node in body:
        units += [_shortest(part, ranked) for part in _parts(node)[:MOST_LETTERS]]
    return [unit for unit in dict.fromkeys(units) if unit]


def _parts(node: Node) -> list[list[Node]]:
    """The sequences that stand within a node."""
    kind, value = node
    if kind in _REPEATS:
        return [list(value[2])]
    if kind is ops.SUBPATTERN:
        return [list(value[3])]
    if kind is ops.BRANCH:
        return [list(part) for part in value[1]]
    if kind is ops.ATOMIC_GROUP:
        return [list(value)]
    if kind in (ops.ASSERT, ops.ASSERT_NOT):
        return [list(value[1])]
    if kind is ops.GROUPREF_EXISTS:
        return [list(part) for part in value[1:] if part is not None]
    return []


def _walk(nodes: Any) -> Iterator[Node]:
    for node in nodes:
        yield node
        for part in _parts(node):
            yield from _walk(part)


def _shortest(nodes: Sequence[Node], ranked: Sequence[str]) -> str:
    """A short text that the nodes accept, but for what they only look at."""
    text = ""
    for node in nodes:
        kind, value = node
        if kind in _SINGLE:
            text += next((letter for letter in ranked if _accepts(node, letter)), "")
        elif kind in _REPEATS:
            text += _shortest(list(value[2]), ranked) * min(int(value[0]), 20)
        elif kind is ops.BRANCH:
            text += min((_shortest(list(part), ranked) for part in value[1]), key=lambda one: (not one, len(one)))
        elif kind in (ops.SUBPATTERN, ops.ATOMIC_GROUP):
            text += _shortest(_parts(node)[0], ranked)
    return text


def _own_letters(singles: Sequence[Node]) -> Iterator[str]:
    for kind, value in singles:
        if kind in (ops.LITERAL, ops.NOT_LITERAL):
            yield chr(value)
        elif kind is ops.IN:
            for part, what in value:
                if part is ops.LITERAL:
                    yield chr(what)
                elif part is ops.RANGE:
                    yield chr(what[0])


def _accepts(node: Node, letter: str) -> bool:
    """Whether a node of one character accepts it. Case is taken as written: a pump need not be in the other."""
    kind, value = node
    if kind is ops.LITERAL:
        return ord(letter) == int(value)
    if kind is ops.NOT_LITERAL:
        return ord(letter) != int(value)
    if kind is ops.ANY:
        return letter != "\n"
    negated = value[0][0] is ops.NEGATE
    return negated != any(_is_in(part, what, letter) for part, what in value)


def _is_in(part: Any, what: Any, letter: str) -> bool:
    if part is ops.LITERAL:
        return ord(letter) == int(what)
    if part is ops.RANGE:
        return int(what[0]) <= ord(letter) <= int(what[1])
    return part is ops.CATEGORY and _CATEGORIES[what](letter)
