"""Whether two expressions or conditions are the same: exact arithmetic first, algebra where needed.

Most equal pairs differ only in order and grouping, and have the same `key`. The algebra needs sympy, which is loaded on
first use, and a time limit.
"""

from fractions import Fraction

from touchstone.checks.notation import trees
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, difference, value_or_none
from touchstone.checks.values.exact import bound, rational
from touchstone.checks.values.kinds import Condition
from touchstone.checks.values.rounding import rounded
from touchstone.limits import Allowance, NotAtOnceError

type Answer = bool | None


class Algebra:
    """Compares expressions and conditions within a time limit. An answer is None if it is not decided in time.

    `time` is in seconds, or an allowance that other work draws on as well. Loading sympy does not count: it happens
    once in a process. If `time` is None, a comparison that needs sympy raises `NotAtOnceError` instead.
    """

    def __init__(self, time: float | Allowance | None) -> None:
        self._allowance = Allowance(time) if isinstance(time, int | float) else time

    def trees(self, left: Tree, right: Tree) -> Answer:
        """Whether two expressions are always equal."""
        try:
            values = rational(left), rational(right)
            if left in trees.INFINITIES or right in trees.INFINITIES:
                ends = left in trees.INFINITIES and right in trees.INFINITIES
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
        """Two numbers that agree to some 40 digits and enclose a constant; None for a variable, or if time runs out."""
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
        """Whether two equations or inequalities hold for the same values; None if undecided or if the signs differ."""
        sides = left.left, left.right, right.left, right.right
        if left.sign != right.sign or value_or_none(lambda: [bound(side) for side in sides]) is None:
            return None
        if list(map(key, sides[:2])) == list(map(key, sides[2:])):
            return True
        allowance = self._time()
        from touchstone.checks.algebra import conditions

        differences = difference(*sides[:2]), difference(*sides[2:])
        same = conditions.same_condition
        return value_or_none(lambda: allowance.spend(same, *differences, signed=left.sign != "="))


def key(tree: Tree) -> str:
    """A string that is the same for trees equal by order, grouping and exact arithmetic. Raises OutOfBoundsError."""
    value = rational(tree)
    if value is not None or not isinstance(tree, Apply):
        return tree.name if isinstance(tree, Name) else str(value)
    match _as_product(tree):
        case Apply(operation="add" | "mul" as operation) as whole:
            return _commutative(operation, whole)
    return f"{tree.operation}({','.join(map(key, tree.arguments))})"


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
