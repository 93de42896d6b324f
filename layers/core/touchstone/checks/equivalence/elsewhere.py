"""Numbers that mean another value elsewhere.

1.200 may be 1200 and 1,200 may be 1.2; 0,5x may be 0.5x; 3-1/2 may be 3½, 3-4-5 three numbers, A-C-B three steps and
5–6 a range; (500) may be -500, 10 × 5 cm two lengths, and 3.10^8 a power of ten.
"""

import re
from fractions import Fraction
from itertools import product

from touchstone.checks.equivalence.extraction import typed, without_lead_in
from touchstone.checks.equivalence.reading import ReadAnswer
from touchstone.checks.notation.precedence import DIVISOR, EXPONENT, POWER, ROOT_BELOW
from touchstone.checks.notation.unit_reading import is_foreign, units_of

_EITHER = re.compile(
    r"(?<![\w.,])[1-9]\d{0,2}(?P<mark>\.|,|\{,\})\d{3}(?!\d|[.,]\d|[eE]|\{,\}|\s?(?:[*×·⋅^]|\\times|\\cdot))", re.ASCII
)
"""A number whose point or comma separates thousands or decimals. The mantissa of a power of ten has decimals."""
_DIGITS = r"(?:\d{1,12},(?:\d{1,2}|\d{4,12})|\d{4,12},\d{3})(?!\d|[.,]\d"
_COMMA = re.compile(
    rf"(?<![\w.,{{(\[]){_DIGITS})|(?<=[{{(\[]){_DIGITS}|\s?\\?[}})\]])"
    r"|(?<![\w.,{(\[])\d{1,12},\d{0,12}(?=\(\d{1,12}\)|\\(?:overline|bar|dot)(?![A-Za-z]))",
    re.ASCII,
)
"""Two numbers of a list, or one with a decimal comma; in brackets of their own they are a pair."""
_SETTLED = re.compile(
    r"(?<![\d.])(?:0|\d{4,30}+)?\.\d|\d\.(?:\d{1,2}+|\d{4,30}+)(?![.\d])|\d,\d{3},|[\u3400-\u9fff]|\b(?:the|answer)\b",
    re.IGNORECASE,
)
"""Another number, or a word, which shows that the point of a text is a decimal point."""
_MIXED = re.compile(r"(?P<whole>\d{1,4})(?P<mark>-)(?P<over>\d{1,3})/(?P<under>\d{1,3})", re.ASCII)
"""A mixed number with a hyphen, as American trades write it, or a difference."""
_CHAIN = re.compile(r"\d{1,3}(?:-\d{1,3}){2,4}", re.ASCII)
"""The sides or angles of a triangle, or a difference: 30-60-90."""
_PATH = re.compile(r"[A-Z][A-Za-z0-9]{0,7}(?:-[A-Z][A-Za-z0-9]{0,7}){2,12}", re.ASCII)
"""Points, steps or groups in their order, or a difference: A-C-B."""
_NUMBERED = re.compile(r"(?<=\(\d)\) ?\((?=\d\))", re.ASCII)
"""What is between the numbers of two statements, or of two factors: (1)(3)."""
_PLACE = re.compile(r"(?P<name>[A-Za-z]{1,20})(?P<places>(?:\[\w{1,8}\]){1,3})", re.ASCII)
"""A member of a list, as programs write it, or a product: x[0]."""
_POWER = re.compile(r"(?<![\d.])(\d)\.10\^", re.ASCII)
"""A power of ten behind a point that multiplies, or a power of a decimal: 3.10^8."""
_CHOSEN = re.compile(r"C_(?:\{([mn])\}|([mn]))\^(?:\{(\w)\}|(\w))", re.ASCII)
"""A number of combinations, as China writes it, or the square of a C with an index."""
_ORDER = re.compile(r"([OΘΩ])\((\d{1,9} ?[*·]? ?)(?=[A-Za-z\\])")
"""The order of a function with a factor, which says nothing there: O(2n)."""
_RANGE = re.compile(
    r"(?:.{0,60}[=≈] ?)?(?P<low>[€£¥]?(?P<first>\d{1,12}(?:[.,]\d{1,12})?)[%°]?)-"
    r"(?P<high>[€£¥]?(?P<last>\d{1,12}(?:[.,]\d{1,12})?)[%°]?)(?P<unit> ?[^\d\s-].{0,40})?",
    re.ASCII,
)
"""Two numbers with a dash and no blanks between them: a range or a difference, unless the dash is a minus sign."""
_YEARS = re.compile(r"(1[5-9]|20)(\d\d)-(\d\d)", re.ASCII)
"""A range of years of one century, or a difference: 1939-45."""
_SIZES = re.compile(
    r"\d{1,12}(?:\.\d{1,12})?(?: ?(?:[×x]|\\times) ?\d{1,12}(?:\.\d{1,12})?){1,3} ?(?P<unit>[^\d\s].{0,40})"
)
"""Lengths with one unit behind them, which measures each of them; or their product in this unit."""
_BY = re.compile(r"(?<=\d) ?(?:[×x]|\\times)")
_LENGTH = (("length", 1),)
_OTHERWISE = (
    (".10^", _POWER, r"\1×10^"),
    ("C_", _CHOSEN, r"\\binom{\1\2}{\3\4}"),
    ("(", _ORDER, r"\1("),
    (")", _NUMBERED, ", "),
    DIVISOR,
    EXPONENT,
    POWER,
    ROOT_BELOW,
)
"""Forms that the other side may write otherwise: what each of them holds, its pattern, and as what it is read."""
_EUROS = re.compile(r"€ ?\d{1,3}\.\d{3}(?!\d)|(?<![\d.,])\d{1,3}\.\d{3} ?(?:€|[Ee]uros?\b|EUR\b)", re.ASCII)
"""Euros with three digits behind a point: countries with this money separate thousands so."""
_LONG_SCALE = {"Billion": "trillion", "Trillion": "quintillion"}
_LONG = re.compile(r"\b(?:Billion|Trillion)\b")
"""Numbers of German, in whose scale a Billion is a million millions; English has them with capitals in headings."""
_LOSS = re.compile(r"[$€£]?\((?P<loss>[$€£]?(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,12})(?:\.\d{1,12})?)\)", re.ASCII)
"""A number in brackets, which in accounts is negative."""


def read_elsewhere(given: ReadAnswer, expected: ReadAnswer, *, same: bool) -> list[tuple[str, str]]:
    """Two answers, called the same or different, with their numbers as they are read elsewhere; empty without such.

    Each answer may come from elsewhere, unless both have the same sign in their numbers.
    A separator counts where the answers differ as they are read here, or where their text is of another language.
    """
    answers = given.part, expected.part
    other = [ways_elsewhere(each.part, each.original, same=same) for each in (given, expected)]
    together = other[0].keys() & other[1].keys()
    ways = [(answer, *found.values()) for answer, found in zip(answers, other, strict=True)]
    pairs = [(other[0][sign], other[1][sign]) for sign in sorted(together)] or [*product(ways[0], ways[1])]
    return [pair for pair in dict.fromkeys(pairs) if pair != answers]


def ways_elsewhere(answer: str, text: str, *, same: bool) -> dict[str, str]:
    """An answer as it is read elsewhere, by the sign in it that is read otherwise there; empty if it is not.

    `text` is the whole text, and `same` whether the answer is called the same as another.
    """
    answer = answer.rstrip(". ")
    if (mixed := _MIXED.fullmatch(answer.strip("$ "))) is not None and int(mixed["over"]) < int(mixed["under"]):
        return {"-": f"{mixed['whole']} {mixed['over']}/{mixed['under']}"}
    if _CHAIN.fullmatch(answer):
        return {"-": answer.replace("-", ", "), "->": _in_order(answer)}
    if _PATH.fullmatch(answer):
        return {"->": _in_order(answer)}
    if (place := _PLACE.fullmatch(answer)) is not None:
        return {"[": f"{place['name']}_{{{''.join(re.findall(r'\w+', place['places']))}}}"}
    plain = answer.replace("$", "").strip()
    if "−" not in text and (between := _as_range(plain)):
        return {"-": between}
    if (sizes := _SIZES.fullmatch(plain)) is not None and _is_length(sizes["unit"]):
        lengths = _BY.sub(f" {sizes['unit']}, ", plain)
        return {"×": f"{plain}^{1 + len(_BY.findall(plain))}", "x": lengths}
    for sign, pattern, read_as in () if same else _OTHERWISE:
        if sign in plain and pattern.search(plain):
            return {sign: pattern.sub(read_as, plain)}
    if same and not (is_foreign(text) or _EUROS.search(answer)):
        return {}
    loss = _LOSS.fullmatch(answer)
    ways = {} if loss is None else {"(": f"-{loss['loss']}"}
    if _LONG.search(answer):
        ways["Billion"] = _LONG.sub(lambda name: _LONG_SCALE[name[0]], answer)
    marks = {number["mark"] for number in _EITHER.finditer(answer)} | ({","} if _COMMA.search(answer) else set())
    if not marks or _SETTLED.search(without_lead_in(typed(text))):
        return ways
    exchanged = _EITHER.sub(
        lambda number: number[0].replace(number["mark"], "" if number["mark"] == "." else "."), answer
    )
    return ways | dict.fromkeys(marks, _COMMA.sub(lambda number: number[0].replace(",", "."), exchanged))


def _in_order(chain: str) -> str:
    """What is between the hyphens of a chain, each as a name of its own, in a tuple: the order counts there."""
    return f"({', '.join(f'x_{{{int.from_bytes(step.encode())}}}' for step in chain.split('-'))})"


def _as_range(answer: str) -> str:
    """`5–6 cm` and `1939–45` as intervals; "" for what is no range."""
    if (years := _YEARS.fullmatch(answer)) is not None and years[2] < years[3]:
        return f"[{years[1]}{years[2]}, {years[1]}{years[3]}]"
    between = _RANGE.fullmatch(answer)
    if between is None or not _ascends(between):
        return ""
    return "[{low}{0}, {high}{0}]".format(between["unit"] or "", **between.groupdict())


def _ascends(between: re.Match[str]) -> bool:
    """Whether two numbers may be the ends of a range: the first is less, and what follows them is a unit or nothing."""
    first, last = (Fraction(between[end].replace(",", "")) for end in ("first", "last"))
    unit = between["unit"] or ""
    return first < last and (not unit or (len(unit) > 1 and bool(units_of(unit))))


def _is_length(unit: str) -> bool:
    return any(reading.dimension == _LENGTH for reading in units_of(unit))
