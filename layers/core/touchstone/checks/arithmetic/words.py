"""The words around numbers that decide whether a statement may be read as plain arithmetic."""

import re
from fractions import Fraction

OPERATOR_WORDS = {
    "plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/",
    "加上": "+", "加": "+", "减去": "-", "減去": "-", "减": "-", "減": "-",
    "乘以": "*", "乘": "*", "除以": "/",
}  # fmt: skip

MODIFIERS = frozenset(
    [
        "half",
        "halve",
        "third",
        "thirds",
        "quarter",
        "quarters",
        "fourth",
        "fourths",
        "fifth",
        "fifths",
        "twice",
        "thrice",
        "double",
        "triple",
        "quadruple",
        "of",
        "than",
        "as",
        "by",
        "times",
        "plus",
        "minus",
        "over",
        "per",
        "sum",
        "difference",
        "product",
        "quotient",
        "ratio",
        "between",
        "and",
        "or",
        "to",
        "from",
        "at",
        "square",
        "squared",
        "cube",
        "cubed",
        "root",
        "negative",
        "mod",
        "modulo",
        "less",
        "more",
        "fewer",
        "remaining",
        "divided",
        "multiplied",
        "dividing",
        "multiplying",
        "subtracting",
        "adding",
        "subtract",
        "add",
        "divide",
        "multiply",
        "increase",
        "increased",
        "decrease",
        "decreased",
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "log",
        "ln",
        "lg",
        "exp",
        "sqrt",
        "max",
        "min",
        "gcd",
        "lcm",
        "hcf",
        "abs",
        "floor",
        "ceil",
        "det",
        "lim",
        "arcsin",
        "arccos",
        "arctan",
        "pages",
        "page",
        "chapters",
        "chapter",
        "verses",
        "verse",
        "score",
        "odds",
        "hundred",
        "thousand",
        "million",
        "dozen",
    ]
)
"""Words after which a number is an argument of something larger, so that a reading which begins there is not whole."""

MODIFIER_CHARACTERS = frozenset("比的倍半多少除乘减減加第与與和跟至到从從余餘方根")
NUMERAL_CHARACTERS = frozenset("二三四五六七八九十百千两兩")

UNIT_STOPS = frozenset(
    [
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "equals",
        "equal",
        "equates",
        "more",
        "less",
        "fewer",
        "than",
        "half",
        "twice",
        "thrice",
        "double",
        "triple",
        "which",
        "so",
        "then",
        "if",
        "that",
        "because",
        "since",
        "but",
        "we",
        "he",
        "she",
        "they",
        "it",
        "therefore",
        "thus",
        "hence",
        "not",
        "plus",
        "minus",
        "times",
        "into",
        "from",
        "with",
        "to",
        "as",
        "remainder",
        "squared",
        "cubed",
        "factorial",
    ]
)
"""Words that never belong to a unit such as "tablespoons of sugar per muffin"."""
UNIT_STOP_CHARACTERS = frozenset("的是比和与與多少倍半即所以因为則则等于於得，共")

RESULT_STOPS = frozenset(
    [
        "or",
        "to",
        "times",
        "mod",
        "modulo",
        "squared",
        "cubed",
        "factorial",
        "choose",
        "percent-points",
        "divided",
        "multiplied",
    ]
)
"""Words after a result that make it part of something else."""

SCALES = {
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
    "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8,
}  # fmt: skip

_UNITS = {
    "length": {
        "mm millimeter millimeters millimetre millimetres 毫米": Fraction(1, 1000),
        "cm centimeter centimeters centimetre centimetres 厘米 公分": Fraction(1, 100),
        "dm 分米": Fraction(1, 10),
        "meter meters metre metres 米 公尺": Fraction(1),
        "km kilometer kilometers kilometre kilometres 千米 公里": Fraction(1000),
        "inch inches in": Fraction(254, 10000),
        "ft foot feet": Fraction(3048, 10000),
        "yd yard yards": Fraction(9144, 10000),
        "mi mile miles": Fraction(1609344, 1000),
    },
    "mass": {
        "mg milligram milligrams 毫克": Fraction(1, 1000),
        "gram grams 克": Fraction(1),
        "kg kilogram kilograms 千克 公斤": Fraction(1000),
        "斤": Fraction(500),
        "tonne tonnes 吨 噸": Fraction(10**6),
        "lb lbs pound pounds": Fraction(45359237, 100000),
        "oz ounce ounces": Fraction(45359237, 1600000),
    },
    "time": {
        "sec secs second seconds 秒": Fraction(1),
        "min mins minute minutes 分钟 分鐘": Fraction(60),
        "hr hrs hour hours 小时 小時": Fraction(3600),
        "day days 天 日": Fraction(86400),
        "week weeks 周 週 星期": Fraction(604800),
    },
    "calendar": {
        "month months 个月 個月 月": Fraction(1),
        "year years 年": Fraction(12),
        "decade decades": Fraction(120),
        "century centuries": Fraction(1200),
    },
    "money": {
        "cent cents penny pennies 分": Fraction(1, 100),
        "nickel nickels": Fraction(5, 100),
        "dime dimes 角": Fraction(10, 100),
        "dollar dollars buck bucks $ 元 ¥ ￥ 块 塊": Fraction(1),
        "euro euros €": Fraction(1),
        "pence": Fraction(1, 100),
        "£": Fraction(1),
    },
    "volume": {
        "ml milliliter milliliters 毫升": Fraction(1, 1000),
        "liter liters litre litres 升": Fraction(1),
        "cup cups": Fraction(2365882365, 10**10),
        "pint pints": Fraction(473176473, 10**9),
        "quart quarts": Fraction(946352946, 10**9),
        "gallon gallons": Fraction(3785411784, 10**9),
    },
}  # fmt: skip

UNITS: dict[str, tuple[str, Fraction]] = {
    name: (dimension, factor)
    for dimension, group in _UNITS.items()
    for names, factor in group.items()
    for name in names.split()
}
"""Name → dimension and size. Sizes within a dimension are exact; one name may stand for several units (分), which is
safe because a statement with two different units is flagged only where both readings, with and without them, fail."""

RELATED_DIMENSIONS = {"calendar": "time"}
"""Dimensions that people convert into each other by a rule of thumb (a month of 30 days), so never by this check."""

ATTACHED_UNITS = frozenset(name for name in UNITS if len(name) > 1 and name.isascii()) | {"mph", "kmh", "kwh", "hz"}
"""Units that may follow a number without a space; single letters could be variables."""

_CHINESE_UNITS = re.compile(
    "|".join(sorted((name for name in UNITS if not name.isascii() and name.isalpha()), key=len, reverse=True))
)


def units_in(words: tuple[str, ...]) -> list[str]:
    """The known units that occur in the words behind a number, the Chinese ones by their longest names."""
    known = [word for word in words if word in UNITS and not _CHINESE_UNITS.fullmatch(word)]
    return known + _CHINESE_UNITS.findall("".join(word for word in words if not word.isascii()))
