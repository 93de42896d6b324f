"""Rows of a matching task: `A-3, B-1`, `A→3; B→1`, `1-c 2-a`, `A3, B1`."""

import re
from dataclasses import dataclass

from touchstone.checks.equivalence.reading import ReadAnswer

_PAIR = re.compile(
    r"(?P<one>[A-Z]|\d{1,2}) ?(?P<sign>--?>|=>|→|⇒|\\(?:rightarrow|to)|[-—:])? ?(?P<other>[A-Za-z]|\d{1,2})(?!\w)"
    r"(?P<between> ?[,;，；、] ?| |$)",
    re.ASCII,
)
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class _Rows:
    """Each label with its partner. `sure`: arrows or colons, or `1-c 2-a`, show that these are no expressions."""

    partners: dict[str, str]
    sure: bool


def as_rows(given: ReadAnswer, expected: ReadAnswer, *, same: bool | None) -> bool | None:
    """Compare two answers as rows of a matching task, whose values compare as `same`.

    If they are not both rows, the result is `same`. Of each side either the whole text or the answer in it may be the
    rows. The same rows are the same where one side shows that they are rows; `A-3, B-1` and `A3, B1` are left open.
    Other partners are different where both sides show it.
    """
    one, other = (next(filter(None, map(_rows, (each.text, each.part))), None) for each in (given, expected))
    if same or one is None or other is None or one.partners.keys() != other.partners.keys():
        return same
    if one.partners == other.partners:
        return True if one.sure or other.sure else None
    cased = all(partner.lower() == other.partners[label].lower() for label, partner in one.partners.items())
    return None if cased else False if one.sure and other.sure else same


def rows_of(text: str) -> dict[str, str]:
    """The partners of the rows of a matching task by their labels, in lower case; empty for any other text."""
    rows = _rows(text)
    return {} if rows is None else {label.lower(): partner for label, partner in rows.partners.items()}


def _rows(text: str) -> _Rows | None:
    text, place = text.strip(" .$"), 0
    partners, signs, between = dict[str, str](), set[str](), set[str]()
    while place < len(text) < _LONGEST:
        pair = _PAIR.match(text, place)
        if pair is None or pair["one"].isdigit() == pair["other"].isdigit() or pair["one"] in partners:
            return None
        partners[pair["one"]] = pair["other"]
        signs.add(pair["sign"] or "")
        between.add(pair["between"])
        place = pair.end()
    numbered = {label.isdigit() for label in partners}
    if len(partners) == 1 or len(numbered) != 1:
        return None
    counted = numbered == {True} and "" not in signs and between == {" ", ""}
    return _Rows(partners, counted or signs.isdisjoint(("", "-", "—")))
