"""The values of expressions, to many digits, at chosen points. Importing this module imports mpmath."""

import threading
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product

import mpmath

from touchstone.checks.notation.trees import Apply, Name, Number, Tree
from touchstone.checks.values.exact import ARITHMETIC, rational

DIGITS = 50
"""Digits of the first evaluation; a second one uses twice as many."""
BOUNDED_WITHIN = Fraction(1, 10**40)
"""The margin of a constant's bounds, relative to it; its values to 50 and to 100 digits must agree as closely."""
LARGEST_EXPONENT_BITS = 24
"""Arguments of exponentials beyond 2²⁴ are not evaluated: the result could not be held."""
POINTS = 6
"""Number of points per expression with variables; the points cycle through the signs."""
_SEEDS = (Fraction(7, 5), Fraction(13, 11), Fraction(5, 7), Fraction(23, 9), Fraction(17, 13), Fraction(31, 29))
_GROWTH = Fraction(3, 10)

_CONTEXTS = threading.local()
"""Each thread's contexts; the key is the number of digits."""

type Point = dict[str, Fraction]
"""A value for each variable."""


class UndefinedError(ArithmeticError):
    """The expression has no real value at this point, or its value is too large to compute."""


def evaluate(tree: Tree, point: Point, context: mpmath.MPContext) -> mpmath.mpc:
    """The value of `tree` at `point`.

    Raises `ArithmeticError` or `ValueError` if there is no value, and `UndefinedError` (an `ArithmeticError`) also if
    an intermediate value is not real though the expression does not contain i.
    """
    return _Evaluation(point, context, real="i" not in tree.names).of(tree)


class _Evaluation:
    """One evaluation of a tree at one point."""

    def __init__(self, point: Point, context: mpmath.MPContext, *, real: bool) -> None:
        self._point = point
        self._context = context
        self._real = real

    def of(self, tree: Tree) -> mpmath.mpc:
        match tree:
            case Number(value=value):
                return self._rational(value)
            case Name("pi"):
                return +self._context.pi
            case Name("e"):
                return +self._context.e
            case Name("i"):
                return self._context.mpc(0, 1)
            case Name(name) if name in self._point:
                return self._rational(self._point[name])
            case Apply(operation, arguments):
                value = self._apply(operation, arguments, [self.of(argument) for argument in arguments])
                if not self._context.isfinite(value) or (self._real and self._context.im(value) != 0):
                    raise UndefinedError(operation)
                return value
        raise UndefinedError(f"no number for {tree}")

    def _rational(self, value: Fraction) -> mpmath.mpf:
        return self._context.mpf(value.numerator) / value.denominator

    def _apply(self, operation: str, arguments: tuple[Tree, ...], values: list[mpmath.mpc]) -> mpmath.mpc:
        match operation, values:
            case (("add" | "mul" | "div" | "neg"), _):
                return ARITHMETIC[operation](*values)
            case "percent", [value]:
                return value / 100
            case "degrees", [value]:
                return value * self._context.pi / 180
            case "pow", [base, exponent]:
                return self._power(base, exponent, arguments[1])
            case "root", [base, index]:
                return self._power(base, 1 / index, Apply("div", (Number(Fraction(1)), arguments[1])))
            case _, values:
                return self._call(operation, values)

    def _power(self, base: mpmath.mpc, exponent: mpmath.mpc, written: Tree) -> mpmath.mpc:
        mag = self._context.mag
        if mag(exponent) + max(0, mag(mag(base) or 1)) > LARGEST_EXPONENT_BITS:
            raise UndefinedError("an exponent too large to compute")
        if base == 0 and self._context.re(exponent) <= 0:
            raise UndefinedError("zero to a power that is not positive")
        if self._real and base < 0 and (value := rational(written)) is not None and value.denominator % 2:
            # The odd root of a negative number is negative, as at school.
            return (-1) ** (value.numerator % 2) * (-base) ** exponent
        return base**exponent

    def _call(self, operation: str, values: list[mpmath.mpc]) -> mpmath.mpc:
        context = self._context
        value = values[0]
        match operation:
            case "exp" | "sinh" | "cosh" | "tanh" if context.mag(value) > LARGEST_EXPONENT_BITS:
                raise UndefinedError("an exponent too large to compute")
            case "cbrt":
                return context.cbrt(value) if context.re(value) >= 0 else -context.cbrt(-value)
            case "lg":
                return context.log(value) / context.log(10)
            case "log" if len(values) > 1:
                return context.log(value) / context.log(values[1])
            case "factorial" | "binomial" if any(context.mag(each) > LARGEST_EXPONENT_BITS // 2 for each in values):
                raise UndefinedError("a factorial too large to compute")
            case "binomial":
                return context.binomial(*values)
        if operation not in _FUNCTIONS:
            raise UndefinedError(f"no number for {operation}")
        return getattr(context, _FUNCTIONS[operation])(value)


_FUNCTIONS = {
    "exp": "exp", "ln": "log", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec",
    "csc": "csc", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "factorial": "factorial", "abs": "fabs", "floor": "floor", "ceil": "ceil",
}  # fmt: skip


def defined(tree: Tree, point: Point, digits: int = DIGITS) -> mpmath.mpc | None:
    """The value that `evaluate` computes, to about `digits` digits; None if the expression has no value there."""
    try:
        return evaluate(tree, point, context_of(digits))
    except (ArithmeticError, ValueError):
        return None


def number_of(tree: Tree, digits: int = DIGITS) -> Fraction | None:
    """The value of a constant expression to about `digits` digits; None if it has no real value."""
    value = defined(tree, {}, digits)
    if value is None or value.imag:
        return None
    sign, mantissa, exponent, _ = value.real._mpf_
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if sign else size


def calls(tree: Tree, function: str) -> bool:
    """Whether a tree contains a call of `function` with one argument."""
    applied = (part for part in tree.parts if isinstance(part, Apply))
    return any(part.operation == function and len(part.arguments) == 1 for part in applied)


def bounds(tree: Tree) -> tuple[Fraction, Fraction] | None:
    """Two numbers between which a constant expression lies.

    None if it has no real value, if rounding leaves too few digits, or if it has a log without a base.
    """
    if calls(tree, "log"):
        return None
    rough, fine = number_of(tree), number_of(tree, 2 * DIGITS)
    if rough is None or fine is None:
        return None
    error = abs(fine) * BOUNDED_WITHIN
    return (fine - error, fine + error) if abs(rough - fine) < error else None


def points(names: list[str]) -> Iterator[Point]:
    """The points to try: `{}` if there are no variables, else `POINTS` of varied signs and growing magnitude."""
    if not names:
        yield {}
        return
    signs = islice(product((1, -1), repeat=min(len(names), 3)), POINTS)
    for turn, pattern in enumerate(signs):
        yield point_of(names, turn, pattern)
    for turn in range(POINTS - 2 ** min(len(names), 3)):
        yield point_of(names, turn + POINTS, (1, -1, 1) if turn % 2 else (1, 1, 1))


def point_of(names: list[str], turn: int, pattern: tuple[int, ...]) -> Point:
    """A point whose signs follow `pattern`; each `turn` gives other magnitudes."""
    return {
        name: pattern[place % len(pattern)] * (_SEEDS[(turn + place) % len(_SEEDS)] + _GROWTH * turn * (place + 1))
        for place, name in enumerate(names)
    }


def context_of(digits: int) -> mpmath.MPContext:
    """This thread's context of `digits` digits.

    mpmath's global context is shared by all threads. A new context takes a millisecond, so it is kept.
    """
    contexts: dict[int, mpmath.MPContext] = _CONTEXTS.__dict__.setdefault("by_digits", {})
    if digits not in contexts:
        contexts[digits] = mpmath.MPContext()
        contexts[digits].dps = digits
    return contexts[digits]
