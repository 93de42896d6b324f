"""Whether a statement `left = right` between two expressions of numbers can be true.

A statement is false only if it is false under *every* way in which people write such statements. Each tolerance below
says what it accepts and why: a wrong accusation is worse than an overlooked slip.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Literal

from touchstone.checks.arithmetic.numerals import (
    Budget,
    Numeral,
    amounts_of,
    mixes_units,
    numbers_in,
    quantities_of,
    unit_readings,
    units_named,
)
from touchstone.checks.arithmetic.prose import PI
from touchstone.checks.notation.trees import Apply, NotAnExpressionError, Number, OutOfBoundsError, Tree, value_or_none
from touchstone.checks.notation.units import Unit
from touchstone.checks.values.exact import applied, rational

MAX_BITS = 1_024
"""A value with more bits than this is refused; no school solution comes near it."""
STEP_BITS = 256
"""Arithmetic on fractions of this many bits takes twice the time of small ones; the time grows from there."""

type PercentReading = Literal["share", "bare", "relative"]

_REPEATING_DENOMINATORS = (3, 6, 7, 9, 11, 12)
MIN_PLACES = 2
"""0.3 is rarely a third; 0.33 often is."""

_ROOT_PLACES = 30
_INDICES = range(3, 10)
_MOST_UNDER = 10**15
_ROOT_ERROR = Fraction(1, 10**15)
"""How far two values with roots may be apart, as a part of them, that are equal."""
_ANGLE = (("angle", 1),)
_HOUR = 3_600
_ADDED_OTHERWISE = frozenset(("am", "pm", "db", "dba", "dbm"))
"""Behind numbers that are not added as others are: 11 am + 2 = 1 pm, 60 dB + 60 dB = 63 dB."""
_ROUNDED = Fraction(1, 100)
"""How far an amount may be from its exact value, as a part of it: it may go on with rounded numbers."""
_FLOAT_ERROR = Fraction(1, 10**9)
"""Results copied from binary floating point (0.30000000000000004) are off by about 10⁻¹⁶ of their size."""
_FLOAT_PLACES = 10
_ABOUT = Fraction(1, 10)
"""`≈` and "about" are contradicted only by a value more than a tenth off: people round before they estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementReading:
    """One way to read a statement.

    `percent`: 20% as 0.20 ("share"), as 20 ("bare"), or after a sum as that share of it ("relative": $20 - 20% = $16).
    `scaled`: 5 dozen as 60. `sign_first`: -2² as 4. `restored`: 0.33 as the value that it was rounded from (1/3).
    """

    percent: PercentReading = "share"
    scaled: bool = True
    sign_first: bool = False
    restored: bool = False


type _Readings = tuple[StatementReading, StatementReading]
"""The readings of the two sides of a statement."""


def restored(number: Numeral, rounded_before: Mapping[Fraction, Fraction]) -> Fraction:
    """The exact value that a decimal may have been rounded from; the value as written if there is none.

    That exact value is an earlier result of the solution (`rounded_before`) or a simple repeating fraction.
    """
    if number.value in rounded_before:
        return rounded_before[number.value]
    if number.places < MIN_PLACES:
        return number.value
    step = 10**number.places
    written, (over, under) = int(number.value * step), number.value.as_integer_ratio()
    for denominator in _REPEATING_DENOMINATORS:
        parts = (2 * over * denominator + under) // (2 * under)
        cut_off, rest = divmod(parts * step, denominator)
        if rest and written in (cut_off, cut_off + (2 * rest >= denominator)):
            return Fraction(parts, denominator)
    return number.value


def value_of(
    tree: Tree, reading: StatementReading, rounded_before: Mapping[Fraction, Fraction], budget: Budget
) -> Fraction:
    """The exact value of `tree` under `reading`. Each operation takes steps from `budget`.

    Raises `NotAnExpressionError` if there is no rational value, if the value is too large, or if no step is left;
    `NotAtOnceError` instead if no step is left and the budget is `at_once`.
    """
    match tree:
        case Numeral():
            value = restored(tree, rounded_before) if reading.restored else tree.value
            if tree.scale != 1 and reading.scaled:
                value *= tree.scale
            return value / 100 if tree.percent and reading.percent != "bare" else value
        case Apply("neg", (Apply("pow", (base, exponent)),)) if reading.sign_first:
            return value_of(Apply("pow", (Apply("neg", (base,)), exponent)), reading, rounded_before, budget)
        case Apply(operation, arguments):
            values = [value_of(argument, reading, rounded_before, budget) for argument in arguments]
            if reading.percent == "relative" and operation == "add" and _adds_percent(tree):
                values[1] *= values[0]
            value_found = applied(operation, values)
            if value_found is None and operation == "root":
                value_found = _root(*values)
            if value_found is None:
                raise NotAnExpressionError("not defined, or not rational")
            bits = max(value_found.numerator.bit_length(), value_found.denominator.bit_length())
            if bits > MAX_BITS:
                raise OutOfBoundsError("larger than any number of a solution")
            budget.spend(0 if operation == "neg" else 1 + bits // STEP_BITS)
            return value_found
        case Number(value=value):
            return value
    raise NotAnExpressionError("a name has no value")


def _root(value: Fraction, index: Fraction) -> Fraction | None:
    """A square root to `_ROOT_PLACES` places, or another root that comes out; None for others."""
    if value < 0:
        return None
    if index == 2:  # noqa: PLR2004 - the square root
        return Fraction(isqrt(int(value * 100**_ROOT_PLACES)), 10**_ROOT_PLACES)
    whole = Fraction(round(value ** (1 / index))) if index in _INDICES and value < _MOST_UNDER else None
    return whole if whole is not None and whole**index == value else None


def _indexed(tree: Tree) -> Tree:
    """The tree with 3√8, as it is typed for the cube root too, as that root."""
    match tree:
        case Apply("mul", (Numeral(value=index), Apply("root", (inside, _)))) if index in _INDICES:
            return Apply("root", (inside, Number(index)))
        case Apply(operation, arguments):
            return Apply(operation, tuple(map(_indexed, arguments)))
    return tree


def is_irrational(tree: Tree) -> bool:
    """Whether π or a root that does not come out occurs in a tree."""
    return any(
        (isinstance(part, Number) and part.value == PI)
        or (isinstance(part, Apply) and part.operation == "root" and value_or_none(rational, part) is None)
        for part in tree.parts
    )


def _adds_percent(tree: Apply) -> bool:
    base, added = tree.arguments
    if isinstance(added, Apply) and added.operation == "neg":
        added = added.arguments[0]
    is_share = [isinstance(part, Numeral) and part.percent for part in (base, added)]
    return is_share == [False, True]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement `left = right`. `left` holds every parse that the words around it allow, the usual parse first.

    `measured`: the right side is an amount with its unit, in which the left side is to be worked out.
    `to_scale`: the text speaks of a map or a model. `about`: the text says ≈ or "about". `runs_on`: the right side
    begins with a bare number, so that the chain may be a running one: in 3 * 4 = 12 + 1 = 13, the first `=` says only
    that 3 * 4 is 12. That is bad style, but no error.
    """

    left: tuple[Tree, ...]
    right: Tree
    about: bool = False
    runs_on: bool = False
    measured: bool = False
    to_scale: bool = False


@dataclass(frozen=True, slots=True)
class StatementVerdict:
    """Whether a statement holds (None: undecided), and the values of its sides.

    `rounded`: the statement holds, but its sides are not exactly equal.
    """

    holds: bool | None
    left: Fraction | None = None
    right: Fraction | None = None
    rounded: bool = False


UNDECIDED = StatementVerdict(None)
_PLAIN = StatementReading()
"""The reading that most statements have. It is tried before any other reading is worked out."""


def is_computation(tree: Tree) -> bool:
    """Whether the expression computes something; a number or a proper fraction is only written down."""
    match tree:
        case Number():
            return False
        case Apply("neg", (operand,)):
            return is_computation(operand)
        case Apply("div", (Numeral() as top, Numeral() as bottom)):
            whole = top.decimals is None and bottom.decimals is None and not top.unit and not bottom.unit
            return not (whole and top.value < bottom.value)
    return True


def judged(statement: Statement, rounded_before: Mapping[Fraction, Fraction], budget: Budget) -> StatementVerdict:
    """Whether the statement holds under any reading; undecided if the budget does not last for all readings."""
    left, right = statement.left[0], statement.right
    units = (token.text.lower() for number in numbers_in(left) + numbers_in(right) for token in number.unit)
    if not _ADDED_OTHERWISE.isdisjoint(units):
        return UNDECIDED
    if isinstance(right, Numeral) and right.unit and (statement.measured or isinstance(left, Numeral)):
        return _judged_amounts(statement, right, budget)
    if not _is_comparable(left, right) or _may_be_angles(left, right):
        return UNDECIDED
    try:
        worth = value_of(left, _PLAIN, {}, budget), value_of(right, _PLAIN, {}, budget)
        if worth[0] == worth[1]:
            return StatementVerdict(True, *worth)
        for first, second in _pairs(statement):
            for readings in _readings(first, second, rounded_before):
                budget.spend()
                one = value_or_none(value_of, first, readings[0], rounded_before, budget)
                two = None if one is None else value_or_none(value_of, second, readings[1], rounded_before, budget)
                if one is not None and two is not None and _agree(first, second, (one, two), readings, statement.about):
                    return StatementVerdict(True, *worth, rounded=one != two)
    except NotAnExpressionError:
        return UNDECIDED
    if mixes_units(left, right):
        return _judged_with_units(left, right, budget)
    if isinstance(right, Numeral) and right.unit and (amounts := _judged_amounts(statement, right, budget)).holds:
        return amounts
    if isinstance(right, Numeral) and right.unit and _is_prefixed(left, right, worth[0]):
        stated = value_or_none(amounts_of, right, budget) or []
        return UNDECIDED if any(unit.dimension for unit in stated) else StatementVerdict(False, *worth)
    return StatementVerdict(False, *worth)


def _is_prefixed(left: Tree, right: Numeral, value: Fraction) -> bool:
    """Whether a number without a unit may be the stated amount in a larger or smaller unit: 200 × 60 = 12 km/h."""
    if not right.value or any(number.unit for number in numbers_in(left)):
        return False
    ratio = abs(value / right.stated)
    over, under = sorted((ratio.numerator, ratio.denominator))
    return over == 1 and under >= 100 and str(under).strip("0") == "1"  # noqa: PLR2004 - centi-, and no slip by ten


def _is_comparable(left: Tree, right: Tree) -> bool:
    """Whether the sides can be compared: at least one must compute something.

    Two numbers that are only written down are no computation: "3 pens = $6", "1/5 = 20 people", "560 = 40".
    """
    if _names_a_part(left, right):
        return False
    if is_computation(left):
        return True
    if any(number.unit for number in numbers_in(left)):
        return False
    # A proper fraction computes nothing: "3/4 = 15 students" and "2/5 = 12.8 hectares" name a part.
    fractions = [isinstance(side, Apply) and side.operation == "div" for side in (left, right)]
    if is_computation(right):
        return not (fractions[0] and any(number.places > 0 for number in numbers_in(right)))
    if not fractions[0] or fractions[1]:
        return fractions[0]
    return isinstance(right, Numeral) and not right.unit and (right.decimals is not None or right.percent)


def _names_a_part(left: Tree, right: Tree) -> bool:
    """Whether a fraction of something is given in something else: 1/2 turn = 180°, 3/4 pizza = 6 slices."""
    match left, right:
        case Apply("div", (Numeral(decimals=None, unit=()) as top, Numeral(decimals=None) as bottom)), Numeral() if (
            bottom.unit and [token.text for token in bottom.unit] != [token.text for token in right.unit]
        ):
            known = [units_named(unit) for unit in (bottom.unit, right.unit)]
            turns = any(unit.pi for units in known for unit in units)
            return (turns or not all(known)) and (bool(right.unit) or top.value < bottom.value)
    return False


def _may_be_angles(left: Tree, right: Tree) -> bool:
    """Whether a side has π and a side has an angle's unit, which may be half a turn over π: 2π = 360°."""
    numbers = numbers_in(left) + numbers_in(right)
    if all(number.value != PI for number in numbers):
        return False
    return any(unit.pi or unit.dimension == _ANGLE for number in numbers for unit in units_named(number.unit))


def _pairs(statement: Statement) -> Iterator[tuple[Tree, Tree]]:
    leading = statement.right
    while isinstance(leading, Apply) and leading.operation in ("add", "mul", "div", "pow"):
        leading = leading.arguments[0]
    for first in statement.left:
        yield first, statement.right
        if "root" in first.operations and (indexed := _indexed(first)) != first:
            yield indexed, statement.right
        if statement.runs_on and is_computation(statement.right):
            yield first, leading


def _readings(left: Tree, right: Tree, rounded_before: Mapping[Fraction, Fraction]) -> Iterator[_Readings]:
    """The readings of both sides, plain readings first. Readings that come to the same are not repeated."""
    on_left, on_right = numbers_in(left), numbers_in(right)
    percents: list[tuple[PercentReading, PercentReading]] = [("share", "share")]
    if any(number.percent for number in on_left):
        percents.append(("relative", "share"))
        if any(number.value == 100 for number in on_left):  # noqa: PLR2004  (×100%, and 100 - 35% = 65%)
            percents.append(("bare", "bare"))
    elif any(number.percent for number in on_right):
        percents.append(("share", "bare"))
    scaled = [True, False] if any(number.scale != 1 for number in on_left + on_right) else [True]
    may_be_rounded = any(number.places >= MIN_PLACES or number.value in rounded_before for number in on_left)
    signs = (False, True) if _negates_a_power(left) or _negates_a_power(right) else (False,)
    restorings = (False, True) if may_be_rounded else (False,)
    for restored, scale, sign_first, (first, second) in product(restorings, scaled, signs, percents):
        other = StatementReading(percent=second, scaled=scale, sign_first=sign_first)
        yield replace(other, percent=first, restored=restored), other


def _negates_a_power(tree: Tree) -> bool:
    """Whether an expression like -2² occurs: its sign may be meant to be squared too."""
    negated = (part.arguments[0] for part in tree.parts if isinstance(part, Apply) and part.operation == "neg")
    return any(isinstance(part, Apply) and part.operation == "pow" for part in negated)


def _agree(left: Tree, right: Tree, values: tuple[Fraction, Fraction], readings: _Readings, about: bool) -> bool:
    first, second = values
    gap = abs(first - second)
    if gap == 0 or (about and gap <= _ABOUT * abs(first)):
        return True
    irrational = is_irrational(left), is_irrational(right)
    # 2π · 7 = 43.96 was worked out with a rounded π, and 3√2 = 4.23 with a rounded root.
    if any(irrational) and gap <= (_ROOT_ERROR if all(irrational) else _ABOUT) * abs(first):
        return True
    return _rounds(left, right, first, gap, readings) or _rounds(right, left, second, gap, readings[::-1])


def _rounds(exact: Tree, stated: Tree, value: Fraction, gap: Fraction, readings: _Readings) -> bool:
    """Whether `stated` may be what the value of `exact` was rounded to; `readings` are theirs.

    Rounding to the nearest is always accepted. Cutting off or rounding up is accepted if the computation divides
    (endless decimals), or if two or more decimals are kept.
    """
    last_place = _last_place(stated, readings[1])
    if last_place is None:
        return False
    places, size = last_place
    if places >= _FLOAT_PLACES:
        return gap <= _FLOAT_ERROR * max(abs(value), Fraction(1))
    if 2 * gap <= size:
        return True
    divides, restores = "div" in exact.operations, any(reading.restored for reading in readings)
    return gap < size and not restores and (divides or (places > 1 and value.denominator > 1))


def _last_place(tree: Tree, reading: StatementReading) -> tuple[int, Fraction] | None:
    """How many decimals a stated number has, and the value of one unit of its last place; None for a computation."""
    match tree:
        case Numeral():
            size = tree.last_place * (tree.scale if reading.scaled else 1)
            written_as_fraction = tree.decimals is None and tree.value.denominator > 1
            is_share = tree.percent and reading.percent != "bare"
            return None if written_as_fraction else (tree.places, size / 100 if is_share else size)
        case Apply("neg", (operand,)):
            return _last_place(operand, reading)
        case Apply("mul", (Numeral() as mantissa, Apply("pow", (Number(value=base), _)) as power)) if base == 10:  # noqa: PLR2004
            factor = value_or_none(rational, power)
            return None if factor is None else (mantissa.places, mantissa.last_place * abs(factor))
    return None


def _judged_with_units(left: Tree, right: Tree, budget: Budget) -> StatementVerdict:
    """The verdict with known units converted (4 feet - 40 inches = 8 inches); it holds if any reading does."""
    if not isinstance(right, Numeral):
        return UNDECIDED
    found = UNDECIDED
    worked_out, units = value_or_none(quantities_of, left, budget) or [], value_or_none(unit_readings, right) or ()
    for unit, (value, dimension) in product(units, worked_out):
        if dimension == unit.dimension and found.holds is not True:
            holds = abs(value / unit.factor - right.stated) < right.last_place
            found = StatementVerdict(holds, value / unit.factor, right.stated)
    return found


def _judged_amounts(statement: Statement, right: Numeral, budget: Budget) -> StatementVerdict:
    """The verdict on `150 m / 12 s = 12.5 m/s`, and on a conversion: 72 km/h = 20 m/s.

    It holds if it does under any reading of the units, and is undecided if these measure different things.
    """
    left = statement.left[0]
    found, stated = value_or_none(amounts_of, left, budget) or [], value_or_none(amounts_of, right, budget) or []
    bare = None if isinstance(left, Numeral) else value_or_none(value_of, left, _PLAIN, {}, budget)
    if bare is not None and _is_near(bare, right, about=statement.about):
        return UNDECIDED  # 100 km/h ÷ 3.6 = 27.8 m/s
    verdict = UNDECIDED
    for one, other in product(found, stated):
        if not right.value or (one.dimension != other.dimension and one.dimension):
            continue
        size = other.factor / right.stated
        value = one.factor / size if one.dimension else one.factor
        if _is_near(value, right, about=statement.about):
            return StatementVerdict(True, value, right.stated)
        if isinstance(left, Numeral):
            if not _is_conversion(left, one, size, statement) or abs(value - right.stated) <= _ABOUT * abs(value):
                return UNDECIDED
        elif _is_prefixed(left, right, value):
            return UNDECIDED
        verdict = StatementVerdict(False, value, right.stated)
    return verdict


def _is_near(value: Fraction, stated: Numeral, *, about: bool) -> bool:
    """Whether an amount may have been rounded to what is stated; noughts behind two digits may be rounded ones."""
    gap, last = abs(value - stated.stated), stated.last_place * stated.scale
    while stated.decimals is None and stated.stated % (10 * last) == 0 and 100 * last < abs(stated.stated):
        last *= 10
    return gap < stated.last_place or 2 * gap <= last or gap <= (_ABOUT if about else _ROUNDED) * abs(value)


def _is_conversion(left: Numeral, one: Unit, size: Fraction, statement: Statement) -> bool:
    """Whether `2.5 h = 150 min` can only be a conversion.

    `2 = 7 cm` names something by its number. A day may be one of eight hours of work, and a length may stand for a
    larger one, as on a map.
    """
    own = one.factor / left.stated if left.value else size
    if own == size or not one.dimension:
        return False
    match one.dimension:
        case (("time", 1),):
            return max(own, size) <= _HOUR
        case (("length", 1),):
            return own > size and left.value != 1 and not statement.to_scale
    return True
