"""A text written back from its tokens in one spelling, for patterns over the words and the mathematics of a problem.

The spelling is ASCII where there is an ASCII sign, else a LaTeX command (`\\frac`, `\\sqrt`, `\\pi`, `\\cup`, …); ⦃ ⦄
are braces that mean a set, ¤ a currency's dollar, ° degrees, √ and ∛ roots of the next operand. Words stay as they are.
"""

from touchstone.checks.notation.tokens import GREEK, Token, tokens_of

_COMMANDS = {"oo": "infty", "empty": "emptyset", "~=": "approx", "and": "wedge", "or": "vee"}
_COMMANDS |= {name: name for name in ("frac", "binom", "sqrt", "pm", "mp", "cup", "cap", "in", "choose", "over", "mod")}
"""The command for a sign that has no character."""
_WITH_ARGUMENTS = frozenset(("frac", "binom", "sqrt"))
_AS_WRITTEN = frozenset(("、", "。", "…", "→", "⇒", "⇌", "∴", "**"))
"""Signs that keep their spelling: in a sentence they do not mean the same as others that are read alike."""
_ARROWS = ("->", "=>", "<=>")


def plain(text: str) -> str:
    """`text` in that spelling, in linear time. Raises OutOfBoundsError for a number of too many digits."""
    tokens = tokens_of(text)
    pieces: list[str] = []
    upright, end = False, 0
    for token in tokens:
        if "\\\\" in text[end : token.start]:
            pieces.append(r" \\ ")  # the end of a row
        elif token.spaced or token.upright != upright:
            pieces.append(" ")
        pieces.append(_spelled(token, text))
        upright, end = token.upright, token.end
    return " ".join("".join(pieces).split())


def _spelled(token: Token, text: str) -> str:
    written = text[token.start : token.end]
    match token.kind:
        case "sign" if written in _AS_WRITTEN or token.text in _ARROWS:
            return written
        case "sign" if token.text in _COMMANDS:
            name = _COMMANDS[token.text]
            return f"\\{name}" if name in _WITH_ARGUMENTS else f" \\{name} "
        case "number" if token.value is not None and token.text[0].isnumeric() and not token.text.isascii():
            return f"\\frac{{{token.value.value.numerator}}}{{{token.value.value.denominator}}}"
        case "letters" if token.text in GREEK:
            return f"\\{GREEK[token.text]} "
        case "function" | "accent":
            return f"\\{token.text}" + ("" if written.startswith("\\") else " ")
    return token.text
