"""One notation for the many ways in which mathematics is written: characters and LaTeX commands.

`plain` turns full-width forms, typographic signs, Unicode superscripts and LaTeX's spelling variants into one small
vocabulary that `touchstone.checks.syntax` reads: ASCII, a few commands (`\\frac`, `\\sqrt`, `\\pi`, `\\cup`, …), and
the signs ⦃ ⦄ for braces that mean a set, ¤ for a currency's dollar, ° for degrees, √ ∛ for roots of the next operand.
"""

import re

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ", "0123456789+-=()nix")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₙₓₖₘ", "0123456789+-=()aenxkm")
_FRACTIONS = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5),
    "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ϕ": "phi",
    "χ": "chi", "ψ": "psi", "ω": "omega", "Δ": "Delta", "Γ": "Gamma", "Θ": "Theta", "Λ": "Lambda", "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega", "π": "pi",
}  # fmt: skip
_SIGNS = {
    "−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-", "﹣": "-", "＋": "+", "×": "*", "✕": "*", "⨯": "*", "·": "*",
    "⋅": "*", "∙": "*", "∗": "*", "・": "*", "÷": "/", "∕": "/", "⁄": "/", "≤": "<=", "⩽": "<=", "≦": "<=", "≥": ">=",
    "⩾": ">=", "≧": ">=", "≠": "!=", "≈": r" \approx ", "≒": r" \approx ", "≅": r" \approx ", "±": r" \pm ",
    "∓": r" \mp ", "∞": r" \infty ", "∪": r" \cup ", "∩": r" \cap ", "∈": r" \in ", "∅": r" \emptyset ", "∶": ":",
    "∣": "|", "｜": "|", "′": "'", "’": "'", "℃": "°C", "º": "°", "【": "[", "】": "]", "〔": "[", "〕": "]",
    "⟨": "(", "⟩": ")", "〈": "(", "〉": ")", "“": '"', "”": '"', "∘": "°",
    "\u200b": "", "\u200c": "", "\u200d": "", "\ufeff": "", "\u2061": "", "\u2062": "",
}  # fmt: skip
_SPACES = dict.fromkeys("\u3000\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\t\r", " ")
_TABLE = str.maketrans(
    {
        **{chr(code): chr(ascii_code) for code, ascii_code in _FULL_WIDTH.items()},
        **_SIGNS,
        **_SPACES,
        **{sign: rf"\frac{{{over}}}{{{under}}}" for sign, (over, under) in _FRACTIONS.items()},
        **{letter: rf"\{name} " for letter, name in _GREEK.items()},
    }
)

_COMMANDS = {
    "dfrac": r"\frac", "tfrac": r"\frac", "cfrac": r"\frac", "times": "*", "cdot": "*", "ast": "*", "div": "/",
    "leqslant": "<=", "leq": "<=", "le": "<=", "geqslant": ">=", "geq": ">=", "ge": ">=", "neq": "!=", "ne": "!=",
    "lt": "<", "gt": ">", "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "lbrack": "[", "rbrack": "]",
    "lbrace": "⦃", "rbrace": "⦄", "langle": "(", "rangle": ")", "lparen": "(", "rparen": ")", "colon": ":",
    "degree": "°", "varnothing": r"\emptyset ", "dots": "...", "ldots": "...", "cdots": "...", "quad": " ",
    "qquad": " ", "varphi": r"\phi ", "vartheta": r"\theta ", "varepsilon": r"\epsilon ", "thickapprox": r"\approx ",
    "land": r"\wedge ", "lor": r"\vee ", "exponentialE": "e", "bmod": r"\mod ",
    **dict.fromkeys(
        ("left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "displaystyle", "textstyle",
         "limits", "nolimits", "rm", "bf", "it", "hspace", "phantom", "thinspace", "boldmath"), ""
    ),
}  # fmt: skip
_STYLES = "mathrm|mathbf|mathit|mathsf|mathcal|mathfrak|boldsymbol|bm|operatorname|mathbb|rm|bf"
_TEXTS = "text|textbf|textit|textrm|mbox|textsf|texttt|emph|hbox|textnormal"
_RUN_OF_SUPERSCRIPTS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ]+")
_RUN_OF_SUBSCRIPTS = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₙₓₖₘ]+")
_DOUBLED = re.compile(
    r"\\\\(?=(?:[dtc]?frac|sqrt|left|right|boxed|text|pi|infty|cdot|times|leq?|geq?|neq?|cup|pm)\b|[{}%$])"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_STYLED = re.compile(rf"\\(?:{_STYLES})\s?\{{([^{{}}]*)\}}")
_WORDED = re.compile(rf"\\(?:{_TEXTS})\s?\{{([^{{}}]*)\}}")
_DEGREES = re.compile(r"\^\s?(?:\{\s?\\circ\s?\}|\\circ(?![A-Za-z]))|\^\s?\{?°\}?")
_SPACING = re.compile(r"\\[!,;: ]|~")
_GROUPING_COMMA = re.compile(r" ?\{, ?\} ?")
_SKIPS = re.compile(r"\\q?quad|\\(?:left|right)\.")
_BLANKS = re.compile(r"[ \n]+")


def plain(text: str) -> str:
    """`text` in the one notation described above. Linear in the length; the caller bounds that."""
    text = _RUN_OF_SUPERSCRIPTS.sub(lambda run: "^{" + run[0].translate(_SUPERSCRIPTS) + "}", text)
    text = _RUN_OF_SUBSCRIPTS.sub(lambda run: "_{" + run[0].translate(_SUBSCRIPTS) + "}", text)
    text = _GROUPING_COMMA.sub(",", text.translate(_TABLE))
    return undollared(commands(text)) if "\\" in text or "$" in text else _BLANKS.sub(" ", text).strip()


def commands(text: str) -> str:
    """LaTeX's commands reduced to the vocabulary; what sets type or space is dropped. Unknown commands stay."""
    if r"\begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    text = text.replace(r"\$", "¤").replace(r"\%", "%").replace("{:}", ":")
    text = text.replace(r"\{", "⦃").replace(r"\}", "⦄")
    text = _SKIPS.sub(" ", text)
    text = _DEGREES.sub("°", text)
    text = _WORDED.sub(r" \1 ", text)
    text = _STYLED.sub(r" \1", text)
    # `\!` between digit groups joins them, the wider spaces separate.
    text = text.replace(r"\!", "")
    text = _COMMAND.sub(lambda command: _COMMANDS.get(command[1], command[0]), text)
    # A row's end in a matrix is `\\`; `\ ` and `\,` are spaces only where no row ends.
    return _SPACING.sub(" ", text) if r"\\" not in text else text


def undollared(text: str) -> str:
    r"""`text` without `$…$`, `\(…\)`, `\[…\]`; a dollar that does not pair, or stands alone before a number, is ¤."""
    for delimiter in (r"\(", r"\)", r"\[", r"\]"):
        if r"\\" + delimiter[1] not in text:
            text = text.replace(delimiter, " ")
    text = text.replace("$$", "$")
    text = text.replace("$", " ") if text.count("$") % 2 == 0 else text.replace("$", "¤")
    return _BLANKS.sub(" ", text).strip()
