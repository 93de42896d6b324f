"""The given answer, freed of what only introduces it."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re

from touchstone.checks.notation.plain import plain
from touchstone.checks.notation.trees import OutOfBoundsError

MAX_ANSWER_CHARS = 300
"""An answer to a problem of these kinds is short; a longer one is a solution, which is not read here."""

_LEAD_IN = re.compile(
    r"(?:(?:so|thus|hence|therefore|所以|因此),? )?(?:(?:the |my |final |correct )*(?:answers?|solutions?|results?|roots?)(?: is| are)?|"
    r"最终答案|答案|解集|解|答|结果)\s*(?:[:=]|是|为|(?<=[a-z])(?= ))\s*",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\s?\{(.*)\}")
_LIST = re.compile(
    r"(?:(?<!\s)\s++)?(?:[,;、，；]|\bor\b|\band\b|或者|或|和|及|与|\\vee|\\text\{ ?or ?\})\s*+", re.IGNORECASE
)


def cleaned(answer: str) -> str | None:
    """The answer in plain notation, without lead-in, box and full stop; None where it is too long or empty, as its numbers may be."""
    if len(answer) > MAX_ANSWER_CHARS:
        return None
    try:
        text = plain(answer).strip(" 。\n")
    except OutOfBoundsError:
        return None
    lead = _LEAD_IN.match(text)
    text = text if lead is None else text[lead.end() :]
    boxed = _BOXED.fullmatch(text.strip(" .。"))
    text = boxed[1] if boxed else text
    text = text.strip().strip("*").strip(" 。;；")
    text = text.removesuffix(".") if not text.endswith("..") else text
    return text or None


def unnamed(text: str, name: str) -> str:
    """`text` without `x ∈` before it, where the name is x."""
    rest = text.removeprefix(name).lstrip() if text.startswith(name) else ""
    for sign in ("\\in", "∈"):
        if rest.startswith(sign):
            return rest.removeprefix(sign).lstrip()
    return text


def after_equals(text: str, names: frozenset[str]) -> str | None:
    """The right side of `name = value` where the left side is one of `names`; `text` itself where there is no `=`."""
    left, equals, right = text.rpartition("=")
    if not equals:
        return text
    return right.strip() if left.replace(" ", "") in names else None


def items(text: str) -> list[str]:
    """The parts of a list: 2, 3 · 2 or 3 · 2和3."""
    return [part for part in _LIST.split(text.strip()) if part]
