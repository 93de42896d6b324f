"""Whether two values are the same: first by exact arithmetic, then by algebra; None if neither decides.

A rounded decimal and an exact value that rounds to it are neither the same nor different (None). The exception is a
decimal of ten or more correct digits, as programs print an exact value: it is the same (True). Values of different
kinds are different only if no reader would take one for the other; otherwise the answer is None.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, floor
from operator import itemgetter
from string import ascii_lowercase, ascii_uppercase

from touchstone.checks.algebra.expressions import Algebra, Answer
from touchstone.checks.equivalence.amounts import (
    accents_differ,
    in_other_case,
    only_quantity,
    same_amount,
    within_tolerance,
)
from touchstone.checks.equivalence.orders import in_another_order, spread_out
from touchstone.checks.notation.syntax import tree_of
from touchstone.checks.notation.tokens import tokens_of
from touchstone.checks.notation.trees import (
    Apply,
    Name,
    NotAnExpressionError,
    Number,
    Tree,
    difference,
    value_or_none,
)
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values import kinds
from touchstone.checks.values.exact import linear, rational
from touchstone.checks.values.intervals import merged
from touchstone.checks.values.kinds import Condition, Items, Matrix, Quantity, Ratio, Solutions, Value, Words
from touchstone.checks.values.matrices import as_matrix, as_vector
from touchstone.checks.values.reading import as_condition, as_region
from touchstone.checks.values.words import OWN_CASE
from touchstone.limits import Allowance

type Bindings = tuple[tuple[str, Value], ...]

_FACTS = (kinds.Clock, kinds.Date, kinds.Weekday, kinds.Formula, kinds.Division)
_HALF_A_DAY = 43_200
_PAIR = 2
_COUNTS = frozenset("nmkNMK")
"""Names that may stand for whole numbers."""
_PI = Quantity(Name("pi"))


class Comparison:
    """Compares values. An answer is None if algebra does not decide it within `time` (seconds, or an allowance).

    The time starts after sympy has been loaded. If `time` is None, a comparison that needs algebra raises
    `NotAtOnceError`. `in_order`: asked where lists differ in their order alone; True: it is not known whether they are
    the same. `because` is the last rule that decided: a key of `rules.json`, or "" if only arithmetic or algebra
    decided.
    """

    def __init__(self, time: float | Allowance | None, *, in_order: Callable[[], bool] = lambda: False) -> None:
        self._algebra = Algebra(time)
        self._in_order = in_order
        self.because = ""

    def same(self, left: Value, right: Value) -> Answer:
        """Whether the two values are the same; None if this cannot be told."""
        left, right = _unwrapped(left), _unwrapped(right)
        if (_is_measured(left) and only_quantity(right)) or (_is_measured(right) and only_quantity(left)):
            self.because = "uncertainty"
            return None
        match left, right:
            case Quantity(), Quantity():
                answer, because = same_amount(left, right, self._algebra.trees)
                answer = None if answer and in_another_order((left.tree,), (right.tree,)) else answer
                if answer is False and (turned := spread_out(left.tree, right.tree)) is not None:
                    same = self._algebra.trees(*turned)
                    answer = (None if in_another_order(turned[:1], turned[1:]) else True) if same else same
                self.because = because or self.because
                return answer
            case (kinds.Ambiguous(), _) | (_, kinds.Ambiguous()):
                return self._readings(left, right)
            case (Words() | kinds.Choice() | kinds.Truth(), _) | (_, Words() | kinds.Choice() | kinds.Truth()):
                self.because = "words"
                return _symbols(left, right) or self._letters(left, right)
            case Solutions(), _:
                return self._solutions(_without_repeats(left), right)
            case _, Solutions():
                return self._solutions(_without_repeats(right), left)
        if isinstance(left, _FACTS) or isinstance(right, _FACTS):
            return self._facts(left, right)
        answer = self._several(left, right)
        if answer is False and _some_measured(left) != _some_measured(right):
            self.because = "uncertainty"
            return None
        return answer

    def near(self, given: Value, expected: Value, tolerance: Tolerance, *, same: Answer) -> Answer:
        """Whether `given` lies within a tolerance of `expected`, for which the method `same` answered False or None."""
        given, expected = (
            _PI if isinstance(value, Words) and value.text == "pi" else value for value in (given, expected)
        )
        near = within_tolerance(given, expected, tolerance, same=same, bounds=self._algebra.bounds)
        if near is not None and near is not same:
            self.because = "near" if near else "far"
        return near

    def _letters(self, left: Value, right: Value) -> Answer:
        """Compare words of a few letters with mathematics: `ma` may be the product m·a, and equals only that."""
        for word, other in ((left, right), (right, left)):
            if isinstance(word, Words) and isinstance(other, Quantity | Solutions | Condition) and word.written:
                product = tree_of(tokens_of(word.written))
                if product is None or not self.same(Quantity(product), other):
                    return None
                self.because = "letters"
                return True
        return _symbols(left, right)

    def _readings(self, left: Value, right: Value) -> Answer:
        """Compare values of which at least one has several readings.

        True if some pair of readings is the same and no kind that both sides may be is certain to differ.
        """
        sides = [value.readings if isinstance(value, kinds.Ambiguous) else (value,) for value in (left, right)]
        pairs = list(product(*sides))
        # The other side shows which kind of value is meant.
        alike = [pair for pair in pairs if type(pair[0]) is type(pair[1])]
        answers = [(type(one), self.same(one, other)) for one, other in alike or pairs]
        possible = {kind for kind, answer in answers if answer is not False}
        if any(answer for _, answer in answers):
            # P(5,2) and C(5,2) are the same point but different numbers.
            return True if not alike or all(kind in possible for kind, _ in answers) else None
        return None if possible else False

    def _facts(self, left: Value, right: Value) -> Answer:
        """As `same`, for times, dates, weekdays, divisions with remainder and chemical formulas."""
        match left, right:
            case kinds.Clock(), kinds.Clock():
                if left.zone != right.zone and (left.seconds != right.seconds or (left.zone and right.zone)):
                    return None  # 14:30 UTC and 15:30 CET
                if left.seconds == right.seconds:
                    return True
                apart = abs(left.seconds - right.seconds)
                half_a_day_apart = apart == _HALF_A_DAY and (left.half or right.half)
                ratios = left.ratio is not None and right.ratio is not None and self._ratios(left.ratio, right.ratio)
                midnight = apart == 2 * _HALF_A_DAY  # 0:00 of one day is 24:00 of the day before
                return None if half_a_day_apart or midnight or ratios else False
            case (kinds.Clock() as time, other) | (other, kinds.Clock() as time) if time.ratio is not None:
                answer = self.same(time.ratio, other)
                # The value of 3:30 as a length of time: hours and minutes, or minutes and seconds.
                lengths = (Quantity(Number(Fraction(time.seconds, size))) for size in (3600, 60, 1))
                if answer is False and any(self.same(length, other) for length in lengths):
                    self.because = "another unit"
                    return None
                return answer
            case kinds.Date(), kinds.Date():
                fields = ((left.year, right.year), (left.month, right.month), (left.day, right.day))
                return _all_same(None if (one is None) != (other is None) else one == other for one, other in fields)
            case (kinds.Weekday(), kinds.Weekday()) | (kinds.Division(), kinds.Division()):
                return left == right
            case kinds.Formula(), kinds.Formula():
                if len(left.sides) != len(right.sides):
                    return None
                same = _same_in_order(
                    left.sides, right.sides, lambda one, other: _same_in_any_order(one, other, _species)
                )
                # A reaction may be written for one mole of a product: H2 + 1/2 O2 -> H2O.
                return None if same is False and _shares(left) == _shares(right) else same
        self.because = "other kind"
        return None

    def _several(self, left: Value, right: Value) -> Answer:
        """As `same`, for lists, matrices, parts of the number line, ratios and conditions."""
        match left, right:
            case (Matrix(), _) | (_, Matrix()):
                return self._matrices(left, right)
            case Items(), Items():
                return self._items(left, right)
            case (Items(decimal=Quantity() as one), Quantity() as other) | (
                Quantity() as other,
                Items(decimal=Quantity() as one),
            ):
                return self.same(one, other)
            case (Ratio(), Ratio() | Quantity()) | (Quantity(), Ratio()):
                return self._ratios(left, right)
            case Condition(), Condition():
                return self._conditions(left, right)
            case (Ratio(terms=terms), Items(values=values, brackets="")) | (
                Items(values=values, brackets=""),
                Ratio(terms=terms),
            ):
                # 1, 5, 3, 4 and 1:5:3:4 may be the coefficients of a reaction.
                return None if _same_in_order(values, [*map(Quantity, terms)], self.same) is not False else False
            case (Condition() | Items(brackets="⟦⟧"), _) | (_, Condition() | Items(brackets="⟦⟧")):
                return None
            case (kinds.Region(), _) | (_, kinds.Region()):
                return self._regions(left, right)
            case (Items(values=values, brackets=""), Quantity() as each) | (
                Quantity() as each,
                Items(values=values, brackets=""),
            ) if all(self._may_be(value, each) for value in values):
                return None  # 1/3, or 0.333; 30 minutes or 0.5 hours
        if any(isinstance(side, Items) and _judges(side) for side in (left, right)):
            return None  # Yes, 25
        # A number is not a list and a ratio is not a point, but an expression with names may be either.
        self.because = "other kind"
        sides = [side for side in (left, right) if isinstance(side, Quantity)]
        named = any(side.listed or not side.tree.is_constant for side in sides)
        return None if named else False

    # Collections

    def _items(self, left: Items, right: Items) -> Answer:
        if left.decimal is not None and right.decimal is not None:
            as_list = self._items(replace(left, decimal=None), right)
            as_one = as_list is False and self.same(left.decimal, right.decimal)
            return as_list if not as_one else True if left.decimal.units else None
        if _judges(left) != _judges(right):
            return None
        kinds = {left.brackets, right.brackets}
        if "⟦⟧" in kinds or any(isinstance(value, Condition) for value in (*left.values, *right.values)):
            # Different equations may have the same solutions, and different cases may define the same function.
            return _same_in_any_order(left.values, right.values, self.same) or None
        if left.ordered and right.ordered:
            same = _same_in_order(left.values, right.values, self.same)
            if len(kinds) > 1 and any(isinstance(value, Items) for value in (*left.values, *right.values)):
                return same or None
            # (1, 2) and [1, 2] are different intervals; longer ones are vectors.
            return False if len(kinds) > 1 and same and len(left.values) == _PAIR else same
        if "[]" in kinds:
            return None
        if left.ordered or right.ordered:
            if "⦃⦄" in kinds:
                return None
            same = _same_in_order(left.values, right.values, self.same)
            # -1, 3 are two roots, while (-1, 3) is a point or an interval.
            return None if same and "" in kinds and len(left.values) == _PAIR else same
        if "⦃⦄" in kinds:
            same = _same_in_any_order(self._distinct(left.values), self._distinct(right.values), self._member)
            # Who lists HT and TH in one set does not mean their product.
            return None if same and len(dict.fromkeys(left.values)) != len(dict.fromkeys(right.values)) else same
        same = _same_in_any_order(left.values, right.values, self.same)
        twice = any(value in left.values[:place] for place, value in enumerate(left.values))
        if not same or not (twice or kinds == {""}) or _same_in_order(left.values, right.values, self.same):
            return same
        # What names a value twice is no set of values: 2, 8, 8, 1 is an order.
        if twice or self._in_order():
            self.because = "" if twice else "asked"
            return None
        return same

    def _member(self, left: Value, right: Value) -> Answer:
        """As `same`, for the members of two sets. A set within one of them is no member alone: {1, {2}} and {1, 2}."""
        sets = [isinstance(each, Items) and each.brackets == "⦃⦄" for each in (left, right)]
        return self.same(left, right) if sets[0] == sets[1] else None

    def _distinct(self, values: Sequence[Value]) -> list[Value]:
        kept: list[Value] = []
        for value in values:
            if not any(self.same(value, other) for other in kept):
                kept.append(value)
        return kept

    def _solutions(self, left: Solutions, right: Value) -> Answer:
        lines = False
        match left, right:
            case Solutions((((mine, value),),)), Solutions((((theirs, another),),)):
                short, long = sorted((mine, theirs), key=len)
                if short == "y" and long[1:] in ("(x)", "^-1(x)") and long[0].isalpha():
                    # f(x) = 2x and y = 2x define the same function.
                    return self.same(value, another)
                trees = [each.tree for each in (value, another) if isinstance(each, Quantity)]
                # y = 2x and x = y/2 are lines.
                lines = mine != theirs and len(trees) == _PAIR and not all(tree.is_constant for tree in trees)
                if lines and self._algebra.trees(*trees):
                    lines = False  # a_n = 3n and b_n = 3n
        if isinstance(right, Condition) or lines:
            one, other = as_condition(left), as_condition(right)
            return None if one is None or other is None else self._conditions(one, other)
        if isinstance(right, Solutions):
            return self._alternatives(left, _without_repeats(right))
        if (things := _by_their_things(left, right)) is not None:
            return _all_same(self.same(value, thing) for value, thing in things)
        values = _unnamed(left)
        if len(values) == 1:
            same = self.same(values[0], right)
            return None if same is False and _is_computed_name(left, right) else same
        match right:
            case Items():
                same = self._items(Items(tuple(values), "{}"), right)
                if right.ordered and len(left.alternatives) == 1 and not _indexed(left):
                    return self._point(left.alternatives[0], right, as_written=same)
                if right.ordered and len(left.alternatives) > 1 and not _indexed(left):
                    return None if same else same  # two values, and a point or an interval
                return (
                    same if _single_named(left) else (same and self._listed(left.alternatives, values, right)) or None
                )
            case Quantity():
                return False if _single_named(left) else None
        return None

    def _listed(self, alternatives: Sequence[Bindings], values: Sequence[Value], right: Items) -> Answer:
        """Whether a list has the values of several names in their order: x = 3, y = 2 is 3, 2."""
        if len(alternatives) > 1 or self._items(Items(tuple(values), "{}"), replace(right, brackets="()")):
            return True
        return self._point(alternatives[0], replace(right, brackets="()"), as_written=None)

    def _point(self, bindings: Bindings, point: Items, *, as_written: Answer) -> Answer:
        """Whether named values are a point: y = 2, x = 1 is (1, 2). None if they are one only in another order.

        Letters that follow each other in the alphabet name a point in their order. Others, such as n and k, may name
        one in any: they must be written in the order of the point, too.
        """
        by_name = [value for _, value in sorted(bindings, key=itemgetter(0))]
        names = "".join(sorted(name for name, _ in bindings))
        ordered = len(names) == len(bindings) and names in ascii_lowercase + " " + ascii_uppercase
        if (ordered or as_written) and self._items(Items(tuple(by_name), "{}"), point):
            return True
        return False if _same_in_any_order(by_name, point.values, self.same) is False else None

    def _may_be(self, value: Value, wanted: Quantity) -> bool:
        """Whether a constant may be the wanted one in another form; with a unit, only if the two are the same."""
        if not (isinstance(value, Quantity) and value.tree.is_constant):
            return False
        same = self.same(value, wanted)
        return same is True or (same is None and not value.units)

    def _conditions(self, left: Condition, right: Condition) -> Answer:
        if _never_vary(left) and _never_vary(right):
            return True if left == right else None  # x = x + 1, as a program says it
        same = self._algebra.conditions(left, right)
        if same and in_another_order((left.left, left.right), (right.left, right.right)):
            return None
        names = [side.left.variables | side.right.variables for side in (left, right)]
        if same is False and (accents_differ(*names) or self._in_other_case(left, right)):
            self.because = "a letter"
            return None
        return same

    def _in_other_case(self, left: Condition, right: Condition) -> bool:
        """Whether two conditions may be the same up to the case of names: PV = nRT and pV = nRT."""
        names = left.left.variables | left.right.variables, right.left.variables | right.right.variables
        one, other = (in_other_case(side, *names) for side in (left.left, left.right))
        if one is None or other is None:
            return False
        return self._algebra.conditions(Condition(one, other, left.sign), right) is not False

    def _alternatives(self, left: Solutions, right: Solutions) -> Answer:
        names = [{tuple(sorted(name for name, _ in each)) for each in side.alternatives} for side in (left, right)]
        if names[0] != names[1]:
            same = _same_in_any_order(_unnamed(left), _unnamed(right), self.same)
            bases, roots = _bases(left), [_indexed(left), _indexed(right)]
            if bases == _bases(right) and len(bases) == 1 and any(roots):
                bare = [{name for each in side for name in each} <= bases for side in names]
                # x_1 = 2, x_2 = 3 are the two values of x; Q1 and Q3 are not Q1 and Q2.
                return same if all(roots) or any(bare) else None
            if any(":" in name for side in names for each in side for name in each):
                return None  # a:b = 2:3 and b:a = 3:2
            return False if same is False and _single_named(left) and _single_named(right) else None
        same = _same_in_any_order(
            [dict(each) for each in left.alternatives],
            [dict(each) for each in right.alternatives],
            lambda one, other: (
                one.keys() == other.keys() and _all_same(self.same(one[name], other[name]) for name in one)
            ),
        )
        if same is False and _indexed(left) and _indexed(right):
            # x_1 and x_2 are two unknowns, or the two roots of an equation, which have no order.
            return None if _same_in_any_order(_unnamed(left), _unnamed(right), self.same) is not False else False
        return same

    # Shapes

    def _matrices(self, left: Value, right: Value) -> Answer:
        mine, theirs = as_vector(left), as_vector(right)
        if mine is not None and theirs is not None and not (isinstance(left, Matrix) and isinstance(right, Matrix)):
            return _same_in_order(mine, theirs, self._algebra.trees)
        one, other = as_matrix(left), as_matrix(right)
        if one is None or other is None:
            self.because = "other kind"
            # A sum with names may be a sum of unit vectors.
            plain = [side for side in (left, right) if isinstance(side, Quantity) and side.tree.is_constant]
            return False if plain else None
        return _same_in_order(one.rows, other.rows, lambda row, its: _same_in_order(row, its, self._algebra.trees))

    def _ratios(self, left: Value, right: Value) -> Answer:
        terms = [value.terms if isinstance(value, Ratio) else () for value in (left, right)]
        for mine, value in zip(terms, (right, left), strict=True):
            match mine, value:
                case (over, under), Quantity(tree=tree, units=()):
                    same = self._algebra.trees(Apply("div", (over, under)), tree)
                    named = under.is_constant and tree.is_constant and not over.is_constant
                    return same or (None if named else same)  # `x: 3` may give x its value
                case _, Quantity():
                    return None
        mine, theirs = terms
        same = _same_in_order(mine, theirs, self._algebra.trees)
        zero = [[rational(term) == 0 for term in side] for side in terms]
        if zero[0] == zero[1] and False in zero[0]:
            first = zero[0].index(False)  # a term that can tell proportions: 0 : 1 : 2 and 0 : 1 : 3 are 0 by the first

            def proportional(one: Tree, other: Tree) -> Answer:
                return self._algebra.trees(Apply("mul", (mine[first], other)), Apply("mul", (one, theirs[first])))

            same = same or _same_in_order(mine, theirs, proportional)
        if same is False and len(mine) != len(theirs) and 0 in (rational(mine[0]), rational(theirs[0])):
            return None  # 0:01:23.45 and 1:23.45
        things = [value.things if isinstance(value, Ratio) else () for value in (left, right)]
        # 3 red : 1 white is 1 white : 3 red, and not 3 white : 1 red.
        return None if all(things) and things[0] != things[1] else same

    def _regions(self, left: Value, right: Value) -> Answer:
        try:
            one, other = as_region(left), as_region(right)
        except NotAnExpressionError:
            return False if isinstance(left, Quantity | Matrix) or isinstance(right, Quantity | Matrix) else None
        normal = merged(one), merged(other)
        if normal[0] is not None and normal[1] is not None:
            same: Answer = normal[0] == normal[1]
        else:
            same = _same_in_order(one.intervals, other.intervals, self._intervals)
            same = same if same or (len(one.intervals) == len(other.intervals) == 1) else None
        if same is False and _same_when_counted(one, other):
            return None  # n ≥ 5 is n > 4 for whole numbers
        renamed = one.variable != other.variable and None not in (one.variable, other.variable)
        return None if same and renamed else same

    def _intervals(self, one: kinds.Interval, other: kinds.Interval) -> Answer:
        same: list[Answer] = [(one.low_closed, one.high_closed) == (other.low_closed, other.high_closed)]
        for mine, theirs in ((one.low, other.low), (one.high, other.high)):
            same.append(mine is theirs if mine is None or theirs is None else self._algebra.trees(mine, theirs))
        return _all_same(same)


def _unwrapped(value: Value) -> Value:
    """The value without the lists or sets of one member around it."""
    match value:
        case Items(values=(kinds.Region() | Items(brackets="⦃⦄"),), brackets="⦃⦄"):
            return value
        case Items(values=(only,), brackets="" | "{}" | "⦃⦄"):
            return _unwrapped(only)
    return value


def _never_vary(condition: Condition) -> bool:
    """Whether an equation holds always or never, whatever its names stand for."""
    terms = value_or_none(linear, difference(condition.left, condition.right))
    return condition.sign == "=" and terms is not None and not any(factor for name, factor in terms.items() if name)


def _is_measured(value: Value) -> bool:
    """Whether the value has two members that may be the ends of one value with its uncertainty."""
    match value:
        case Items(values=(low, high)) | Solutions(alternatives=(((_, low),), ((_, high),))):
            return all(isinstance(end, Quantity) and end.measured for end in (low, high))
    return False


def _some_measured(value: Value) -> bool:
    """Whether the value or one of its members may be a value with its uncertainty."""
    match value:
        case Quantity():
            return value.measured
        case Items():
            return any(map(_some_measured, value.values))
    return False


def _same_when_counted(one: kinds.Region, other: kinds.Region) -> bool:
    """Whether two parts of the line with other ends comprise the same whole numbers, which their name may stand for."""
    match one.intervals, other.intervals:
        case (mine,), (theirs,) if one.variable in _COUNTS and one.variable == other.variable:
            low = _same_end(mine.low, theirs.low, (mine.low_closed, theirs.low_closed), 1)
            return low and _same_end(mine.high, theirs.high, (mine.high_closed, theirs.high_closed), -1)
    return False


def _same_end(one: Tree | None, other: Tree | None, closed: tuple[bool, bool], sign: int) -> bool:
    """Whether the same whole number is the first behind two ends (`sign` 1), or the last before them (-1)."""
    if one is None or other is None:
        return one is other
    ends = [value * sign for value in (rational(one), rational(other)) if value is not None]
    if len(ends) < _PAIR or ends[0] == ends[1]:
        return len(ends) == _PAIR and closed[0] == closed[1]
    first, second = (ceil(end) if shut else floor(end) + 1 for end, shut in zip(ends, closed, strict=True))
    return first == second


def _judges(value: Items) -> bool:
    """Whether a list holds a yes or a no."""
    return any(isinstance(each, kinds.Truth) for each in value.values)


def _symbols(left: Value, right: Value) -> Answer:
    """The answer if at least one side is a choice, a truth value or words."""
    match left, right:
        case Words(one), Words(other):
            cased = any(OWN_CASE.search(each.written) for each in (left, right))
            symbols = cased or not (left.written.islower() or right.written.islower())
            return True if one == other and (left.written == right.written or not symbols) else None
        case kinds.Choice(one), kinds.Choice(other) if one == other:
            return True if left == right else None
        case (kinds.Choice(one), kinds.Choice(other)) | (kinds.Truth(one), kinds.Truth(other)):
            return one == other
        case (kinds.Choice(letters), Quantity(tree=Name(name))) | (Quantity(tree=Name(name)), kinds.Choice(letters)):
            return {name.upper()} == letters if len(name) == 1 else None
    return None


def _same_in_any_order[T](left: Sequence[T], right: Sequence[T], same: Callable[[T, T], Answer]) -> Answer:
    """Whether each member of one side has a partner of its own on the other side, in any order.

    Members that are the same cancel out. The others may be the same if each can have a partner that may be the same.
    """
    if len(left) != len(right):
        return False
    remaining = dict(enumerate(right))
    possible: list[list[int]] = []
    for one in left:
        doubtful: list[int] = []
        for place, other in remaining.items():
            answer = same(one, other)
            if answer:
                del remaining[place]
                break
            if answer is None:
                doubtful.append(place)
        else:
            possible.append(doubtful)
    if not possible:
        return True
    owners: dict[int, int] = {}
    return None if all(_paired(one, possible, set(remaining), owners) for one in range(len(possible))) else False


def _paired(one: int, possible: list[list[int]], free: set[int], owners: dict[int, int]) -> bool:
    """Whether a member finds a partner, for which the `owners` of others may change theirs (Kuhn's algorithm).

    `possible` has the partners of each member, and `free` those that were not tried yet.
    """
    for place in possible[one]:
        if place in free:
            free.discard(place)
            if place not in owners or _paired(owners[place], possible, free, owners):
                owners[place] = one
                return True
    return False


def _same_in_order[T](left: Sequence[T], right: Sequence[T], same: Callable[[T, T], Answer]) -> Answer:
    """Whether both sides have equally many members, and members at the same place are the same."""
    return len(left) == len(right) and _all_same(map(same, left, right))


def _all_same(answers: Iterable[Answer]) -> Answer:
    """True if all answers are True, False if any is False, else None."""
    unknown = False
    for answer in answers:
        if answer is False:
            return False
        unknown = unknown or answer is None
    return None if unknown else True


def _by_their_things(solutions: Solutions, counted: Value) -> list[tuple[Value, Value]] | None:
    """The numbers of `boys: 12, girls: 8` with those of `8 girls and 12 boys` by what is counted; None for others."""
    match solutions.alternatives, counted:
        case (bindings,), Items(values=values, brackets="") if len(bindings) == len(values) > 1:
            things = {each.units[0].noun: each for each in values if isinstance(each, Quantity) and each.units}
            named = {name.lower().removesuffix("s"): value for name, value in bindings}
            if things.keys() == named.keys():
                return [(value, things[name]) for name, value in named.items()]
    return None


def _is_computed_name(solutions: Solutions, value: Value) -> bool:
    """Whether a value is the name itself of an expression with names: k beside `i × j = k`."""
    match solutions.alternatives, value:
        case ((((name, Quantity(tree=tree)),),), Quantity(tree=Name(other))):
            return name == other and not tree.is_constant
    return False


def _without_repeats(solutions: Solutions) -> Solutions:
    """The alternatives without those that give their only name the number of an earlier one: x = 2 or x = 4/2."""
    kept = dict[object, tuple[tuple[str, Value], ...]]()
    for each in solutions.alternatives:
        match each:
            case ((name, Quantity(tree=tree, units=())),) if (number := value_or_none(rational, tree)) is not None:
                kept.setdefault((name, number), each)
            case _:
                kept[len(kept)] = each
    return solutions if len(kept) == len(solutions.alternatives) else Solutions(tuple(kept.values()))


def _single_named(solutions: Solutions) -> bool:
    return all(len(bindings) == 1 for bindings in solutions.alternatives) or _indexed(solutions)


def _indexed(solutions: Solutions) -> bool:
    """Whether the names are x_1, x_2, …, that is, the numbered roots of one equation."""
    numbers = [name.partition("_")[2] for bindings in solutions.alternatives for name, _ in bindings]
    counted = len(numbers) >= _PAIR and numbers == [str(number) for number in range(1, len(numbers) + 1)]
    return counted and len(_bases(solutions)) == 1


def _bases(solutions: Solutions) -> set[str]:
    """The names without the numbers behind them."""
    return {name.partition("_")[0] for bindings in solutions.alternatives for name, _ in bindings}


def _unnamed(solutions: Solutions) -> list[Value]:
    """The values without their names, one per alternative.

    The values of an alternative with several names become a tuple. Numbered roots, and the values of a single
    alternative, are listed one by one.
    """
    if _indexed(solutions) or len(solutions.alternatives) == 1:
        return [value for bindings in solutions.alternatives for _, value in bindings]
    points = [tuple(value for _, value in sorted(each, key=itemgetter(0))) for each in solutions.alternatives]
    return [point[0] if len(point) == 1 else Items(point, "()") for point in points]


def _shares(formula: kinds.Formula) -> list[list[tuple[Fraction, kinds.Species]]]:
    """The species of each side of a reaction, sorted, with their counts as shares of all counts together."""
    counts = [rational(species.count) or Fraction(0) for side in formula.sides for species in side]
    total = sum(counts) if len(formula.sides) > 1 else Fraction(1)
    one = Number(Fraction(1))
    return [
        sorted(
            (((rational(each.count) or Fraction(0)) / (total or 1), replace(each, count=one)) for each in side),
            key=lambda share: (share[1].parts, share[1].charge, share[0]),
        )
        for side in formula.sides
    ]


def _species(left: kinds.Species, right: kinds.Species) -> Answer:
    """Whether two chemical species are the same in formula, count and charge.

    None if their atoms are the same but arranged otherwise.
    """
    if (left.count, left.parts, left.charge) == (right.count, right.parts, right.charge):
        return "" in (left.state, right.state) or left.state == right.state
    same = left.count == right.count and left.atoms == right.atoms and left.charge == right.charge
    marked = (len(left.parts) == 1) != (len(right.parts) == 1)  # ^{14}C may be typed 14C
    return None if same or marked or left.loose or right.loose else False
