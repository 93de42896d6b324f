"""The check itself: find each text's answer, read it, compare the two, and say what decided."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.checks.equivalence.asked import falls_short, may_have_any_order
from touchstone.checks.equivalence.comparison import Comparison
from touchstone.checks.equivalence.elsewhere import read_elsewhere
from touchstone.checks.equivalence.extraction import (
    BARE_LIMIT,
    Candidate,
    bare_answers,
    states,
    typed,
    what_is_called,
)
from touchstone.checks.equivalence.matching import as_rows, rows_of
from touchstone.checks.equivalence.parts import parts_of
from touchstone.checks.equivalence.periods import may_be_one_family
from touchstone.checks.equivalence.subjects import is_odds, speak_of_others
from touchstone.checks.equivalence.writing import are_told_apart, has_bits, has_direction_alone
from touchstone.checks.notation.trees import Apply, Name
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values.kinds import Choice, Items, Quantity, Truth, Value, Words
from touchstone.checks.values.reading import read, simple_number
from touchstone.checks.values.times import calendar_periods
from touchstone.kinds import require_kind, require_texts
from touchstone.limits import NotAtOnceError
from touchstone.packaged import own_sources, own_table
from touchstone.text.latex import LOST_BACKSLASH

SECONDS = 0.25
"""Time for one comparison; loading sympy for the first pair that needs it is not part of it."""
TEXT_LIMIT = 100_000
"""The most characters of a given text; answers with a derivation have a few thousand."""
AT_ONCE_CHARS = 1_000
"""The most characters of each text, question included, that is read at once: it takes about 2 µs per character."""
_DIGITS = re.compile(r"-?\d{1,30}+(?:\.\d{1,30}+)?", re.ASCII)
"""A plain number: the commonest answer, which is compared without being searched for in the text."""
_PLAIN = re.compile(r"-?(?:[1-9][\d./]{0,40}|0(?:[./][\d./]{0,40})?)", re.ASCII)
"""A number whose writing says nothing more than its value."""
_SENTENCE = 120
"""The most characters of a sentence that may be a whole answer."""
_SENTENCE_ENDS = re.compile(r"[\n。；!?！？#]|[.;] |boxed")
"""What shows that a text is more than one sentence, or marks its answer."""
_SIGNS = re.compile(r"[\W_]")
_NUMBER = re.compile(r"\d++(?:\.\d++)?", re.ASCII)
_FIGURE = re.compile(r"([∠∡△⊙]|\\(?:angle|triangle|odot)(?![A-Za-z]))\s{0,3}([A-Z]{1,6}|\d)")
"""A figure's name: ∠ABC, ∠1, △ABC."""
_LABEL = re.compile(r"(?:(?:[A-Z]|[A-Za-z]{2})[A-Za-z]{1,10}[ _-]?\d{1,4}|\d{1,4}[ _-]?[A-Za-z]{3,12})")
"""A name with a number, which the hyphen of `UTF-8` does not take away."""
_PARAMETERS = frozenset("tskrcuvmn") | {"lambda", "mu"}
"""Names of a parameter, which any of them may have."""
_VECTOR = r"\\(?:vec|hat|mathbf|boldsymbol|bm|overrightarrow)\s?\{?\\?[A-Za-z]{1,5}\}?"
_ORDERED = re.compile(
    rf"(?P<one>{_VECTOR}|(?<![^\W\d_\\^])[^\W\d_])\s?(?P<sign>×|∘|(?:\\times|\\circ)(?![A-Za-z]))\s?"
    rf"(?P<other>{_VECTOR}|[^\W\d_])(?![^\W\d_])"
)
"""Two vectors, sets or functions with a sign between them that has an order: `\\vec a × \\vec b`, `A × B`, `f ∘ g`."""
_VECTORS = (frozenset("ijk"), frozenset("uvw"))
"""Letters that stand for vectors, if a cross is between two of them."""
_SEGMENT = re.compile("bar [A-Z]{2}")
_RULES: dict[str, str] = own_table(__file__, "rules.json")
"""The rules that decide, in words for people."""
_POLES = re.compile(
    "|".join(f"(?P<{end}>{'|'.join(words)})" for end, words in own_sources(__file__).items()), re.IGNORECASE
)
"""Words of directions and changes. A group's name is an axis and one of its ends: `side_a` and `side_b`."""
_IN_SPACE = frozenset(("side", "height", "latitude", "longitude"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What `equivalent` says (`answer`), how each side was read, and what decided (`because`)."""

    answer: bool | None
    given: str
    expected: str
    because: str


type ReadAnswer = tuple[Value, Candidate]
"""The answer of a text as it was read, and the part of the text it was read from."""


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
    differ in their order give None (3, 1, 2 and 1, 2, 3). Where it asks for a form or a unit, contains the given answer
    itself, or asks to work out what the answer leaves undone, the same value in another form gives None (6/8 and 3/4).
    So does what is left undone with the numbers of the question (17·25 and 425), and a product of matrices in another
    order. None: it is not known, and the value alone counts. `at_once`: raises `NotAtOnceError` if the check may take
    more than `AT_ONCE_SECONDS`.
    """
    _require_kinds(given, expected, tolerance, question)
    if _DIGITS.fullmatch(given) and _DIGITS.fullmatch(expected):
        if given == expected:
            return True
        if "." not in given and "." not in expected and (int(given) == int(expected) or tolerance is None):
            same = int(given) == int(expected)
            return None if same and (has_bits(given) or has_bits(expected)) else same
    if at_once and question is not None and len(question) > AT_ONCE_CHARS:
        raise NotAtOnceError
    comparison = _comparison(None if at_once else SECONDS, question)
    texts = given, expected
    if (settled := _by_form(texts, comparison, tolerance, question=question, at_once=at_once)) is not None:
        return settled[0]
    return _read_and_compared(texts, comparison, tolerance, question=question, at_once=at_once)


def explain(
    given: str, expected: str, *, tolerance: Tolerance | None = None, question: str | None = None
) -> Explanation:
    """As `equivalent`; also says how each side was read and what decided."""
    from touchstone.checks.equivalence.describing import described

    _require_kinds(given, expected, tolerance, question)
    comparison = _comparison(SECONDS, question)
    if (settled := _by_form((given, expected), comparison, tolerance, question=question, at_once=False)) is not None:
        return Explanation(answer=settled[0], given=given, expected=expected, because=_RULES[settled[1]])
    found, wanted = _read_both(given, expected, at_once=False)
    if found is None or wanted is None:
        answer, rule = None, "unread"
    else:
        answer = _answered(found, wanted, (given, expected), comparison, tolerance)
        if answer and _may_fall_short(question, found, wanted, tolerance):
            answer, comparison.because = None, "asked"
        rule = comparison.because or {True: "equal", False: "differ", None: "open"}[answer]
        if answer is None and not (found[1].certain and wanted[1].certain):
            rule = "unmarked"
    sides = [_RULES["not read"] if each is None else described(each[0], each[1].text) for each in (found, wanted)]
    return Explanation(answer=answer, given=sides[0], expected=sides[1], because=_RULES[rule])


def _comparison(seconds: float | None, question: str | None) -> Comparison:
    return Comparison(seconds, in_order=lambda: question is not None and not may_have_any_order(question))


def _require_kinds(given: str, expected: str, tolerance: Tolerance | None, question: str | None) -> None:
    require_texts(given=given, expected=expected)
    if question is not None:
        require_texts(question=question)
    if tolerance is not None:
        one_percent = "; Tolerance(relative=Fraction(1, 100)) allows one percent"
        require_kind("tolerance", tolerance, Tolerance, "a Tolerance", remedy=one_percent)


def _read_both(given: str, expected: str, *, at_once: bool) -> tuple[ReadAnswer | None, ReadAnswer | None]:
    longest = max(len(given), len(expected))
    if longest > TEXT_LIMIT:
        return None, None
    if at_once and longest > AT_ONCE_CHARS:
        raise NotAtOnceError
    found, wanted = _read_answer(given, choice=False), _read_answer(expected, choice=False)
    # An option's letter may stand alone or before the option's text: B, and B. 12 cm.
    if wanted is not None and isinstance(wanted[0], Choice):
        found = _read_answer(given, choice=True)
    elif found is not None and isinstance(found[0], Choice):
        wanted = _read_answer(expected, choice=True)
    return found, wanted


def _by_form(
    texts: tuple[str, str],
    comparison: Comparison,
    tolerance: Tolerance | None,
    *,
    question: str | None,
    at_once: bool,
) -> tuple[bool | None, str] | None:
    """The answer for two texts of one form that is no value, and the rule that decided; None for any others.

    Two school years are the same if they begin in one year, and two months if both numbers agree. Two answers in parts
    are the same if all their parts are.
    """
    one, other = (calendar_periods(typed(text).strip(" .")) for text in texts)
    if one and other:
        return True if one == other and len(one) == 1 else False if one.isdisjoint(other) else None, "periods"
    parts = [parts_of(typed(text)) for text in texts]
    if not any(parts):
        return None
    mine, theirs = (own or rows_of(typed(text)) for own, text in zip(parts, texts, strict=True))
    if not mine or mine.keys() != theirs.keys():
        return None
    pairs = [(part, theirs[label]) for label, part in mine.items()]
    answers = {_read_and_compared(pair, comparison, tolerance, question=question, at_once=at_once) for pair in pairs}
    if False in answers:
        # A list of results may be numbered in any order.
        listed = "1" in mine and sorted(mine.values()) == sorted(theirs.values())
        return None if listed else False, "parts"
    return None if None in answers else True, "parts"


def _read_and_compared(
    texts: tuple[str, str],
    comparison: Comparison,
    tolerance: Tolerance | None,
    *,
    question: str | None,
    at_once: bool,
) -> bool | None:
    found, wanted = _read_both(*texts, at_once=at_once)
    if found is None or wanted is None:
        return None
    same = _answered(found, wanted, texts, comparison, tolerance)
    return None if same and _may_fall_short(question, found, wanted, tolerance) else same


def _may_fall_short(question: str | None, found: ReadAnswer, wanted: ReadAnswer, tolerance: Tolerance | None) -> bool:
    """Whether an answer of the right value may lack the form that the question asks for; False without a question."""
    if question is None:
        return False
    answers = (found[0], found[1].text), (wanted[0], wanted[1].text)
    return falls_short(question, *answers, exact=tolerance is None)


def _opposed(given: str, expected: str) -> bool:
    """Whether two texts name opposite changes or other directions; the values read from the texts do not hold these."""
    shorter, longer = sorted((given, expected), key=len)
    mine = {end.lastgroup or "" for end in _POLES.finditer(shorter[-BARE_LIMIT:])}
    theirs = {end.lastgroup or "" for end in _POLES.finditer(longer[-BARE_LIMIT:])} if mine else set()
    # 5 km north and 5 km east are not opposite, and yet not the same.
    there, elsewhere = ({end for end in ends if end[:-2] in _IN_SPACE} for ends in (mine, theirs))
    if there and elsewhere and there.isdisjoint(elsewhere):
        return True
    return any(end[:-1] + ("b" if end[-1] == "a" else "a") in theirs - mine for end in mine - theirs)


def _ordered(text: str) -> set[tuple[str, str]]:
    """The pairs of a text between which a sign has an order. A cross between plain letters may multiply numbers."""
    return {
        (pair["one"], pair["other"])
        for pair in _ORDERED.finditer(text)
        if pair["sign"] in ("∘", "\\circ")
        or pair["one"][0] == "\\"
        or any({pair["one"], pair["other"]} <= vectors for vectors in _VECTORS)
        or ((pair["one"] + pair["other"]).isupper() and len(pair[0]) == len(text.strip(" $.")))
    }


def _numbers_beside(text: str, answer: str) -> list[str]:
    """The numbers of one sentence that stand outside its answer, sorted; empty for a longer text."""
    if len(text) > _SENTENCE or _SENTENCE_ENDS.search(text):
        return []
    before, found, behind = text.partition(answer)
    return sorted(_NUMBER.findall(f"{before} {behind}")) if found else []


def _is_left_open(given: tuple[ReadAnswer, str], expected: tuple[ReadAnswer, str], *, same: bool) -> bool:
    """Whether the sentences or names around two answers that are the same, or differ, leave open what they say."""
    ((value, where), one), ((_, place), other) = given, expected
    bare = _SIGNS.sub("", one), _SIGNS.sub("", other)
    if same and len(where.text) < len(one) and len(place.text) < len(other) and bare[0] != bare[1]:
        beside = _numbers_beside(one, where.text), _numbers_beside(other, place.text)
        # Two sentences with one number in common, or with other conditions: `When x = 2, the maximum is 3`.
        if not (where.certain or place.certain) or (all(beside) and beside[0] != beside[1]):
            return True
    if isinstance(value, Truth):
        statements = what_is_called(one, where.text), what_is_called(other, place.text)
        return all(statements) and statements[0] != statements[1]  # `A is true`, `B is true`
    if same:
        return False
    if ("-" in one) != ("-" in other) and bare[0].lower() == bare[1].lower():
        return all(map(_LABEL.fullmatch, (one, other)))
    return any(
        len(answer) < len(text) <= _SENTENCE and states(text.rpartition(answer)[0], stated)
        for text, answer, stated in ((one, where.text, place.text), (other, place.text, where.text))
    )  # 3 beside `x is 3 and y is 4, so x + y = 7`


def _unless_told_apart(
    given: tuple[ReadAnswer, str], expected: tuple[ReadAnswer, str], comparison: Comparison, *, same: bool
) -> bool | None:
    """`same`; None if the words around two equal answers, or the way in which they are written, tell them apart."""
    ((value, where), one), ((wanted, place), other) = given, expected
    sides = (value, where.text, one), (wanted, place.text, other)
    if same and (speak_of_others(*sides) or is_odds(*sides)):
        comparison.because = "subjects"
        return None
    if same and are_told_apart((value, where.text), (wanted, place.text)):
        comparison.because = "writing"
        return None
    if has_direction_alone(where.text, place.text):
        comparison.because = "directions"
        return None
    return same


def _answered(
    found: ReadAnswer, wanted: ReadAnswer, texts: tuple[str, str], comparison: Comparison, tolerance: Tolerance | None
) -> bool | None:
    """As `_decided`. None also if the texts name opposites, or if their numbers have another value elsewhere."""
    (_, where), (_, place) = found, wanted
    one, other = map(typed, texts)
    same = _decided(found, wanted, comparison, tolerance)
    if same is not None and _is_left_open((found, one), (wanted, other), same=same):
        same = None
    if same is not None and one != other and not (_PLAIN.fullmatch(one) and _PLAIN.fullmatch(other)):
        same = _unless_told_apart((found, one), (wanted, other), comparison, same=same)
    if (answer := as_rows((one, where.text), (other, place.text), same=same)) is not same:
        comparison.because = "rows"
    if answer and one != other and _opposed(one, other):
        answer, comparison.because = None, "opposites"
    if answer is False and any(map(LOST_BACKSLASH.search, texts)):
        answer, comparison.because = None, "backslash"
    if answer is not None and one != other and {pair[::-1] for pair in _ordered(where.text)} & _ordered(place.text):
        answer = None
    ways = () if answer is None else read_elsewhere((where.text, place.text), texts, same=answer)
    for given, expected in ways:
        values = read(given), read(expected)
        if values[0] is None or values[1] is None or any(isinstance(value, Words) for value in values):
            continue
        if _decided((values[0], where), (values[1], place), comparison, tolerance) is not answer:
            comparison.because = "elsewhere"
            return None
    return answer


def _decided(found: ReadAnswer, wanted: ReadAnswer, comparison: Comparison, tolerance: Tolerance | None) -> bool | None:
    (given, where), (expected, place) = found, wanted
    if where.unit_unread and place.unit_unread:
        return None
    same = comparison.same(given, expected)
    for unread, other in ((where.unit_unread, expected), (place.unit_unread, given)):
        if unread and isinstance(other, Quantity) and other.units:
            return None
    if same is False:
        same = _of_figures(given, expected, where.text, place.text)
    if same is False and (body := _without_constant(given, expected)) is not None:
        same = None if comparison.same(body, expected) is not False else False
    if same is False and may_be_one_family(given, expected):
        same, comparison.because = None, "a period"
    if same is False and (points := _with_one_parameter(given, expected)) is not None:
        same = None if comparison.same(*points) is not False else False
    certain = where.certain and place.certain
    if tolerance is not None and not same:
        same = comparison.near(given, expected, tolerance, same=same)
        return same if certain else None
    return same if same or certain else None


def _without_constant(given: Value, expected: Value) -> Quantity | None:
    """The given antiderivative without its constant, beside a function without one; None for any other values.

    The key may name one antiderivative and mean all. A given one without the constant that the key has is different.
    """
    match given, expected:
        case Quantity(tree=Apply("add", (body, Name("C" | "c" | "K" as name))), units=()), Quantity(tree=wanted):
            return Quantity(body) if wanted.variables and name not in wanted.variables else None
    return None


def _with_one_parameter(given: Value, expected: Value) -> tuple[Items, Items] | None:
    """Two points with one parameter each, under the same name: (t, 2t) and (s, 2s); None for any other values."""
    match given, expected:
        case Items(values=mine, brackets="()"), Items(values=theirs, brackets="()"):
            trees = [[each.bare or each.tree for each in of if isinstance(each, Quantity)] for of in (mine, theirs)]
            names = [{name for tree in of for name in tree.variables} for of in trees]
            if len(names[0]) == len(names[1]) == 1 and names[0] != names[1] and names[0] | names[1] <= _PARAMETERS:
                old, new = names[0].pop(), Name(names[1].pop())
                ends = ([tree.substituted(old, new) for tree in trees[0]], trees[1])
                return Items(tuple(map(Quantity, ends[0])), "()"), Items(tuple(map(Quantity, ends[1])), "()")
    return None


def _of_figures(given: Value, expected: Value, text: str, other: str) -> bool | None:
    """The answer for figures whose values differ; False if they are no figures.

    None if the figures have other names: ∠B may be ∠ABC. True for triangles with the same corners: △BCA is △ABC.
    """
    match given, expected:
        case Quantity(tree=Name(one)), Quantity(tree=Name(two)) if f"{one}{two}".count("triangle ") > 1:
            return True if sorted(one) == sorted(two) else None
        case Quantity(tree=Name(one)), Quantity(tree=Name(two)) if _SEGMENT.fullmatch(one) and one[-2:] == two[:3:-1]:
            return None  # a segment has two names, but a number of two digits and a directed length have one
    figures = [{"".join(found) for found in _FIGURE.findall(each)} for each in (text, other)]
    return None if all(figures) and figures[0] != figures[1] else False


def _read_answer(text: str, *, choice: bool) -> ReadAnswer | None:
    number = simple_number(text)
    return (number, Candidate(text)) if number is not None else first_read(bare_answers(text, choice=choice))


def first_read(candidates: Iterable[Candidate]) -> ReadAnswer | None:
    """The first candidate that reads as mathematics, else the first that reads as words."""
    words: ReadAnswer | None = None
    for candidate in candidates:
        value = read(candidate.text)
        if value is not None and not isinstance(value, Words):
            return value, candidate
        words = words or (None if value is None else (value, candidate))
    return words
