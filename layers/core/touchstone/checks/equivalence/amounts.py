"""Whether two quantities are the same: numbers with units, percentages, amounts of money, things counted."""

from collections.abc import Callable
from dataclasses import replace

from touchstone.checks.algebra.canonical import key
from touchstone.checks.notation.trees import (
    Apply,
    Name,
    NotAnExpressionError,
    Number,
    Tree,
    is_constant,
    names_of,
    substituted,
)
from touchstone.checks.notation.units import Unit
from touchstone.checks.values.kinds import Quantity
from touchstone.checks.values.quantities import scaled, unscaled

_ACCENTS = ("hat ", "vec ", "bar ", "tilde ")

type Answer = bool | None
type SameTrees = Callable[[Tree, Tree], Answer]

DIFFERENT_UNITS = "The units measure different things."
ONE_HAS_A_UNIT = "One side has a unit; the numbers decide."
OTHER_THINGS = "Different things are counted or measured."
A_LETTER = "A letter behind a number may be a unit or a variable."
PERCENT = "Whether the number or the share is meant depends on the question."
CONVERTED = "Both in base units."
ROUNDED = "One may be the other, converted and rounded."
SEVERAL_SIZES = "A unit of several sizes, of which it is not said which."
A_SCALE = "A temperature or a difference of temperatures may be meant."
ONE_LETTER = "One letter in two cases: two variables, or one option."
DEGREES = "A temperature may be meant by what can measure something else too."
_TEMPERATURE = (("temperature", 1),)
_LIKE_DEGREES = {
    (("angle", 1),), (("current", 1), ("time", 1)), (("current", 2), ("length", -2), ("mass", -1), ("time", 4)),
}  # fmt: skip
"""What 36°, 36 C and 36 F measure where they are no temperatures: an angle, a charge, a capacity."""


def same_amount(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    """Whether two quantities are the same, and the rule that decided ("" where only the numbers did).

    Units must agree in dimension, and values in base units. Where exactly one side has a unit, the numbers decide.
    A percentage equals its fraction (50 % = 0.5); the bare number before the sign may be meant (28 % and 28): None.
    """
    if _is_share(left) != _is_share(right):
        shared, bare = same(_share(left), _share(right)), same(left.tree, right.tree)
        return (shared, "") if shared or bare is False else (None, PERCENT)
    if left.percent != right.percent:
        shared = same(left.tree, right.tree)
        bare = same(_without_percent(left.tree), _without_percent(right.tree))
        return (shared, "") if shared or bare is False else (None, PERCENT)
    if _case_apart(left.tree, right.tree):
        return None, ONE_LETTER
    if left.bare is not None or right.bare is not None:
        expressions = _expression(left), _expression(right)
        if expressions[0] is not None and expressions[1] is not None and _alike(expressions[0], expressions[1]):
            return True, ""
    answer, because = _both(left, right, same) if left.units and right.units else _one(left, right, same)
    if answer is False and (
        _letters_differ(left, right) or _renamed(left.tree, right.tree) or _dressed(left.tree, right.tree, same)
    ):
        return None, A_LETTER
    return answer, because


def _is_share(value: Quantity) -> bool:
    """Whether this is so many parts of a million, which are a share as so many percent are."""
    return any(not unit.dimension and not unit.noun and unit.factor != 1 for unit in value.units)


def _share(value: Quantity) -> Tree:
    return scaled(value.tree, value.units[0]) if _is_share(value) else value.tree


def _letters_differ(left: Quantity, right: Quantity) -> bool:
    """Whether letters behind a number, which may be a unit, stand on one side alone."""
    return (left.letters or right.letters) and names_of(left.tree) != names_of(right.tree)


def _renamed(left: Tree, right: Tree) -> bool:
    """Whether two expressions are the same but for one name: x² + C and x² + c, 2n - 1 and 2k - 1."""
    names = names_of(left), names_of(right)
    mine, theirs = names[0] - names[1], names[1] - names[0]
    if isinstance(left, Name) or isinstance(right, Name) or len(mine) > 1 or len(theirs) > 1 or not (mine or theirs):
        return False
    one, other = next(iter(mine), "i"), next(iter(theirs), "i")
    if "i" in (one, other) and "j" not in (one, other):
        return False
    if one.partition("_")[0] == other.partition("_")[0]:
        return False
    return _alike(substituted(left, one, Name(other)), right)


def _dressed(left: Tree, right: Tree, same: SameTrees) -> bool:
    """Whether two expressions may be the same but for what stands over their names: unit vectors as î, as vectors."""
    names = names_of(left) | names_of(right)
    bare = {name: name.removeprefix(accent) for name in names for accent in _ACCENTS if name.startswith(accent)}
    if not bare or names_of(left) == names_of(right):
        return False
    sides = [left, right]
    for name, plain in bare.items():
        sides = [substituted(side, name, Name(plain)) for side in sides]
    return same(*sides) is not False


def _alike(left: Tree, right: Tree) -> bool:
    """Whether two expressions are the same but for order and grouping."""
    try:
        return key(left) == key(right)
    except NotAnExpressionError:
        return False


def _expression(value: Quantity) -> Tree | None:
    return value.bare if value.units else value.tree


def _one(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    """As `same_amount`, where at most one side has a unit."""
    answer = same(left.tree, right.tree)
    units = (*left.units, *right.units)
    for plain, measured in ((left, right), (right, left)):
        if answer is False and measured.units and not is_constant(plain.tree) and is_constant(measured.tree):
            return None, A_LETTER
    if any(unit.lone_letter for unit in units):
        return None, A_LETTER
    angles = [unit for unit in units if unit.dimension == (("angle", 1),)]
    if not answer and angles and not (left.units and right.units):
        # Radians are plain numbers; 度 is another scale's degree as well.
        turned = same(*(_radians(replace(side, units=tuple(angles)) if side.units else side) for side in (left, right)))
        return turned if turned or len(angles) == len(units) else answer, CONVERTED
    return answer, ONE_HAS_A_UNIT if units else ""


def _radians(value: Quantity) -> Tree:
    return Apply("degrees", (scaled(value.tree, value.units[0]),)) if value.units else value.tree


def _both(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    pairs = [(one, other) for one in left.units for other in right.units if one.dimension == other.dimension]
    if not pairs:
        known = is_constant(left.tree) and is_constant(right.tree)
        return _apart(left.units, right.units) if known else (None, A_LETTER)
    answers: list[tuple[Answer, str]] = []
    for one, other in pairs:
        if (one.noun and other.noun and one.noun != other.noun) or (
            not one.dimension and (one.noun == "") != (other.noun == "")
        ):
            answers.append((None, OTHER_THINGS))
        else:
            answers.append(_converted(left.tree, right.tree, one, other, same))
    if _in_several_sizes(left.units, right.units) and {True, False} <= {answer for answer, _ in answers}:
        return None, SEVERAL_SIZES
    for wanted in (True, None):
        for answer in answers:
            if answer[0] is wanted:
                return answer
    return answers[0]


def _in_several_sizes(left: tuple[Unit, ...], right: tuple[Unit, ...]) -> bool:
    """Whether a unit, not the same on both sides, has several sizes: a ton, a megabyte."""
    shared = {unit.dimension for unit in left} & {unit.dimension for unit in right}
    sizes = [[unit.factor for unit in side if unit.dimension in shared] for side in (left, right)]
    return left != right and any(len(set(each)) > len(shared) for each in sizes)


def _converted(left: Tree, right: Tree, one: Unit, other: Unit, same: SameTrees) -> tuple[Answer, str]:
    if one == other:
        return same(left, right), ""
    answer = same(scaled(left, one), scaled(right, other))
    if answer is False and (one.offset or other.offset):
        # 20 °C and 20 K are two temperatures, and one difference.
        spans = same(Apply("mul", (Number(one.factor), left)), Apply("mul", (Number(other.factor), right)))
        if spans is not False:
            return None, A_SCALE
    if answer is False:
        rounds = one.offset != other.offset or 1 not in (one.factor / other.factor).as_integer_ratio()
        for mine, unit, theirs, its in ((left, one, right, other), (right, other, left, one)):
            # Who converts 25 °C writes 298 K; 601 minutes are not 10 hours.
            if rounds and isinstance(mine, Number) and mine.decimals is None:
                mine = Number(mine.value, 0)  # noqa: PLW2901
            if same(mine, unscaled(scaled(theirs, its), unit)) is None:
                return None, ROUNDED
    return answer, CONVERTED


def _apart(left: tuple[Unit, ...], right: tuple[Unit, ...]) -> tuple[Answer, str]:
    """What is said of units of which no two have one dimension."""
    if any(unit.lone_letter for unit in (*left, *right)):
        return None, A_LETTER
    if any(len(unit.noun) > 1 and not unit.dimension for unit in (*left, *right)):
        return None, OTHER_THINGS
    measured = {unit.dimension for unit in (*left, *right)}
    if _TEMPERATURE in measured and measured & _LIKE_DEGREES:
        return None, DEGREES
    if _periods(left) & _periods(right):
        # A year is twelve months, and no fixed number of days.
        return None, DIFFERENT_UNITS
    without = [
        {tuple(each for each in unit.dimension if each[0] != "angle") for unit in side} for side in (left, right)
    ]
    if without[0] & without[1]:
        # A radian is a plain number to physics: rad/s and 1/s.
        return None, DIFFERENT_UNITS
    return False, DIFFERENT_UNITS


def _periods(units: tuple[Unit, ...]) -> set[tuple[tuple[str, int], ...]]:
    """The dimensions with months as time."""
    return {
        tuple(("time" if name == "months" else name, power) for name, power in unit.dimension)
        for unit in units
        if any(name in ("time", "months") for name, _ in unit.dimension)
    }


def _without_percent(tree: Tree) -> Tree:
    match tree:
        case Apply(operation="percent", arguments=(inside,)):
            return inside
    return tree


def _case_apart(left: Tree, right: Tree) -> bool:
    match left, right:
        case Name(one), Name(other):
            return one != other and one.lower() == other.lower()
    return False
