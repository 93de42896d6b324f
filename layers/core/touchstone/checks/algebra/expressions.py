"""Whether two expressions or conditions are the same: exact arithmetic first, algebra where needed.

Most equal pairs differ in order and grouping alone, and have one `key`. A rounded decimal says nothing of another,
unless it is long or wrong.

Algebra means sympy, which is loaded on first use, and a time limit.
"""

from fractions import Fraction
from math import floor

from touchstone.checks.limits import Allowance, NotAtOnceError
from touchstone.checks.notation.trees import (
    INFINITIES,
    Apply,
    Name,
    NotAnExpressionError,
    Number,
    Tree,
    attempted,
    difference,
)
from touchstone.checks.values.exact import bound, rational
from touchstone.checks.values.kinds import Condition

PRINTED_DIGITS = 10
"""Correct significant digits from which a decimal counts as a program's print of the exact value."""
FLOAT_DIGITS = 15
"""Significant digits from which a decimal is a print of a binary floating point number, …"""
FLOAT_DIGITS_AT_MOST = 17
"""… the most that one has when it is printed …"""
FLOAT_ERROR = Fraction(1, 2**51)
"""… which is off by two units of its last binary place at most, after one or two operations: √2 is printed as
1.4142135623730951."""
ROUNDED_DIGITS = 2
"""Significant digits from which a correct rounding may be meant as the exact value; fewer are simply another value."""

_TEN = 10

type Answer = bool | None


class Algebra:
    """Compares expressions; what has not been decided in that time is None.

    Loading sympy is not part of that time: it happens once in a process. `time` is in seconds, or an allowance that
    other work draws on as well; None: what needs sympy raises `NotAtOnceError` instead.
    """

    def __init__(self, time: float | Allowance | None) -> None:
        self._allowance = Allowance(time) if isinstance(time, int | float) else time

    def trees(self, left: Tree, right: Tree) -> Answer:
        """Whether two expressions are always equal."""
        try:
            values = rational(left), rational(right)
            if left in INFINITIES or right in INFINITIES:
                ends = left in INFINITIES and right in INFINITIES
                return left == right if ends or values != (None, None) else None
            if values[0] is not None and values[1] is not None:
                return True if values[0] == values[1] else rounded(left, right)
            bound(left), bound(right)
            if key(left) == key(right):
                return True
        except NotAnExpressionError:
            return None
        rationals = values != (None, None)
        if rationals and any(isinstance(tree, Name) and not tree.is_constant for tree in (left, right)):
            return False
        allowance = self._time()
        from touchstone.checks.algebra import identity

        return allowance.spend(identity.same_or_rounded if rationals else identity.same_expression, left, right)

    def bounds(self, tree: Tree) -> tuple[Fraction, Fraction] | None:
        """Two numbers between which a constant lies, some 40 digits alike; None for a variable, or out of time."""
        if (value := rational(tree)) is not None:
            return value, value
        if not tree.is_constant:
            return None
        bound(tree)
        allowance = self._time()
        from touchstone.checks.algebra import evaluation

        return allowance.spend(evaluation.bounds, tree)

    def _time(self) -> Allowance:
        if self._allowance is None:
            raise NotAtOnceError
        return self._allowance

    def conditions(self, left: Condition, right: Condition) -> Answer:
        """Whether two equations or inequalities hold for the same values; None where their signs differ."""
        sides = left.left, left.right, right.left, right.right
        if left.sign != right.sign or attempted(lambda: [bound(side) for side in sides]) is None:
            return None
        if list(map(key, sides[:2])) == list(map(key, sides[2:])):
            return True
        allowance = self._time()
        from touchstone.checks.algebra import conditions

        differences = difference(*sides[:2]), difference(*sides[2:])
        return allowance.spend(conditions.same_condition, *differences, signed=left.sign != "=")


# Order and grouping


def key(tree: Tree) -> str:
    """Equal for trees that are equal by commutativity, associativity and arithmetic on rationals alone.

    Raises OutOfBoundsError past the bounds.
    """
    value = rational(tree)
    if value is not None:
        return str(value)
    match tree:
        case Number(value=value):
            return str(value)
        case Name(name):
            return name
        case Apply(operation="add" | "mul" as operation):
            return _commutative(operation, tree)
        case Apply(operation, arguments):
            if (product := _as_product(tree)) is not tree:
                return _commutative("mul", product)
            return f"{operation}({','.join(map(key, arguments))})"


def _commutative(operation: str, tree: Tree) -> str:
    number = Fraction(0) if operation == "add" else Fraction(1)
    rest: list[str] = []
    pending: list[Tree] = [tree]
    while pending:
        part = _as_product(pending.pop()) if operation == "mul" else pending.pop()
        value = rational(part)
        if value is not None:
            number = number + value if operation == "add" else number * value
        elif isinstance(part, Apply) and part.operation == operation:
            pending.extend(part.arguments)
        else:
            rest.append(key(part))
    if len(rest) == 1 and number == (operation == "mul"):
        return rest[0]
    return f"{operation}({number};{';'.join(sorted(rest))})"


def _as_product(tree: Tree) -> Tree:
    match tree:
        case Apply(operation="neg", arguments=(inside,)):
            return Apply("mul", (Number(Fraction(-1)), inside))
        case Apply(operation="div", arguments=(over, under)) if divisor := rational(under):
            return Apply("mul", (Number(1 / divisor), over))
    return tree


# Rounding


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
            return inner * scale if base == _TEN and inner is not None and scale is not None else None
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
