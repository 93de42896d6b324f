"""Whether a statement `left = right` between two expressions of numbers can be true.

A statement is false only when it is false under *every* way in which people write such statements. What is tolerated,
and why, is said at each tolerance: a wrong accusation is worse than a slip that goes unseen.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from touchstone.checks.arithmetic.evaluation import MIN_PLACES, Reading, numbers_in, quantity_of, value_of
from touchstone.checks.arithmetic.nodes import Budget, Node, Number, Operation, Unary, Unreadable, unit_of_last_place
from touchstone.checks.arithmetic.words import RELATED_DIMENSIONS, UNITS, units_in

_FLOAT_ERROR = Fraction(1, 10**9)
"""Results copied from binary floating point (0.30000000000000004) are off by about 10⁻¹⁶ of their size."""
_FLOAT_PLACES = 10
_ABOUT = Fraction(1, 10)
"""`≈` and "about" are only contradicted by a value more than a tenth off: people round before they estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """`left = right`, each side with every parse that its words allow, the usual one first.

    `about`: the text says ≈ or "about". `runs_on`: the right side begins with a bare number, so that the chain may be a
    running one, 3 * 4 = 12 + 1 = 13: its first `=` says only that 3 * 4 is 12. That is bad style, but no slip.
    """

    left: tuple[Node, ...]
    right: tuple[Node, ...]
    about: bool = False
    runs_on: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """`holds` None: not decided. `left` and `right` are what the sides are worth as they stand, None if undecided.

    `converted`: the statement was compared with its units converted. `rounded`: it holds only as a rounding.
    """

    holds: bool | None
    left: Fraction | None = None
    right: Fraction | None = None
    rounded: bool = False
    converted: bool = False


UNDECIDED = Verdict(None)
_PLAIN = Reading()
"""How most statements are meant, so that it is tried before any other reading is worked out."""


def is_computation(node: Node) -> bool:
    """Whether something is worked out here, rather than a number or a proper fraction written down."""
    match node:
        case Number():
            return False
        case Unary(symbol, operand):
            return symbol != "-" or is_computation(operand)
        case Operation("/", Number() as top, Number() as bottom):
            whole = not (top.is_decimal or bottom.is_decimal or top.unit or bottom.unit)
            return not (whole and top.value < bottom.value)
        case _:
            return True


def is_fraction(node: Node) -> bool:
    """Whether this is a proper fraction a/b: "3/4 = 15 students" names a part, it computes nothing."""
    return isinstance(node, Operation) and not is_computation(node)


def judged(statement: Statement, rounded_before: Mapping[Fraction, Fraction], budget: Budget) -> Verdict:
    """Whether the statement holds under any reading; undecided where the budget does not last for all of them."""
    left, right = statement.left[0], statement.right[0]
    if not _is_comparable(left, right):
        return UNDECIDED
    try:
        worth = value_of(left, _PLAIN, {}, budget), value_of(right, _PLAIN, {}, budget)
        if worth[0] == worth[1]:
            return Verdict(True, *worth)
        for first, second in _pairs(statement):
            for reading, other in _readings(first, second, rounded_before):
                budget.spend()
                try:
                    values = (
                        value_of(first, reading, rounded_before, budget),
                        value_of(second, other, rounded_before, budget),
                    )
                except Unreadable:
                    continue
                if _agree(first, second, values, restored=reading.restored, about=statement.about):
                    return Verdict(True, *worth, rounded=values[0] != values[1])
    except Unreadable:
        return UNDECIDED
    if _mixes_units(left, right):
        return _judged_with_units(left, right)
    return Verdict(False, *worth)


def _is_comparable(left: Node, right: Node) -> bool:
    """Two numbers merely written down are no computation: "3 pens = $6", "1/5 = 20 people", "560 = 40"."""
    if is_computation(left):
        return True
    if is_computation(right):
        return not any(number.unit for number in numbers_in(left))
    share = is_fraction(left) and not any(number.unit for number in numbers_in(left))
    return share and (is_fraction(right) or (isinstance(right, Number) and (right.is_decimal or right.percent)))


def _pairs(statement: Statement) -> Iterator[tuple[Node, Node]]:
    for first in statement.left:
        for second in statement.right:
            yield first, second
            leading = second
            while isinstance(leading, Operation):
                leading = leading.left
            if statement.runs_on and is_computation(second):
                yield first, leading


def _readings(
    left: Node, right: Node, rounded_before: Mapping[Fraction, Fraction]
) -> Iterator[tuple[Reading, Reading]]:
    """The readings of both sides, plain ones first; none twice that would come to the same."""
    on_left, on_right = numbers_in(left), numbers_in(right)
    percents: list[tuple[str, str]] = [("share", "share")]
    if any(number.percent for number in on_left):
        percents.append(("relative", "share"))
        if any(number.percent and number.value == 100 for number in on_left):  # noqa: PLR2004  (the factor ×100%)
            percents.append(("bare", "bare"))
    elif any(number.percent for number in on_right):
        percents.append(("share", "bare"))
    scaled = [True, False] if any(number.scale != 1 for number in on_left + on_right) else [True]
    may_be_rounded = any(number.places >= MIN_PLACES or number.value in rounded_before for number in on_left)
    signs = (False, True) if _negates_a_power(left) or _negates_a_power(right) else (False,)
    for restored in (False, True) if may_be_rounded else (False,):
        for scale in scaled:
            for sign_first in signs:
                for first, second in percents:
                    yield (
                        Reading(percent=first, scaled=scale, sign_first=sign_first, restored=restored),  # type: ignore[arg-type]
                        Reading(percent=second, scaled=scale, sign_first=sign_first),  # type: ignore[arg-type]
                    )


def _negates_a_power(node: Node) -> bool:
    """Whether -2² occurs, of which the sign may be meant to be squared too."""
    match node:
        case Unary("-", Operation("^", _, _)):
            return True
        case Unary(_, operand):
            return _negates_a_power(operand)
        case Operation(_, left, right):
            return _negates_a_power(left) or _negates_a_power(right)
        case _:
            return False


def _agree(left: Node, right: Node, values: tuple[Fraction, Fraction], *, restored: bool, about: bool) -> bool:
    first, second = values
    gap = abs(first - second)
    if gap == 0 or (about and gap <= _ABOUT * abs(first)):
        return True
    return _rounds(left, right, first, gap, restored=restored) or _rounds(right, left, second, gap, restored=restored)


def _rounds(exact: Node, stated: Node, value: Fraction, gap: Fraction, *, restored: bool) -> bool:
    """Whether `stated` is a number that the value of `exact` may have been rounded to.

    To the nearest is always allowed. Cutting off or rounding up (less than one unit of the last place) is allowed where
    division makes endless decimals, or where at least two decimals are kept.
    """
    last_place = _last_place(stated)
    if last_place is None:
        return False
    places, size = last_place
    if places >= _FLOAT_PLACES:
        return gap <= _FLOAT_ERROR * max(abs(value), Fraction(1))
    if 2 * gap <= size:
        return True
    divides = _divides(exact)
    return gap < size and not restored and (divides or (places > 1 and value.denominator > 1))


def _divides(node: Node) -> bool:
    match node:
        case Operation("/", _, _):
            return True
        case Operation(_, left, right):
            return _divides(left) or _divides(right)
        case Unary(_, operand):
            return _divides(operand)
        case _:
            return False


def _last_place(node: Node) -> tuple[int, Fraction] | None:
    """How many decimals a stated number has and what one unit of its last place is worth; None for a computation."""
    match node:
        case Number(is_exact=True):
            return None
        case Number():
            size = unit_of_last_place(node) * node.scale
            return node.places, size / 100 if node.percent else size
        case Unary("-", operand):
            return _last_place(operand)
        case Operation("*", Number() as mantissa, Operation("^", Number(value=base), _)) if base == 10:  # noqa: PLR2004
            try:
                factor = value_of(node, _PLAIN, {}) / mantissa.value if mantissa.value else Fraction(1)
            except Unreadable:
                return None
            return mantissa.places, unit_of_last_place(mantissa) * abs(factor)
        case _:
            return None


def _mixes_units(left: Node, right: Node) -> bool:
    """Whether two different known units of related dimensions occur, so that plain numbers may not be comparable."""
    seen: dict[str, set[Fraction | str]] = {}
    for number in numbers_in(left) + numbers_in(right):
        for name in units_in(number.unit.words or (number.unit.name or "",)) if number.unit is not None else ():
            dimension, factor = UNITS[name]
            family = RELATED_DIMENSIONS.get(dimension, dimension)
            seen.setdefault(family, set()).add(factor if family == dimension else name)
    return any(len(units) > 1 for units in seen.values())


def _judged_with_units(left: Node, right: Node) -> Verdict:
    """The verdict with known units converted: 4 feet - 40 inches = 8 inches."""
    try:
        (first, dimension), (second, other) = quantity_of(left), quantity_of(right)
    except Unreadable:
        return UNDECIDED
    if dimension != other or not isinstance(right, Number):
        return UNDECIDED
    unit = right.unit.name if right.unit is not None else None
    factor = UNITS[unit][1] if unit is not None else Fraction(1)
    holds = abs(first - second) < unit_of_last_place(right) * factor
    return Verdict(holds, first / factor, second / factor, converted=True)
