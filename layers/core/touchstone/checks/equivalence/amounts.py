"""Whether two quantities are the same, or near: numbers with units, percentages, amounts of money, things counted."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product

from touchstone.checks.algebra.expressions import Answer, key
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, attempted, digits
from touchstone.checks.notation.units import UNITS, Unit
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import Ambiguous, Items, Matrix, Quantity, Ratio, Region, Solutions, Value
from touchstone.checks.values.quantities import scaled, unscaled

_ACCENTS = ("hat ", "vec ", "bar ", "tilde ")

ANGULAR = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
"""Functions of an angle."""

type SameTrees = Callable[[Tree, Tree], Answer]
type Bounds = Callable[[Tree], tuple[Fraction, Fraction] | None]
"""Two numbers between which a constant lies, both the same where it is rational; None for all else."""

_PERCENT = Fraction(1, 100)
_TEMPERATURE = (("temperature", 1),)
_LIKE_DEGREES = {
    (("angle", 1),), (("current", 1), ("time", 1)), (("current", 2), ("length", -2), ("mass", -1), ("time", 4)),
}  # fmt: skip
"""What 36°, 36 C and 36 F measure where they are no temperatures: an angle, a charge, a capacity."""


def same_amount(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    """Whether two quantities are the same, and the rule that decided ("" where only the numbers did).

    Units must agree in dimension, and values in base units. Where one side has a unit, the numbers decide, unless
    another unit makes them the same. 50 % is 0.5; the bare number may be meant (28 % and 28): None.
    """
    dimensions = [{unit.dimension for unit in side.units} for side in (left, right)]
    if (left.rate or right.rate) and dimensions[0].isdisjoint(dimensions[1]):
        return None, "rate"
    if _is_share(left) != _is_share(right):
        if left.units and right.units and any(unit.noun for unit in (*left.units, *right.units)):
            return None, "other things"  # 20% off is 八折, and 80% off is not
        shares = [_share(side) for side in (left, right)]
        percents = [Apply("mul", (Number(Fraction(100)), share)) for share in shares]
        numbers = [(left.tree, right.tree), (left.tree, percents[1]), (percents[0], right.tree)]
        shared = same(*shares)
        meant = any(same(*pair) is not False for pair in numbers)
        return (None, "percent") if meant and not shared else (shared, "")
    based = [isinstance(side.tree, Apply) and side.tree.operation == "base" for side in (left, right)]
    if left.percent != right.percent and (left.units or right.units or left.letters or right.letters):
        return None, "percent"
    if left.percent != right.percent or based[0] != based[1]:
        shared, bare = same(left.tree, right.tree), same(_unmarked(left.tree), _unmarked(right.tree))
        return (shared, "") if shared or bare is False else (None, "percent" if based[0] == based[1] else "base")
    match left.tree, right.tree:
        case Name(one), Name(other) if one != other and one.lower() == other.lower():
            return None, "one letter"
    if left.bare is not None or right.bare is not None:
        expressions = [side.bare if side.units else side.tree for side in (left, right)]
        if expressions[0] is not None and expressions[1] is not None and _alike(expressions[0], expressions[1]):
            return True, ""
    answer, because = _both(left, right, same) if left.units and right.units else _one(left, right, same)
    # Letters behind a number, which may be a unit, on one side alone.
    letters = (left.letters or right.letters) and left.tree.variables != right.tree.variables
    if answer is False:
        turned = _in_degrees(left.tree), _in_degrees(right.tree)
        if turned != (left.tree, right.tree) and same(*turned) is not False:
            return None, "degrees"  # sin 30 may be meant in degrees
    if answer is False and (letters or _renamed(left.tree, right.tree) or _dressed(left.tree, right.tree, same)):
        return None, "a letter"
    return answer, because


def _in_degrees(tree: Tree) -> Tree:
    """The tree with the numbers of which an angle's function is taken as degrees."""
    match tree:
        case Apply(operation, (inside,)) if operation in ANGULAR and attempted(rational, inside) is not None:
            return Apply(operation, (Apply("degrees", (inside,)),))
        case Apply(operation, arguments):
            return Apply(operation, tuple(map(_in_degrees, arguments)))
    return tree


def _is_share(value: Quantity) -> bool:
    """Whether this is so many parts of a million, which are a share as so many percent are."""
    return any(not unit.dimension and not unit.noun and unit.factor != 1 for unit in value.units)


def _share(value: Quantity) -> Tree:
    return scaled(value.tree, value.units[0]) if _is_share(value) else value.tree


def _renamed(left: Tree, right: Tree) -> bool:
    """Whether two expressions are the same but for one name: x² + C and x² + c, 2n - 1 and 2k - 1."""
    names = left.variables, right.variables
    mine, theirs = names[0] - names[1], names[1] - names[0]
    if isinstance(left, Name) or isinstance(right, Name) or len(mine) > 1 or len(theirs) > 1 or not (mine or theirs):
        return False
    one, other = next(iter(mine), "i"), next(iter(theirs), "i")
    if "i" in (one, other) and "j" not in (one, other):
        return False
    if one.partition("_")[0] == other.partition("_")[0]:
        return False
    return _alike(left.substituted(one, Name(other)), right)


def _dressed(left: Tree, right: Tree, same: SameTrees) -> bool:
    """Whether two expressions may be the same but for what stands over their names: unit vectors as î, as vectors."""
    names = left.variables | right.variables
    bare = {name: name.removeprefix(accent) for name in names for accent in _ACCENTS if name.startswith(accent)}
    meant: dict[str, Tree] = {name: Name(plain) for name, plain in bare.items()}
    for name in left.variables ^ right.variables:
        letter, _, power = name.partition("_")
        if len(letter) == 1 and power in ("2", "3"):
            meant[name] = Apply("pow", (Name(letter), digits(power)))  # x2 for x²
    if not meant or left.variables == right.variables:
        return False
    sides = [left, right]
    for name, plain in meant.items():
        sides = [side.substituted(name, plain) for side in sides]
    return same(*sides) is not False


def dressed_names(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether a name or its letters stand on one side with a sign before or over them: ∠A and A, \\vec F and F."""
    mine, theirs = (
        {letter for name in names for letter in name.rpartition(" ")[2]} for names in (left - right, right - left)
    )
    return any(" " in name for name in left ^ right) and not mine.isdisjoint(theirs)


def _alike(left: Tree, right: Tree) -> bool:
    """Whether two expressions are the same but for order and grouping."""
    written = attempted(key, left)
    return written is not None and written == attempted(key, right)


def _one(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    """As `same_amount`, where at most one side has a unit."""
    answer = same(left.tree, right.tree)
    units = (*left.units, *right.units)
    for plain, measured in ((left, right), (right, left)):
        if answer is False and measured.units and not plain.tree.is_constant and measured.tree.is_constant:
            return None, "a letter"
        if answer is False and _asked_for(plain.tree, measured):
            return None, "another unit"
    if any(unit.lone_letter for unit in units):
        return None, "a letter"
    angles = [unit for unit in units if unit.dimension == (("angle", 1),)]
    if not answer and angles and not (left.units and right.units):
        # Radians are plain numbers; 度 is another scale's degree as well.
        sides = (
            Apply("degrees", (scaled(each.tree, angles[0]),)) if each.units else each.tree for each in (left, right)
        )
        turned = same(*sides)
        return turned if turned or len(angles) == len(units) else answer, "converted"
    return answer, "one has a unit" if units else ""


def _asked_for(plain: Tree, measured: Quantity) -> bool:
    """Whether a number is that of `measured` in another unit, which the question may ask for: 150 of 2小时30分."""
    number = attempted(rational, plain)
    for unit in measured.units if number else ():
        worth = attempted(rational, scaled(measured.tree, replace(unit, pi=0)))
        if worth is not None and unit.dimension:
            like = (unit.dimension, unit.pi)
            sizes = [each for each in chain.from_iterable(UNITS.values()) if (each.dimension, each.pi) == like]
            sizes.append(Unit(unit.dimension, Fraction(1)))
            if any((worth - size.offset) / size.factor == number for size in sizes):
                return True
    return False


def _both(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    pairs = [(one, other) for one, other in product(left.units, right.units) if one.dimension == other.dimension]
    if not pairs:
        known = left.tree.is_constant and right.tree.is_constant
        return _apart(left.units, right.units) if known else (None, "a letter")
    answers: list[tuple[Answer, str]] = []
    for one, other in pairs:
        other_things = one.noun != other.noun and (not one.dimension or (one.noun and other.noun))
        converted = None if other_things else _converted(left.tree, right.tree, one, other, same)
        if converted is not None and converted[0] and one != other and (one.unsure or other.unsure):
            converted = None, "strokes"
        answers.append(converted or (None, "other things"))
    # A unit, not the same on both sides, that has several sizes: a ton, a megabyte.
    shared = {unit.dimension for unit in left.units} & {unit.dimension for unit in right.units}
    sizes = [{unit.factor for unit in side.units if unit.dimension in shared} for side in (left, right)]
    several = left.units != right.units and any(len(each) > len(shared) for each in sizes)
    if several and {True, False} <= {answer for answer, _ in answers}:
        return None, "several sizes"
    return min(answers, key=lambda each: (True, None, False).index(each[0]))


def _converted(left: Tree, right: Tree, one: Unit, other: Unit, same: SameTrees) -> tuple[Answer, str]:
    if one == other:
        return same(left, right), ""
    answer = same(scaled(left, one), scaled(right, other))
    if answer is False and (one.offset or other.offset):
        # 20 °C and 20 K are two temperatures, and one difference.
        spans = same(Apply("mul", (Number(one.factor), left)), Apply("mul", (Number(other.factor), right)))
        if spans is not False:
            return None, "a scale"
    if answer is False:
        rounds = one.offset != other.offset or 1 not in (one.factor / other.factor).as_integer_ratio()
        for mine, unit, theirs, its in ((left, one, right, other), (right, other, left, one)):
            # Who converts 25 °C writes 298 K; 601 minutes are not 10 hours.
            if rounds and isinstance(mine, Number) and mine.decimals is None:
                mine = Number(mine.value, 0)  # noqa: PLW2901
            if same(mine, unscaled(scaled(theirs, its), unit)) is None:
                return None, "rounded"
    return answer, "converted"


def _apart(left: tuple[Unit, ...], right: tuple[Unit, ...]) -> tuple[Answer, str]:
    """What is said of units of which no two have one dimension."""
    if any(unit.lone_letter for unit in (*left, *right)):
        return None, "a letter"
    if any(len(unit.noun) > 1 and not unit.dimension for unit in (*left, *right)):
        return None, "other things"
    measured = {unit.dimension for unit in (*left, *right)}
    if _TEMPERATURE in measured and measured & _LIKE_DEGREES:
        return None, "degrees"
    # A year is twelve months, and no fixed number of days; a radian is a plain number to physics: rad/s and 1/s.
    related = [{unit.family for unit in side} for side in (left, right)]
    return None if related[0] & related[1] else False, "different units"


def _unmarked(tree: Tree) -> Tree:
    """The number as it is written, without its percent sign or its base."""
    match tree:
        case Apply("percent", (inside,)) | Apply("base", (inside, _)):
            return inside
    return tree


# Nearness


def within(given: Value, expected: Value, tolerance: Tolerance, *, same: Answer, bounds: Bounds) -> Answer:
    """Whether `given` counts as `expected` under a tolerance, where the plain comparison said `same` (False or None).

    Only single numbers and quantities are near one another; of all else the plain answer stands. √2 is as near as both
    of its `bounds` are; where they disagree it is left open.
    """
    one, other = only_quantity(given), only_quantity(expected)
    if one is None or other is None:
        several = (Items, Solutions, Region, Ratio, Matrix, Ambiguous)
        # Members of a list or ends of an interval may lie within it: that is left open.
        return None if isinstance(given, several) and isinstance(expected, several) else same
    try:
        numbers, wanted = bounds(one.tree), bounds(other.tree)
    except NotAnExpressionError:
        return None
    if numbers is None or wanted is None:
        return same if any(not tree.is_constant or isinstance(tree, Name) for tree in (one.tree, other.tree)) else None
    found = {_quantities_near((one, each), (other, end), tolerance, same) for each, end in product(numbers, wanted)}
    return found.pop() if len(found) == 1 else None


def _quantities_near(
    given: tuple[Quantity, Fraction], expected: tuple[Quantity, Fraction], tolerance: Tolerance, same: Answer
) -> Answer:
    """As `within`, by the rules for units of the plain comparison, in the unit of the expected side."""
    (one, number), (other, wanted) = given, expected
    if other.percent:
        number, wanted = number / _PERCENT, wanted / _PERCENT
    if _is_share(one) != _is_share(other):
        return same
    if one.percent != other.percent:
        # Whether 28 % and 28 are the same depends on the question, and so does whether 28.1 % is near 28.
        bare = number / _PERCENT if one.percent else number * _PERCENT
        return True if tolerance.holds(number, wanted) else None if tolerance.holds(bare, wanted) else False
    if not one.units or not other.units:
        if not tolerance.holds(number, wanted):
            return None if _asked_for(other.tree, one) or _asked_for(one.tree, other) else False
        return None if any(unit.lone_letter for unit in (*one.units, *other.units)) else True
    pairs = [(mine, theirs) for mine, theirs in product(one.units, other.units) if mine.dimension == theirs.dimension]
    if not pairs or len({unit.noun for pair in pairs for unit in pair if unit.noun}) > 1:
        return same
    if any(mine.pi != theirs.pi for mine, theirs in pairs):
        return None
    found = {
        tolerance.holds((number * mine.factor + mine.offset - theirs.offset) / theirs.factor, wanted)
        for mine, theirs in pairs
    }
    if found == {True} and all(mine.unsure or theirs.unsure for mine, theirs in pairs):
        return None
    return found.pop() if len(found) == 1 else None


def only_quantity(value: Value) -> Quantity | None:
    """The only number or quantity that a value holds: alone, in a list of one, after a name, or with a comma in it."""
    match value:
        case Quantity():
            return value
        case Items(values=(only,), brackets="" | "{}" | "⦃⦄"):
            return only_quantity(only)
        case Items(decimal=Quantity() as one) | Ambiguous(readings=(_, Quantity() as one)):
            return one
        case Solutions(alternatives=(((_, bound),),)):
            return only_quantity(bound)
    return None
