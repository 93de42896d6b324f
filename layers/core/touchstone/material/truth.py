"""The words by which the key of a true-or-false question says which it is, in the commonest languages of learners."""

from touchstone.text import normalised

TRUE_WORDS = frozenset(
    {"true", "對", "正確", "是", "对", "正确", "wahr", "richtig", "vrai", "verdadero", "cierto", "verdadeiro", "vero"}
)
FALSE_WORDS = frozenset(
    {"false", "錯", "錯誤", "不對", "不正確", "否", "不是", "错", "错误", "不对", "不正确"}
    | {"falsch", "unwahr", "faux", "falso"}
)
_ENDS = " \t\r\n.。;,"


def truth_value(answer: str) -> bool | None:
    """The truth value that an answer names; None if it names none.

    Case and widths do not count, nor do white space and full stops at the ends.
    """
    word = normalised(answer, "NFKC").strip(_ENDS).casefold()
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
