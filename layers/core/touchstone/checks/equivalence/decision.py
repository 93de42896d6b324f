"""The check itself: where each answer stands, how it is read, whether the two are the same, and why."""

import re
from dataclasses import dataclass

from touchstone.checks.equivalence.comparison import Comparison
from touchstone.checks.equivalence.extraction import bare_answers
from touchstone.checks.limits import NotAtOnceError
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values.kinds import Choice, Quantity, Value, Words
from touchstone.checks.values.reading import read, simple_number

SECONDS = 0.25
"""Time for one comparison; loading sympy for the first pair that needs it is not part of it."""
TEXT_LIMIT = 100_000
"""Characters of a given text; answers with a derivation have a few thousand."""
AT_ONCE_CHARS = 1_000
"""Characters of each text that is compared at once: reading takes some 2 µs a character."""
_DIGITS = re.compile(r"-?\d{1,30}+(?:\.\d{1,30}+)?", re.ASCII)
"""The commonest of all answers, which needs no looking for."""
_UNREAD = "It was not read as a value."


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why two answers are the same, different, or neither.

    `answer` is what `equivalent` says. `given` and `expected` say how each side was read, `because` what decided.
    """

    answer: bool | None
    given: str
    expected: str
    because: str


@dataclass(frozen=True, slots=True)
class _Found:
    """The answer of a text, as read. `certain`: the text marks it as its answer. `text` is where it was read."""

    value: Value
    text: str
    certain: bool = True
    unit_unread: bool = False


def equivalent(given: str, expected: str, *, tolerance: Tolerance | None = None, at_once: bool = False) -> bool | None:
    """Whether `given` has the same value as `expected`: True, False, or None where that cannot be told.

    `given` may be a bare answer or a text that ends in one; `expected` is bare. The check is right or silent: True is
    proved, by exact arithmetic or by algebra, never by nearness; False is said only where both were read whole and
    differ; None is what is neither: ambiguous, not read whole, too large, or not decided in 0.25 s of processor time.

    - Units must agree in dimension and value (10 cm is not 10 m; 1 m is 100 cm). Where exactly one side has a unit, the
      numbers decide (18 apples and 18), unless the unit is one letter against the number, which may be a variable (5m).
      Different things counted are left open (18 apples and 18 oranges).
    - 50 % is 0.5. Whether 28 % and 28 are the same depends on the question: None.
    - Numbers are exact. A decimal that is a correct rounding or cut of the other side is left open (0.333 and 1/3);
      with one digit it is wrong. The one exception: a correct rounding to ten or more digits is taken for the exact
      value, as a program prints it.
    - Lists and sets have no order (1、2 and {2, 1}), points and vectors have; (0, 1) and [0, 1] are different.
    - A name in front is no part of the value (x = 2 and 2); equations are the same where they hold for the same values.
    - Options, and true and false, are different where they differ. Other words are the same, or left open.

    `tolerance`: a number or quantity that differs counts as the same where it lies within it; nothing else does.
    `at_once`: raises `NotAtOnceError` where that may take more than `AT_ONCE_SECONDS`.
    """
    plain = _plain(given, expected)
    if plain or (plain is not None and tolerance is None):
        return plain
    found, wanted = _both(given, expected, at_once=at_once)
    if found is None or wanted is None:
        return None
    return _decided(found, wanted, Comparison(None if at_once else SECONDS), tolerance)


def explain(given: str, expected: str, *, tolerance: Tolerance | None = None) -> Explanation:
    """As `equivalent`, with how each side was read and what decided."""
    from touchstone.checks.equivalence.describing import described

    found, wanted = _both(given, expected, at_once=False)
    comparison = Comparison(SECONDS)
    answer = None if found is None or wanted is None else _decided(found, wanted, comparison, tolerance)
    return Explanation(
        answer=answer,
        given=_UNREAD if found is None else described(found.value, found.text),
        expected=_UNREAD if wanted is None else described(wanted.value, wanted.text),
        because=_because(answer, found, wanted, comparison.because),
    )


def _because(answer: bool | None, found: _Found | None, wanted: _Found | None, rule: str) -> str:
    if found is None or wanted is None:
        return "Only what was read whole is compared."
    if answer is None and not (found.certain and wanted.certain):
        return "The text does not mark this value as its answer, so it can confirm and not refute."
    if rule:
        return rule
    return {
        True: "The two are equal, exactly.",
        False: "The two are read whole, and differ.",
        None: "Neither arithmetic nor algebra decides: one may be the other rounded, or it takes too long.",
    }[answer]


def _plain(given: str, expected: str) -> bool | None:
    """The answer for two plain numbers that are equal, or whole numbers that are not; None for everything else."""
    if not (_DIGITS.fullmatch(given) and _DIGITS.fullmatch(expected)):
        return None
    if given == expected:
        return True
    if "." not in given and "." not in expected:
        return int(given) == int(expected)
    return None


def _both(given: str, expected: str, *, at_once: bool) -> tuple[_Found | None, _Found | None]:
    longest = max(len(given), len(expected))
    if longest > TEXT_LIMIT:
        return None, None
    if at_once and longest > AT_ONCE_CHARS:
        raise NotAtOnceError
    found, wanted = _found(given, choice=False), _found(expected, choice=False)
    # An option's letter may stand before its text: B, and B. 12 cm.
    if wanted is not None and isinstance(wanted.value, Choice):
        found = _found(given, choice=True)
    elif found is not None and isinstance(found.value, Choice):
        wanted = _found(expected, choice=True)
    return found, wanted


def _decided(found: _Found, wanted: _Found, comparison: Comparison, tolerance: Tolerance | None) -> bool | None:
    if found.unit_unread and wanted.unit_unread:
        return None
    same = comparison.same(found.value, wanted.value)
    for one, other in ((found, wanted), (wanted, found)):
        if one.unit_unread and isinstance(other.value, Quantity) and other.value.units:
            return None
    if tolerance is not None and not same:
        same = comparison.near(found.value, wanted.value, tolerance, same=same)
        return same if found.certain and wanted.certain else None
    return same if same or (found.certain and wanted.certain) else None


def _found(text: str, *, choice: bool) -> _Found | None:
    """The first candidate that reads as mathematics, else the first that reads as words."""
    if (number := simple_number(text)) is not None:
        return _Found(number, text)
    words: _Found | None = None
    for candidate in bare_answers(text, choice=choice):
        value = read(candidate.text)
        if value is None:
            continue
        found = _Found(value, candidate.text, candidate.certain, candidate.unit_unread)
        if not isinstance(value, Words):
            return found
        words = words or found
    return words
