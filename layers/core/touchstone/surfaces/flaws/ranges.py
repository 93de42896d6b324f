"""Choices that are ranges of numbers, and whether one value fits two of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf

_NUMBER = r"[-+]?\d[\d,]*+(?:\.\d++)?+"
_UNIT = r"\s*+(?P<unit>%|[^\W\d_][^\d]{0,24})?"
_UNIT_BETWEEN = r"\s*+(?:(?:%|[^\W\d_]{1,12})\s*+)?"
_BETWEEN = re.compile(
    rf"(?:between |from |about |在)?(?P<low>{_NUMBER}){_UNIT_BETWEEN}(?:-|~|～|to|and|至|到)"
    rf"\s*(?P<high>{_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_BELOW = re.compile(
    rf"(?:(?:less|fewer|lower|smaller|younger|under|below) (?:than )?|under |below |up to |at most |no more than "
    rf"|[<≤]\s*|不到|少于|少於|低于|低於|小于|小於|不超过|不超過|至多|最多)(?P<high>{_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"(?:(?:more|greater|higher|larger|older|over|above) (?:than )?|over |above |at least |no (?:less|fewer) than "
    rf"|[>≥]\s*|多于|多於|高于|高於|大于|大於|超过|超過|不少于|不少於|至少|最少)(?P<low>{_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"up to|at most|no more|at least|no (?:less|fewer)|[≤≥]|不超|至[多少]|最[多少]|不少", re.IGNORECASE
)
_BY_SUFFIX = re.compile(
    rf"(?P<number>{_NUMBER}){_UNIT_BETWEEN}(?P<side>以下|以内|以內|以上|or (?:less|fewer|below|more|above|over)|\+)",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|old|long|far|often|large|big|tall|high|deep|fast|heavy)\b|\bwhat (?:percentage|proportion"
    r"|share|fraction|number|age)\b|\bpopulation\b|多少|几|幾|百分之|占比|佔比|比例|多[大长長远遠高重久]",
    re.IGNORECASE,
)
"""A question that asks for one amount. Where a range is itself the answer (the years of a war), ranges may overlap."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a choice covers, and of what. Ends belong to it or not."""

    low: float
    high: float
    low_closed: bool
    high_closed: bool
    unit: str

    def shares(self, other: "Range") -> bool:
        """Whether a value lies in both."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low != high:
            return low < high
        return all((one.low < low or one.low_closed) and (high < one.high or one.high_closed) for one in (self, other))


def range_of(choice: str) -> Range | None:
    """The range that a whole choice writes; None for anything else, a single number among it."""
    text = choice.strip(" .。")
    if found := _BETWEEN.fullmatch(text):
        low, high = _value(found["low"]), _value(found["high"].lstrip("-"))
        return Range(low, high, low_closed=True, high_closed=True, unit=_unit(found["unit"])) if low < high else None
    closed = bool(_CLOSED.search(text))
    if found := _BELOW.fullmatch(text):
        return Range(-inf, _value(found["high"]), low_closed=False, high_closed=closed, unit=_unit(found["unit"]))
    if found := _ABOVE.fullmatch(text):
        return Range(_value(found["low"]), inf, low_closed=closed, high_closed=False, unit=_unit(found["unit"]))
    if found := _BY_SUFFIX.fullmatch(text):
        below = bool(re.search("下|内|內|less|fewer|below", found["side"], re.IGNORECASE))
        value = _value(found["number"])
        low, high = (-inf, value) if below else (value, inf)
        return Range(low, high, low_closed=not below, high_closed=below, unit="")
    return None


def common(question: str, ranges: Sequence[Range | None]) -> Iterator[tuple[int, int]]:
    """The places of two ranges with a value in common, of a question that asks for one amount.

    Units must agree, or one side name none.
    """
    if not _AMOUNT.search(question):
        return
    for (first, one), (second, other) in combinations(enumerate(ranges), 2):
        if one is None or other is None or (one.unit and other.unit and one.unit != other.unit):
            continue
        if one.shares(other):
            yield first, second


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _unit(text: str | None) -> str:
    return (text or "").strip().casefold()
