"""Whether a given answer has the value of the expected one."""

import re
from dataclasses import dataclass

from touchstone.checks.comparison import Comparison
from touchstone.checks.extraction import bare_answers
from touchstone.checks.limits import NotAtOnceError
from touchstone.checks.nearness import within
from touchstone.checks.reading import read
from touchstone.checks.tokens import number
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values import Choice, Scalar, Value, Words

SECONDS = 0.25
"""Time for one comparison; loading sympy for the first pair that needs it is not part of it."""
TEXT_LIMIT = 100_000
"""Characters of a given text; answers with a derivation have a few thousand."""
AT_ONCE_CHARS = 48
"""Characters of each text that is compared at once; looking for a unit takes their square. Few answers are longer."""
_DIGITS = re.compile(r"\d{1,30}(?:\.\d{1,30})?", re.ASCII)
"""The commonest of all answers, which needs no looking for."""


def equivalent(given: str, expected: str, *, tolerance: Tolerance | None = None, at_once: bool = False) -> bool | None:
    """Whether `given` has the same value as `expected`: True, False, or None where that cannot be told.

    `given` may be a bare answer or a text that ends in one; `expected` is bare. True is proved, by exact arithmetic or
    by algebra, never by nearness; None is what is neither proved nor refuted: ambiguous, unreadable, too large, or not
    decided in 0.25 s of processor time.

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
    longest = max(len(given), len(expected))
    if longest > TEXT_LIMIT:
        return None
    if at_once and longest > AT_ONCE_CHARS:
        raise NotAtOnceError
    comparison = Comparison(None if at_once else SECONDS)
    wanted = _found(expected, choice=False)
    found = _found(given, choice=wanted is not None and isinstance(wanted.value, Choice))
    if found is None or wanted is None:
        return None
    same = comparison.same(found.value, wanted.value)
    if tolerance is not None and not same:
        same = within(found.value, wanted.value, tolerance, same=same)
        return same if found.certain and wanted.certain else None
    return same if same or (found.certain and wanted.certain) else None


@dataclass(frozen=True, slots=True)
class _Found:
    """The answer of a text, as read."""

    value: Value
    certain: bool


def _found(text: str, *, choice: bool) -> _Found | None:
    """The first candidate that reads as mathematics, else the first that reads as words."""
    if _DIGITS.fullmatch(text):
        return _Found(Scalar(number(text)), certain=True)
    words: _Found | None = None
    for candidate in bare_answers(text, choice=choice):
        value = read(candidate.text)
        if value is None:
            continue
        found = _Found(value, candidate.certain)
        if not isinstance(value, Words):
            return found
        words = words or found
    return words
