"""The exact value of an expression as a fraction, and a bound on the size of the numbers in its evaluation."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, comb, factorial, floor, isqrt
from operator import add, mul, neg, truediv
from typing import Any

from touchstone.checks.notation import trees
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, OutOfBoundsError, Tree

BIT_LIMIT = 8_192
"""The most bits of a number anywhere in an evaluation: arithmetic on such numbers takes microseconds."""
EXPONENT_LIMIT = 4_096
"""The largest exponent of a base other than 1, 0 and −1."""
FACTORIAL_LIMIT = 500
"""The largest argument of a factorial or binomial; 500! has 3,768 bits."""
EXPONENT_BIT_LIMIT = 24
"""The most bits of all numbers in an irrational exponent together: their product bounds the exponent's value."""
ARITHMETIC: dict[str, Callable[..., Any]] = {"add": add, "mul": mul, "div": truediv, "neg": neg}
"""The operations that are the same for fractions, for numbers with many digits and for sympy's expressions."""
TOWER_LIMIT = 2
"""The most levels of exponents in exponents: with a third level, even the length of a number is astronomical."""

type Known = dict[int, Fraction | None]
"""The values of the parts of one tree, by the identity of the part.

A caller that asks for the value of each part would otherwise compute the same values again and again.
"""


def rational(tree: Tree, known: Known | None = None) -> Fraction | None:
    """The exact value; None for `√2`, `x`, `1/0`.

    `known` collects the values of the parts. Raises OutOfBoundsError for a number beyond the bounds.
    """
    if not isinstance(tree, Apply):
        return tree.value if isinstance(tree, Number) else None
    known = {} if known is None else known
    if id(tree) not in known:
        values = [rational(argument, known) for argument in tree.arguments]
        given = [value for value in values if value is not None]
        result = applied(tree.operation, given) if len(given) == len(values) else None
        if result is not None and _bits(result) > BIT_LIMIT:
            raise OutOfBoundsError("a number beyond the bound")
        known[id(tree)] = result
    return known[id(tree)]


def applied(operation: str, values: list[Fraction]) -> Fraction | None:
    """The result of `operation` on rationals; None if it is not rational. Raises OutOfBoundsError beyond the bounds."""
    match operation, values:
        case (("add" | "mul" | "neg"), _):
            found: Fraction = ARITHMETIC[operation](*values)
            return found
        case "div", [left, right]:
            return left / right if right else None
        case "pow", [base, exponent]:
            return _power(base, exponent)
        case "binomial", [above, below] if above.denominator == below.denominator == 1 and 0 <= below <= above:
            if above > FACTORIAL_LIMIT:
                raise OutOfBoundsError("a binomial beyond the bound")
            return Fraction(comb(int(above), int(below)))
        case "base", [written, base] if written.denominator == base.denominator == 1 and 2 <= base <= 16:  # noqa: PLR2004
            digits = str(written)
            return Fraction(int(digits, int(base))) if digits.isdecimal() and int(max(digits)) < base else None
        case "root", [value, index] if index == 2 and value >= 0:  # noqa: PLR2004 - the square root
            root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
            return root if root * root == value else None
        case "percent", [value]:
            return value / 100
        case (("abs" | "floor" | "ceil"), [value]):
            return abs(value) if operation == "abs" else Fraction(floor(value) if operation == "floor" else ceil(value))
        case "factorial", [value] if value.denominator == 1 and value >= 0:
            if value > FACTORIAL_LIMIT:
                raise OutOfBoundsError("a factorial beyond the bound")
            return Fraction(factorial(int(value)))
    return None


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1 or (base == 0 and exponent <= 0):
        return None
    if base in (-1, 0, 1):
        return base if exponent % 2 else base * base
    if abs(exponent) > EXPONENT_LIMIT or _bits(base) * abs(exponent) > BIT_LIMIT:
        raise OutOfBoundsError("a power beyond the bound")
    return Fraction(base ** int(exponent))


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length() - 1


def bound(tree: Tree, known: Known | None = None, *, tower: int = 0) -> int:
    """An upper bound, in bits, on the numbers that sympy may make of `tree`; `tower` counts the exponents around it.

    sympy evaluates powers, factorials and `exp(n·log 2)` at once, in C calls that no time limit can stop. Within the
    bounds these calls take microseconds. Raises OutOfBoundsError beyond the bounds.
    """
    known = {} if known is None else known
    value = rational(tree, known)
    if value is not None:
        if tower and abs(value) > EXPONENT_LIMIT:
            raise OutOfBoundsError("an exponent beyond the bound")
        return max(1, _bits(value))
    match tree:
        case Apply(operation="pow", arguments=(base, exponent)):
            of_exponent = _bound_of_exponent(exponent, known, tower, constant_base=base.is_constant)
            bits = bound(base, known, tower=tower) * of_exponent
        case Apply(operation="exp" | "sinh" | "cosh" | "tanh", arguments=(exponent,)):
            bits = _bound_of_exponent(exponent, known, tower, constant_base=True)
        case Apply(arguments=arguments):
            bits = 1 + sum(bound(argument, known, tower=tower) for argument in arguments)
        case _:
            bits = 1
    if bits > BIT_LIMIT:
        raise OutOfBoundsError("an expression beyond the bounds")
    return bits


def _bound_of_exponent(exponent: Tree, known: Known, tower: int, *, constant_base: bool) -> int:
    """The factor by which a power with this exponent multiplies the bits of its base."""
    if tower >= TOWER_LIMIT:
        raise OutOfBoundsError("a tower of exponents")
    bits = bound(exponent, known, tower=tower + 1)
    value = rational(exponent, known)
    if value is not None:
        # A power of a sum with variables is not expanded beyond what the time limit allows.
        return int(abs(value)) + 1 if constant_base else int(abs(value)).bit_length() + 1
    if bits > EXPONENT_BIT_LIMIT:
        raise OutOfBoundsError("an exponent beyond the bound")
    return bits + 1


type Linear = dict[str, Fraction]
"""A linear expression: the factor of each variable by its name; the key "" holds the constant term."""


def linear(tree: Tree, known: Known | None = None) -> Linear:
    """`tree` as a linear expression with rational factors. Raises NotAnExpressionError if it is not linear."""
    known = {} if known is None else known
    if (value := rational(tree, known)) is not None:
        return {"": value}
    match tree:
        case Name(name) if name not in trees.CONSTANTS:
            return {name: Fraction(1)}
        case Apply(operation="add", arguments=(left, right)):
            total = linear(left, known)
            for name, factor in linear(right, known).items():
                total[name] = total.get(name, Fraction(0)) + factor
            return total
        case Apply(operation="neg", arguments=(inside,)):
            return {name: -factor for name, factor in linear(inside, known).items()}
        case Apply(operation="mul", arguments=(left, right)):
            times, inside = (left, right) if rational(left, known) is not None else (right, left)
            if (constant := rational(times, known)) is not None:
                return {name: factor * constant for name, factor in linear(inside, known).items()}
        case Apply(operation="div", arguments=(left, right)) if divisor := rational(right, known):
            return {name: factor / divisor for name, factor in linear(left, known).items()}
    raise NotAnExpressionError("not linear")
