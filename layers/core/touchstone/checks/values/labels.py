"""Left sides that name what an equation gives the value of, as against those that state a condition."""

from collections.abc import Sequence

from touchstone.checks.notation.numerals import number_in_words
from touchstone.checks.notation.syntax import parse_tokens
from touchstone.checks.notation.tokens import FUNCTIONS, GREEK_NAMES, Token
from touchstone.checks.notation.trees import CONSTANTS, Apply, Name, Tree, attempted
from touchstone.checks.values.pieces import split, unbracketed

WORDS = 6
"""Words of a name, at most: `Total cost of the trip`."""
WORD_LENGTH = 20
CALL_LENGTH = 20
"""Tokens between the brackets of a name such as `P(X=2)`."""
_NAMES = (["pH"], ["pOH"], ["pKa"], ["pKb"])
"""Names that look like products of letters."""
_FACTORS = frozenset("abckmntxyz")
"""Letters that are seldom names of functions: a sum in brackets behind one is multiplied by it."""


def label(tokens: Sequence[Token]) -> str | None:
    """The tokens as a name (`x`, `f(2)`, `AB`, `A:B`, 面积); None for a side of a condition (`2x`, `xy`, `|x|`)."""
    sides, _ = split(tokens, frozenset((":",)))
    if not tokens or not all(side and _is_name(side) for side in sides):
        return None
    name, before = "", ""
    for token in tokens:
        name += "_" if token.kind == "number" and before == "letters" else ""
        name += f"\\{token.text} " if token.kind == "accent" else token.text.strip("{}")
        before = token.kind
    return name


def _is_name(tokens: Sequence[Token]) -> bool:
    if _is_words(tokens) or _is_call(tokens):
        return True
    while len(tokens) > 1 and tokens[-1].is_sign("'"):
        tokens = tokens[:-1]
    match attempted(parse_tokens, tokens):
        case Name(name):
            return name not in CONSTANTS - {"e", "i"}
        case Apply(operation="abs", arguments=(inside,)):
            return _is_segment(inside)
        case tree:
            return _is_segment(tree)


def _is_words(tokens: Sequence[Token]) -> bool:
    """One word of Chinese, or some words of an alphabet that are no product of letters and no function."""
    if len(tokens) == 1 and tokens[0].kind == "han":
        return len(tokens[0].text) <= WORD_LENGTH and number_in_words(tokens[0].text) is None
    if not 0 < len(tokens) <= WORDS or any(token.kind not in ("letters", "han") for token in tokens):
        return False
    words = [token.text for token in tokens]
    if words in _NAMES:
        return True
    if FUNCTIONS.intersection(words) or len(words[0]) == 1:
        return False
    return attempted(parse_tokens, tokens) is None and all(len(word) <= WORD_LENGTH for word in words)


def _is_call(tokens: Sequence[Token]) -> bool:
    """`f(2)`, `P(X=2)`, `S_1(x)`, `f'(x)`: one letter, and something in brackets."""
    first = tokens[0]
    if first.kind != "letters" or not (len(first.text) == 1 or first.text in GREEK_NAMES):
        return False
    opened = next((place for place, token in enumerate(tokens) if token.is_sign("(")), None)
    if opened is None or len(tokens) - opened > CALL_LENGTH or unbracketed(tokens[opened:])[1] != "()":
        return False
    inside = tokens[opened + 1 : -1]
    is_sum = any(token.kind == "letters" for token in inside) and any(token.is_sign("+", "-") for token in inside)
    if is_sum and (first.text in _FACTORS or any(token.text == first.text for token in inside)):
        return False  # x(x - 2) and a(b + 1) are products
    return all(token.is_sign("_", "'", "{", "}") or token.kind in ("letters", "number") for token in tokens[1:opened])


def _is_segment(tree: Tree | None) -> bool:
    """Points in capitals next to each other."""
    match tree:
        case Name(name):
            return name[0].isupper() and name.isascii()
        case Apply(operation="mul", arguments=arguments):
            return all(map(_is_segment, arguments))
    return False
