"""What a question asks of an answer beside its value: the order of several values, and the form of one.

The roots of an equation have no order. Numbers to be sorted have one, and so have a mean and a median that are asked
for together. 6/8 is as much as 3/4, and does not answer what 6/8 is in lowest terms; 17·25 is as much as 425, and is
the question itself. Neither a list of numbers nor an expression says what it was asked for: the question does.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
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
_HAS_DIGIT = re.compile(r"\d")
_ONE_CHARACTER = re.compile("[¼-¾⅐-⅞]")
"""A fraction in one character, ½."""
_ORDERED = re.compile(r"[<>≤≥⩽⩾≦≧]|\\[lg]eq?(?![A-Za-z])")
_ONLY_A_NAME = re.compile(r"\W{0,9}+[^\W\d_](?:_\w)?\W{0,9}")
_UNWRITTEN = frozenset(("*", "$"))
"""Signs that may be left out where numbers or names are multiplied, or that set off a formula."""
_COUNTING = {"pow", "factorial", "binomial"}
"""Operations that may stay where ways are counted: 2^10, 5!."""
_IDLE = {"0", "1"}
"""Numbers that add nothing to a sum, or to a product: 17·25 + 0."""
_ROOTS = {"sqrt": "√"}
_LONG = 10
"""Decimals with so many digits count as exact values: see `equivalent`."""
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
    language or digits, for some unit or for an equation to be solved. So it is too if the question contains the answer
    itself, asks to work out what the answer leaves undone, or has all the numbers of what is left undone; and if the
    answer leaves plain arithmetic undone. If the expected value is not `exact`, since a tolerance admits others, no
    form is asked for.
    """
    if given.original == expected.original:
        return False
    if _is_worded_otherwise(question, given, expected) or _has_another_sign(question, given, expected):
        return True
    value, wanted = _beside(_as_number(given.value), expected.value), _beside(expected.value, given.value)
    if _are_turned_around(given, expected) and _ASKS["matrices"].search(question):
        return True
    if isinstance(value, Region) and isinstance(wanted, Region):
        return _is_unsolved(question, given.part, expected.part)
    if _lacks_digits(question, value, wanted, exact=exact):
        return True
    forms = _form_of(value), _form_of(wanted)
    if None in forms or forms[0] == forms[1] or _have_the_primes(question, value, wanted):
        return False
    if not exact and isinstance(value, Quantity) and isinstance(value.tree, Number):
        return False  # any number within the tolerance will do
    if isinstance(value, Condition) and isinstance(wanted, Solutions) and _ASKS["solved"].search(question):
        return True
    in_another_unit = _have_other_units(value, wanted)
    asks = ["precision", "form", "unit"] if in_another_unit else ["precision", "form"]
    if exact and any(_ASKS[each].search(question) for each in asks):
        return True
    works_out = _ASKS["work_out"].search(question) is not None
    left, least = _left_to_do(value), _left_to_do(wanted)
    plain = least == 0 or (_have_powers(value) and not _have_powers(wanted))  # π·3² for 9π
    if left > least and (works_out or (plain and not _may_count(value))):
        return True
    asked, answer = _skeleton(question, prose=True), _skeleton(given.part)
    # 17·25 says no more than `the product of 17 and 25`, nor 10:15 more than `10 boys and 15 girls`.
    undone = (left > 0 and least == 0) or _are_ratios(value, wanted) or (in_another_unit and works_out)
    if (undone and _numbers(answer) <= _numbers(asked) | _IDLE) or _contains(asked, answer):
        return True
    # Nor does (x - 1)(x + 1) say more than `What is (x + 1)(x - 1)?`.
    return works_out and isinstance(value, Quantity) and bool(value.tree.variables) and _is_made_of(answer, asked)


def _is_worded_otherwise(question: str, given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether a question asks for certain words, letters or signs, and the answer has other ones than the expected."""
    letters = _letters(given.part), _letters(expected.part)
    one, other = (each.casefold().replace("and", "") for each in letters)
    if one == other:
        asks = "punctuation" if letters[0] == letters[1] else "letters"
        return _ASKS[asks].search(question) is not None
    if _ASKS["figures"].search(question):
        return True
    if _ASKS["wording"].search(question) and _have_other_words(given.part, expected.part):
        return True
    # The question's own words, "km" or "three quarters", are neither what they stand for nor another form.
    own = given.part.casefold() in question.casefold()
    worded = not _HAS_DIGIT.search(given.part) and _HAS_DIGIT.search(expected.part) is not None
    return own and any(_ASKS[each].search(question) for each in (("form", "quoted") if worded else ("quoted",)))


def _have_other_words(given: str, expected: str) -> bool:
    """Whether two texts differ in their words, or in the digits for which one has words: 12 and twelve, not 12 km."""
    one, other = (normalised(text, "NFKC").casefold() for text in (given, expected))
    words = ["".join(filter(str.isalpha, text)) for text in (one, other)]
    figures = ["".join(filter(str.isdigit, text)) for text in (one, other)]
    return any(words) and (figures[0] != figures[1] or (all(words) and words[0] != words[1]))


def _letters(text: str) -> str:
    """The letters and digits of a text: `Twenty-one.` and `Twenty one` have the same."""
    return "".join(filter(str.isalnum, normalised(text, "NFKC")))


def _has_another_sign(question: str, given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether a question asks for an inequality, an interval or an equation, and the answer is none.

    Neither one side of an equation nor its solution is the equation.
    """
    if bool(_ORDERED.search(given.part)) != bool(_ORDERED.search(expected.part)):
        return _ASKS["notation"].search(question) is not None
    if "=" in given.part and not (isinstance(expected.value, Condition) and _is_constant(given.value)):
        return False
    return "=" in expected.part and _ASKS["equation"].search(question) is not None


def _lacks_digits(question: str, value: Value, wanted: Value, *, exact: bool) -> bool:
    """Whether a question asks for more digits than an answer has, or for a value more exact than a long decimal."""
    one, other = _decimals(value), _decimals(wanted)
    if exact and one < other and _ASKS["precision"].search(question):
        return True
    return one >= _LONG > other and _form_of(value) != _form_of(wanted) and _ASKS["exact"].search(question) is not None


def _is_constant(value: Value) -> bool:
    """Whether a value is one number with a name in front: x = 4."""
    match value:
        case Solutions(alternatives=(((_, Quantity(tree=tree)),),)):
            return not tree.variables
    return False


def _is_unsolved(question: str, given: str, expected: str) -> bool:
    """Whether a question asks to solve an inequality, and only the expected one has a name alone on a side."""
    if _ASKS["solved"].search(question) is None:
        return False
    return _stands_alone(expected) and not _stands_alone(given)


def _stands_alone(inequality: str) -> bool:
    """Whether a name stands alone on a side of an inequality, x < 4 and 1 < x < 3, or the text is none."""
    sides = _ORDERED.split(inequality)
    return len(sides) == 1 or any(map(_ONLY_A_NAME.fullmatch, sides))


def _have_the_primes(question: str, value: Value, wanted: Value) -> bool:
    """Whether a question asks for prime factors, and both products have the same, with or without powers: 2²·3."""
    if not (isinstance(value, Quantity) and isinstance(wanted, Quantity)) or _spread(value.tree) != _spread(
        wanted.tree
    ):
        return False
    return _ASKS["primes"].search(question) is not None and _ASKS["powers"].search(question) is None


def _spread(tree: Tree) -> Counter[Hashable]:
    """How often each factor stands in a product."""
    factors = Counter[Hashable]()
    for form in _factors(tree)[1]:
        match form:
            case ("pow", base, ("number", Fraction() as power, _)) if power.denominator == 1 and power > 0:
                factors[base] += int(power)
            case _:
                factors[form] += 1
    return factors


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
            sign = -1 if value < 0 else 1
            if tree.decimals is None and 0 < abs(value) < 1:
                parts = [Number(Fraction(each)) for each in abs(value).as_integer_ratio()]
                return sign, _form(Apply("div", (parts[0], parts[1])))  # ¾ is 3/4
            return sign, ("number", abs(value), _notation(tree))
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
    """How many operations constants leave to be worked out. There is nothing to do with names."""
    return sum(_undone(each.tree) for each in _quantities(value) if not each.tree.variables)


def _may_count(value: Value) -> bool:
    """Whether a value may be a number of ways as it is often written, 2^10, and not 3·6, which is left undone."""
    trees = [each.tree for each in _quantities(value)]
    counting = [each for each in trees if not (each.names or each.has_decimal or "root" in each.operations)]
    return any(not _COUNTING.isdisjoint(each.operations) for each in counting)


def _have_powers(value: Value) -> bool:
    return any("pow" in each.tree.operations for each in _quantities(value))


def _quantities(value: Value) -> list[Quantity]:
    """The expressions of a value, with or without names: both of x = 1 or x = 6/2."""
    match value:
        case Quantity():
            return [value]
        case Solutions(alternatives=alternatives):
            values = [named for one in alternatives for _, named in one]
        case Items(values=several):
            values = list(several)
        case _:
            return []
    return [replace(each, tree=_without_zero(each.tree)) for each in values if isinstance(each, Quantity)]


def _without_zero(tree: Tree) -> Tree:
    """One of the two values of ±3, which is read as 0 + 3 and 0 - 3."""
    match tree:
        case Apply("add", (Number(value=zero), one)) if zero == 0:
            return one
    return tree


def _decimals(value: Value) -> int:
    """How many digits a number has behind its point."""
    number = value.tree if isinstance(value, Quantity) else None
    return (number.decimals or 0) if isinstance(number, Number) else 0


def _as_number(value: Value) -> Value:
    """A value as the number that it may be: 5C2 may be a formula as well."""
    readings = value.readings if isinstance(value, Ambiguous) else ()
    return next((each for each in readings if isinstance(each, Quantity) and not each.tree.variables), value)


def _beside(value: Value, other: Value) -> Value:
    """A value as the one number with a decimal comma that it may be beside one number: 2,5 m beside 250 cm."""
    return value.decimal if isinstance(value, Items) and value.decimal and isinstance(other, Quantity) else value


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
        case Apply("div", (Apply("neg", (over,)), under)) | Apply("div", (over, Apply("neg", (under,)))):
            return _undone(Apply("div", (over, under)))
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
