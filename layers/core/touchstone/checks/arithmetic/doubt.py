"""Whether the words around a statement say that it is supposed, denied, asked or no more than about right."""

from touchstone.checks.notation.tokens import folded
from touchstone.packaged import own_patterns

_PATTERN = own_patterns(__file__)
_DENIAL_REACH = 80
"""Characters after a statement in which the text may still take it back."""
_CLAUSE_REACH = 400
_ABOUT_REACH = 40


def is_doubted(text: str, start: int, end: int) -> bool:
    """Whether the statement from `start` to `end` is supposed, denied, asked, or in another notation of numbers."""
    before = folded(text[max(0, start - _CLAUSE_REACH) : start]).lower()
    if _PATTERN["other notation"].search(_behind(before, "\n。")):
        return True
    # "If he eats 200 g, then he gets 200 * 7 = 1400": what follows "then" is stated, not supposed.
    if _PATTERN["before"].search(_behind(before, "\n.,;:，。；：、").rpartition(" then ")[2]):
        return True
    after = folded(text[end : end + _DENIAL_REACH]).lower()
    sentence = _PATTERN["sentence end"].split(after, maxsplit=1)[0]
    # The words behind a number that are taken for its unit may be a denial too: 24个错误.
    denials = (_PATTERN["denial"].search(part) for part in (after, text[start:end].lower()))
    return bool(_PATTERN["in sentence"].search(sentence) or any(denials))


def _behind(text: str, marks: str) -> str:
    """What stands behind the last of some marks."""
    return text[max(text.rfind(mark) for mark in marks) + 1 :]


def is_about(text: str, start: int, end: int) -> bool:
    """Whether a word near to what stands from `start` to `end` says that the value is no exact one."""
    return _PATTERN["about"].search(text, max(0, start - _ABOUT_REACH), end + _ABOUT_REACH) is not None
