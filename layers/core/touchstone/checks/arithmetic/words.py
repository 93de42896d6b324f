"""The words around numbers that decide whether a statement may be read as plain arithmetic."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OPERATORS = {
    "plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/",
    "加上": "+", "加": "+", "减去": "-", "減去": "-", "减": "-", "減": "-", "乘以": "*", "乘": "*", "除以": "/",
}  # fmt: skip

MODIFIERS = _words(
    "half halve third thirds quarter quarters fourth fourths fifth fifths twice thrice double triple quadruple of than "
    "as by times plus minus over per sum difference product quotient ratio between and or to from at square squared "
    "cube cubed root negative mod modulo less more fewer remaining divided multiplied dividing multiplying subtracting "
    "adding subtract add divide multiply increase increased decrease decreased sin cos tan cot sec csc log ln lg exp "
    "sqrt max min gcd lcm hcf abs floor ceil det lim arcsin arccos arctan pages page chapters chapter verses verse "
    "score odds hundred thousand million dozen"
)
"""Words after which a number is an argument of something larger, so that a reading which begins there is not whole."""
MODIFIER_CHARACTERS = frozenset("比的倍半多少除乘减減加第与與和跟至到从從余餘方根")
NUMERAL_CHARACTERS = frozenset("二三四五六七八九十百千两兩")

UNIT_STOPS = _words(
    "and or is are was were be equals equal equates more less fewer than half twice thrice double triple which so then "
    "if that because since but we he she they it therefore thus hence not plus minus times into from with to as "
    "remainder squared cubed factorial"
)
"""Words that never belong to a unit such as "tablespoons of sugar per muffin"."""
UNIT_STOP_CHARACTERS = frozenset("的是比和与與多少倍半即所以因為则則等于於得，共")
RATES = frozenset(("/", "per", "a", "an", "each", "every", "每"))
"""What makes a unit a rate: so much of one for one of another."""
ATTACHED = _words("mm cm dm km in ft yd mi mg kg lb oz hr ml mL")
"""Units of two letters that may follow a number without a space; others may be a product of variables."""

RESULT_STOPS = _words("or to times mod modulo squared cubed factorial choose percent-points divided multiplied")
"""Words after a result that make it part of something else."""

RELATED_DIMENSIONS = {"months": "time"}
"""Dimensions that people convert into each other by a rule of thumb (a month of 30 days), so never by this check."""
