"""Formulas typed without brackets that their writers may mean: 6 ÷ 1/2, e^2x, x^1/2, 1/2√x.

Each way holds a sign that such a formula has, a pattern, and as what it is read, for `re.sub`.
"""

import re
from collections.abc import Iterable

type Way = tuple[str, re.Pattern[str], str]

DIVISOR: Way = ("/", re.compile(r"(÷|\\div(?![A-Za-z])) ?(\d{1,9} ?[/／] ?\d{1,9})"), r"\1 (\2)")
"""6 ÷ 1/2 as 6 ÷ (1/2)."""
EXPONENT: Way = ("^", re.compile(r"((?:(?<![A-Za-z]{2})(?<!\\)e|\d) ?\^ ?)(-? ?\d{1,9}[knt-z])(?![A-Za-z])"), r"\1(\2)")
"""e^2x as e^(2x), and xe^2x as xe^(2x)."""
ROOT: Way = ("^", re.compile(r"(\^ ?)(-? ?1 ?/ ?\d{1,3})(?!\d)"), r"\1(\2)")
"""x^1/2 as x^(1/2)."""
POWER: Way = ("^", re.compile(r"(\^ ?)(?!(\d{1,3}) ?/ ?\2(?!\d))(-? ?\d{1,3} ?/ ?\d{1,3})(?!\d)"), r"\1(\3)")
"""x^3/2 as x^(3/2); not x^3/3, which would be x."""
BELOW: Way = ("/", re.compile(r"([/／] ?)(\d{1,9}[a-z](?:\^\d{1,2})?)(?![A-Za-z])"), r"\1(\2)")
"""1/2x as one over 2x."""
ROOT_BELOW: Way = (
    "/",
    re.compile(r"([/／] ?)(\d{1,9}(?:√|\\?sqrt)(?:\w|\([^()]{1,80}\)|\{[^{}]{1,80}\}))(?![A-Za-z])"),
    r"\1(\2)",
)
"""1/2√x as one over 2√x."""


def bracketed(text: str, ways: Iterable[Way]) -> list[str]:
    """The text with the brackets that its writer may have meant, once for each way in which that differs."""
    return [meant for sign, form, sure in ways if sign in text and (meant := form.sub(sure, text)) != text]
