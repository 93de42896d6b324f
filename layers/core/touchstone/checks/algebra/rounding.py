"""What a rounded decimal says of another value: nothing, unless it is long or wrong."""

from fractions import Fraction
from math import floor

from touchstone.checks.notation.trees import Apply, Number, Tree
from touchstone.checks.values.exact import rational

PRINTED_DIGITS = 10
"""Correct significant digits from which a decimal counts as a program's print of the exact value."""
ROUNDED_DIGITS = 2
"""Significant digits from which a correct rounding may be meant as the exact value; fewer are simply another value."""

_TEN = 10


def quantum(tree: Tree) -> Fraction | None:
    """What one of the last written digit of a decimal is worth; None for what is not written as a decimal."""
    match tree:
        case Number(decimals=int(decimals)) if decimals:
            return Fraction(1, 10**decimals)
        case Apply(operation="neg", arguments=(inside,)):
            return quantum(inside)
        case Apply(operation="percent", arguments=(inside,)):
            inner = quantum(inside)
            return None if inner is None else inner / 100
        case Apply(operation="mul", arguments=(Number(value=factor), inside)) if (inner := quantum(inside)) is not None:
            return inner * abs(factor)
        case Apply(
            operation="mul", arguments=(mantissa, Apply(operation="pow", arguments=(Number(value=base), _)) as power)
        ):
            inner, scale = quantum(mantissa), rational(power)
            return inner * scale if base == _TEN and inner is not None and scale is not None else None
    return None


def rounded(left: Tree, right: Tree) -> bool | None:
    """What is to be said of two different rationals."""
    values, steps = (rational(left), rational(right)), (quantum(left), quantum(right))
    match values, steps:
        case (Fraction(), Fraction()), (None, None):
            return False
        case (Fraction() as one, Fraction() as other), (Fraction() as step, finer) if finer is None or finer < step:
            return approximates(one, step, other, exact=finer is None)
        case (Fraction() as one, Fraction() as other), (finer, Fraction() as step):
            return approximates(other, step, one, exact=finer is None)
    return None


def approximates(value: Fraction, step: Fraction, target: Fraction, *, exact: bool) -> bool | None:
    """What a decimal, written to multiples of `step`, says of another value that it does not equal.

    True where it has ten or more digits and is the correct rounding of an `exact` value; None where it is a correct
    rounding or cut of at least two digits; False otherwise.
    """
    nearest = floor(target / step + Fraction(1, 2)) * step
    cut = floor(abs(target) / step) * step * (1 if target >= 0 else -1)
    digits = len(str(abs(value / step).numerator))
    if exact and value == nearest and digits >= PRINTED_DIGITS:
        return True
    return None if value in (nearest, cut) and digits >= ROUNDED_DIGITS else False
