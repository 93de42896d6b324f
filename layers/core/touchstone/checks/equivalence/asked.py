"""What a question asks of an answer beside its value: the order of several values, and the form of one.

The roots of an equation have no order. Numbers to be sorted have one, and so have a mean and a median that are asked
for together. 6/8 is as much as 3/4, and does not answer what 6/8 is in lowest terms; 17·25 is as much as 425, and is
the question itself. Neither a list of numbers nor an expression says what it was asked for: the question does.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction

from touchstone.checks.equivalence.orders import turned_around
from touchstone.checks.equivalence.reading import ReadAnswer
from touchstone.checks.notation.tokens import tokens_of
from touchstone.checks.notation.trees import DIGIT_LIMIT, Apply, Number, Tree, value_or_none
from touchstone.checks.values.kinds import (
    Ambiguous,
    Choice,
    Clock,
    Condition,
    Items,
    Quantity,
    Ratio,
    Region,
    Solutions,
    Value,
)
from touchstone.packaged import own_patterns
from touchstone.text import normalised

_ASKS = own_patterns(__file__)
"""What a question asks for: see the notes of the file."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_FEW_WORDS = 2
"""A question with at most so many words is an equation, perhaps with a word or two: `x² = 5x - 6, x = ?`."""
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]{1,40})\}\{([^{}]{1,40})\}")
_SHORT_FRACTION = re.compile(r"\\[dt]?(?:frac|binom) ?(\d) ?(\d)", re.ASCII)
_ONE_CHARACTER = re.compile("[¼-¾⅐-⅞]")
"""A fraction in one character, ½."""
_ORDERED = re.compile(r"[<>≤≥⩽⩾≦≧]|\\[lg]eq?(?![A-Za-z])")
_UNWRITTEN = frozenset(("*", "$"))
"""Signs that may be left out where numbers or names are multiplied, or that set off a formula."""
_IDLE = {"0", "1"}
"""Numbers that add nothing to a sum, or to a product: 17·25 + 0."""
_ROOTS = {"sqrt": "√"}
_TEN = Fraction(10)
_ONE = ("number", Fraction(1), "")


def may_have_any_order(question: str) -> bool:
    """Whether what a question asks for may be given in any order: the roots of an equation, the divisors of a number.

    False if the question asks for an order, or for several things by name, or if neither is seen.
    """
    if _ASKS["ordered"].search(question):
        return False
    return bool(_ASKS["sought"].search(question)) or ("=" in question and len(_WORD.findall(question)) <= _FEW_WORDS)


def falls_short(question: str, given: ReadAnswer, expected: ReadAnswer, *, exact: bool) -> bool:
    """Whether an answer of the right value may lack the form that a question asks for.

    So it is if it is written in another form than the expected one, and the question asks for a form, for words of a
    language or digits, for a number of some unit or for an equation to be solved. So it is too if the question contains
    the answer itself, asks to work out what the answer leaves undone, or has all the numbers of what is left undone. If
    the expected value is not `exact`, since a tolerance admits others, no form is asked for.
    """
    value, wanted = _as_number(given.value), expected.value
    if _ASKS["wording"].search(question) and _are_worded_otherwise(given.part, expected.part):
        return True
    if _ASKS["notation"].search(question) and bool(_ORDERED.search(given.part)) != bool(_ORDERED.search(expected.part)):
        return True
    if _are_turned_around(given, expected) and _ASKS["matrices"].search(question):
        return True
    if isinstance(value, Region) and isinstance(wanted, Region):
        return _is_unsolved(question, given.part, expected.part)
    forms = _form_of(value), _form_of(wanted)
    if None in forms or forms[0] == forms[1]:
        return False
    if not exact and isinstance(value, Quantity) and isinstance(value.tree, Number):
        return False  # any number within the tolerance will do
    if isinstance(value, Condition) and isinstance(wanted, Solutions) and _ASKS["solved"].search(question):
        return True
    in_another_unit = _have_other_units(value, wanted)
    if exact and (_ASKS["form"].search(question) or (in_another_unit and _ASKS["unit"].search(question))):
        return True
    works_out = _ASKS["work_out"].search(question) is not None
    left, least = _left_to_do(value), _left_to_do(wanted)
    if works_out and left > least:
        return True
    asked, answer = _skeleton(question, prose=True), _skeleton(given.part)
    # 17·25 says no more than `the product of 17 and 25`, nor 10:15 more than `10 boys and 15 girls`.
    undone = (left > 0 and least == 0) or _are_ratios(value, wanted) or (in_another_unit and works_out)
    if (undone and _numbers(answer) <= _numbers(asked) | _IDLE) or _contains(asked, answer):
        return True
    # Nor does (x - 1)(x + 1) say more than `What is (x + 1)(x - 1)?`.
    return works_out and isinstance(value, Quantity) and bool(value.tree.variables) and _is_made_of(answer, asked)


def _are_worded_otherwise(given: str, expected: str) -> bool:
    """Whether two texts differ in their words, or in the digits for which one has words: 12 and twelve, not 12 km."""
    one, other = (normalised(text, "NFKC").casefold() for text in (given, expected))
    words = ["".join(filter(str.isalpha, text)) for text in (one, other)]
    figures = ["".join(filter(str.isdigit, text)) for text in (one, other)]
    return any(words) and (figures[0] != figures[1] or (all(words) and words[0] != words[1]))


def _is_unsolved(question: str, given: str, expected: str) -> bool:
    """Whether an inequality is the one that a question asks to solve, and not the expected one."""
    if _ASKS["solved"].search(question) is None:
        return False
    answer = _skeleton(given)
    return answer != _skeleton(expected) and _contains(_skeleton(question, prose=True), answer)


def _form_of(value: Value) -> Hashable | None:
    """How a value is written, apart from the order of terms and factors, names in front, and units.

    None for a kind of value that has one form only, such as words.
    """
    match value:
        case Quantity(tree=tree):
            return _form(tree)
        case Solutions(alternatives=(((_, one),),)):
            return _form_of(one)
        case Solutions(alternatives=alternatives):
            return _sorted([("named", name, _form_of(each)) for one in alternatives for name, each in one])
        case Items(values=values):
            return _sorted([_form_of(each) for each in values])
        case Ratio(terms=terms) | Clock(ratio=Ratio(terms=terms)):
            return tuple(map(_form, terms))
        case Condition(left=left, right=right, sign=sign):
            sides = [_form(left), _form(right)]
            return (sign, *(_sorted(sides) if sign == "=" else sides))
    return None


def _form(tree: Tree) -> Hashable:
    """How an expression is written, apart from the order of terms and factors, and from the places of signs."""
    sign, form = _signed(tree)
    return form if sign > 0 else ("neg", form)


def _signed(tree: Tree) -> tuple[int, Hashable]:
    """The sign of an expression, 1 or -1, and how it is written without its sign."""
    match tree:
        case Number(value=value):
            return (-1 if value < 0 else 1), ("number", abs(value), _notation(tree))
        case Apply("neg", (one,)):
            sign, form = _signed(one)
            return -sign, form
        case Apply("mul", (Number(value=value), Apply("pow", (Number(value=ten), Number(value=power))))) if (
            ten == _TEN and abs(power) <= DIGIT_LIMIT and power.denominator == 1
        ):
            notation = "scientific" if 1 <= abs(value) < _TEN else "times a power of ten"
            return (-1 if value < 0 else 1), ("number", abs(value) * _TEN ** int(power), notation)
        case Apply("mul" | "div"):
            sign, over, under = _factors(tree)
            over = [each for each in over if each != _ONE]
            if len(over) == 1 and not under:
                return sign, over[0]
            return sign, ("mul", _sorted(over), _sorted(under))
        case Apply("add"):
            return 1, ("add", _sorted(_form(each) for each in _terms(tree)))
        case Apply(operation, arguments):
            return 1, (operation, *map(_form, arguments))
    return 1, tree


def _notation(number: Number) -> str:
    """Whether a number was written with a power of ten, as a mixed number, or as anything else (integer, decimal)."""
    if number.decimals is not None:
        return "scientific" if number.decimals < 0 else ""
    return "mixed" if number.value.denominator > 1 else ""


def _factors(tree: Tree) -> tuple[int, list[Hashable], list[Hashable]]:
    """The sign of a product or quotient, and the forms of what stands over and under its line."""
    match tree:
        case Apply("neg", (one,)):
            sign, over, under = _factors(one)
            return -sign, over, under
        case Apply("mul" | "div" as operation, (left, right)):
            (sign, over, under), (turn, more, less) = _factors(left), _factors(right)
            if operation == "div":
                more, less = less, more
            return sign * turn, over + more, under + less
    sign, form = _signed(tree)
    return sign, [form], []


def _terms(tree: Tree) -> list[Tree]:
    """The terms of a sum."""
    if isinstance(tree, Apply) and tree.operation == "add":
        return [term for each in tree.arguments for term in _terms(each)]
    return [tree]


def _sorted(forms: Iterable[Hashable]) -> tuple[Hashable, ...]:
    return tuple(sorted(forms, key=repr))


def _left_to_do(value: Value) -> int:
    """How many operations a constant leaves to be worked out. There is nothing to do with names."""
    return _undone(value.tree) if isinstance(value, Quantity) and not value.tree.variables else 0


def _as_number(value: Value) -> Value:
    """A value as the number that it may be: 5C2 may be a formula as well."""
    readings = value.readings if isinstance(value, Ambiguous) else ()
    return next((each for each in readings if isinstance(each, Quantity) and not each.tree.variables), value)


def _are_turned_around(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether two answers are one product of capital letters in two orders. AB may also be read as two options."""
    match given.value, expected.value:
        case Quantity(tree=one), Quantity(tree=other):
            return turned_around(one, other)
        case Choice(), Choice():
            return given.part.isalpha() and expected.part.isalpha() and given.part != expected.part
    return False


def _have_other_units(given: Value, expected: Value) -> bool:
    """Whether both values have a unit, and not the same: 2 h and 120 min."""
    if not (isinstance(given, Quantity) and isinstance(expected, Quantity) and given.units and expected.units):
        return False
    one, other = ({(unit.factor, unit.pi, unit.offset) for unit in each.units} for each in (given, expected))
    return one.isdisjoint(other)


def _are_ratios(given: Value, expected: Value) -> bool:
    return isinstance(given, Ratio | Clock) and isinstance(expected, Ratio | Clock)


def _undone(tree: Tree) -> int:
    """How many operations an expression leaves to be worked out: none for 3/4 or a power of ten, one for 12/4."""
    match tree:
        case Apply("neg" | "percent" | "degrees", (one,)):
            return _undone(one)
        case Apply("div", (Number(value=over), Number(value=under))):
            return int(under != 0 and (over / under).denominator == 1)
        case Apply(arguments=arguments):
            _, form = _signed(tree)
            return 0 if isinstance(form, tuple) and form[0] == "number" else 1 + sum(map(_undone, arguments))
    return 0


def _skeleton(text: str, *, prose: bool = False) -> list[str]:
    """The numbers, letters and signs of a text, without brackets: `\\frac{6}{8}` and (6)/(8) have the same."""
    text = _SHORT_FRACTION.sub(r"(\1)/(\2)", _FRACTION.sub(r"(\1)/(\2)", text))
    text = _ONE_CHARACTER.sub(lambda found: f" {normalised(found[0], 'NFKC').replace('⁄', '/')}", text)
    tokens = value_or_none(tokens_of, text, prose=prose) or ()
    return [
        _ROOTS.get(each.text, each.text)
        for each in tokens
        if each.kind not in ("open", "close") and each.text not in _UNWRITTEN
    ]


def _is_made_of(part: Iterable[str], whole: Iterable[str]) -> bool:
    """Whether every number and every letter of `part` occurs in `whole`, and as often as there."""
    one, other = (Counter(each for each in side if each[0].isalnum()) for side in (part, whole))
    return one <= other


def _numbers(skeleton: Iterable[str]) -> set[str]:
    return {each for each in skeleton if each[0].isdecimal()}


def _contains(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Whether `part`, which is not empty, stands within `whole` in one piece."""
    one, other = ("".join(f"\n{each}\n" for each in side) for side in (whole, part))
    return bool(part) and other in one
