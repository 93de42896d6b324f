"""A key for expressions that differ only in order and grouping, so that most equal pairs need no algebra."""

from fractions import Fraction

from touchstone.checks.notation.trees import Apply, Name, Number, Tree
from touchstone.checks.values.exact import rational

type Key = tuple[object, ...]


def key(tree: Tree) -> str:
    """Equal for trees that are equal by commutativity, associativity and arithmetic on rationals alone.

    Raises TooLargeToEvaluateError past the bounds.
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
        case Apply(operation="neg", arguments=(inside,)):
            return _commutative("mul", Apply("mul", (Number(Fraction(-1)), inside)))
        case Apply(operation="div", arguments=(over, under)) if divisor := rational(under):
            return _commutative("mul", Apply("mul", (Number(1 / divisor), over)))
        case Apply(operation, arguments):
            return f"{operation}({','.join(map(key, arguments))})"


def _commutative(operation: str, tree: Apply) -> str:
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
