"""Polynomials in one variable over the rationals, without sympy: what most equations of school need.

sympy takes up to two seconds to load in a cold function; a linear or quadratic equation with rational roots waits for
none of it.
"""

from fractions import Fraction
from math import isqrt

from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree
from touchstone.checks.values.exact import rational

type Polynomial = tuple[Fraction, ...]
"""Coefficients from the constant upwards, the highest not 0; empty for 0."""

MAX_DEGREE = 8


class NotPolynomialError(Exception):
    """The expression is not a polynomial in this variable, or its degree is too high."""


def polynomial_of(tree: Tree, name: str) -> Polynomial:
    """The polynomial in `name` that a tree writes. Raises `NotPolynomialError` for anything else."""
    match tree:
        case Name(found) if found == name:
            return (Fraction(0), Fraction(1))
        case Apply(operation="neg", arguments=(inner,)):
            return tuple(-value for value in polynomial_of(inner, name))
        case Apply(operation="add", arguments=(left, right)):
            return added(polynomial_of(left, name), polynomial_of(right, name))
        case Apply(operation="mul", arguments=(left, right)):
            return _multiplied(polynomial_of(left, name), polynomial_of(right, name))
        case Apply(operation="div", arguments=(top, bottom)):
            divisor = _constant(bottom)
            if divisor == 0:
                raise NotPolynomialError
            return tuple(value / divisor for value in polynomial_of(top, name))
        case Apply(operation="pow", arguments=(base, Number(value=exponent))) if exponent in range(2, MAX_DEGREE + 1):
            power = factor = polynomial_of(base, name)
            for _ in range(int(exponent) - 1):
                power = _multiplied(power, factor)
            return power
        case _:
            return _trimmed([_constant(tree)])


def _constant(tree: Tree) -> Fraction:
    try:
        value = rational(tree)
    except NotAnExpressionError:
        value = None
    if value is None:
        raise NotPolynomialError
    return value


def added(left: Polynomial, right: Polynomial, *, sign: int = 1) -> Polynomial:
    """`left + sign · right`."""
    total = list(left) + [Fraction(0)] * (len(right) - len(left))
    for place, value in enumerate(right):
        total[place] += sign * value
    return _trimmed(total)


def _multiplied(left: Polynomial, right: Polynomial) -> Polynomial:
    if len(left) + len(right) > MAX_DEGREE + 2:
        raise NotPolynomialError
    product = [Fraction(0)] * (len(left) + len(right))
    for low, first in enumerate(left):
        for high, second in enumerate(right):
            product[low + high] += first * second
    return _trimmed(product)


def _trimmed(values: list[Fraction]) -> Polynomial:
    while values and values[-1] == 0:
        values.pop()
    return tuple(values)


def value_at(polynomial: Polynomial, point: Fraction) -> Fraction:
    """The value at a point, by Horner's scheme."""
    value = Fraction(0)
    for coefficient in reversed(polynomial):
        value = value * point + coefficient
    return value


def rational_roots(polynomial: Polynomial) -> list[Fraction] | None:
    """All real roots of a polynomial of degree 0 to 2, in order; None where one is irrational or for another degree."""
    match polynomial:
        case (_,):
            return []
        case (constant, slope):
            return [-constant / slope]
        case (constant, slope, square):
            discriminant = slope * slope - 4 * square * constant
            if discriminant < 0:
                return []
            top, bottom = isqrt(discriminant.numerator), isqrt(discriminant.denominator)
            if top * top != discriminant.numerator or bottom * bottom != discriminant.denominator:
                return None
            root = Fraction(top, bottom)
            return sorted({(-slope - root) / (2 * square), (-slope + root) / (2 * square)})
        case _:
            return None
