"""What an expression is worth exactly, as a fraction, and how large the numbers of evaluating it may become."""

from fractions import Fraction
from math import ceil, comb, factorial, floor, isqrt

from touchstone.checks.notation.trees import (
    CONSTANTS,
    Apply,
    Name,
    NotAnExpressionError,
    Number,
    OutOfBoundsError,
    Tree,
    is_constant,
)

BIT_LIMIT = 8_192
"""Bits that a number may have, at most, anywhere in an evaluation: such arithmetic takes microseconds."""
EXPONENT_LIMIT = 4_096
"""The largest exponent of anything that is not 1, 0 or −1."""
FACTORIAL_LIMIT = 500
"""The largest argument of a factorial or binomial; 500! has 3,768 bits."""
EXPONENT_BIT_LIMIT = 24
"""Bits of all the numbers in an exponent that is not rational together: their product bounds what it may be."""
TOWER_LIMIT = 2
"""Exponents in exponents; a third level makes numbers whose size alone has astronomical size."""


class TooLargeToEvaluateError(OutOfBoundsError):
    """Evaluating the expression could make a number beyond the bounds."""


def rational(tree: Tree) -> Fraction | None:
    """The exact value of `tree`, None where it is not rational on the face of it (`\\sqrt{2}`, `x`, `1/0`).

    Raises TooLargeToEvaluateError past the bounds.
    """
    match tree:
        case Number(value=value):
            return value
        case Name():
            return None
        case Apply(operation=operation, arguments=arguments):
            values = [rational(argument) for argument in arguments]
            known = [value for value in values if value is not None]
            if len(known) < len(values):
                return None
            return _bounded(applied(operation, known))


def applied(operation: str, values: list[Fraction]) -> Fraction | None:
    """`operation` on rationals, None where the result is not rational or not defined.

    Raises TooLargeToEvaluateError past the bounds.
    """
    match operation, values:
        case "add", [left, right]:
            return left + right
        case "mul", [left, right]:
            return left * right
        case "div", [left, right]:
            return left / right if right else None
        case "pow", [base, exponent]:
            return _power(base, exponent)
        case "binomial", [above, below]:
            return _binomial(above, below)
        case "root", [value, index] if index == 2:  # noqa: PLR2004 - the square root
            return _square_root(value)
        case _, [value]:
            return _of_one(operation, value)
    return None


def _of_one(operation: str, value: Fraction) -> Fraction | None:
    """`operation` on one rational, as in `applied`."""
    match operation:
        case "neg":
            return -value
        case "percent":
            return value / 100
        case "abs":
            return abs(value)
        case "floor":
            return Fraction(floor(value))
        case "ceil":
            return Fraction(ceil(value))
        case "factorial" if value.denominator == 1 and value >= 0:
            if value > FACTORIAL_LIMIT:
                raise TooLargeToEvaluateError("a factorial beyond the bound")
            return Fraction(factorial(int(value)))
    return None


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1 or (base == 0 and exponent <= 0):
        return None
    if base in (-1, 0, 1):
        return base if exponent % 2 else base * base
    if abs(exponent) > EXPONENT_LIMIT or _bits(base) * abs(exponent) > BIT_LIMIT:
        raise TooLargeToEvaluateError("a power beyond the bound")
    return Fraction(base ** int(exponent))


def _binomial(above: Fraction, below: Fraction) -> Fraction | None:
    if above.denominator != 1 or below.denominator != 1 or not 0 <= below <= above:
        return None
    if above > FACTORIAL_LIMIT:
        raise TooLargeToEvaluateError("a binomial beyond the bound")
    return Fraction(comb(int(above), int(below)))


def _square_root(value: Fraction) -> Fraction | None:
    if value < 0:
        return None
    over, under = isqrt(value.numerator), isqrt(value.denominator)
    return Fraction(over, under) if Fraction(over * over, under * under) == value else None


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length() - 1


def _bounded(value: Fraction | None) -> Fraction | None:
    if value is not None and _bits(value) > BIT_LIMIT:
        raise TooLargeToEvaluateError("a number beyond the bound")
    return value


def bound(tree: Tree, *, tower: int = 0) -> int:
    """An upper bound, in bits, on the numbers that sympy may make of `tree`. `tower` counts the exponents around it.

    sympy evaluates powers, factorials and `exp(n·log 2)` at once, in C calls that no time limit can stop; within the
    bounds they take microseconds. Raises TooLargeToEvaluateError past them.
    """
    value = rational(tree)
    if value is not None:
        if tower and abs(value) > EXPONENT_LIMIT:
            raise TooLargeToEvaluateError("an exponent beyond the bound")
        return max(1, _bits(value))
    match tree:
        case Apply(operation="pow", arguments=(base, exponent)):
            bits = bound(base, tower=tower) * _bound_of_exponent(exponent, tower, constant_base=is_constant(base))
        case Apply(operation="exp" | "sinh" | "cosh" | "tanh", arguments=(exponent,)):
            bits = _bound_of_exponent(exponent, tower, constant_base=True)
        case Apply(arguments=arguments):
            bits = 1 + sum(bound(argument, tower=tower) for argument in arguments)
        case _:
            bits = 1
    if bits > BIT_LIMIT:
        raise TooLargeToEvaluateError("an expression beyond the bounds")
    return bits


def _bound_of_exponent(exponent: Tree, tower: int, *, constant_base: bool) -> int:
    """By how much the power with this exponent multiplies the bits of its base."""
    if tower >= TOWER_LIMIT:
        raise TooLargeToEvaluateError("a tower of exponents")
    bits = bound(exponent, tower=tower + 1)
    value = rational(exponent)
    if value is not None:
        # Nothing expands a power of a sum beyond what the time limit allows.
        return int(abs(value)) + 1 if constant_base else int(abs(value)).bit_length() + 1
    if bits > EXPONENT_BIT_LIMIT:
        raise TooLargeToEvaluateError("an exponent beyond the bound")
    return bits + 1


type Linear = dict[str, Fraction]
"""A linear expression: the factor of each variable, and the constant term under ""."""


def linear(tree: Tree) -> Linear:
    """`tree` as a linear expression with rational factors. Raises NotAnExpressionError where it is none."""
    if (value := rational(tree)) is not None:
        return {"": value}
    match tree:
        case Name(name) if name not in CONSTANTS:
            return {name: Fraction(1)}
        case Apply(operation="add", arguments=(left, right)):
            total = linear(left)
            for name, factor in linear(right).items():
                total[name] = total.get(name, Fraction(0)) + factor
            return total
        case Apply(operation="neg", arguments=(inside,)):
            return {name: -factor for name, factor in linear(inside).items()}
        case Apply(operation="mul", arguments=(left, right)):
            times, inside = (left, right) if rational(left) is not None else (right, left)
            if (constant := rational(times)) is not None:
                return {name: factor * constant for name, factor in linear(inside).items()}
        case Apply(operation="div", arguments=(left, right)) if divisor := rational(right):
            return {name: factor / divisor for name, factor in linear(left).items()}
    raise NotAnExpressionError("not linear")
