"""Parts of the real line: intervals, inequalities in one variable, unions and intersections."""

from fractions import Fraction

from touchstone.checks.notation import trees
from touchstone.checks.notation.syntax import parse_tokens
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import (
    INFINITIES,
    Apply,
    Name,
    NotAnExpressionError,
    Number,
    Tree,
    negated,
    value_or_none,
)
from touchstone.checks.values.exact import linear, rational
from touchstone.checks.values.kinds import Condition, Interval, Region
from touchstone.checks.values.pieces import Tokens, connected, unbracketed

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


def bounds(tokens: Tokens) -> Interval:
    """The interval that tokens such as `[a, b)` form. Raises NotAnExpressionError if they form none."""
    inside, brackets = unbracketed(tokens)
    items, connector = connected(inside)
    match brackets, items, connector:
        case "()" | "[]" | "(]" | "[)", [start, end], "list":
            low, high = parse_tokens(start), parse_tokens(end)
            if low == INFINITIES[0] or high == INFINITIES[1]:
                raise NotAnExpressionError("an interval that ends before it begins")
            return of_trees(low, high, low_closed=brackets[0] == "[", high_closed=brackets[1] == "]")
    raise NotAnExpressionError("not an interval")


def turned(tokens: list[Token]) -> list[Token]:
    """The tokens with `[a, b[` and `]a, b]`, as French and German write intervals, as `[a, b)` and `(a, b]`.

    Unchanged unless the square brackets come in pairs around two bounds, and one of them stands outward.
    """
    places = [place for place, token in enumerate(tokens) if token.text in ("[", "]")]
    if not places:
        return tokens
    pairs = list(zip(places[::2], places[1::2], strict=False))
    marks = [sum(token.is_sign(",", ";") for token in tokens[low:high]) for low, high in pairs]
    outward = any(tokens[low].text == "]" or tokens[high].text == "[" for low, high in pairs)
    if not outward or len(places) % 2 or 0 in marks:
        return tokens
    found = list(tokens)
    for low, high in pairs:
        found[low] = tokens[low]._replace(kind="open", text="(" if tokens[low].text == "]" else "[")
        found[high] = tokens[high]._replace(kind="close", text=")" if tokens[high].text == "[" else "]")
    return found


def of_trees(low: Tree, high: Tree, *, low_closed: bool, high_closed: bool) -> Interval:
    """The interval between two trees; an infinite bound is None and open."""
    start, end = (None if tree in trees.INFINITIES else tree for tree in (low, high))
    return Interval(start, end, low_closed and start is not None, high_closed and end is not None)


def ordered(sides: list[Tokens], signs: list[str]) -> Region | Condition:
    """Read inequalities: `x < 3`, `5 <= x`, `-2 <= x < 7`, `x != 3`, `y > 2x`. Raises NotAnExpressionError."""
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


def _compared(left: Tree, right: Tree, sign: str) -> Region | Condition:
    match left, right:
        case Name(name), limit if name != "oo" and not isinstance(limit, Name):
            return _one_sided(name, sign, limit)
        case limit, Name(name) if name != "oo" and not isinstance(limit, Name):
            return _one_sided(name, _FLIPPED[sign], limit)
    if (within := _absolute(left, sign, right) or _absolute(right, _FLIPPED[sign], left)) is not None:
        return within
    terms = value_or_none(linear, trees.difference(left, right)) or {}
    names = [name for name in terms if name]
    if len(names) == 1 and terms[names[0]]:
        # -x > -1 is x < 1.
        limit = Number(-terms.get("", Fraction(0)) / terms[names[0]])
        return _one_sided(names[0], sign if terms[names[0]] > 0 else _FLIPPED[sign], limit)
    if sign == "!=":
        raise NotAnExpressionError("not an inequality in one variable")
    return Condition(left, right, sign) if sign[0] == "<" else Condition(right, left, _FLIPPED[sign])


def _absolute(left: Tree, sign: str, right: Tree) -> Region | None:
    """The region of `|x - 1| < 3` or `|2x| >= 5`; None for any other inequality."""
    match left:
        case Apply(operation="abs", arguments=(inside,)) if sign != "!=":
            size, terms = rational(right), value_or_none(linear, inside) or {}
            names = [name for name in terms if name and terms[name]]
            if size is None or size <= 0 or len(names) != 1:
                return None
            factor, shift = terms[names[0]], terms.get("", Fraction(0))
            low, high = sorted(((-size - shift) / factor, (size - shift) / factor))
            ends, closed = (Number(low), Number(high)), "=" in sign
            if sign[0] == "<":
                return Region((Interval(*ends, closed, closed),), names[0])
            return Region((Interval(None, ends[0], high_closed=closed), Interval(ends[1], None, closed)), names[0])
    return None


def _one_sided(name: str, sign: str, limit: Tree) -> Region:
    match limit:
        case Apply("pm", (middle, distance)) if sign == "!=":
            ends = trees.difference(middle, distance), Apply("add", (middle, distance))  # x ≠ ±1
            return intersection([_one_sided(name, sign, Number(_value(end))) for end in ends])
    below, above = Interval(None, limit, high_closed=sign == "<="), Interval(limit, None, low_closed=sign == ">=")
    return Region({"<": (below,), ">": (above,)}.get(sign[0], (below, above)), name)


def _between(interval: Interval, middle: Tree) -> Region:
    match middle:
        case Name(name):
            return Region((interval,), name)
        case Apply(operation="abs", arguments=(Name(name),)):
            low, high = interval.low, interval.high
            if low is not None and high is not None and (value := rational(low)) is not None and value > 0:
                return Region((mirrored(interval), interval), name)
    raise NotAnExpressionError("not bounds on one variable")


def mirrored(bounds: Interval) -> Interval:
    """The interval on the other side of zero."""
    low, high = (None if end is None else negated(end) for end in (bounds.high, bounds.low))
    return Interval(low, high, bounds.high_closed, bounds.low_closed)


def union(regions: list[Region]) -> Region:
    """All regions together. Raises NotAnExpressionError if they have different variables."""
    return Region(tuple(part for region in regions for part in region.intervals), _variable(regions))


def intersection(regions: list[Region]) -> Region:
    """The points that all regions have in common. Raises NotAnExpressionError if a bound is not rational."""
    common = [_span(Interval(None, None))]
    for region in regions:
        common = [_common(one, _span(other)) for one in common for other in region.intervals]
    return _of_spans(common, _variable(regions))


def without(region: Region, other: Region) -> Region:
    """The part of a region that is not in another region. Raises NotAnExpressionError if a bound is not rational."""
    edges: list[tuple[Place, bool]] = [((-1, Fraction(0)), False)]
    for low, low_closed, high, high_closed in merged(other) or (_span(part) for part in other.intervals):
        edges += [(low, not low_closed), (high, not high_closed)]
    edges.append(((1, Fraction(0)), False))
    gaps = [(*low, *high) for low, high in zip(edges[::2], edges[1::2], strict=True)]
    return intersection([region, _of_spans(gaps, region.variable)])


def _of_spans(spans: list["Span"], variable: str | None) -> Region:
    intervals = (
        Interval(None if below else Number(low), None if above else Number(high), low_closed, high_closed)
        for (below, low), low_closed, (above, high), high_closed in spans
        if not _is_empty(((below, low), low_closed, (above, high), high_closed))
    )
    return Region(tuple(intervals), variable)


def _variable(regions: list[Region]) -> str | None:
    names = {region.variable for region in regions}
    if len(names) > 1:
        raise NotAnExpressionError("regions of different variables")
    return names.pop() if names else None


type Place = tuple[int, Fraction]
"""A point of the line or one of its infinite ends: −1 (the low end), 0 (the point that follows) or 1 (the high end)."""
type Span = tuple[Place, bool, Place, bool]
"""The low end, whether it belongs to the interval, the high end, whether it belongs to the interval."""


def merged(region: Region) -> tuple[Span, ...] | None:
    """The region as sorted, disjoint intervals, so that equal regions are equal; None if a bound is not rational."""
    spans = value_or_none(lambda: [_span(part) for part in region.intervals])
    if spans is None:
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


def _span(part: Interval) -> Span:
    start: Place = (-1, Fraction(0)) if part.low is None else (0, _value(part.low))
    end: Place = (1, Fraction(0)) if part.high is None else (0, _value(part.high))
    return start, part.low_closed, end, part.high_closed


def _value(tree: Tree) -> Fraction:
    value = rational(tree)
    if value is None:
        raise NotAnExpressionError("bounds that are not rational are not put in order")
    return value


def _common(one: Span, other: Span) -> Span:
    low, is_open = max((one[0], not one[1]), (other[0], not other[1]))
    return low, not is_open, *min(one[2:], other[2:])


def _is_empty(span: Span) -> bool:
    low, low_closed, high, high_closed = span
    return low > high or (low == high and not (low_closed and high_closed))
