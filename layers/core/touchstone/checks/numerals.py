"""Numbers as people write them, in digits, in Chinese and in English words, as exact rationals."""

import re
from fractions import Fraction

from touchstone.checks.tokens import Number, number

WORD_LIMIT = 60
"""Characters of a number in words."""

_DIGITS = {
    "零": 0, "〇": 0, "○": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7,
    "八": 8, "九": 9, "壹": 1, "贰": 2, "叁": 3, "肆": 4, "伍": 5, "陆": 6, "柒": 7, "捌": 8, "玖": 9,
}  # fmt: skip
_TENS = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_CHINESE = re.compile(f"[{''.join(_DIGITS)}{''.join(_TENS)}{''.join(_MYRIADS)}]+")
_SCALED = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?)\s*([十百千万亿萬億]+)")

_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SPACED = re.compile(r"-?\d{1,3}(?: \d{3})+(?:\.\d+)?")
_EUROPEAN = re.compile(r"-?\d{1,3}(?:\.\d{3})+,\d+")
_PLAIN = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)")
_REPEATING = re.compile(r"(-?)(\d+)\.(\d*)(?:\\overline\s?\{(\d+)\}|\\dot\s?\{?(\d)\}?)")

_ENGLISH = {word: value for value, word in enumerate(
    ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
     "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"))}  # fmt: skip
_ENGLISH_TENS = {word: 10 * tens for tens, word in enumerate(
    ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2)}  # fmt: skip
SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
"""Words that multiply the number before them."""


def numeral(text: str) -> Number | None:
    """The number that the whole of `text` writes; None where it is anything else.

    Reads `1,234.5`, `12 000`, `1.234,56`, `0.\\overline{3}`, 三十二, 二分之一, 百分之五十, 三又二分之一, 三点一四, 3万,
    `twenty-one`, `2 million`. A lone `3,5` is left to the caller: it may be two numbers. Raises OutOfBoundsError past
    the bound on digits.
    """
    text = text.strip()
    return _in_digits(text) or (in_words(text) if len(text) <= WORD_LIMIT else None)


def _in_digits(text: str) -> Number | None:
    if _PLAIN.fullmatch(text) or _GROUPED.fullmatch(text):
        return _signed(text)
    if _SPACED.fullmatch(text):
        return _signed(text.replace(" ", ""))
    if _EUROPEAN.fullmatch(text):
        return _signed(text.replace(".", "").replace(",", "."))
    if (repeating := _REPEATING.fullmatch(text)) is not None:
        sign, whole, fixed, *periods = repeating.groups()
        period = periods[0] or periods[1]
        value = number(f"{whole}.{fixed}").value + Fraction(
            number(period).value, 10 ** len(fixed) * (10 ** len(period) - 1)
        )
        return Number(-value if sign else value)
    return None


def _signed(text: str) -> Number:
    written = number(text.removeprefix("-"))
    return Number(-written.value, written.decimals) if text.startswith("-") else written


def in_words(text: str) -> Number | None:
    """The number that `text` writes in words, Chinese or English."""
    value = chinese(text)
    if value is None:
        value = english(text.lower())
    return None if value is None else Number(value)


def chinese(text: str) -> Fraction | None:
    """The value of a Chinese numeral: 三十二, 二分之一, 百分之五十, 三又二分之一, 负五, 零点五, 两万三, 3万, 一半."""
    if text.startswith("负") and (value := chinese(text[1:])) is not None:
        return -value
    if text == "一半":
        return Fraction(1, 2)
    if (scaled := _SCALED.fullmatch(text)) is not None:
        scale = _integer("一" + scaled[2])
        return None if scale is None else number(scaled[1]).value * scale
    if "又" in text:
        whole, _, part = text.partition("又")
        values = chinese(whole), chinese(part)
        return None if values[0] is None or values[1] is None else values[0] + values[1]
    if "分之" in text:
        under, _, over = text.partition("分之")
        divisor, dividend = _number_part(under), _number_part(over)
        return dividend / divisor if dividend is not None and divisor else None
    if "点" in text:
        whole, _, decimals = text.partition("点")
        digits = "".join(str(_DIGITS[character]) for character in decimals if character in _DIGITS)
        value = _integer(whole)
        return (
            None
            if value is None or len(digits) != len(decimals) or not digits
            else value + Fraction(int(digits), 10 ** len(digits))
        )
    return _integer(text)


def _number_part(text: str) -> Fraction | None:
    return number(text).value if _PLAIN.fullmatch(text) and not text.startswith("-") else chinese(text)


def _integer(text: str) -> Fraction | None:
    """The value of a Chinese integer; a run of bare digits (二〇二四) is read digit by digit."""
    if not _CHINESE.fullmatch(text):
        return None
    if len(text) > 1 and all(character in _DIGITS for character in text):
        return Fraction(int("".join(str(_DIGITS[character]) for character in text)))
    total = section = digit = 0
    unit = 1
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
            unit = 1 if character == "零" else unit
        elif character in _TENS:
            unit = _TENS[character]
            section += (digit or 1) * unit
            digit = 0
        else:
            unit = _MYRIADS[character]
            total = (total + section + digit) * unit if unit > total else total + (section + digit) * unit
            section = digit = 0
    # 两万三 is 23,000: a last digit right after a unit above ten counts tenths of it.
    trailing = digit * (unit // 10) if digit and unit > 10 and text[-2] not in "零〇" else digit  # noqa: PLR2004
    return Fraction(total + section + trailing)


def english(text: str) -> Fraction | None:
    """The value of an English numeral: `twenty-one`, `three hundred and five`, `2.5 million`, `one half`, `3 dozen`."""
    words = text.replace("-", " ").split()
    if words in (["half"], ["one", "half"], ["a", "half"]):
        return Fraction(1, 2)
    total, section, seen = Fraction(0), Fraction(0), False
    for word in words:
        if word == "and" and seen:
            continue
        if word in SCALES and (seen or word == "dozen"):
            section = (section or Fraction(1)) * SCALES[word]
            if SCALES[word] > 100:  # noqa: PLR2004 - hundreds belong to the thousand after them
                total, section = total + section, Fraction(0)
        elif (value := _ENGLISH.get(word, _ENGLISH_TENS.get(word))) is not None:
            section += value
        elif not seen and _PLAIN.fullmatch(word) and not word.startswith("-") and len(words) > 1:
            section += number(word).value
        else:
            return None
        seen = True
    return total + section if seen else None
