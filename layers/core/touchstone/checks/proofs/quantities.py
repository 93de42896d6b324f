"""Conversions of units."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re
from fractions import Fraction

from touchstone.checks.findings import Proof
from touchstone.checks.notation.units import units_of
from touchstone.checks.proofs.kinds import Kind, Task, number_of, patterns
from touchstone.checks.proofs.sentences import sentence
from touchstone.checks.proofs.values import may_be_rounding

_UNSETTLED = frozenset(
    ("ton", "tons", "gallon", "gallons", "quart", "quarts", "pint", "pints", "cup", "cups", "month", "months", "year",
     "years", "个月", "月", "年", "分", "吨", "里", "两", "°", "degree", "degrees", "度")
)  # fmt: skip
"""Units of more than one size or meaning: their conversion depends on the country, or on the month."""
_CLOSE = Fraction(1, 50)
"""An answer this near may rest on a rounded factor (1.6 km a mile)."""
_NUMBER = r"\d++(?:,\d{3})*+(?:\.\d++)?"
_UNIT = r"[A-Za-zμ°Ω²³/^{}\d ]{1,30}?"
_HAN = r"[A-Za-zμ㎡\u4e00-\u9fff²³^{}\d/]{1,10}?"


def _factor(name: str) -> tuple[object, Fraction] | None:
    """Dimension and size of a unit with one settled meaning."""
    readings = units_of(name)
    if len(readings) != 1 or name in _UNSETTLED or readings[0].noun or not readings[0].dimension:
        return None
    return readings[0].dimension, readings[0].factor


def _convert(task: Task) -> Proof | None:
    number, source, target = number_of(task["number"]), _factor(task["source"]), _factor(task["target"])
    if number is None or source is None or target is None or source[0] != target[0] or source == target:
        return None
    value = number.value * source[1] / target[1]
    match = re.fullmatch(rf"(?:.*=\s*)?(?P<number>-?{_NUMBER}(?:/\d+)?)\s*(?P<unit>\D.*)?", task.answer)
    stated = number_of(match["number"]) if match is not None else None
    if match is None or stated is None:
        return None
    if match["unit"] is not None and _factor(match["unit"].strip()) != target:
        return None
    quantity = f"{task['number']} {task['source']}"
    correct = f"{_decimal(value)} {task['target']}"
    line = sentence("convert", task.language, quantity=quantity, value=_decimal(value), unit=task["target"])
    if stated.value == value:
        return task.compared("convert", line, equal=True, correct=correct)
    if may_be_rounding(stated, value) or (value.denominator != 1 and abs(stated.value - value) <= _CLOSE * abs(value)):
        return None
    return task.compared("convert", line, equal=False, correct=correct)


def _decimal(value: Fraction) -> str:
    """An exact value as a decimal where that is short, else as a fraction."""
    scaled = value * 10**9
    if scaled.denominator != 1 or abs(scaled) > 10**15:
        return str(value)
    return f"{float(value):.9f}".rstrip("0").rstrip(".")


KINDS = (
    Kind(
        "convert",
        patterns(
            rf"convert (?P<number>{_NUMBER})\s*(?P<source>{_UNIT}) (?:in)?to (?P<target>{_UNIT})",
            rf"how many (?P<target>{_UNIT}) (?:are )?(?:there )?(?:are )?in (?P<number>{_NUMBER})\s*(?P<source>{_UNIT})",
            rf"(?:express|write|change) (?P<number>{_NUMBER})\s*(?P<source>{_UNIT}) (?:in|to|into) (?P<target>{_UNIT})",
            rf"(?:单位换算|單位換算|换算|換算)?\s*:?\s*(?P<number>{_NUMBER})\s*(?P<source>{_HAN})\s*(?:=|等于|等於)\s*(?:多少|几|\(\s*\)|_+)\s*(?P<target>{_HAN})",
            rf"[把将將]\s*(?P<number>{_NUMBER})\s*(?P<source>{_HAN})\s*(?:换算成|换算为|換算成|化成|化为|转换成|转换为)\s*(?P<target>{_HAN})",
        ),
        _convert,
    ),
)
