"""The check itself: find each text's answer, read it, compare the two, and say what decided."""

import re
from dataclasses import dataclass, replace

from touchstone.checks.equivalence.asked import falls_short, may_have_any_order
from touchstone.checks.equivalence.comparison import Comparison
from touchstone.checks.equivalence.conventions import explained
from touchstone.checks.equivalence.doubts import doubt
from touchstone.checks.equivalence.elsewhere import read_elsewhere
from touchstone.checks.equivalence.extraction import typed
from touchstone.checks.equivalence.matching import as_rows, rows_of
from touchstone.checks.equivalence.parts import parts_of
from touchstone.checks.equivalence.reading import ReadAnswer, read_both
from touchstone.checks.equivalence.writing import has_bits
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values.kinds import Quantity, Words
from touchstone.checks.values.reading import read
from touchstone.checks.values.times import calendar_periods
from touchstone.kinds import require_kind, require_texts
from touchstone.limits import NotAtOnceError
from touchstone.packaged import own_table

SECONDS = 0.25
"""Time for one comparison; loading sympy for the first pair that needs it is not part of it."""
TEXT_LIMIT = 100_000
"""The most characters of a given text; answers with a derivation have a few thousand."""
AT_ONCE_CHARS = 1_000
"""The most characters of each text, question included, that is read at once: it takes about 2 µs per character."""
_DIGITS = re.compile(r"-?\d{1,30}+(?:\.\d{1,30}+)?", re.ASCII)
"""A plain number: the commonest answer, which is compared without being searched for in the text."""
_RULES: dict[str, str] = own_table(__file__, "rules.json")
"""The rules that decide, in words for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What `equivalent` says (`answer`), how each side was read, and what decided (`because`)."""

    answer: bool | None
    given: str
    expected: str
    because: str


@dataclass(frozen=True, slots=True)
class _Decision:
    """The answer for two texts, the rule that decided (a key of `_RULES`), and what was read; None: nothing was."""

    answer: bool | None
    rule: str
    read: tuple[ReadAnswer | None, ReadAnswer | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What a comparison is asked with; see `equivalent`."""

    tolerance: Tolerance | None
    question: str | None
    at_once: bool = False

    def comparison(self) -> Comparison:
        """A comparison of values on these terms."""
        return Comparison(
            None if self.at_once else SECONDS,
            in_order=lambda: self.question is not None and not may_have_any_order(self.question),
        )


def equivalent(
    given: str,
    expected: str,
    *,
    tolerance: Tolerance | None = None,
    question: str | None = None,
    at_once: bool = False,
) -> bool | None:
    """Whether `given` has the same value as `expected`: True, False, or None if this cannot be told.

    `given` may be a bare answer or a text that ends in one; `expected` is bare. The check is right or silent. True is
    proved, by exact arithmetic or by algebra, never by nearness. False means that both answers were read whole and
    differ. None is everything else: ambiguous, not read whole, too large, or not decided in 0.25 s of processor time.

    - Units must agree in dimension and value (10 cm is not 10 m; 1 m is 100 cm). If exactly one side has a unit, the
      numbers decide (18 apples and 18). Exceptions that give None: the unit is one letter right behind the number, and
      may be a variable (5m); or the numbers agree in another unit, for which the question may ask (2 hours and 120).
      Different counted things give None (18 apples and 18 oranges).
    - 50 % is 0.5. Whether 28 % equals 28 depends on the question, as it does for 101_2 and 101: None.
    - Numbers are exact. A decimal that is a correct rounding or cut of the other side gives None (0.333 and 1/3); with
      one digit it is wrong. The one exception: a correct rounding to ten or more digits counts as the exact value,
      because programs print exact values so.
    - A number that has another value elsewhere (1.200, 0,5x, 3-1/2, 5–6) gives None beside that value.
    - Lists and sets have no order (1、2 and {2, 1}); points and vectors have one. (0, 1) and [0, 1] are different.
    - Answers in parts, (a) 5 (b) 7, are compared part by part; school years (2023/24 and 2023-24) by their years.
    - If the words around equal values name other quantities (the mean is 5, the median is 5), or if they are written so
      that more may be meant (01 and 1, 3 × 2 and 2 × 3), the answer is None.
    - A name in front is not part of the value (x = 2 and 2). Equations are the same if they hold for the same values.
    - Unequal options are different, and so are true and false. Other words are the same, or give None.

    `tolerance`: a number or quantity that differs counts as the same if it lies within the tolerance; other kinds of
    value do not. `question`: what was asked. Where it may ask for an order, or for several things by name, lists that
    differ in their order give None (3, 1, 2 and 1, 2, 3). Where it asks for a form, a unit, a percentage or a fraction,
    for digits (2.5 and 2.50) or the exact value, contains the given answer itself, or asks to work out what the answer
    leaves undone, the same value in another form gives None (6/8 and 3/4). So does a value in other words, letters or
    signs where it asks for words of a language, for words, digits, capital letters or an equation (12 and twelve). So
    do plain arithmetic that is left undone (17·25 and 425), and a product of matrices in another order. None: it is not
    known, and the value alone counts. `at_once`: raises `NotAtOnceError` if the check may take more than
    `AT_ONCE_SECONDS`.
    """
    _require_kinds(given, expected, tolerance, question)
    if _DIGITS.fullmatch(given) and _DIGITS.fullmatch(expected):
        if given == expected:
            return True
        if "." not in given and "." not in expected and (int(given) == int(expected) or tolerance is None):
            same = int(given) == int(expected)
            return None if same and (has_bits(given) or has_bits(expected)) else same
    if at_once and max(len(given), len(expected), len(question or "")) > AT_ONCE_CHARS:
        raise NotAtOnceError
    return _decided((given, expected), _Terms(tolerance=tolerance, question=question, at_once=at_once)).answer


def explain(
    given: str, expected: str, *, tolerance: Tolerance | None = None, question: str | None = None
) -> Explanation:
    """As `equivalent`; also says how each side was read and what decided."""
    from touchstone.checks.equivalence.describing import described

    _require_kinds(given, expected, tolerance, question)
    decision = _decided((given, expected), _Terms(tolerance=tolerance, question=question))
    if decision.read is None:
        sides = [given, expected]
    else:
        sides = [_RULES["not read"] if each is None else described(each.value, each.part) for each in decision.read]
    return Explanation(answer=decision.answer, given=sides[0], expected=sides[1], because=_RULES[decision.rule])


def _require_kinds(given: str, expected: str, tolerance: Tolerance | None, question: str | None) -> None:
    require_texts(given=given, expected=expected)
    if question is not None:
        require_texts(question=question)
    if tolerance is not None:
        one_percent = "; Tolerance(relative=Fraction(1, 100)) allows one percent"
        require_kind("tolerance", tolerance, Tolerance, "a Tolerance", remedy=one_percent)


def _decided(texts: tuple[str, str], terms: _Terms) -> _Decision:
    comparison = terms.comparison()
    return _by_form(texts, comparison, terms) or _by_value(texts, comparison, terms)


def _by_form(texts: tuple[str, str], comparison: Comparison, terms: _Terms) -> _Decision | None:
    """The answer for two texts of one form that is no value; None for any others.

    Two school years are the same if they begin in one year, and two months if both numbers agree. Two answers in parts
    are the same if all their parts are.
    """
    one, other = (calendar_periods(typed(text).strip(" .")) for text in texts)
    if one and other:
        return _Decision(
            True if one == other and len(one) == 1 else False if one.isdisjoint(other) else None, "school years"
        )
    parts = [parts_of(typed(text)) for text in texts]
    if not any(parts):
        return None
    mine, theirs = (own or rows_of(typed(text)) for own, text in zip(parts, texts, strict=True))
    if not mine or mine.keys() != theirs.keys():
        return None
    answers = {_by_value((part, theirs[label]), comparison, terms).answer for label, part in mine.items()}
    if False in answers:
        # A list of results may be numbered in any order.
        listed = "1" in mine and sorted(mine.values()) == sorted(theirs.values())
        return _Decision(None if listed else False, "parts")
    return _Decision(None if None in answers else True, "parts")


def _by_value(texts: tuple[str, str], comparison: Comparison, terms: _Terms) -> _Decision:
    """The answer by what the two texts mean."""
    if max(map(len, texts)) > TEXT_LIMIT:
        return _Decision(None, "unread", (None, None))
    given, expected = both = read_both(*texts)
    if given is None or expected is None:
        return _Decision(None, "unread", both)
    same = _compared(given, expected, comparison, terms.tolerance)
    if (answer := as_rows(given, expected, same=same)) is not same:
        comparison.because = "rows"
    if answer is not None and (rule := _left_open_by(given, expected, comparison, terms, same=answer)):
        return _Decision(None, rule, both)
    if answer is None and not (given.certain and expected.certain):
        return _Decision(None, "unmarked", both)
    return _Decision(answer, comparison.because or {True: "equal", False: "differ", None: "open"}[answer], both)


def _compared(
    given: ReadAnswer, expected: ReadAnswer, comparison: Comparison, tolerance: Tolerance | None
) -> bool | None:
    """Whether two answers have the same value."""
    if given.unit_unread and expected.unit_unread:
        return None
    same = comparison.same(given.value, expected.value)
    for one, other in ((given, expected), (expected, given)):
        if one.unit_unread and isinstance(other.value, Quantity) and other.value.units:
            return None
    if same is False:
        same = explained(given, expected, comparison)
    certain = given.certain and expected.certain
    if tolerance is not None and not same:
        same = comparison.near(given.value, expected.value, tolerance, same=same)
        return same if certain else None
    return same if same or certain else None


def _left_open_by(given: ReadAnswer, expected: ReadAnswer, comparison: Comparison, terms: _Terms, *, same: bool) -> str:
    """The rule by which a decided comparison is left open; "" if it stands."""
    if rule := doubt(given, expected, same=same):
        return rule
    if _differs_elsewhere(given, expected, comparison, terms.tolerance, same=same):
        return "elsewhere"
    exact = terms.tolerance is None
    if same and terms.question is not None and falls_short(terms.question, given, expected, exact=exact):
        return "asked"
    return ""


def _differs_elsewhere(
    given: ReadAnswer, expected: ReadAnswer, comparison: Comparison, tolerance: Tolerance | None, *, same: bool
) -> bool:
    """Whether the two numbers, as they are read elsewhere, come to another answer than `same`."""
    for one, other in read_elsewhere(given, expected, same=same):
        values = read(one), read(other)
        if values[0] is None or values[1] is None or any(isinstance(value, Words) for value in values):
            continue
        pair = replace(given, value=values[0]), replace(expected, value=values[1])
        if _compared(*pair, comparison, tolerance) is not same:
            return True
    return False
