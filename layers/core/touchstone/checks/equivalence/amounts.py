"""Whether two quantities are the same, or near: numbers with units, percentages, amounts of money, counted things."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, islice, permutations, product

from touchstone.checks.algebra.expressions import Answer, key
from touchstone.checks.notation import trees
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, value_or_none
from touchstone.checks.notation.units import UNITS, Unit
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import Ambiguous, Items, Matrix, Quantity, Ratio, Region, Solutions, Value
from touchstone.checks.values.quantities import CURRENCIES, ORDERS, scaled, unscaled
from touchstone.text import normalised

_ACCENTS = ("hat ", "vec ", "bar ", "tilde ")

_ARROW = re.compile("vec [A-Z]{2}")
_AXES = {"hat x": "i", "hat y": "j", "hat z": "k"}

ANGULAR = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
"""Functions of an angle."""

type SameTrees = Callable[[Tree, Tree], Answer]
type Bounds = Callable[[Tree], tuple[Fraction, Fraction] | None]
"""A function from a constant to two numbers that enclose it (equal if it is rational); None for other expressions."""

_PERCENT = Fraction(1, 100)
_FAR = (("1" + "0" * 12, "1" + "0" * 15), ("60", "90"))
"""Sizes at which orders of growth are compared; the lesser ones for powers such as 2^n."""
_MOST_CONSTANTS = 3
"""The most constants of a general solution whose names are exchanged."""
_MONEY = frozenset(
    base
    for code in CURRENCIES
    for unit in UNITS.get(code, ())
    for base, _ in unit.dimension
    if len(code) > 2  # noqa: PLR2004 - not A, for the Australian dollar
)
_TEMPERATURE = (("temperature", 1),)
_LIKE_DEGREES = {
    (("angle", 1),), (("current", 1), ("time", 1)), (("current", 2), ("length", -2), ("mass", -1), ("time", 4)),
}  # fmt: skip
"""The dimensions of 36°, 36 C and 36 F if they are not temperatures: an angle, a charge, a capacity."""


def same_amount(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    """Whether two quantities are the same, and the rule that decided ("" if only the numbers decided).

    The units must agree in dimension, and the values in base units. If only one side has a unit, the numbers decide;
    but the answer is None if the numbers differ and a conversion to another unit makes them equal. 50 % is 0.5. A
    percentage and a bare number that agree without the percent sign (28 % and 28) give None: the question decides.
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
        shared, bare = (
            same(left.tree, right.tree),
            same(_without_percent_or_base(left.tree), _without_percent_or_base(right.tree)),
        )
        return (shared, "") if shared or bare is False else (None, "percent" if based[0] == based[1] else "base")
    match left.tree, right.tree:
        case Name(one), Name(other) if one != other and one.lower() == other.lower():
            return None, "one letter"
    if left.bare is not None or right.bare is not None:
        expressions = [side.bare if side.units else side.tree for side in (left, right)]
        if (
            expressions[0] is not None
            and expressions[1] is not None
            and _same_up_to_order(expressions[0], expressions[1])
        ):
            return True, ""
    answer, because = (
        _same_with_two_units(left, right, same)
        if left.units and right.units
        else _same_with_one_unit(left, right, same)
    )
    # Letters behind a number on one side only: they may be a unit.
    letters = (left.letters or right.letters) and left.tree.variables != right.tree.variables
    doubt = _doubt(left.tree, right.tree, same, letters=letters) if answer is False else ""
    return (None, doubt) if doubt else (answer, because)


def _doubt(left: Tree, right: Tree, same: SameTrees, *, letters: bool) -> str:
    """The rule that leaves it open whether two different expressions are the same; "" if no such rule applies."""
    if "Gamma" in left.variables ^ right.variables and _may_be_gamma(left, right, same):
        return "a letter"
    if _may_be_one_order(left, right, same):
        return "an order"
    turned = _in_degrees(left), _in_degrees(right)
    if turned != (left, right) and same(*turned) is not False:
        return "degrees"  # sin 30 may be meant in degrees
    if letters or _same_up_to_a_name(left, right, same) or _same_without_accents(left, right, same):
        return "a letter"
    by_constant = _differ_by_constant(left, right, same) or _scaled_by_constant(left, right, same)
    return "a constant" if by_constant or _same_up_to_constants(left, right) else ""


def _may_be_gamma(left: Tree, right: Tree, same: SameTrees) -> bool:
    """Whether two expressions may be equal if Γ, which is on one side, is the function: Γ(n + 1) and n!."""
    sides = _with_gamma(left), _with_gamma(right)
    return any("Gamma" in side.variables for side in sides) or same(*sides) is not False


def _with_gamma(tree: Tree) -> Tree:
    """The tree in which Γ times a factor is Γ of it, as a factorial."""
    match tree:
        case Apply("mul", (Name("Gamma"), inside)):
            return Apply("factorial", (trees.difference(inside, trees.digits("1")),))
        case Apply(operation, arguments):
            return Apply(operation, tuple(map(_with_gamma, arguments)))
    return tree


def _may_be_one_order(left: Tree, right: Tree, same: SameTrees) -> bool:
    """Whether two expressions may be one order of growth, one of them perhaps without its O: O(n² + n) and O(n²)."""
    sides = [
        each.arguments if isinstance(each, Apply) and each.operation == "mul" else (each,) for each in (left, right)
    ]
    signs = {side[0].name for side in sides if isinstance(side[0], Name) and side[0].name in ORDERS}
    one, other = (_grown(side[-1]) for side in sides)
    if len(signs) != 1 or max(map(len, sides)) != len(("O", "n")):
        return False
    names = sorted(one.variables | other.variables)
    ratio: Tree = Apply("div", (one, other))
    for sizes in _FAR if len(names) <= 1 else ():
        far = [value_or_none(rational, ratio.substituted("".join(names), trees.digits(size))) for size in sizes]
        if far[0] and far[1]:
            return abs(far[1] / far[0] - 1) < _PERCENT
    return same(one, other) is not False or _same_up_to_names(one, other)


def _same_up_to_names(left: Tree, right: Tree) -> bool:
    """Whether two expressions are equal once the names of one have the other's: n + m and V + E."""
    mine, theirs = sorted(left.variables), sorted(right.variables)
    if len(mine) != len(theirs) or len(mine) > _MOST_CONSTANTS:
        return False
    return any(_same_up_to_order(_renamed(left, mine, names), right) for names in permutations(theirs))


def _renamed(tree: Tree, mine: Iterable[str], names: Iterable[str]) -> Tree:
    """The tree with other names in place of its own, all at once: C_1 may become C_2, and C_2 then C_1."""
    pairs = list(zip(mine, names, strict=True))
    for name, _ in pairs:
        tree = tree.substituted(name, Name(f"{name}'"))
    for name, new in pairs:
        tree = tree.substituted(f"{name}'", Name(new))
    return tree


def _grown(tree: Tree) -> Tree:
    """The tree without the base of its logarithms and without bars: |V| is a number of nodes."""
    match tree:
        case Apply("log" | "ln" | "lg", (inside, *_)):
            return Apply("ln", (_grown(inside),))
        case Apply("abs", (inside,)):
            return _grown(inside)
        case Apply(operation, arguments):
            return Apply(operation, tuple(map(_grown, arguments)))
    return tree


def _in_degrees(tree: Tree) -> Tree:
    """The tree in which numbers as arguments of an angle's function are read as degrees."""
    match tree:
        case Apply(operation, (inside,)) if operation in ANGULAR and value_or_none(rational, inside) is not None:
            return Apply(operation, (Apply("degrees", (inside,)),))
        case Apply(operation, arguments):
            return Apply(operation, tuple(map(_in_degrees, arguments)))
    return tree


def _is_share(value: Quantity) -> bool:
    """Whether the quantity counts parts per million or the like: it is a share, as a percentage is."""
    return any(not unit.dimension and not unit.noun and unit.factor != 1 for unit in value.units)


def _share(value: Quantity) -> Tree:
    return scaled(value.tree, value.units[0]) if _is_share(value) else value.tree


def in_other_case(tree: Tree, mine: frozenset[str], theirs: frozenset[str]) -> Tree | None:
    """The tree of a side with its names in the case of the other side's: mc² for MC².

    `mine` and `theirs` are all names of both sides. None if those that only one side has do not pair.
    """
    ones, others = (sorted(names, key=str.lower) for names in (mine - theirs, theirs - mine))
    if not ones or [name.lower() for name in ones] != [name.lower() for name in others]:
        return None
    for one, other in zip(ones, others, strict=True):
        tree = tree.substituted(one, Name(other))
    return tree


def _same_up_to_a_name(left: Tree, right: Tree, same: SameTrees) -> bool:
    """Whether two expressions are equal except for one name, or the case of names: 2n - 1 and 2k - 1, mc² and MC²."""
    names = left.variables, right.variables
    mine, theirs = names[0] - names[1], names[1] - names[0]
    if len(mine) > 1 and (cased := in_other_case(left, *names)) is not None:
        return same(cased, right) is not False
    if isinstance(left, Name) or isinstance(right, Name) or len(mine) > 1 or len(theirs) > 1 or not (mine or theirs):
        return False
    one, other = next(iter(mine), "i"), next(iter(theirs), "i")
    if "i" in (one, other) and "j" not in (one, other) and "I" not in (one, other):  # programs write 3 + 4*I
        return False
    if one.partition("_")[0] == other.partition("_")[0]:
        return False
    renamed = left.substituted(one, Name(other))
    return same(renamed, right) is not False if one.lower() == other.lower() else _same_up_to_order(renamed, right)


def _same_without_accents(left: Tree, right: Tree, same: SameTrees) -> bool:
    """Whether two expressions may be equal once their names are written plainly.

    Accents are removed (î for a unit vector, an arrow for a vector), and x2 is read as x². Beside \\hat i, \\hat x is
    the unit vector along x.
    """
    names = left.variables | right.variables
    bare = {name: name.removeprefix(accent) for name in names for accent in _ACCENTS if name.startswith(accent)}
    bare |= {name: normalised(name, "NFD")[0] for name in names if len(name) == 1 and not name.isascii()}
    turned = {name: f"vec {name[:3:-1]}" for name in left.variables if _ARROW.fullmatch(name)}
    if {"hat i", "hat j", "hat k"} & (left.variables ^ right.variables):
        bare |= {name: _AXES[name] for name in names if name in _AXES}
    meant: dict[str, Tree] = {name: Name(plain) for name, plain in bare.items()}
    for name, other in turned.items():
        if other in right.variables and other != name:
            meant |= {name: trees.negated(Name(other)), other: Name(other)}
    for name in left.variables ^ right.variables:
        letter, _, power = name.partition("_")
        if len(letter) == 1 and power in ("2", "3"):
            meant[name] = Apply("pow", (Name(letter), trees.digits(power)))  # x2 for x²
    if not meant or left.variables == right.variables:
        return False
    sides = [left, right]
    for name, plain in meant.items():
        sides = [side.substituted(name, plain) for side in sides]
    return same(*sides) is not False


def _differ_by_constant(left: Tree, right: Tree, same: SameTrees) -> bool:
    """Whether two antiderivatives may differ only by a constant: sin²x + C and -cos²x + C, ln|x| + C and ln|Cx|."""
    names = left.variables | right.variables
    if len(names) != 2 or "C" not in left.variables & right.variables:  # noqa: PLR2004
        return False
    (name,) = names - {"C"}
    rises = []
    for side, constant in ((left, "2"), (right, "3")):
        whole = side.substituted("C", trees.digits(constant))
        rises.append(trees.difference(whole, whole.substituted(name, trees.digits("5"))))
    return same(*rises) is not False


def _scaled_by_constant(left: Tree, right: Tree, same: SameTrees) -> bool:
    """Whether two general solutions differ only by a factor of their constant: Ce^{2x} and 3Ce^{2x}."""
    names = left.variables | right.variables
    if len(names) != 2 or "C" not in left.variables & right.variables:  # noqa: PLR2004
        return False
    (name,) = names - {"C"}
    sides = [[side.substituted("C", trees.digits(constant)) for constant in "01"] for side in (left, right)]
    if not same(sides[0][0], sides[1][0]):
        return False
    own = [trees.difference(whole, rest) for rest, whole in sides]
    there = [side.substituted(name, trees.digits("5")) for side in own]
    return same(Apply("mul", (own[0], there[1])), Apply("mul", (own[1], there[0]))) is True


def _same_up_to_constants(left: Tree, right: Tree) -> bool:
    """Whether two expressions are equal once one's numbered constants have the other's names: C_1 e^x and A e^x."""
    for one, other in ((left, right), (right, left)):
        mine = sorted(name for name in one.variables if name[:2] in ("C_", "c_"))
        theirs = sorted(other.variables - (one.variables - set(mine)))
        if isinstance(one, Name) or len(mine) != len(theirs) or not 0 < len(mine) <= _MOST_CONSTANTS:
            continue
        if any("_" in name and name[:2] not in ("C_", "c_") for name in theirs):
            continue
        if any(_same_up_to_order(_renamed(one, mine, names), other) for names in permutations(theirs)):
            return True
    return False


def accents_differ(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether a name, or a letter of it, has a sign before or over it on one side only: ∠A and A, \\vec F and F."""
    mine, theirs = (
        {letter for name in names for letter in name.rpartition(" ")[2]} for names in (left - right, right - left)
    )
    return any(" " in name for name in left ^ right) and not mine.isdisjoint(theirs)


def _same_up_to_order(left: Tree, right: Tree) -> bool:
    """Whether two expressions are equal except for order and grouping."""
    written = value_or_none(key, left)
    return written is not None and written == value_or_none(key, right)


def _same_with_one_unit(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    """As `same_amount`, if at most one side has a unit."""
    answer = same(left.tree, right.tree)
    units = (*left.units, *right.units)
    for plain, measured in ((left, right), (right, left)):
        if answer is False and measured.units and not plain.tree.is_constant and measured.tree.is_constant:
            return None, "a letter"
        if answer is False and _in_other_unit(plain.tree, measured):
            return None, "another unit"
    if any(unit.lone_letter for unit in units):
        return None, "a letter"
    angles = [unit for unit in units if unit.dimension == (("angle", 1),)]
    if not answer and angles and not (left.units and right.units):
        # Radians are plain numbers. 度 is an angle's degree and a temperature's as well.
        sides = (
            Apply("degrees", (scaled(each.tree, angles[0]),)) if each.units else each.tree for each in (left, right)
        )
        turned = same(*sides)
        return turned if turned or len(angles) == len(units) else answer, "converted"
    return answer, "one has a unit" if units else ""


def _in_other_unit(plain: Tree, measured: Quantity) -> bool:
    """Whether `plain` is `measured` in another unit, for which the question may ask: 150 for 2小时30分."""
    number = value_or_none(rational, plain)
    for unit in measured.units if number else ():
        worth = value_or_none(rational, scaled(measured.tree, replace(unit, pi=0)))
        if worth is not None and unit.dimension:
            like = (unit.dimension, unit.pi)
            sizes = [each for each in chain.from_iterable(UNITS.values()) if (each.dimension, each.pi) == like]
            sizes.append(Unit(unit.dimension, Fraction(1)))
            if any((worth - size.offset) / size.factor == number for size in sizes):
                return True
    return False


def _same_with_two_units(left: Quantity, right: Quantity, same: SameTrees) -> tuple[Answer, str]:
    pairs = [(one, other) for one, other in product(left.units, right.units) if one.dimension == other.dimension]
    if not pairs:
        if bare := [pair for pair in product(left.units, right.units) if _lacks_what(*pair)]:
            priced = all(one.factor == other.factor and _bases(one) ^ _bases(other) <= _MONEY for one, other in bare)
            return (same(left.tree, right.tree) or None) if priced else None, "rate"  # 15 per hour, and $15 per hour
        bases = [{base for unit in side.units for base in _bases(unit)} for side in (left, right)]
        bare_rate = any(map(_is_bare_rate, (*left.units, *right.units)))
        money = _MONEY & ((bases[0] | bases[1]) if bare_rate else (bases[0] & bases[1]))
        if money and same(left.tree, right.tree) is not False:
            return None, "rate"  # $5 per hour, and $5
        known = left.tree.is_constant and right.tree.is_constant
        return _of_different_dimensions(left.units, right.units) if known else (None, "a letter")
    answers: list[tuple[Answer, str]] = []
    for one, other in pairs:
        other_things = one.noun != other.noun and (not one.dimension or (one.noun and other.noun))
        converted = None if other_things else _converted(left.tree, right.tree, one, other, same)
        if converted is not None and converted[0] and one != other and (one.unsure or other.unsure):
            converted = None, "strokes"
        answers.append(converted or (None, "other things"))
    # A unit that has several sizes (a ton, a megabyte) and is not the same on both sides.
    shared = {unit.dimension for unit in left.units} & {unit.dimension for unit in right.units}
    sizes = [{unit.factor for unit in side.units if unit.dimension in shared} for side in (left, right)]
    several = left.units != right.units and any(len(each) > len(shared) for each in sizes)
    if several and {True, False} <= {answer for answer, _ in answers}:
        return None, "several sizes"
    best = min(answers, key=lambda each: (True, None, False).index(each[0]))
    if best[0] is False and left.units != right.units:
        sized = _other_sizes(pairs)
        if any(_converted(left.tree, right.tree, one, other, same)[0] is not False for one, other in sized):
            return None, "several sizes"
    return best


def _bases(unit: Unit) -> set[str]:
    return {base for base, _ in unit.dimension}


def _is_bare_rate(unit: Unit) -> bool:
    """Whether a unit says per what, and not what: per hour."""
    return bool(unit.dimension) and all(power < 0 for _, power in unit.dimension)


def _lacks_what(one: Unit, other: Unit) -> bool:
    """Whether one unit is the other without what there is so much of: per hour beside dollars or miles per hour."""
    below = [{part for part in unit.dimension if part[1] < 0} for unit in (one, other)]
    return _is_bare_rate(one) != _is_bare_rate(other) and below[0] == below[1]


def _other_sizes(pairs: Iterable[tuple[Unit, Unit]]) -> Iterator[tuple[Unit, Unit]]:
    """Pairs of units with the sizes that one or both have elsewhere, without the pairs of usual sizes."""
    for one, other in pairs:
        yield from islice(product(one.sizes(), other.sizes()), 1, None)


def _converted(left: Tree, right: Tree, one: Unit, other: Unit, same: SameTrees) -> tuple[Answer, str]:
    if one == other:
        return same(left, right), ""
    if one.factor != other.factor and "percent" in left.operations & right.operations:
        return False if same(left, right) else None, "compound"  # 1% per month, and 12% per year
    answer = same(scaled(left, one), scaled(right, other))
    if answer is False and (one.offset or other.offset):
        # 20 °C and 20 K are different temperatures, but the same difference of temperatures.
        spans = same(Apply("mul", (Number(one.factor), left)), Apply("mul", (Number(other.factor), right)))
        if spans is not False:
            return None, "a scale"
    if answer is False:
        rounds = one.offset != other.offset or 1 not in (one.factor / other.factor).as_integer_ratio()
        for mine, unit, theirs, its in ((left, one, right, other), (right, other, left, one)):
            # A conversion of 25 °C is commonly written as 298 K, rounded; 601 minutes are not 10 hours.
            if rounds and isinstance(mine, Number) and mine.decimals is None:
                mine = Number(mine.value, 0)  # noqa: PLW2901
            if same(mine, unscaled(scaled(theirs, its), unit)) is None:
                return None, "rounded"
    return answer, "converted"


def _of_different_dimensions(left: tuple[Unit, ...], right: tuple[Unit, ...]) -> tuple[Answer, str]:
    """The answer, and its rule, for two lists of units that have no dimension in common."""
    if any(unit.lone_letter for unit in (*left, *right)):
        return None, "a letter"
    if any(len(unit.noun) > 1 and not unit.dimension for unit in (*left, *right)):
        return None, "other things"
    measured = {unit.dimension for unit in (*left, *right)}
    if _TEMPERATURE in measured and measured & _LIKE_DEGREES:
        return None, "degrees"
    # A year is twelve months but no fixed number of days. In physics a radian is a plain number: rad/s and 1/s.
    related = [{unit.family for unit in side} for side in (left, right)]
    return None if related[0] & related[1] else False, "different units"


def _without_percent_or_base(tree: Tree) -> Tree:
    """The number as written, without its percent sign or its base."""
    match tree:
        case Apply("percent", (inside,)) | Apply("base", (inside, _)):
            return inside
    return tree


# Nearness


def within_tolerance(given: Value, expected: Value, tolerance: Tolerance, *, same: Answer, bounds: Bounds) -> Answer:
    """Whether `given` counts as `expected` under a tolerance, if the plain comparison answered `same` (False or None).

    Only single numbers and quantities can be near one another; for other values the plain answer stands, or None if
    both have several parts. An irrational number like √2 is near if both of its `bounds` are; None if they disagree.
    """
    one, other = only_quantity(given), only_quantity(expected)
    if one is None or other is None:
        several = (Items, Solutions, Region, Ratio, Matrix, Ambiguous)
        # Members of a list or ends of an interval may lie within the tolerance: the answer is left open.
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
    """As `within_tolerance`, in the unit of the expected side.

    The rules for units are those of the plain comparison.
    """
    (one, number), (other, wanted) = given, expected
    if other.percent:
        number, wanted = number / _PERCENT, wanted / _PERCENT
    if _is_share(one) != _is_share(other):
        return same
    if one.percent != other.percent:
        # The question decides whether 28 % and 28 are the same, and so whether 28.1 % is near 28.
        bare = number / _PERCENT if one.percent else number * _PERCENT
        return True if tolerance.holds(number, wanted) else None if tolerance.holds(bare, wanted) else False
    if not one.units or not other.units:
        if not tolerance.holds(number, wanted):
            return None if _in_other_unit(other.tree, one) or _in_other_unit(one.tree, other) else False
        return None if any(unit.lone_letter for unit in (*one.units, *other.units)) else True
    pairs = [(mine, theirs) for mine, theirs in product(one.units, other.units) if mine.dimension == theirs.dimension]
    if not pairs or len({unit.noun for pair in pairs for unit in pair if unit.noun}) > 1:
        return same
    if any(mine.pi != theirs.pi for mine, theirs in pairs):
        return None

    def near(mine: Unit, theirs: Unit) -> bool:
        return tolerance.holds((number * mine.factor + mine.offset - theirs.offset) / theirs.factor, wanted)

    found = {near(mine, theirs) for mine, theirs in pairs}
    if found == {True} and all(mine.unsure or theirs.unsure for mine, theirs in pairs):
        return None
    if found == {False} and one.units != other.units:
        return None if any(near(mine, theirs) for mine, theirs in _other_sizes(pairs)) else False
    return found.pop() if len(found) == 1 else None


def only_quantity(value: Value) -> Quantity | None:
    """The only number or quantity that a value holds; None if there is none or there are several.

    It stands alone, in a list of one, after a name, or is the reading of a text as one number with a decimal comma.
    """
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
