"""Whether the values of an answer may stand in any order, by what the problem asks for.

The roots of an equation have no order; numbers to be sorted have one, and so have a mean, a median and a mode that are
asked for together. A list of numbers does not say which of these it is.
"""

import re

_SOUGHT = re.compile(
    r"\b(?:solve|solutions?|satisf\w+|roots?|zero(?:e?s)?|intercepts?|eigenvalues?|factors?|divisors?|multiples?|primes?|"
    r"modes|outliers?|possible|(?:two|three|four|which) numbers|(?:integers|numbers) (?:whose|that|such)|"
    r"values? of [a-z]\b|all (?:\w+ ){0,3}(?:numbers|integers|values|[a-z])\b|"
    r"lös\w+|nullstellen?|teiler|primzahlen|résou\w+|racines?|diviseurs?|resuelv\w+|resolver|soluci\w+|raíces|divisores)"
    r"|解(?!释|釋|答)|根|零点|零點|因数|因數|约数|約數|公倍数|公倍數|质数|質數|素数|所有|全部|哪些|满足|滿足|特征值|可能|取值",
    re.IGNORECASE,
)
"""What asks for values that belong together and have no order."""
_ORDERED = re.compile(
    r"\b(?:arrang\w+|sort\w*|rank\w*|sequence|respectively|ascending|descending|increasing|decreasing|"
    r"(?<!second-)(?<!first-)order(?:ed|ing)?(?! to\b| of magnitude)|"
    r"(?:smallest|least|lowest|youngest|lightest|shortest|largest|greatest|highest|biggest|oldest|heaviest|longest) to|"
    r"(?:first|next|last) (?:\w+ )?(?:terms?|numbers?|values?|multiples?|primes?|elements?)|"
    r"reihenfolge|aufsteigend\w*|absteigend\w*|ordn\w+|croissant|décroissant|ordre|range[rz]|orden\w*|creciente|"
    r"decreciente)\b"
    r"|\b[a-z]\b(?:, ?[a-z]\b){0,8},? (?:and|und|et|y) [a-z]\b"
    r"|\b[a-z]\([^()]{0,20}\),? (?:and )?[a-z]\("
    r"|排列|排序|顺序|順序|次序|依次|分别|分別|[从從由]小到大|[从從由]大到小|升序|降序|数列|數列|前[几幾\d一二三四五六七八九十]"
    r"|[a-zA-Z][、，,和与與][a-zA-Z](?![a-zA-Z])",
    re.IGNORECASE,
)
"""What asks for an order, or for several things by name (`a, b and c`, `f(1), f(2)`)."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_FEW_WORDS = 2
"""A problem with at most so many words is an equation, perhaps with a word or two: `x² = 5x - 6, x = ?`."""


def may_have_any_order(problem: str) -> bool:
    """Whether what a problem asks for may be given in any order: the roots of an equation, the divisors of a number.

    False if the problem asks for an order, or for several things by name, or if neither is seen.
    """
    if _ORDERED.search(problem):
        return False
    return bool(_SOUGHT.search(problem)) or ("=" in problem and len(_WORD.findall(problem)) <= _FEW_WORDS)
