"""Whether a text says when its value holds: `If n is odd, the answer is 41`, `41 for odd n`."""

from touchstone.packaged import own_patterns

_BEFORE = 120
"""The most characters before a value, or before the words that introduce it, that are searched for a condition."""
_PATTERN = own_patterns(__file__)


def is_marked_on_condition(text: str, place: int) -> bool:
    """Whether the sentence before the words that introduce an answer, at `place`, says when the answer holds."""
    return _PATTERN["on condition before"].search(text, *_before(text, place)) is not None


def holds_on_condition(text: str, start: int, end: int) -> bool:
    """Whether the sentence around a value, which nothing marks, says when the value holds: `If n is odd, it is 41`.

    `When x = 2, it is 41` only says at which place: such sentences state an extreme, or evaluate an expression.
    """
    if _PATTERN["on condition within"].search(text, *_before(text, start)) is not None:
        return True
    return goes_on_with_condition(text, end)


def goes_on_with_condition(text: str, end: int) -> bool:
    """Whether the text behind a value, which ends at `end`, says when the value holds: `41 for odd n`."""
    return _PATTERN["condition behind"].match(text, end) is not None


def is_supposed(sentence: str, last: str) -> bool:
    """Whether `sentence` supposes something for the next and last one, or this is one case of several.

    `Let n be odd.` and `Then the sum is 41.`; `Case 1: it is 40.` and `Case 2: it is 41.`
    """
    return _PATTERN["supposes"].match(f"{sentence}\n{last}") is not None


def _before(text: str, place: int) -> tuple[int, int]:
    """The begin and the end of what is searched before `place`: a `^` in a pattern is the beginning of the text."""
    begin = max(0, place - _BEFORE)
    return begin, begin + len(text[begin:place].rstrip())
