"""Whether the words around a statement say that it is supposed, denied, asked or no more than about right."""

import re

from touchstone.checks.notation.tokens import folded

_BEFORE = re.compile(
    r"\b(?:if|suppose|supposing|assume|assuming|instead|not|isn't|doesn't|never|wrong|wrongly|incorrect|incorrectly|"
    r"mistakes?|mistakenly|mistook|error|contradiction|impossible|false|mod|modulo|binary|octal|hexadecimal|hex|"
    r"should have|whether|test|try|guess)\b|若|假设|假設|假如|如果|错|錯|不|误|誤|进制|進制|矛盾|是否"
)
_IN_SENTENCE = re.compile(
    r"\b(?:not|mod|modulo|remainder|isn't|doesn't|r ?\d|base|rather than)\b|"
    r"[?？≠✗✘❌…]|\\neq?|\.{3}|余 ?\d|餘 ?\d|不是|不等|进制|進制|吗|嗎"
)
_DENIAL = re.compile(
    r"\b(?:wrong|incorrect|contradiction|impossible|false|mistake|untrue|no solution|absurd)\b|"
    r"\bnot (?:true|possible|equal)\b|错|錯|不对|不對|不成立|不可能|矛盾"
)
_OTHER_NOTATION = re.compile(
    r"\b(?:base[ -]?\d|base (?:two|eight|ten|sixteen)|binary|octal|hexadecimal|mod|modulo|modular)\b|"
    r"进制|進制|二进|模"
)
"""Words in a sentence after which its numbers are not read in base ten, or its equality is another."""
_SENTENCE_END = re.compile(r"[.!](?![\d.])|[。！\n]")
_ABOUT = re.compile(r"approx|about|roughly|around|nearly|almost|round|estimat|约|約|左右|四舍五入|近似", re.IGNORECASE)
_DENIAL_REACH = 80
"""Characters after a statement in which the text may still take it back."""
_CLAUSE_REACH = 400
_ABOUT_REACH = 40


def is_doubted(text: str, start: int, end: int) -> bool:
    """Whether the statement from `start` to `end` is supposed, denied, asked, or in another notation of numbers."""
    before = folded(text[max(0, start - _CLAUSE_REACH) : start]).lower()
    if _OTHER_NOTATION.search(_behind(before, "\n。")):
        return True
    # "If he eats 200 g, then he gets 200 * 7 = 1400": what follows "then" is stated, not supposed.
    if _BEFORE.search(_behind(before, "\n.,;:，。；：、").rpartition(" then ")[2]):
        return True
    after = folded(text[end : end + _DENIAL_REACH]).lower()
    sentence = _SENTENCE_END.split(after, maxsplit=1)[0]
    # The words behind a number that are taken for its unit may be a denial too: 24个错误.
    return bool(_IN_SENTENCE.search(sentence) or _DENIAL.search(after) or _DENIAL.search(text[start:end].lower()))


def _behind(text: str, marks: str) -> str:
    """What stands behind the last of some marks."""
    return text[max(text.rfind(mark) for mark in marks) + 1 :]


def is_about(text: str, start: int, end: int) -> bool:
    """Whether a word near to what stands from `start` to `end` says that the value is no exact one."""
    return _ABOUT.search(text, max(0, start - _ABOUT_REACH), end + _ABOUT_REACH) is not None
