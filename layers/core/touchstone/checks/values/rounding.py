"""Whether a decimal stands for a value that it may be a rounding of: undecided, unless it is long or wrong."""

from fractions import Fraction
from math import floor

from touchstone.checks.notation.trees import Apply, Number, Tree
from touchstone.checks.values.exact import rational

PRINTED_DIGITS = 10
"""From this many correct significant digits on, a decimal counts as a program's print of the exact value."""
FLOAT_DIGITS = 15
"""From this many significant digits on, a decimal may be the print of a binary floating point number."""
FLOAT_DIGITS_AT_MOST = 17
"""The most significant digits of a printed floating point number."""
FLOAT_ERROR = Fraction(1, 2**51)
"""The largest relative error of a floating point number after one or two operations.

That is two units of its last binary place: 1.4142135623730951 for √2.
"""
ROUNDED_DIGITS = 2
"""From this many significant digits on, a correct rounding may stand for the exact value; a shorter one is wrong."""


def quantum(tree: Tree) -> Fraction | None:
    """The value of one unit in the last written digit of a decimal; None if the tree is not written as a decimal."""
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
    """Whether one of two different rationals stands for the other: False if none is a decimal, else `approximates`."""
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
    """Whether a decimal, written to multiples of `step`, stands for `target`, to which it is not equal.

    `finer` is the value of the last written digit of `target`; None if `target` is exact. True if the decimal is a
    program's print of an exact value: its correct rounding to ten or more digits, or a number of 15 or more digits
    within the error of floating point. None if the decimal is a correct rounding of at least two digits or a cut of
    decimals, or if `target` may be the decimal with the error of floating point. False otherwise.
    """
    if not step:
        return False  # a decimal times 0
    nearest = floor(target / step + Fraction(1, 2)) * step
    cut = nearest if step == 1 else floor(abs(target) / step) * step * (1 if target >= 0 else -1)
    digits = _digits(value, step)
    # Whole numbers that are written out differ, however large they are.
    whole = step <= 1 and value.denominator == target.denominator == 1
    printed = not whole and abs(value - target) <= abs(target) * FLOAT_ERROR
    if finer is None and ((value == nearest and digits >= PRINTED_DIGITS) or (printed and digits >= FLOAT_DIGITS)):
        return True if value == nearest or digits <= FLOAT_DIGITS_AT_MOST else None
    if finer is not None and finer < step and printed and _digits(target, finer) > FLOAT_DIGITS:
        return None
    return None if value in (nearest, cut) and digits >= ROUNDED_DIGITS else False


def _digits(value: Fraction, step: Fraction) -> int:
    return len(str(abs(value / step).numerator))
