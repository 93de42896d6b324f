"""Answers of one value whose writing tells them apart: 01 and 1, "abc" and "cba", `p and q` and `p or q`."""

import re
from string import ascii_lowercase

from touchstone.checks.equivalence.reading import ReadAnswer
from touchstone.checks.notation.tokens import tokens_of
from touchstone.checks.notation.trees import Name, value_or_none
from touchstone.checks.values.kinds import Items, Quantity, Value
from touchstone.checks.values.pieces import connected

_BITS = re.compile(r"(?<![^\s({\[;\"'])(?<!\d[ '’])0[01]{1,63}+(?![\w:/]|[.,-]\d)", re.ASCII)
"""Digits of a code: no number, date or time begins so."""
_QUOTED = re.compile(r"\"([^\"]{1,200})\"|(?<!\w)'([^']{1,200})'(?!\w)")
_LETTER = re.compile(r"[^\W\d_]")
VECTOR = r"\\(?:vec|hat|mathbf|boldsymbol|bm|overrightarrow)\s?\{?\\?[A-Za-z]{1,5}\}?"
"""The source of a pattern for a vector as LaTeX writes it."""
_PRODUCT = re.compile(rf"{VECTOR}\s?(?:(?P<cross>×|\\times)|(?P<dot>[·⋅∙•]|\\cdot|\\bullet))\s?{VECTOR}")
_SIZE = re.compile(r"(\d{1,4}) ?(?:×|x|\\times|by) ?(\d{1,4})", re.ASCII)
_ROWS = re.compile(r"(?:\(\d\) ?){3,9}", re.ASCII)
_ROW = re.compile(r"\d", re.ASCII)
_COMPASS = re.compile(r"\d\s?(?:[°'′″\"]|\s?degrees)\s?([NSEW])(?!\w)")
_NEGATIVE = frozenset("SW")
"""Directions of the compass that coordinates without letters say by a minus sign."""
_SEARCHED = 400
"""The most characters of an answer that are searched."""


def has_bits(text: str) -> bool:
    """Whether an answer holds digits that are a code, 0101 or 01, and perhaps no number."""
    return _BITS.search(text[:_SEARCHED]) is not None


def are_told_apart(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether the writing of two answers, called the same, leaves that open."""
    one, other = given.part, expected.part
    if sorted(_BITS.findall(one[:_SEARCHED])) != sorted(_BITS.findall(other[:_SEARCHED])):
        return True
    if _quoted_otherwise(one[:_SEARCHED], other[:_SEARCHED]):
        return True
    if {_product(one), _product(other)} == {"cross", "dot"}:
        return True
    if _left_as_products(one, other) or _in_another_row(one, other):
        return True
    names, others = _names(given.value), _names(expected.value)
    if bool(names) and {_connector(one), _connector(other)} == {"and", "or"}:
        return True
    return len(names) > len("ab") and sorted(names) == list(ascii_lowercase[: len(names)]) and names != others


def has_direction_alone(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether only one of two answers names directions behind degrees, with south or west: 40° S beside 40° or -40°."""
    mine, theirs = (set(_COMPASS.findall(each.part[:_SEARCHED])) for each in (given, expected))
    return bool(mine) != bool(theirs) and not _NEGATIVE.isdisjoint(mine | theirs)


def _quoted_otherwise(one: str, other: str) -> bool:
    """Whether two texts quote different strings: within quotation marks case and order count."""
    mine, theirs = (["".join(found) for found in _QUOTED.findall(text)] for text in (one, other))
    mine, theirs = (list(filter(_LETTER.search, quoted)) for quoted in (mine, theirs))
    if mine and theirs and not (_is_whole(mine, one) and _is_whole(theirs, other)):
        return mine != theirs
    if not (_is_whole(mine, one) or _is_whole(theirs, other)):
        return False
    contents = (quoted[0] if _is_whole(quoted, text) else text for quoted, text in ((mine, one), (theirs, other)))
    return len({content.strip(" .").casefold() for content in contents}) > 1


def _is_whole(quoted: list[str], text: str) -> bool:
    """Whether a text is one string in its quotation marks."""
    return len(quoted) == 1 and len(text.strip()) == len(quoted[0]) + 2


def _product(text: str) -> str:
    """Which product of two vectors a text holds: "cross", "dot", or "" for none."""
    found = _PRODUCT.search(text[:_SEARCHED])
    return "" if found is None else found.lastgroup or ""


def _left_as_products(one: str, other: str) -> bool:
    """Whether two texts are each a product that is not computed, of other numbers or in another order: 3 × 2, 2 × 3.

    They may be sizes of a matrix, or groups of things.
    """
    products = [_SIZE.fullmatch(text.strip(" .$")) for text in (one, other)]
    return len({found.groups() for found in products if found is not None}) > 1


def _in_another_row(one: str, other: str) -> bool:
    """Whether two texts are numbers in brackets, from 1 on, in two orders: (2)(1)(3) and (1)(2)(3)."""
    rows = [_ROW.findall(text) if _ROWS.fullmatch(text.strip()) else [] for text in (one, other)]
    return rows[0] != rows[1] and all(
        row and sorted(row) == [str(place) for place in range(1, len(row) + 1)] for row in rows
    )


def _names(value: Value) -> list[str]:
    """The names of a list of names, such as p, q; empty for any other value."""
    match value:
        case Items(values=values, brackets=""):
            names = [each.tree.name for each in values if isinstance(each, Quantity) and isinstance(each.tree, Name)]
            return names if len(names) == len(values) else []
    return []


def _connector(text: str) -> str:
    tokens = value_or_none(tokens_of, text)
    return "" if tokens is None else connected(tokens)[1]
