"""Whether two expressions, quantities or conditions are the same: exact arithmetic first, algebra where needed.

Algebra means sympy, which is loaded on first use, and a time limit.
"""

from touchstone.checks.canonical import key
from touchstone.checks.expressions import bound, has_names, rational
from touchstone.checks.limits import Allowance, NotAtOnceError
from touchstone.checks.rounding import rounded
from touchstone.checks.tokens import Apply, Name, NotAnExpressionError, Number, Tree
from touchstone.checks.units import Unit
from touchstone.checks.values import Equation, Inequality, Scalar, Value

type Answer = bool | None


class Algebra:
    """Compares expressions; what has not been decided after `seconds` in all is None.

    Loading sympy is not part of that time: it happens once in a process. `seconds` None: what needs sympy raises
    `NotAtOnceError` instead.
    """

    def __init__(self, seconds: float | None) -> None:
        self._allowance = None if seconds is None else Allowance(seconds)

    def trees(self, left: Tree, right: Tree) -> Answer:
        """Whether two expressions are always equal."""
        try:
            values = rational(left), rational(right)
            if values[0] is not None and values[1] is not None:
                return True if values[0] == values[1] else rounded(left, right)
            bound(left), bound(right)
            if key(left) == key(right):
                return True
        except NotAnExpressionError:
            return None
        rationals = values != (None, None)
        if rationals and any(isinstance(tree, Name) and has_names(tree) for tree in (left, right)):
            return False
        allowance = self._time()
        from touchstone.checks import identity

        return allowance.spend(identity.same_or_rounded if rationals else identity.same_expression, left, right)

    def scalars(self, left: Scalar, right: Scalar) -> Answer:
        """Whether two quantities are the same.

        Units must agree in dimension, and values in base units. Where exactly one side has a unit, the numbers decide.
        A percentage equals its fraction (50 % = 0.5); the bare number before the sign may be meant (28 % and 28): None.
        """
        if left.percent != right.percent:
            shared = self.trees(left.tree, right.tree)
            bare = self.trees(_without_percent(left.tree), _without_percent(right.tree))
            return shared if shared or bare is False else None
        if _case_apart(left.tree, right.tree):
            return None
        if not left.units or not right.units:
            same = self.trees(left.tree, right.tree)
            doubtful = any(unit.lone_letter for unit in (*left.units, *right.units))
            if doubtful:
                return None if same or same is None else False
            degrees = {"angle"} == {name for unit in (*left.units, *right.units) for name, _ in unit.dimension}
            return same or self.trees(*map(_radians, (left, right))) if degrees else same
        return self._quantities(left, right)

    def _quantities(self, left: Scalar, right: Scalar) -> Answer:
        pairs = [(one, other) for one in left.units for other in right.units if one.dimension == other.dimension]
        if not pairs:
            return False
        nouns = {unit.noun for pair in pairs for unit in pair if unit.noun is not None}
        if nouns:
            same = self.trees(left.tree, right.tree)
            return same if len(nouns) == 1 else None
        answers = [self.trees(_scaled(left.tree, one), _scaled(right.tree, other)) for one, other in pairs]
        return True if True in answers else None if None in answers else False

    def _time(self) -> Allowance:
        if self._allowance is None:
            raise NotAtOnceError
        return self._allowance

    def conditions(self, left: Value, right: Value) -> Answer:
        match left, right:
            case Equation(), Equation():
                signed = False
            case Inequality(strict=one), Inequality(strict=other) if one == other:
                signed = True
            case _:
                return None
        sides = left.left, left.right, right.left, right.right
        try:
            for side in sides:
                bound(side)
        except NotAnExpressionError:
            return None
        if list(map(key, sides[:2])) == list(map(key, sides[2:])):
            return True
        allowance = self._time()
        from touchstone.checks import conditions

        differences = [Apply("add", (side[0], Apply("neg", (side[1],)))) for side in (sides[:2], sides[2:])]
        return allowance.spend(conditions.same_condition, *differences, signed=signed)


def _without_percent(tree: Tree) -> Tree:
    match tree:
        case Apply(operation="percent", arguments=(inside,)):
            return inside
    return tree


def _case_apart(left: Tree, right: Tree) -> bool:
    """Whether both are one letter, in different cases: two variables, or one option."""
    match left, right:
        case Name(one), Name(other):
            return one != other and one.lower() == other.lower()
    return False


def _scaled(tree: Tree, unit: Unit) -> Tree:
    return tree if unit.factor == 1 else Apply("mul", (Number(unit.factor), tree))


def _radians(quantity: Scalar) -> Tree:
    return Apply("degrees", (quantity.tree,)) if quantity.units else quantity.tree
