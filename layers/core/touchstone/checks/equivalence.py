"""Whether a given answer has the value of the expected one."""

from dataclasses import dataclass

from touchstone.checks.comparison import Comparison
from touchstone.checks.extraction import bare_answers
from touchstone.checks.reading import read
from touchstone.checks.values import Choice, Value, Words

SECONDS = 0.25
"""Time for one comparison; loading sympy for the first pair that needs it is not part of it."""
TEXT_LIMIT = 100_000
"""Characters of a given text; answers with a derivation have a few thousand."""


def equivalent(given: str, expected: str) -> bool | None:
    """Whether `given` has the same value as `expected`: True, False, or None where that cannot be told.

    `given` may be a bare answer or a text that ends in one; `expected` is bare.
    """
    if max(len(given), len(expected)) > TEXT_LIMIT:
        return None
    comparison = Comparison(SECONDS)
    wanted = _found(expected, choice=False)
    found = _found(given, choice=wanted is not None and isinstance(wanted.value, Choice))
    if found is None or wanted is None:
        return None
    same = comparison.same(found.value, wanted.value)
    return same if same or (found.certain and wanted.certain) else None


@dataclass(frozen=True, slots=True)
class _Found:
    """The answer of a text, as read."""

    value: Value
    certain: bool


def _found(text: str, *, choice: bool) -> _Found | None:
    """The first candidate that reads as mathematics, else the first that reads as words."""
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
