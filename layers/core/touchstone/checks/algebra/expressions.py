"""Whether two expressions or conditions are the same: exact arithmetic first, algebra where needed.

Algebra means sympy, which is loaded on first use, and a time limit.
"""

from fractions import Fraction

from touchstone.checks.algebra.canonical import key
from touchstone.checks.algebra.rounding import rounded
from touchstone.checks.limits import Allowance, NotAtOnceError
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Tree, is_constant
from touchstone.checks.values.exact import bound, rational
from touchstone.checks.values.kinds import Equation, Inequality, Value

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
            if values[0] is not None and values[1] is not None:
                return True if values[0] == values[1] else rounded(left, right)
            bound(left), bound(right)
            if key(left) == key(right):
                return True
        except NotAnExpressionError:
            return None
        rationals = values != (None, None)
        if rationals and any(isinstance(tree, Name) and not is_constant(tree) for tree in (left, right)):
            return False
        allowance = self._time()
        from touchstone.checks.algebra import identity

        return allowance.spend(identity.same_or_rounded if rationals else identity.same_expression, left, right)

    def bounds(self, tree: Tree) -> tuple[Fraction, Fraction] | None:
        """Two numbers between which a constant lies, some 40 digits alike; None for a variable, or out of time."""
        if (value := rational(tree)) is not None:
            return value, value
        if not is_constant(tree):
            return None
        bound(tree)
        allowance = self._time()
        from touchstone.checks.algebra import evaluation

        return allowance.spend(evaluation.bounds, tree)

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
        from touchstone.checks.algebra import conditions

        differences = [Apply("add", (side[0], Apply("neg", (side[1],)))) for side in (sides[:2], sides[2:])]
        return allowance.spend(conditions.same_condition, *differences, signed=signed)
