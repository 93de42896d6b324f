"""Flaws of choices: too few, blank, the same, overlapping, referring to each other, longer or more absolute.

Choices that are ranges of numbers overlap if one value fits two of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf

from touchstone.limits import NotAtOnceError
from touchstone.material import Question
from touchstone.material.choices import alike, comparing
from touchstone.packaged import own_patterns
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.options import NAMED_CHARS, Key, width

LEAST_CHOICES = 3
"""The fewest choices: one key and two distractors. More distractors seldom work (Rodriguez 2005, "Three options are
optimal")."""
LONGER = 1.5
"""A key at least this many times as long as the longest distractor stands out at a glance."""
LONGER_BY = 12
"""The key must also be longer by this width, at least two words: one of several short choices is always the longest."""

_WORDS = own_patterns(__file__)
"""What choices and questions say: see the notes of the file."""
_LETTER = re.compile(r"(?<![A-Za-z])[A-H](?![A-Za-z])")
_NUMBER = re.compile(
    r"(?:(?P<number>[-+]?\d[\d.,]{0,20}(?: \d{3}){0,4})(?P<under>/\d{1,9})?(?P<power>×10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,4})?"
    r"|(?P<words>[零一二三四五六七八九十百]{1,6}分之[零一二三四五六七八九十百]{1,6}))\s?(?P<unit>[^\d\s][^\d\n]{0,24})?"
)
"""A choice that is a number, perhaps with a unit."""
_GROUPING = re.compile("[., ]")
_MOST_NUMBERS = 5
"""The most numbers among the choices of a question whose values are compared."""
_ASKED_CHARS = 800
"""How much of a question the comparison of two values reads, from its end."""
_FEW_WORDS = 2
"""The most words behind an article: in a longer choice it is one word of a sentence."""
_LEAST_CLAIM = 16
"""Width of the shortest text that claims something: eight Chinese characters, three or four words."""


def choice_flaws(question: Question, key: Key) -> Iterator[Flaw]:
    """The flaws of the choices of one question that is answered by choosing."""
    yield from _number(key)
    yield from _same(question, key)
    yield from _referring(key.choices)
    overlapping = next(common(question.question_text, key.choices), None)
    if overlapping is not None:
        first, second = (key.choices[place] for place in overlapping)
        yield Flaw(label="OVERLAPPING_OPTIONS", values={"first": first, "second": second})
    if question.kind == "single_choice":
        yield from _longest(key)
        yield from _absolute(question, key)


def _number(key: Key) -> Iterator[Flaw]:
    seen = [choice for choice in key.choices if choice]
    if len(seen) < LEAST_CHOICES:
        yield Flaw(label="TOO_FEW_OPTIONS", values={"number": len(seen), "least": LEAST_CHOICES})
    for place, choice in enumerate(key.choices, start=1):
        if not choice:
            yield Flaw(label="BLANK_OPTION", values={"number": place})


def _same(question: Question, key: Key) -> Iterator[Flaw]:
    first: dict[str, int] = {}
    form = comparing(key.choices, question.question_text)
    found = False
    for place, choice in enumerate(key.choices, start=1):
        compared = form(choice)
        if compared and compared in first:
            yield Flaw(label="DUPLICATE_OPTIONS", values={"first": first[compared], "second": place, "text": choice})
            found = True
        first.setdefault(compared, place)
    if found or _WORDS["form"].search(question.question_text):
        return
    pairs = [*_but_for_an_article(question, key.choices), *_of_one_value(question, key.choices)]
    if len(pairs) == 1:  # More of them are about the form, not a slip.
        one, other = pairs[0]
        text = f"{key.choices[one]} = {key.choices[other]}"
        yield Flaw(label="DUPLICATE_OPTIONS", values={"first": one + 1, "second": other + 1, "text": text})


def _but_for_an_article(question: Question, choices: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of each two choices that are the same few words, one with an article and one without.

    There are none in a sentence with a blank, which an article may fill.
    """
    if "__" in question.question_text:
        return
    cores = [_WORDS["article"].sub("", choice) for choice in choices]
    articled = [core != choice for core, choice in zip(cores, choices, strict=True)]
    short = [
        alike(core).lower() if core.count(" ") < _FEW_WORDS and width(core) <= NAMED_CHARS else "" for core in cores
    ]
    for one, other in combinations(range(len(choices)), 2):
        if short[one] and short[one] == short[other] and articled[one] != articled[other]:
            german = any(_WORDS["german article"].match(choices[place]) for place in (one, other))
            if not german or cores[one][:1] == cores[other][:1]:
                yield one, other


def _of_one_value(question: Question, choices: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of each two choices that are one number in two notations: 1/2 and 50 %, 1 km and 1000 m.

    Numbers in one notation are left unless the question asks for a value: 120/80 and 150/100, 1.1 and 1.10 may be
    different answers.
    """
    numbers = [(place, found) for place, choice in enumerate(choices) if (found := _NUMBER.fullmatch(choice))]
    if not 1 < len(numbers) <= _MOST_NUMBERS:
        return
    from touchstone.checks import equivalent

    asked = question.question_text[-_ASKED_CHARS:]
    by_value = _WORDS["value"].search(asked) is not None
    for (one, mine), (other, theirs) in combinations(numbers, 2):
        if _are_rivals(mine, theirs, by_value=by_value):
            texts = choices[one], choices[other]
            try:
                same = all(equivalent(*each, question=asked, at_once=True) for each in (texts, texts[::-1]))
            except NotAtOnceError:
                continue
            if same:
                yield one, other


def _are_rivals(one: re.Match[str], other: re.Match[str], *, by_value: bool) -> bool:
    """Whether two numbers both have a unit, or neither has, and are written in two notations unless `by_value`."""
    mine, theirs = (
        [(found["unit"] or "").casefold(), *(found[name] is None for name in ("under", "power", "words"))]
        for found in (one, other)
    )
    alone = [unit in ("", "%") for unit in (mine[0], theirs[0])]
    ungrouped = [_GROUPING.sub("", found["number"] or "") for found in (one, other)]
    return alone[0] == alone[1] and (by_value or mine != theirs or ungrouped[0] == ungrouped[1])


def refers(choice: str) -> bool:
    """Whether a choice speaks of the other choices and not of the matter."""
    text = choice.strip(" .。")
    combined = _WORDS["combined"].fullmatch(text) and _WORDS["joined"].search(text)
    return bool(combined or _WORDS["all"].fullmatch(text) or _WORDS["none"].fullmatch(text))


def _referring(choices: Sequence[str]) -> Iterator[Flaw]:
    texts = [choice.strip(" .。") for choice in choices]
    combined = [bool(_WORDS["combined"].fullmatch(text)) for text in texts]
    found = False
    for place, (choice, text) in enumerate(zip(choices, texts, strict=True)):
        if _WORDS["none"].fullmatch(text):
            yield Flaw(label="NONE_OF_THE_ABOVE", values={"text": choice})
        elif _WORDS["all"].fullmatch(text):
            yield Flaw(label="ALL_OF_THE_ABOVE", values={"text": choice})
        elif not found and combined[place] and _combines(text, combined[:place]):
            yield Flaw(label="COMBINED_OPTIONS", values={"text": choice})
            found = True  # In such a question all choices are combinations: one finding is enough.


def _combines(text: str, before: Sequence[bool]) -> bool:
    """Whether the letters and numbers in a choice stand for other choices or statements, not for things.

    Letters stand for choices if all of these come before it, and none of these is letters itself, as in a question
    about vitamins: B and C, A and D.
    """
    places = [ord(letter) - ord("A") for letter in _LETTER.findall(text)]
    return bool(_WORDS["joined"].search(text)) or (
        bool(places) and all(place < len(before) and not before[place] for place in places)
    )


def _longest(key: Key) -> Iterator[Flaw]:
    if len(key.right) != 1 or not key.distractors:
        return
    right = key.choices[key.right[0]]
    longest = max(width(key.choices[place]) for place in key.distractors)
    if width(right) >= LONGER * longest and width(right) >= longest + LONGER_BY and not refers(right):
        yield Flaw(label="LONGEST_KEY", values={"key": right})


def absolute_word(text: str) -> str | None:
    """The first word that allows of no exception; None if there is none, or if the text is too short to claim anything.

    A word with a capital inside the text does not count: it belongs to a title or a name.
    """
    return _absolute_word(text) if width(text) >= _LEAST_CLAIM else None


def _absolute_word(text: str) -> str | None:
    found = _WORDS["absolute"].search(text[:1].lower() + text[1:])
    return found[0] if found else None


def _absolute(question: Question, key: Key) -> Iterator[Flaw]:
    """Absolute words in distractors. If the question or the key has such a word too, they tell nothing."""
    if not key.right or _absolute_word(question.question_text):
        return
    if any(_absolute_word(key.choices[place]) for place in key.right):
        return
    for text in (key.choices[place] for place in key.distractors):
        word = absolute_word(text)
        if word and not refers(text):
            yield Flaw(label="ABSOLUTE_WORDS", values={"word": word, "text": text})
            return


_THOUSANDS = {".": re.compile(r"[, '’\u00a0\u202f]"), ",": re.compile(r"[ '’\u00a0\u202f]|\.(?=\d{3}(?!\d))")}
"""The signs between thousands, by the sign before decimals."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a choice covers, and their unit. Each end belongs to the range if it is closed."""

    low: float
    high: float
    low_closed: bool
    high_closed: bool
    unit: str

    def shares(self, other: "Range") -> bool:
        """Whether a value lies in both ranges."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low != high:
            return low < high
        return all((one.low < low or one.low_closed) and (high < one.high or one.high_closed) for one in (self, other))


def range_of(choice: str, *, point: str = ".") -> Range | None:
    """The range that a whole choice writes; None for anything else, also for a single number.

    `point` is the sign before decimals.
    """
    text = choice.strip(" .。")
    closed = bool(_WORDS["closed"].search(text))
    if found := _WORDS["between"].fullmatch(text):
        low, high = _value(found["low"], point), _value(found["high"].lstrip("-"), point)
        return Range(low, high, low_closed=True, high_closed=True, unit=_unit(found["unit"])) if low < high else None
    if found := _WORDS["below"].fullmatch(text):
        high = _value(found["high"], point)
        return Range(-inf, high, low_closed=False, high_closed=closed, unit=_unit(found["unit"]))
    if found := _WORDS["above"].fullmatch(text):
        low = _value(found["low"], point)
        return Range(low, inf, low_closed=closed, high_closed=False, unit=_unit(found["unit"]))
    if found := _WORDS["by suffix"].fullmatch(text):
        value, below = _value(found["number"], point), bool(found["below"])
        low, high = (-inf, value) if below else (value, inf)
        closed = not (found["up"] or found["down"])
        return Range(low, high, low_closed=closed and not below, high_closed=closed and below, unit="")
    return None


def common(question: str, choices: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of each two choices that are ranges with a value in common, if the question asks for one amount.

    Their units must agree, or at least one of them has no unit.
    """
    elsewhere = _WORDS["amount elsewhere"].search(question)
    if not elsewhere and not _WORDS["amount"].search(question):
        return
    ranges = [range_of(choice, point="," if elsewhere else ".") for choice in choices]
    for (first, one), (second, other) in combinations(enumerate(ranges), 2):
        if one is None or other is None or (one.unit and other.unit and one.unit != other.unit):
            continue
        if one.shares(other):
            yield first, second


def _value(text: str, point: str) -> float:
    """The number in a text. Other signs than the point are between thousands."""
    whole, _, decimals = _THOUSANDS[point].sub("", text).replace(",", ".").partition(".")
    return float(f"{whole}.{decimals.replace('.', '') or 0}")


def _unit(text: str | None) -> str:
    return (text or "").strip().casefold()
