"""Parts of the real line: intervals, inequalities in one variable, unions and intersections."""

from fractions import Fraction

from touchstone.checks.notation.syntax import parse_tokens
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, negated
from touchstone.checks.values.exact import linear, rational
from touchstone.checks.values.kinds import Bounds, Inequality, Region
from touchstone.checks.values.pieces import Tokens, connected, unbracketed

_INFINITY = Name("oo")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_PAIR = 2


def bounds(tokens: Tokens) -> Bounds:
    """The interval that the tokens write, `[a, b)` and its like. Raises NotAnExpressionError."""
    inside, brackets = unbracketed(tokens)
    items, connector = connected(inside)
    if brackets not in ("()", "[]", "(]", "[)") or len(items) != _PAIR or connector != "list":
        raise NotAnExpressionError("not an interval")
    low, high = map(parse_tokens, items)
    return of_trees(low, high, low_closed=brackets[0] == "[", high_closed=brackets[1] == "]")


def of_trees(low: Tree, high: Tree, *, low_closed: bool, high_closed: bool) -> Bounds:
    """The interval between two trees; an infinite bound is None and open."""
    endless = {_INFINITY, Apply("neg", (_INFINITY,))}
    return Bounds(
        None if low in endless else low,
        None if high in endless else high,
        low_closed and low not in endless,
        high_closed and high not in endless,
    )


def ordered(sides: list[Tokens], signs: list[str]) -> Region | Inequality:
    """What `x < 3`, `5 <= x`, `-2 <= x < 7`, `x != 3` and `y > 2x` write. Raises NotAnExpressionError."""
    trees = [parse_tokens(side) for side in sides]
    match trees, signs:
        case [left, right], [sign]:
            return _compared(left, right, sign)
        case [low, middle, high], [first_sign, second_sign] if first_sign[0] == second_sign[0] in ("<", ">"):
            closed = ["=" in first_sign, "=" in second_sign]
            if first_sign[0] == ">":
                low, high, closed = high, low, closed[::-1]
            interval = of_trees(low, high, low_closed=closed[0], high_closed=closed[1])
            return _between(interval, middle)
    raise NotAnExpressionError("not an inequality in one variable")


def _compared(left: Tree, right: Tree, sign: str) -> Region | Inequality:
    match left, right:
        case Name(name), limit if name != "oo" and not isinstance(limit, Name):
            return _one_sided(name, sign, limit)
        case limit, Name(name) if name != "oo" and not isinstance(limit, Name):
            return _one_sided(name, _FLIPPED[sign], limit)
    if (within := _absolute(left, sign, right) or _absolute(right, _FLIPPED[sign], left)) is not None:
        return within
    try:
        terms = linear(Apply("add", (left, Apply("neg", (right,)))))
    except NotAnExpressionError:
        terms = {}
    names = [name for name in terms if name]
    if len(names) == 1 and terms[names[0]]:
        # -x > -1 is x < 1.
        limit = Number(-terms.get("", Fraction(0)) / terms[names[0]])
        return _one_sided(names[0], sign if terms[names[0]] > 0 else _FLIPPED[sign], limit)
    if sign == "!=":
        raise NotAnExpressionError("not an inequality in one variable")
    first, second = (left, right) if sign[0] == "<" else (right, left)
    return Inequality(first, second, strict="=" not in sign)


def _absolute(left: Tree, sign: str, right: Tree) -> Region | None:
    """`|x - 1| < 3` and `|2x| >= 5` as parts of the line; None for anything else."""
    match left:
        case Apply(operation="abs", arguments=(inside,)) if sign != "!=":
            size = rational(right)
            try:
                terms = linear(inside)
            except NotAnExpressionError:
                return None
            names = [name for name in terms if name and terms[name]]
            if size is None or size <= 0 or len(names) != 1:
                return None
            factor, shift = terms[names[0]], terms.get("", Fraction(0))
            low, high = sorted(((-size - shift) / factor, (size - shift) / factor))
            ends, closed = (Number(low), Number(high)), "=" in sign
            if sign[0] == "<":
                return Region((Bounds(*ends, closed, closed),), names[0])
            return Region((Bounds(None, ends[0], high_closed=closed), Bounds(ends[1], None, closed)), names[0])
    return None


def _one_sided(name: str, sign: str, limit: Tree) -> Region:
    match sign:
        case "<" | "<=":
            return Region((Bounds(None, limit, high_closed=sign != "<"),), name)
        case ">" | ">=":
            return Region((Bounds(limit, None, low_closed=sign == ">="),), name)
    return Region((Bounds(None, limit), Bounds(limit, None)), name)


def _between(interval: Bounds, middle: Tree) -> Region:
    match middle:
        case Name(name):
            return Region((interval,), name)
        case Apply(operation="abs", arguments=(Name(name),)):
            low, high = interval.low, interval.high
            if low is not None and high is not None and (value := rational(low)) is not None and value > 0:
                return Region((mirrored(interval), interval), name)
    raise NotAnExpressionError("not bounds on one variable")


def mirrored(bounds: Bounds) -> Bounds:
    """The interval on the other side of zero."""
    low, high = bounds.low, bounds.high
    return Bounds(
        None if high is None else negated(high),
        None if low is None else negated(low),
        bounds.high_closed,
        bounds.low_closed,
    )


def union(regions: list[Region]) -> Region:
    """All of the regions together. Raises NotAnExpressionError where they speak of different variables."""
    return Region(tuple(part for region in regions for part in region.intervals), _variable(regions))


def intersection(regions: list[Region]) -> Region:
    """What is common to regions with rational bounds. Raises NotAnExpressionError where a bound is not rational."""
    common = [_span(Bounds(None, None))]
    for region in regions:
        parts = [_common(one, _span(other)) for one in common for other in region.intervals]
        common = [part for part in parts if not _is_empty(part)]
    return Region(tuple(map(_bounds, common)), _variable(regions))


def _variable(regions: list[Region]) -> str | None:
    names = {region.variable for region in regions}
    if len(names) > 1:
        raise NotAnExpressionError("regions of different variables")
    return names.pop() if names else None


type Place = tuple[int, Fraction]
"""A point of the line with its infinite ends: the first is −1, 0 or 1."""
type Span = tuple[Place, bool, Place, bool]
"""From, closed, to, closed."""


def merged(region: Region) -> tuple[Span, ...] | None:
    """The region as sorted, disjoint intervals, so that equal regions are equal; None where a bound is not rational."""
    try:
        spans = [_span(part) for part in region.intervals]
    except NotAnExpressionError:
        return None
    joined: list[Span] = []
    for low, low_closed, high, high_closed in sorted(spans, key=lambda span: (span[0], not span[1])):
        if _is_empty((low, low_closed, high, high_closed)):
            continue
        if joined and (low < joined[-1][2] or (low == joined[-1][2] and (low_closed or joined[-1][3]))):
            start, start_closed, end, end_closed = joined[-1]
            joined[-1] = (start, start_closed, *max((end, end_closed), (high, high_closed)))
        else:
            joined.append((low, low_closed, high, high_closed))
    return tuple(joined)


def _span(part: Bounds) -> Span:
    start: Place = (-1, Fraction(0)) if part.low is None else (0, _value(part.low))
    end: Place = (1, Fraction(0)) if part.high is None else (0, _value(part.high))
    return start, part.low_closed, end, part.high_closed


def _value(tree: Tree) -> Fraction:
    value = rational(tree)
    if value is None:
        raise NotAnExpressionError("bounds that are not rational are not put in order")
    return value


def _bounds(span: Span) -> Bounds:
    (endless_below, low), low_closed, (endless_above, high), high_closed = span
    return Bounds(
        None if endless_below else Number(low), None if endless_above else Number(high), low_closed, high_closed
    )


def _common(one: Span, other: Span) -> Span:
    low, is_open = max((one[0], not one[1]), (other[0], not other[1]))
    return low, not is_open, *min(one[2:], other[2:])


def _is_empty(span: Span) -> bool:
    low, low_closed, high, high_closed = span
    return low > high or (low == high and not (low_closed and high_closed))
