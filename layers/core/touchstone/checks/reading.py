"""How a bare answer is read: text in, one of the kinds in `touchstone.checks.values` out."""

import re

from touchstone.checks import intervals
from touchstone.checks.expressions import has_names
from touchstone.checks.labels import label
from touchstone.checks.matrices import matrices
from touchstone.checks.notation import plain
from touchstone.checks.numerals import numeral
from touchstone.checks.quantities import scalar
from touchstone.checks.splitting import EQUALITY, MEMBERSHIP, ORDER, RATIO, UNION, connected, split, unbracketed
from touchstone.checks.syntax import parse
from touchstone.checks.tokens import (
    LENGTH_LIMIT,
    Apply,
    Name,
    NotAnExpressionError,
    OutOfBoundsError,
    Tree,
)
from touchstone.checks.values import (
    EMPTY,
    REALS,
    Choice,
    Equation,
    Items,
    Ratio,
    Region,
    Scalar,
    Solutions,
    Truth,
    Value,
    Words,
)

_YES = ("true", "yes", "correct", "right", "对", "正确", "是", "是的", "对的", "√", "✓", "✔", "能", "会", "可以")
_NO = (
    "false", "no", "incorrect", "wrong", "错", "错误", "错的", "不对", "不正确", "不是", "否", "×", "*", "✗", "✘",
    "不能", "不会", "不可以",
)  # fmt: skip
_NOTHING = (r"\emptyset", "空集", "无解", "no solution", "no solutions", "no real solution", "⦃⦄")
_EVERYTHING = ("R", r"\R", "实数集", "全体实数", "一切实数", "all real numbers", "all reals")
_WORDS: dict[str, Value] = {
    **dict.fromkeys(_YES, Truth(true=True)),
    **dict.fromkeys(_NO, Truth(true=False)),
    **dict.fromkeys(_NOTHING, EMPTY),
    **dict.fromkeys(_EVERYTHING, REALS),
}
_CHOICE = re.compile(r"[(\[]?\s*([A-H](?:\s*(?:[,、和及&]|and)?\s*[A-H]){0,7})\s*[)\]]?(?:选项|项)?")
_CHOICE_LEAD = re.compile(r"^(?:应?选项?|选择|故选|options?|choice)\s*:?\s*(?=[(\[]?[A-H])", re.IGNORECASE)
_IMPLIED = re.compile(r"\\(?:Rightarrow|implies|therefore|Longrightarrow|because)(?![A-Za-z])|[⇒∴]")
_TRAILING = " .。;；,，？?、"
_EXCLAIMED = re.compile(r"(?<=[\u4e00-\u9fff])!$")
_POINT = re.compile(r"[A-Z]'?(?=\()")
_CLOCK = re.compile(r"\d{1,2}:[0-5]\d(?::[0-5]\d)?")
_SET_BUILDER = re.compile(r"^[A-Za-z]\s?(?:\\in\s?R\s?)?[|:]")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+(?=\s*[^\d,]*$)")
_ARTICLES = re.compile(r"\b(?:the|an?)\b")
_PUNCTUATION = re.compile(r"[\s.,;:!?'\"()\[\]{}。，；：！？、“”‘’（）《》\\$*_⦃⦄-]+")
_LABEL_SPACE = re.compile(r"[\s{}]")
_BRACED = re.compile(r"(?<![\^_\w\]}])\{([^{}^_\\]*,[^{}^_\\]*)\}")
_LETTERS = re.compile(r"[A-Za-z]{2,}(?:[ -][A-Za-z]+)*")
_TWO = 2


def read(text: str) -> Value | None:
    """The value of a bare answer; None for an empty text and for one beyond the bounds."""
    if len(text) > LENGTH_LIMIT:
        return None
    bare = " ".join(text.split())
    if "\\" not in bare and "$" not in bare:
        bare = _BRACED.sub(r"⦃\1⦄", bare)
    notation = _EXCLAIMED.sub("", _IMPLIED.split(plain(bare))[-1].strip())
    shortened = notation if notation.endswith("...") else notation.strip(_TRAILING) or notation
    for candidate in (bare, shortened):
        if candidate.lower() in _WORDS or candidate in _WORDS:
            return _WORDS.get(candidate) or _WORDS[candidate.lower()]
    lead = _CHOICE_LEAD.sub("", shortened)
    if (chosen := _CHOICE.fullmatch(lead)) is not None:
        return Choice(frozenset(re.findall("[A-H]", chosen[1].replace("and", ""))))
    try:
        return _wordlike(bare, shortened) or _value(shortened)
    except OutOfBoundsError:
        return None
    except NotAnExpressionError:
        return _words(shortened)


def _words(text: str) -> Words | None:
    """`text` as words; None for program code, which is no answer."""
    if "__" in text or "**" in text:
        return None
    kept = " ".join(_PUNCTUATION.sub(" ", _ARTICLES.sub(" ", text.lower())).split())
    return Words(kept) if kept else None


def _wordlike(bare: str, shortened: str) -> Words | None:
    """Letters alone, outside of LaTeX, are words and no product: `cat` is not `act`."""
    letters = _LETTERS.fullmatch(bare.strip(_TRAILING))
    return _words(shortened) if letters and numeral(shortened) is None and not isinstance(_tree(bare), Name) else None


def _value(text: str) -> Value:
    if (number := numeral(text)) is not None:
        return Scalar(number)
    items, connector = connected(text)
    if len(items) < _TWO:
        return _single(items[0] if items else text)
    values = [_single(item) for item in items]
    decimal = None
    if (comma := _DECIMAL_COMMA.match(text)) is not None and len(items) == _TWO:
        decimal = scalar(text.replace(",", ".", 1))
    if all(isinstance(value, Region) for value in values):
        regions = [value for value in values if isinstance(value, Region)]
        if connector == "or" or all(region.variable is None for region in regions):
            return intervals.union(regions)
        if connector == "and":
            return intervals.intersection(regions)
        raise NotAnExpressionError("it is not clear whether both inequalities hold or either")
    if any(isinstance(value, Solutions) for value in values):
        return _solutions(values, either=connector == "or")
    flat = [each for value in values for each in _flattened(value)]
    return Items(tuple(flat), decimal=decimal if comma else None)


def _flattened(value: Value) -> tuple[Value, ...]:
    return value.values if isinstance(value, Items) and not value.brackets else (value,)


def _solutions(values: list[Value], *, either: bool) -> Solutions:
    """Bindings in a row: a name that comes again begins the next alternative, a bare value belongs to the last name."""
    alternatives: list[list[tuple[str, Value]]] = []
    for value in values:
        match value:
            case Solutions(alternatives=(bindings,)):
                names = {name for name, _ in alternatives[-1]} if alternatives else set()
                if not alternatives or names.intersection(name for name, _ in bindings) or either:
                    alternatives.append([])
                alternatives[-1].extend(bindings)
            case Scalar() if alternatives and len(alternatives[-1]) == 1:
                alternatives.append([(alternatives[-1][0][0], value)])
            case _:
                raise NotAnExpressionError("a list of equations and something else")
    spread = [_spread(bindings) for bindings in alternatives]
    return Solutions(tuple(tuple(bindings) for group in spread for bindings in group))


def _spread(bindings: list[tuple[str, Value]]) -> list[list[tuple[str, Value]]]:
    """`x = ±2` as two alternatives."""
    match bindings:
        case [(name, Items(values=values, brackets="" | "⦃⦄"))]:
            return [[(name, value)] for value in values]
    return [bindings]


def _single(text: str) -> Value:
    if "\\begin" in text:
        return matrices(text)
    sides, signs = split(text, EQUALITY)
    if signs:
        return _equation(sides, signs)
    sides, signs = split(text, ORDER)
    if signs:
        return intervals.ordered(sides, signs)
    sides, signs = split(text, MEMBERSHIP)
    if len(signs) == 1:
        return _member(sides[0], _single(sides[1]))
    sides, signs = split(text, UNION)
    if signs:
        return intervals.union([as_region(_single(side)) for side in sides])
    sides, signs = split(text, RATIO)
    if signs and all(sides):
        return Ratio(tuple(map(parse, sides)), clock=_CLOCK.fullmatch(text) is not None)
    return _atom(text)


def _atom(text: str) -> Value:
    text = _POINT.sub("", text, count=1)
    inside, brackets = unbracketed(text)
    if brackets == "⦃⦄" and (builder := _SET_BUILDER.match(inside)) is not None:
        return _value(inside[builder.end() :].strip())
    if brackets:
        items, _ = connected(inside)
        if brackets in ("[)", "(]"):
            return Region((intervals.bounds(text),))
        if brackets == "⦃⦄" or (len(items) >= _TWO and brackets in ("()", "[]", "{}")):
            values = tuple(each for item in items for each in _flattened(_single(item)))
            return Items(values, brackets if brackets != "{}" else "")
    if text in _WORDS:
        return _WORDS[text]
    return _expanded(scalar(text))


def _expanded(read_as: Scalar) -> Value:
    """A scalar, or the two values of one with ±."""
    above, below = _branches(read_as.tree)
    if above == below:
        return read_as
    return Items((Scalar(above, read_as.units, read_as.percent), Scalar(below, read_as.units, read_as.percent)))


def _branches(tree: Tree) -> tuple[Tree, Tree]:
    if not isinstance(tree, Apply):
        return tree, tree
    above, below = zip(*map(_branches, tree.arguments), strict=True)
    if tree.operation in ("pm", "mp"):
        plus = Apply("add", above), Apply("add", (below[0], Apply("neg", (below[1],))))
        return plus if tree.operation == "pm" else (
            Apply("add", (above[0], Apply("neg", (above[1],)))), Apply("add", below))  # fmt: skip
    return Apply(tree.operation, above), Apply(tree.operation, below)


def as_region(value: Value) -> Region:
    """`value` as a part of the real line; a pair in brackets is an interval. Raises NotAnExpressionError."""
    match value:
        case Region():
            return value
        case Scalar(tree=tree, units=()):
            return Region((intervals.of_trees(tree, tree, low_closed=True, high_closed=True),))
        case Items(values=(Scalar(tree=low), Scalar(tree=high)), brackets="()" | "[]" as brackets):
            closed = brackets == "[]"
            return Region((intervals.of_trees(low, high, low_closed=closed, high_closed=closed),))
        case Items(brackets="⦃⦄", values=values) if all(isinstance(each, Scalar) for each in values):
            trees = [each.tree for each in values if isinstance(each, Scalar)]
            return Region(tuple(intervals.of_trees(tree, tree, low_closed=True, high_closed=True) for tree in trees))
    raise NotAnExpressionError("not a part of the real line")


def _member(name: str, value: Value) -> Value:
    match value:
        case Items(brackets="⦃⦄", values=values):
            return Solutions(tuple(((_LABEL_SPACE.sub("", name), each),) for each in values))
    return Region(as_region(value).intervals, _LABEL_SPACE.sub("", name))


def _equation(sides: list[str], signs: list[str]) -> Value:
    """One value under a name, a computation that ends in its value, or an equation in general position."""
    if signs[-1] == r"\approx" and not (len(sides) == _TWO and label(sides[0])):
        # What follows ≈ is an approximation of what stands before.
        return _value(sides[0]) if len(sides) == _TWO else _equation(sides[:-1], signs[:-1])
    left, right = sides[0], sides[-1]
    if len(sides) == _TWO and label(right) and not label(left) and isinstance(_tree(right), Name):
        left, right = right, left
    name = left if _names(left) else label(left)
    if name is not None:
        value = _single(right)
        together = [_together(_names(left), value)] if _names(left) else _spread([(name, value)])
        return Solutions(tuple(map(tuple, together)))
    first = _tree(left)
    if first is not None and not has_names(first):
        return _single(right)
    if len(sides) != _TWO or first is None:
        raise NotAnExpressionError("neither an equation nor the value of something")
    return Equation(first, parse(right))


def _names(text: str) -> list[str]:
    """The names in a tuple of names."""
    inside, brackets = unbracketed(text)
    return connected(inside)[0] if brackets == "()" and "," in inside else []


def _together(names: list[str], value: Value) -> list[tuple[str, Value]]:
    """`(x, y) = (1, 2)`."""
    match value:
        case Items(brackets="()", values=values) if len(values) == len(names):
            return list(zip(names, values, strict=True))
    raise NotAnExpressionError("a tuple of names without a tuple of values")


def _tree(text: str) -> Tree | None:
    try:
        return parse(text)
    except NotAnExpressionError:
        return None


def as_equation(value: Value) -> Equation | None:
    """`value` as an equation between expressions; None where it is none."""
    match value:
        case Equation():
            return value
        case Solutions(alternatives=(((name, Scalar(tree=tree, units=())),),)):
            left = _tree(name)
            return None if left is None else Equation(left, tree)
    return None
