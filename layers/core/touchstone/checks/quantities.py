"""How one number, quantity or expression is read: `12 cm`, `¤3.50`, `2小时30分`, `28 percent`, `三十二个`, `2x+1`."""

import re
from fractions import Fraction

from touchstone.checks.expressions import has_names
from touchstone.checks.numerals import SCALES, numeral
from touchstone.checks.syntax import parse
from touchstone.checks.tokens import Apply, NotAnExpressionError, Number, Tree
from touchstone.checks.units import UNIT_LENGTH_LIMIT, Unit, units_of
from touchstone.checks.values import Scalar

_PERCENT_WORDS = re.compile(r"(?<=[\d}) ])\s*(?:percent(?:age)?|pct|per cent)\b\.?", re.IGNORECASE)
_CURRENCY = re.compile(r"([-+]?)\s*(US ?¤|USD|RMB|CNY|[¤€£¥￥])\s*(?=[\d.\\-])")
_CURRENCY_UNITS = {"USD": "¤", "US¤": "¤", "US ¤": "¤", "RMB": "元", "CNY": "元", "¥": "元", "￥": "元"}
_PART = re.compile(
    r"(\d+(?:\.\d+)?|[一二两三四五六七八九十百千万]+)\s*([A-Za-z\u4e00-\u9fff]+?)(?=\s*(?:\d|[一二两三四五六七八九十]|$))"
)
_UNIT_START = re.compile(r"[A-Za-zμΩ°€£¢¤¥㎡\u4e00-\u9fff]")
_LETTER = re.compile(r"[A-Za-z\\]")
_LEAD = re.compile(r"^(?:(?:\\approx|一共|总共|共|还|需要|要|应该|应|有|是|为|得|等于)\s*)+")
_PARENTHESIS = re.compile(r"\s*\(\s*([A-Za-zμΩ°\u4e00-\u9fff/]{1,12})\s*\)$")


def scalar(text: str) -> Scalar:
    """The scalar that the whole of `text` writes. Raises NotAnExpressionError."""
    text = _LEAD.sub("", text.strip())
    text = _PERCENT_WORDS.sub("%", text)
    if (written := numeral(text)) is not None:
        return Scalar(written)
    if (priced := _CURRENCY.match(text)) is not None:
        amount = scalar(priced[1] + text[priced.end() :])
        own = units_of(_CURRENCY_UNITS.get(priced[2], priced[2]))
        return Scalar(amount.tree, own) if not amount.units or _same_money(amount.units, own) else _refuse(text)
    if text.startswith("百分之"):
        return Scalar(_number(text), percent=True)
    if text.endswith("%"):
        return Scalar(Apply("percent", (_number(text[:-1]),)), percent=True)
    if (whole := _compound(text)) is not None:
        return whole
    if (bracketed := _PARENTHESIS.search(text)) is not None and (units := units_of(bracketed[1])):
        # The school's way to write a unit after a calculation: 3×4=12(个).
        return Scalar(_number(text[: bracketed.start()]), units)
    return _with_unit(text) or Scalar(parse(text))


def _refuse(text: str) -> Scalar:
    raise NotAnExpressionError(f"two currencies in {text[:20]!r}")


def _same_money(left: tuple[Unit, ...], right: tuple[Unit, ...]) -> bool:
    return any(unit.dimension == other.dimension for unit in left for other in right)


def _number(text: str) -> Tree:
    return numeral(text) or parse(text)


def _compound(text: str) -> Scalar | None:
    """Parts in descending units of one dimension, added up: 2小时30分钟, 1 m 20 cm, 5元3角."""
    parts = _PART.findall(text) if len(text) <= UNIT_LENGTH_LIMIT else []
    if len(parts) < 2 or "".join("".join(part) for part in parts) != text.replace(" ", ""):  # noqa: PLR2004
        return None
    readings = [[unit for unit in units_of(name) if unit.noun is None] for _, name in parts]
    for first in readings[0]:
        same = [[unit for unit in reading if unit.dimension == first.dimension] for reading in readings]
        factors = [reading[0].factor for reading in same if reading]
        if len(factors) == len(parts) and factors == sorted(set(factors), reverse=True):
            amounts = [numeral(amount) for amount, _ in parts]
            total = sum(
                (amount.value * factor for amount, factor in zip(amounts, factors, strict=True) if amount is not None),
                start=Fraction(0),
            )
            return Scalar(Number(total / first.factor), (first,)) if None not in amounts else None
    return None


def _with_unit(text: str) -> Scalar | None:
    """A number or expression and the longest unit that can stand behind it."""
    for place in range(max(1, len(text) - UNIT_LENGTH_LIMIT), len(text)):
        if not _UNIT_START.match(text[place]):
            continue
        before, name = text[:place], text[place:]
        tight, latin = not before.endswith((" ", ")", "}")), name[0].isascii() and name[0].isalpha()
        if latin and _LETTER.match(before[-1]):
            continue
        units = units_of(name)
        if (
            not units
            or (name == "°" and _LETTER.search(before))
            or (tight and latin and any(unit.noun for unit in units))
        ):
            continue
        before = before.rstrip(" *")
        scale = name.split()[0] if name.split()[0] in SCALES else None
        try:
            tree = _number(before)
        except NotAnExpressionError:
            continue
        if has_names(tree) and any(unit.noun for unit in units):
            continue
        if scale is not None and len(name.split()) > 1:
            return scalar_of_scaled(before, name)
        if tight and len(name) == 1 and latin:
            units = tuple(Unit(unit.dimension, unit.factor, lone_letter=True) for unit in units)
        return Scalar(tree, units)
    return None


def scalar_of_scaled(before: str, name: str) -> Scalar | None:
    """`3 million people`: the scale belongs to the number."""
    scale, _, rest = name.partition(" ")
    written = numeral(f"{before} {scale}")
    return None if written is None else Scalar(written, units_of(rest))
