"""Units of measurement with dimension and factor, counting words, and how a quantity is split into number and unit."""

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from touchstone.checks.tokens import CONSTANTS, GREEK, ONE_ARGUMENT

type Dimension = tuple[tuple[str, int], ...]
"""Exponents of base dimensions, sorted by name: a speed is `(("length", 1), ("time", -1))`."""

UNIT_LENGTH_LIMIT = 60
"""Characters of a unit or of the words after a number."""
FACTOR_LIMIT = 4
"""Factors of a compound unit above or below its stroke. A name may have two readings, so that each factor may double
what there is to compare; no unit in use has more than three (kg·m^2/s^3)."""
NOUN_LENGTH = 3
"""Letters of a noun, at least; fewer are variables or an unknown unit."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What one of a unit is worth in base units. `noun` is set for things counted, which have no dimension.

    `lone_letter`: one Latin letter written against the number (`5m`), which may be a variable.
    """

    dimension: Dimension
    factor: Fraction
    noun: str | None = None
    lone_letter: bool = False


def _load() -> dict[str, list[Unit]]:
    """The table of units: a dimension, and for each of its units the names and what one is worth in base units."""
    table: dict[str, list[Unit]] = {}
    for group in json.loads(Path(__file__).with_name("units.json").read_text(encoding="utf-8")):
        dimension = tuple(sorted(group["dimension"].items()))
        for names, factor in group["units"].items():
            for name in names.split():
                table.setdefault(name, []).append(Unit(dimension, Fraction(factor)))
    return table


UNITS = _load()
"""Every name of a unit with its readings: 分 is a minute and a hundredth of a yuan."""

_CLASSIFIERS = (
    "个只棵名人本支条张件辆头匹朵颗粒袋盒箱瓶杯碗双对套台次遍层页行列排位所家间座艘架根枝片串筐桶束岁题道步种类组倍场句字枚册包"
    "把面口盆队班把幢栋顶副滴株群堆捆户处项段则部扇节篇首盏份桌回趟圈块"
)
_COUNTED = re.compile(rf"(?:[{_CLASSIFIERS}]|人次|平方|立方)?[\u4e00-\u9fff]{{0,6}}")
_FACTOR = re.compile(r"([A-Za-zμΩ°€£¢¤¥㎡\u4e00-\u9fff]+)\s?(?:\^\s?\{?\s?(-?[1-9])\s?\}?)?")
_SQUARES = {"square ": 2, "sq ": 2, "sq. ": 2, "cubic ": 3, "cu ": 3}
_WORDS = re.compile(r"[A-Za-z][A-Za-z'-]*(?: [A-Za-z][A-Za-z'-]*){0,5}")
_NOT_COUNTED = frozenset(
    (
        "and", "or", "if", "when", "where", "for", "with", "mod", "is", "are", "least", "most", "about",
        "approximately", "than", "to", "not", "no", "many", "much", "few", "percent", "base", "times", "plus", "minus",
        "over", "from", "under", "except", *ONE_ARGUMENT, *GREEK, *CONSTANTS,
    )
)  # fmt: skip
_VAGUE = re.compile("左右|以上|以下|以内|以外|多|余|不到|至少|至多|大约|几|或")
"""Words that make a number a bound or an estimate: then it is not that number."""


def units_of(text: str) -> tuple[Unit, ...]:
    """All readings of the unit that the whole of `text` names, none where it names no unit.

    Knows products, quotients and powers (`m/s`, `kg·m^2`, `千米/小时`, `元/千克`, `square feet`, `km per hour`), and
    counting words with what they count (`棵树`, `个苹果`, `apples`).
    """
    text = text.strip().rstrip(".")
    if not text or len(text) > UNIT_LENGTH_LIMIT:
        return ()
    return tuple(UNITS.get(text, ())) or _compound(text) or _noun(text)


def _compound(text: str) -> tuple[Unit, ...]:
    for prefix, power in _SQUARES.items():
        if text.startswith(prefix):
            return tuple(_power(unit, power) for unit in UNITS.get(text.removeprefix(prefix), ()))
    text = re.sub(r"\s(?:per|an?)\s|(?<=[\u4e00-\u9fff])每(?=[\u4e00-\u9fff])", "/", text)
    over, slash, under = text.replace(" ", "").partition("/")
    tops = _product(over)
    if not slash:
        return tops
    bottoms = [_power(bottom, -1) for bottom in _product(under.strip("()"))] if tops else []
    return tuple(_times(top, bottom) for top in tops for bottom in bottoms)


def _product(text: str) -> tuple[Unit, ...]:
    readings: tuple[Unit, ...] = (Unit((), Fraction(1)),)
    factors = text.split("*")
    if len(factors) > FACTOR_LIMIT:
        return ()
    for factor in factors:
        match = _FACTOR.fullmatch(factor)
        known = UNITS.get(match[1], ()) if match else ()
        power = int(match[2] or 1) if match else 1
        readings = tuple(dict.fromkeys(_times(reading, _power(unit, power)) for reading in readings for unit in known))
    return readings


def _power(unit: Unit, power: int) -> Unit:
    return Unit(tuple((name, exponent * power) for name, exponent in unit.dimension), unit.factor**power)


def _times(left: Unit, right: Unit) -> Unit:
    exponents = dict(left.dimension)
    for name, exponent in right.dimension:
        exponents[name] = exponents.get(name, 0) + exponent
    dimension = tuple(sorted((name, exponent) for name, exponent in exponents.items() if exponent))
    return Unit(dimension, left.factor * right.factor)


def _noun(text: str) -> tuple[Unit, ...]:
    """The reading of `text` as something counted."""
    if _COUNTED.fullmatch(text) and text[0] in _CLASSIFIERS and not _VAGUE.search(text):
        return (Unit((), Fraction(1), noun=text),)
    words = text.lower().split()
    if (
        _WORDS.fullmatch(text)
        and len(words[0]) >= NOUN_LENGTH
        and not _NOT_COUNTED.intersection(words)
        and min(map(len, words)) > 1
    ):
        return (Unit((), Fraction(1), noun=_singular(text.lower())),)
    return ()


def _singular(words: str) -> str:
    return " ".join(word.removesuffix("s") if len(word) > NOUN_LENGTH else word for word in words.split())
