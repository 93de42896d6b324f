"""Whether two values are the same: exact arithmetic first, algebra where that does not decide, None where neither does.

A rounded decimal and an exact value that rounds to it are neither same nor different (None), except for ten or more
correct digits, the way programs print an exact value (True). Values of different kinds are different only where no
reader would take one for the other; else they are left open.
"""

from collections.abc import Callable, Iterable, Sequence

from touchstone.checks.algebra.expressions import Algebra, Answer
from touchstone.checks.equivalence.amounts import same_amount
from touchstone.checks.equivalence.nearness import within
from touchstone.checks.limits import Allowance
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Tree, is_constant
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values.intervals import merged
from touchstone.checks.values.kinds import (
    Ambiguous,
    Bounds,
    Choice,
    Clock,
    Date,
    Equation,
    Formula,
    Inequality,
    Items,
    Matrix,
    Quantity,
    Ratio,
    Region,
    Solutions,
    Species,
    Truth,
    Value,
    Words,
)
from touchstone.checks.values.matrices import as_matrix, as_vector
from touchstone.checks.values.reading import as_equation, as_region, letters_as_product

type Bindings = tuple[tuple[str, Value], ...]

_HALF_A_DAY = 43_200
_PAIR = 2
_OTHER_KIND = "They are values of different kinds."
_PI = Quantity(Name("pi"))
_LETTERS = "The letters are read as a name, or a product of names, that has this value."
_NEAR = "The one lies within the tolerance of the other."
_FAR = "The one does not lie within the tolerance of the other."
_WORDS = "Words are the same where they are written the same; else it is left open."


class Comparison:
    """Compares values; what algebra has not decided in `time`, in seconds or as an allowance, is None.

    The time starts with the first use of algebra, after sympy has been loaded: that happens once in a process.
    `time` None: there is no time for algebra, and what needs it raises `NotAtOnceError`. `because` is the last rule
    that decided, a sentence for people, "" where nothing but arithmetic or algebra did.
    """

    def __init__(self, time: float | Allowance | None) -> None:
        self._algebra = Algebra(time)
        self.because = ""

    def same(self, left: Value, right: Value) -> Answer:
        """Whether the two values are the same, None where that cannot be told."""
        left, right = _unwrapped(left), _unwrapped(right)
        match left, right:
            case Quantity(), Quantity():
                answer, because = same_amount(left, right, self._algebra.trees)
                self.because = because or self.because
                return answer
            case (Ambiguous(), _) | (_, Ambiguous()):
                return self._readings(left, right)
            case (Words() | Choice() | Truth(), _) | (_, Words() | Choice() | Truth()):
                self.because = _WORDS
                return _symbols(left, right) or self._letters(left, right)
            case Solutions(), _:
                return self._solutions(left, right)
            case _, Solutions():
                return self._solutions(right, left)
            case (Clock() | Date() | Formula(), _) | (_, Clock() | Date() | Formula()):
                return self._facts(left, right)
        return self._several(left, right)

    def near(self, given: Value, expected: Value, tolerance: Tolerance, *, same: Answer) -> Answer:
        """Whether `given` lies within a tolerance of `expected`, where `same` said False or None of them."""
        given, expected = (
            _PI if isinstance(value, Words) and value.text == "pi" else value for value in (given, expected)
        )
        near = within(given, expected, tolerance, same=same, bounds=self._algebra.bounds)
        if near is not None and near is not same:
            self.because = _NEAR if near else _FAR
        return near

    def _letters(self, left: Value, right: Value) -> Answer:
        """Words of a few letters against mathematics: `ma` may be a product, and then only the same one."""
        for word, other in ((left, right), (right, left)):
            if isinstance(word, Words) and isinstance(other, Quantity | Solutions | Equation) and word.written:
                product = letters_as_product(word.written)
                if product is None or not self.same(product, other):
                    return None
                self.because = _LETTERS
                return True
        return _symbols(left, right)

    def _readings(self, left: Value, right: Value) -> Answer:
        """Whether some reading of one is a reading of the other."""
        sides = [value.readings if isinstance(value, Ambiguous) else (value,) for value in (left, right)]
        pairs = [(one, other) for one in sides[0] for other in sides[1]]
        # The other side shows which kind is meant.
        alike = [pair for pair in pairs if type(pair[0]) is type(pair[1])]
        answers = [self.same(*pair) for pair in alike or pairs]
        return True if True in answers else None if None in answers else False

    def _facts(self, left: Value, right: Value) -> Answer:
        """As `same`, for times, dates and chemical formulas."""
        match left, right:
            case Clock(), Clock():
                return self._clocks(left, right)
            case (Clock(ratio=Ratio() as one), other) | (other, Clock(ratio=Ratio() as one)):
                return self.same(one, other)
            case Date(), Date():
                fields = ((left.year, right.year), (left.month, right.month), (left.day, right.day))
                return _all(None if (one is None) != (other is None) else one == other for one, other in fields)
            case Formula(), Formula():
                if len(left.sides) != len(right.sides):
                    return None
                return _all(_matched(*pair, _species) for pair in zip(left.sides, right.sides, strict=True))
        self.because = _OTHER_KIND
        return None

    def _clocks(self, left: Clock, right: Clock) -> Answer:
        if left.seconds == right.seconds:
            return True
        apart = abs(left.seconds - right.seconds) == _HALF_A_DAY and (left.half or right.half)
        ratios = left.ratio is not None and right.ratio is not None and self._ratios(left.ratio, right.ratio)
        return None if apart or ratios else False

    def _several(self, left: Value, right: Value) -> Answer:
        """As `same`, for lists, matrices, parts of the line, ratios and conditions."""
        match left, right:
            case (Matrix(), _) | (_, Matrix()):
                return self._matrices(left, right)
            case Items(), Items():
                return self._items(left, right)
            case (Items(decimal=Quantity() as one), Quantity() as other) | (
                Quantity() as one,
                Items(decimal=Quantity() as other),
            ):
                return self.same(one, other)
            case (Ratio(), Ratio() | Quantity()) | (Quantity(), Ratio()):
                return self._ratios(left, right)
            case (Equation(), Equation()) | (Inequality(), Inequality()):
                return self._algebra.conditions(left, right)
            case (Equation() | Inequality(), _) | (_, Equation() | Inequality()):
                return None
            case (Region(), _) | (_, Region()):
                return self._regions(left, right)
        # A number is no list, and a ratio no point; what holds names may be either.
        self.because = _OTHER_KIND
        return (
            None if any(isinstance(side, Quantity) and not is_constant(side.tree) for side in (left, right)) else False
        )

    # Collections

    def _items(self, left: Items, right: Items) -> Answer:
        kinds = {left.brackets, right.brackets}
        if left.ordered and right.ordered:
            same = self._in_order(left.values, right.values)
            if len(kinds) > 1 and any(isinstance(value, Items) for value in (*left.values, *right.values)):
                return same or None
            # (1, 2) and [1, 2] are different intervals; longer ones are vectors.
            return False if len(kinds) > 1 and same and len(left.values) == _PAIR else same
        if "[]" in kinds:
            return None
        if left.ordered or right.ordered:
            if "⦃⦄" in kinds:
                return None
            same = self._in_order(left.values, right.values)
            # -1, 3 are two roots, and (-1, 3) a point or an interval.
            return None if same and "" in kinds and len(left.values) == _PAIR else same
        if "⦃⦄" in kinds:
            return self._in_any_order(self._distinct(left.values), self._distinct(right.values))
        return self._in_any_order(left.values, right.values)

    def _in_order(self, left: Sequence[Value], right: Sequence[Value]) -> Answer:
        if len(left) != len(right):
            return False
        return _all(self.same(one, other) for one, other in zip(left, right, strict=True))

    def _in_any_order(self, left: Sequence[Value], right: Sequence[Value]) -> Answer:
        return _matched(left, right, self.same)

    def _distinct(self, values: Sequence[Value]) -> list[Value]:
        kept: list[Value] = []
        for value in values:
            if not any(self.same(value, other) for other in kept):
                kept.append(value)
        return kept

    def _solutions(self, left: Solutions, right: Value) -> Answer:
        if isinstance(right, Solutions) and _both_functions(left, right):
            return self.same(left.alternatives[0][0][1], right.alternatives[0][0][1])
        if isinstance(right, Equation) or _states_a_line(left, right):
            one, other = as_equation(left), as_equation(right)
            return None if one is None or other is None else self._algebra.conditions(one, other)
        if isinstance(right, Solutions):
            return self._alternatives(left, right)
        values = _unnamed(left)
        if len(values) == 1:
            return self.same(values[0], right)
        match right:
            case Items():
                same = self._items(Items(tuple(values), "{}"), right)
                return same if _single_named(left) else True if same and self._in_order(values, right.values) else None
            case Quantity():
                return False if _single_named(left) else None
        return None

    def _alternatives(self, left: Solutions, right: Solutions) -> Answer:
        names = [{tuple(sorted(name for name, _ in each)) for each in side.alternatives} for side in (left, right)]
        if names[0] != names[1]:
            if _bases(left) == _bases(right) and len(_bases(left)) == 1 and (_indexed(left) or _indexed(right)):
                # x_1 = 2, x_2 = 3 are the two values of x.
                return self._in_any_order(_unnamed(left), _unnamed(right))
            same = self._in_any_order(_unnamed(left), _unnamed(right))
            return False if same is False and _single_named(left) and _single_named(right) else None
        if len(left.alternatives) != len(right.alternatives):
            return False
        return _matched(left.alternatives, right.alternatives, self._bindings)

    def _bindings(self, left: Bindings, right: Bindings) -> Answer:
        one, other = dict(left), dict(right)
        return one.keys() == other.keys() and _all(self.same(one[name], other[name]) for name in one)

    # Shapes

    def _matrices(self, left: Value, right: Value) -> Answer:
        vectors = as_vector(left), as_vector(right)
        if (
            vectors[0] is not None
            and vectors[1] is not None
            and not (isinstance(left, Matrix) and isinstance(right, Matrix))
        ):
            return self._cells((vectors[0],), (vectors[1],))
        one, other = as_matrix(left), as_matrix(right)
        if one is None or other is None:
            self.because = _OTHER_KIND
            # A sum with names may be one of unit vectors.
            plain = [side for side in (left, right) if isinstance(side, Quantity) and is_constant(side.tree)]
            return False if plain else None
        return self._cells(one.rows, other.rows)

    def _cells(self, left: Sequence[Sequence[Tree]], right: Sequence[Sequence[Tree]]) -> Answer:
        if [len(row) for row in left] != [len(row) for row in right]:
            return False
        cells = zip((cell for row in left for cell in row), (cell for row in right for cell in row), strict=True)
        return _all(self._algebra.trees(one, other) for one, other in cells)

    def _ratios(self, left: Value, right: Value) -> Answer:
        terms = [value.terms if isinstance(value, Ratio) else () for value in (left, right)]
        for mine, value in zip(terms, (right, left), strict=True):
            match mine, value:
                case (over, under), Quantity(tree=tree, units=()):
                    return self._algebra.trees(Apply("div", (over, under)), tree)
                case _, Quantity():
                    return None
        if len(terms[0]) != len(terms[1]):
            return False
        if _all(self._algebra.trees(*pair) for pair in zip(*terms, strict=True)) is True:
            return True
        return _all(
            self._algebra.trees(Apply("mul", (terms[0][0], other)), Apply("mul", (one, terms[1][0])))
            for one, other in zip(*terms, strict=True)
        )

    def _regions(self, left: Value, right: Value) -> Answer:
        try:
            one, other = as_region(left), as_region(right)
        except NotAnExpressionError:
            return False if isinstance(left, Quantity | Matrix) or isinstance(right, Quantity | Matrix) else None
        normal = merged(one), merged(other)
        if normal[0] is not None and normal[1] is not None:
            same: Answer = normal[0] == normal[1]
        else:
            same = self._intervals(one.intervals, other.intervals)
        renamed = one.variable != other.variable and None not in (one.variable, other.variable)
        return None if same and renamed else same

    def _intervals(self, left: tuple[Bounds, ...], right: tuple[Bounds, ...]) -> Answer:
        if len(left) != len(right):
            return None
        answers = [_all(self._limits(one, other)) for one, other in zip(left, right, strict=True)]
        return True if all(answers) else False if len(left) == 1 and answers == [False] else None

    def _limits(self, left: Bounds, right: Bounds) -> list[Answer]:
        answers: list[Answer] = [(left.low_closed, left.high_closed) == (right.low_closed, right.high_closed)]
        for one, other in ((left.low, right.low), (left.high, right.high)):
            answers.append(
                (one is None) == (other is None) if one is None or other is None else self._algebra.trees(one, other)
            )
        return answers


def _unwrapped(value: Value) -> Value:
    """The only member of a list or set."""
    match value:
        case Items(values=(Region() | Items(brackets="⦃⦄"),), brackets="⦃⦄"):
            return value
        case Items(values=(only,), brackets="" | "{}" | "⦃⦄"):
            return _unwrapped(only)
    return value


def _symbols(left: Value, right: Value) -> Answer:
    """The answer where one side at least is a choice, a truth or words."""
    match left, right:
        case Words(one), Words(other):
            symbols = left.written != right.written and not (left.written.islower() or right.written.islower())
            return True if one == other and not symbols else None
        case (Choice(one), Choice(other)) | (Truth(one), Truth(other)):
            return one == other
        case (Choice(letters), Quantity(tree=Name(name))) | (Quantity(tree=Name(name)), Choice(letters)):
            return {name.upper()} == letters if len(name) == 1 else None
    return None


def _matched[T](left: Sequence[T], right: Sequence[T], same: Callable[[T, T], Answer]) -> Answer:
    """Whether every member of one side has a partner of its own on the other."""
    if len(left) != len(right):
        return False
    remaining = list(right)
    unknown = False
    for one in left:
        doubtful = False
        for place, other in enumerate(remaining):
            answer = same(one, other)
            if answer:
                del remaining[place]
                break
            doubtful = doubtful or answer is None
        else:
            if not doubtful:
                return False
            unknown = True
    return None if unknown else True


def _all(answers: Iterable[Answer]) -> Answer:
    """True if all are, False if any is, else None."""
    unknown = False
    for answer in answers:
        if answer is False:
            return False
        unknown = unknown or answer is None
    return None if unknown else True


def _single_named(solutions: Solutions) -> bool:
    return all(len(bindings) == 1 for bindings in solutions.alternatives) or _indexed(solutions)


def _indexed(solutions: Solutions) -> bool:
    """Whether the names are x_1, x_2, …: the roots of one equation, numbered."""
    names = [name for bindings in solutions.alternatives for name, _ in bindings]
    if len(names) < _PAIR:
        return False
    return [name.partition("_")[2] for name in names] == [str(number) for number in range(1, len(names) + 1)] and len(
        {name.partition("_")[0] for name in names}
    ) == 1


def _bases(solutions: Solutions) -> set[str]:
    """The names without their numbers."""
    return {name.partition("_")[0] for bindings in solutions.alternatives for name, _ in bindings}


def _unnamed(solutions: Solutions) -> list[Value]:
    """The values without their names; several under one alternative are a tuple, unless they are numbered roots."""
    if _indexed(solutions) or len(solutions.alternatives) == 1:
        return [value for bindings in solutions.alternatives for _, value in bindings]
    return [
        bindings[0][1]
        if len(bindings) == 1
        else Items(tuple(value for _, value in sorted(bindings, key=lambda pair: pair[0])), "()")
        for bindings in solutions.alternatives
    ]


def _both_functions(left: Solutions, right: Solutions) -> bool:
    """Whether one gives y and the other f(x), which say the same of a function."""
    match left.alternatives, right.alternatives:
        case ((((one, _),),), (((other, _),),)):
            short, long = sorted((one, other), key=len)
            return short == "y" and len(long) == len("f(x)") and long[0].isalpha() and long[1:] == "(x)"
    return False


def _species(left: Species, right: Species) -> Answer:
    """Whether two formulas with their numbers are the same; other arrangements of the same atoms are left open."""
    if (left.count, left.parts, left.charge) == (right.count, right.parts, right.charge):
        return "" in (left.state, right.state) or left.state == right.state
    same = left.count == right.count and left.atoms == right.atoms and left.charge == right.charge
    return None if same or left.loose or right.loose else False


def _states_a_line(left: Solutions, right: Value) -> bool:
    """Whether both give one name in terms of others, and not the same name: `y = 2x` and `x = y/2`."""
    match left, right:
        case (
            Solutions(alternatives=(((one, Quantity(tree=tree)),),)),
            Solutions(alternatives=(((other, Quantity(tree=another)),),)),
        ):
            return one != other and not (is_constant(tree) and is_constant(another))
    return False
