"""Chemical formulas and reactions: H2O and H_2O, NaCl + H2O, 2H2 + O2 -> 2H2O, SO4^2-."""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import NotAnExpressionError, Number
from touchstone.checks.values.kinds import Formula, Species
from touchstone.packaged import own_table

ELEMENTS = frozenset(own_table(__file__)["elements"])
LENGTH = 120
"""Characters of a formula or reaction."""
LARGEST_COUNT = 9_999
_SPECIES = re.compile(
    r"(?P<count>\d{0,4}+)(?P<body>(?:[A-Z][a-z]?\d{0,4}|[(\[]|[)\]]\d{0,4}|\*\d{0,3}){1,40}+)"
    r"(?:\^(?P<charge>\d?[+-]|[+-]\d?)|(?P<sign>[+-]))?(?P<state>\((?:g|l|s|aq)\))?"
)
_PART = re.compile(r"([A-Z][a-z]?)(\d*)|([(\[])|([)\]])(\d*)")
_ARROWS = re.compile(r"->|<=>|=>|=")
_PLUS = re.compile(r"(?<=[A-Za-z0-9)\]])\s\+\s|(?<=[A-Za-z)\]\d])\+(?=\d{0,4}[A-Z])")
_COUNT = re.compile(r"\d{1,4}+")
_DEPTH = 4
_STATES = frozenset(("↑", "↓", "\\uparrow", "\\downarrow"))
"""Signs that a gas rises and a solid falls, which are no part of the formula."""


def formula(tokens: Sequence[Token]) -> Formula:
    """The formula or reaction that all of the tokens write. Raises NotAnExpressionError."""
    tokens = [token for token in tokens if token.text not in _STATES]
    if any(token.kind not in ("letters", "number", "sign", "open", "close") for token in tokens):
        raise NotAnExpressionError("not a chemical formula")
    text = "".join(
        (" " if token.spaced and not token.upright else "") + token.text for token in tokens if token.text not in "{}_"
    ).strip()
    if len(text) > LENGTH or not any(character.isupper() for character in text):
        raise NotAnExpressionError("not a chemical formula")
    sides = _ARROWS.split(text)
    if len(sides) > 2:  # noqa: PLR2004 - what reacts, and what comes of it
        raise NotAnExpressionError("not a chemical formula")
    return Formula(tuple(tuple(_species(part) for part in _PLUS.split(side.strip())) for side in sides))


def _species(text: str) -> Species:
    match = _SPECIES.fullmatch(text.replace(" ", ""))
    if match is None:
        raise NotAnExpressionError("not a chemical formula")
    atoms, parts = Counter[str](), list[str]()
    for segment in match["body"].split("*"):
        # CuSO4·5H2O: each part behind a dot with its own number.
        count = _COUNT.match(segment)
        times = int(count[0]) if count else 1
        inside, written = _atoms(segment[count.end() :] if count else segment)
        atoms.update({element: number * times for element, number in inside.items()})
        parts += [f"{times}*", *written]
    charge = match["charge"] or match["sign"] or "0"
    size = int(charge.strip("+-") or 1)
    number = Number(Fraction(int(match["count"] or 1)))
    loose = match["sign"] is not None and match["body"][-1].isdigit()
    size = -size if "-" in charge else size
    return Species(number, tuple(parts), tuple(sorted(atoms.items())), size, match["state"] or "", loose)


def _atoms(body: str) -> tuple[Counter[str], list[str]]:
    """How often each element occurs, and the parts as written."""
    levels: list[Counter[str]] = [Counter()]
    parts: list[str] = []
    for element, number, opened, closed, times in _PART.findall(body):
        count = int(number or times or 1)
        if not 0 < count <= LARGEST_COUNT:
            raise NotAnExpressionError("not a chemical formula")
        if element:
            if element not in ELEMENTS:
                raise NotAnExpressionError(f"no element {element!r}")
            levels[-1][element] += count
            parts.append(f"{element}{count}")
        elif opened and len(levels) <= _DEPTH:
            levels.append(Counter())
            parts.append("(")
        elif closed and len(levels) > 1:
            inside = levels.pop()
            levels[-1].update({each: inside[each] * count for each in inside})
            parts.append(f"){count}")
        else:
            raise NotAnExpressionError("not a chemical formula")
    if len(levels) > 1 or not levels[0]:
        raise NotAnExpressionError("not a chemical formula")
    return levels[0], parts
