"""Chemical formulas and reactions: H2O and H_2O, NaCl + H2O, 2H2 + O2 -> 2H2O, SO4^2-."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import NotAnExpressionError, Number
from touchstone.checks.values.kinds import Formula, Species
from touchstone.packaged import own_patterns, own_table

_TABLE = own_table(__file__)
ELEMENTS: list[str] = _TABLE["elements"]
"""The elements in the order of their atomic numbers."""
_PARTICLES: dict[str, str] = _TABLE["particles"]
_CORES: dict[str, str] = _TABLE["cores"]
_CAPACITY = {"s": 2, "p": 6, "d": 10, "f": 14}
LENGTH = 120
"""The most characters of a formula or reaction."""
LARGEST_COUNT = 9_999
_PATTERN = own_patterns(__file__)
_DEPTH = 4
_STATES = frozenset(("↑", "↓", "\\uparrow", "\\downarrow"))
"""Signs of a rising gas and of a falling solid; they are not part of the formula."""


def formula(tokens: Sequence[Token]) -> Formula:
    """The formula or reaction that all of the tokens form. Raises NotAnExpressionError if they form none."""
    tokens = [token for token in tokens if token.text not in _STATES]
    if any(token.kind not in ("letters", "number", "sign", "open", "close") for token in tokens):
        raise NotAnExpressionError("not a chemical formula")
    text = "".join(
        (" " if token.spaced and not token.upright else "") + token.text for token in tokens if token.text not in "{}"
    ).strip()
    if len(text) > LENGTH:
        raise NotAnExpressionError("not a chemical formula")
    if (orbitals := _configuration(text.replace(" ", ""))) is not None:
        return Formula((orbitals,))
    text = _PATTERN["index"].sub("", text)
    sides = _PATTERN["arrows"].split(text)
    if len(sides) > 2:  # noqa: PLR2004 - the sides are the reactants and the products
        raise NotAnExpressionError("not a chemical formula")
    return Formula(tuple(tuple(_species(part) for part in _PATTERN["plus"].split(side.strip())) for side in sides))


def _configuration(text: str) -> tuple[Species, ...] | None:
    """The electrons of an atom by orbital, `1s^22s^2` or `[Ar]3d^54s^1`, with the core written out.

    None if the text is no configuration. Raises NotAnExpressionError if an orbital or the core is impossible.
    """
    match = _PATTERN["orbitals"].fullmatch(text) if text else None
    if match is None:
        return None
    if match["core"] not in (None, *_CORES):
        raise NotAnExpressionError("no noble gas")
    written = _CORES.get(match["core"], "") + match["own"]
    electrons = [(orbital, int(number)) for orbital, number in _PATTERN["orbital"].findall(written)]
    orbitals = {orbital for orbital, _ in electrons}
    if len(orbitals) < len(electrons) or any(number > _CAPACITY[orbital[1]] for orbital, number in electrons):
        raise NotAnExpressionError("more electrons than an orbital holds")
    return tuple(
        Species(Number(Fraction(number)), (orbital,), ((orbital, 1),)) for orbital, number in electrons if number
    )


def _nuclide(text: str) -> Species | None:
    """An isotope or a particle, `^14_6C`; None if the text is neither.

    Raises NotAnExpressionError if the symbol is unknown or the atomic number belongs to another element.
    """
    match = _PATTERN["nuclide"].fullmatch(text)
    if match is None:
        return None
    symbol, mass = match["symbol"] or match["name"], match["mass"] or match["second"] or match["behind"]
    number = match["number"] or match["first"]
    own = _PARTICLES.get(symbol) or (str(ELEMENTS.index(symbol) + 1) if symbol in ELEMENTS else "")
    if own == "" or (number is not None and number not in own.split()):
        raise NotAnExpressionError("no such nuclide")
    part = f"{mass}{symbol}{number if symbol == 'e' else ''}"
    return Species(Number(Fraction(int(match["count"] or 1))), (part,), ((part, 1),))


def _species(text: str) -> Species:
    if (nuclide := _nuclide(text.replace(" ", ""))) is not None:
        return nuclide
    match = _PATTERN["species"].fullmatch(text.replace(" ", ""))
    if match is None:
        raise NotAnExpressionError("not a chemical formula")
    atoms, parts = Counter[str](), list[str]()
    for segment in match["body"].split("*"):
        # In CuSO4·5H2O, each part behind a dot has a count of its own.
        count = _PATTERN["count"].match(segment)
        times = int(count[0]) if count else 1
        inside, written = _atoms(segment[count.end() :] if count else segment)
        atoms.update({element: number * times for element, number in inside.items()})
        parts += [f"{times}*", *written]
    if (match["count"] or "").startswith("0"):
        raise NotAnExpressionError("digits to the base sixteen: 00FF")
    charge = match["charge"] or match["sign"] or "0"
    size = int(charge.strip("+-") or 1)
    number = Number(Fraction(int(match["count"] or 1)))
    loose = match["sign"] is not None and match["body"][-1].isdigit()
    size = -size if "-" in charge else size
    return Species(number, tuple(parts), tuple(sorted(atoms.items())), size, match["state"] or "", loose)


def _atoms(body: str) -> tuple[Counter[str], list[str]]:
    """How often each element occurs in a formula, and the parts of the formula as written."""
    levels: list[Counter[str]] = [Counter()]
    parts: list[str] = []
    for element, number, opened, closed, times in _PATTERN["part"].findall(body):
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
