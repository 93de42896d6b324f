"""What a decimal says of a value that it may be a rounding of: nothing, unless it is long or wrong."""

from fractions import Fraction
from math import floor

from touchstone.checks.notation.trees import Apply, Number, Tree
from touchstone.checks.values.exact import rational

PRINTED_DIGITS = 10
"""Correct significant digits from which a decimal counts as a program's print of the exact value."""
FLOAT_DIGITS = 15
"""Significant digits from which a decimal is a print of a binary floating point number, …"""
FLOAT_DIGITS_AT_MOST = 17
"""… the most that one has when it is printed …"""
FLOAT_ERROR = Fraction(1, 2**51)
"""… off by two units of its last binary place at most, after one or two operations: 1.4142135623730951 for √2."""
ROUNDED_DIGITS = 2
"""Significant digits from which a correct rounding may be meant as the exact value; fewer are simply another value."""


def quantum(tree: Tree) -> Fraction | None:
    """What one of the last written digit of a decimal is worth; None for what is not written as a decimal."""
    match tree:
        case Number(decimals=int(decimals)):
            return Fraction(10) ** -decimals
        case Apply(operation="neg", arguments=(inside,)):
            return quantum(inside)
        case Apply(operation="percent", arguments=(inside,)):
            inner = quantum(inside)
            return None if inner is None else inner / 100
        case Apply(operation="mul", arguments=(Number(value=factor), inside)) if (inner := quantum(inside)) is not None:
            return inner * abs(factor)
        case Apply("mul", (mantissa, Apply("pow", (Number(base), _)) as power)):
            inner, scale = quantum(mantissa), rational(power)
            return inner * scale if base == 10 and inner is not None and scale is not None else None  # noqa: PLR2004
    return None


def rounded(left: Tree, right: Tree) -> bool | None:
    """What is to be said of two different rationals."""
    values, steps = (rational(left), rational(right)), (quantum(left), quantum(right))
    match values, steps:
        case (Fraction(), Fraction()), (None, None):
            return False
        case (Fraction() as one, Fraction() as other), (Fraction() as step, finer) if finer is None or finer < step:
            return approximates(one, step, other, finer)
        case (Fraction() as one, Fraction() as other), (finer, Fraction() as step):
            return approximates(other, step, one, finer)
    return None


def approximates(value: Fraction, step: Fraction, target: Fraction, finer: Fraction | None = None) -> bool | None:
    """What a decimal, written to multiples of `step`, says of another value that it does not equal.

    `finer` is what the last digit of the other is worth, None where that is exact. True where the decimal is a
    program's print of an exact value: its correct rounding to ten or more digits, or within the error of floating
    point with 15 or more. None where it is a correct rounding of at least two digits, or a cut of decimals, or where
    the finer one may be the other with that error; False otherwise.
    """
    nearest = floor(target / step + Fraction(1, 2)) * step
    cut = nearest if step == 1 else floor(abs(target) / step) * step * (1 if target >= 0 else -1)
    digits = _digits(value, step)
    # Whole numbers that are written out differ, however large.
    whole = step <= 1 and value.denominator == target.denominator == 1
    printed = not whole and abs(value - target) <= abs(target) * FLOAT_ERROR
    if finer is None and ((value == nearest and digits >= PRINTED_DIGITS) or (printed and digits >= FLOAT_DIGITS)):
        return True if value == nearest or digits <= FLOAT_DIGITS_AT_MOST else None
    if finer is not None and finer < step and printed and _digits(target, finer) > FLOAT_DIGITS:
        return None
    return None if value in (nearest, cut) and digits >= ROUNDED_DIGITS else False


def _digits(value: Fraction, step: Fraction) -> int:
    return len(str(abs(value / step).numerator))
