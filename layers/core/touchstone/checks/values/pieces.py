"""Splits tokens at separators and relations outside of all brackets, and recognises pieces that are names."""

from collections.abc import Iterator, Sequence
from typing import Literal

from touchstone.checks.notation.numerals import number_in_words
from touchstone.checks.notation.syntax import OPERATOR_NAMES, parse_tokens
from touchstone.checks.notation.tokens import FUNCTIONS, GREEK_NAMES, Token
from touchstone.checks.notation.trees import CONSTANTS, Apply, Name, OutOfBoundsError, Tree, value_or_none

type Tokens = Sequence[Token]
type Connector = Literal["", "or", "and", "list"]

PIECE_LIMIT = 30
"""The most pieces of one answer; the comparison of two lists takes at most the square of this number of steps."""
EQUALITY = frozenset(("=", "~="))
ORDER = frozenset(("<", ">", "<=", ">=", "!="))
_LIST = frozenset((",", ";"))
_OR = frozenset(("or", "或", "或者", "还是", "ou", "oder"))
_AND = frozenset(("and", "且", "以及", "和", "与", "與", "及", "並且", "并且", "et", "und"))
_FOREIGN = frozenset(("ou", "oder", "et", "und"))
"""Words of other languages; they join the items of an answer only if spaces stand around them."""
_SHORT = {"o": "or", "u": "or", "y": "and", "e": "and"}
"""Words of one letter of other languages; they join equations with a number before them: `x = 2 o x = 3`."""
_JOINS = _LIST | _OR | _AND | _SHORT.keys()

_NAME_WORDS = 6
"""The most words of a name: `Total cost of the trip`."""
_WORD_LENGTH = 20
_CALL_LENGTH = 20
"""The most tokens between the brackets of a name such as `P(X=2)`."""
_NAMES = frozenset(("pH", "pOH", "pKa", "pKb", "Ksp", "rang", "rank", "med")) | OPERATOR_NAMES
"""Names that look like products of letters, or of what stands behind them: `rank A`."""
_FACTORS = frozenset("abckmntxyz")
"""Letters that are seldom names of functions: a bracketed sum behind one of them is a factor."""


def at_top(tokens: Tokens) -> Iterator[tuple[int, Token]]:
    """The tokens outside of all brackets and bars, with their places. `[0,1)` counts as a pair of brackets too."""
    depth = 0
    bars = sum(token.is_sign("|") for token in tokens) % 2 == 0
    inside_bars = False
    for place, token in enumerate(tokens):
        if token.kind == "open":
            depth += 1
        elif token.kind == "close":
            depth -= 1
        elif token.is_sign("|") and bars:
            inside_bars = not inside_bars
        elif depth == 0 and not inside_bars:
            yield place, token


def split(tokens: Tokens, signs: frozenset[str]) -> tuple[list[Tokens], list[str]]:
    """The pieces between signs outside of brackets, and those signs. Raises OutOfBoundsError for too many pieces."""
    if not any(token.text in signs for token in tokens):
        return [tokens], []
    places = [(place, token.text) for place, token in at_top(tokens) if token.kind == "sign" and token.text in signs]
    return _cut(tokens, places)


def connected(tokens: Tokens) -> tuple[list[Tokens], Connector]:
    """The items of a list, and the kind of connector between them; "" if there is only one item."""
    if not any(token.text in _JOINS or token.text.lower() in _JOINS for token in tokens):
        return [tokens] if tokens else [], ""
    places: list[tuple[int, str]] = []
    for place, token in at_top(tokens):
        word = token.text if token.kind in ("sign", "han") else token.text.lower()
        joins = token.kind == "sign" and (word in _LIST or word in ("and", "or"))
        spoken = token.kind == "han" or (token.kind == "letters" and (len(word) > 1 or token.spaced))
        if spoken and (word in _OR or word in _AND):
            joins = word not in _FOREIGN or (token.spaced and 0 < place < len(tokens) - 1 and tokens[place + 1].spaced)
        if word in _SHORT and _joins_equations(tokens, place):
            joins, word = True, _SHORT[word]
        if joins:
            places.append((place, word))
    pieces, separators = _cut(tokens, places)
    items = [piece for piece in pieces if piece]
    if len(items) < 2:  # noqa: PLR2004 - one item is no list
        return items, ""
    if not _OR.isdisjoint(separators):
        return items, "or"
    return items, "list" if _AND.isdisjoint(separators) else "and"


def _joins_equations(tokens: Tokens, place: int) -> bool:
    """Whether a letter stands between `x = 2` and `x = 3`, with spaces around it."""
    behind, before = tokens[place + 1 : place + 5], tokens[max(place - 4, 0) : place]
    named = bool(behind) and behind[0].kind == "letters" and behind[0].spaced and tokens[place].spaced
    given = bool(before) and before[-1].kind in ("number", "close") and any(token.is_sign("=") for token in before)
    return named and given and any(token.is_sign("=") for token in behind)


def _cut(tokens: Tokens, places: list[tuple[int, str]]) -> tuple[list[Tokens], list[str]]:
    if len(places) >= PIECE_LIMIT:
        raise OutOfBoundsError("more pieces than any answer that is read")
    pieces: list[Tokens] = []
    start = 0
    for place, _ in places:
        pieces.append(tokens[start:place])
        start = place + 1
    return [*pieces, tokens[start:]], [text for _, text in places]


def unbracketed(tokens: Tokens) -> tuple[Tokens, str]:
    """The tokens inside brackets that enclose all tokens, and the two brackets as a string.

    The tokens themselves and "" if no brackets enclose all of them.
    """
    if len(tokens) < 2 or tokens[0].kind != "open" or tokens[-1].kind != "close":  # noqa: PLR2004
        return tokens, ""
    whole = closing(tokens, 0) == len(tokens) - 1
    return (tokens[1:-1], tokens[0].text + tokens[-1].text) if whole else (tokens, "")


def closing(tokens: Tokens, opened: int) -> int:
    """The place of the bracket that closes the one at `opened`; the number of tokens if none closes it."""
    depth = 0
    for place in range(opened, len(tokens)):
        depth += (tokens[place].kind == "open") - (tokens[place].kind == "close")
        if depth == 0:
            return place
    return len(tokens)


def tokens_text(tokens: Tokens) -> str:
    """The text of the tokens, with a space where the answer has one; it serves as a name."""
    return "".join((" " if token.spaced and place else "") + token.text for place, token in enumerate(tokens))


# Left sides that are names, to which an equation gives a value. Other left sides belong to conditions.


def label(tokens: Sequence[Token]) -> str | None:
    """The tokens as a name (`x`, `f(2)`, `AB`, `A:B`, 面积); None if they are the side of a condition (`2x`, `|x|`)."""
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
    if is_words(tokens) or _is_call(tokens) or _is_composition(tokens):
        return True
    while len(tokens) > 1 and tokens[-1].is_sign("'"):
        tokens = tokens[:-1]
    match value_or_none(parse_tokens, tokens):
        case Name(name):
            return name not in CONSTANTS - {"e", "i"}
        case Apply(operation="abs", arguments=(inside,)):
            return _is_segment(inside)
        case tree:
            return _is_segment(tree)


def is_words(tokens: Sequence[Token]) -> bool:
    """Whether tokens are one Chinese word, or some words that are neither a product of letters nor a function."""
    if len(tokens) == 1 and tokens[0].kind == "han":
        return len(tokens[0].text) <= _WORD_LENGTH and number_in_words(tokens[0].text) is None
    if not 0 < len(tokens) <= _NAME_WORDS or any(token.kind not in ("letters", "han") for token in tokens):
        return False
    words = [token.text for token in tokens]
    if words[0] in _NAMES:
        return len(words) == 1 or len(words[1]) == 1
    if FUNCTIONS.intersection(words) or len(words[0]) == 1:
        return False
    return value_or_none(parse_tokens, tokens) is None and all(len(word) <= _WORD_LENGTH for word in words)


def _is_call(tokens: Sequence[Token]) -> bool:
    """Whether tokens are a name with an argument in brackets: `f(2)`, `P(X=2)`, `S_1(x)`, `f'(x)`, `det(A)`."""
    first = tokens[0]
    if first.kind != "letters" or not (len(first.text) == 1 or first.text in GREEK_NAMES or first.text in _NAMES):
        return False
    opened = next((place for place, token in enumerate(tokens) if token.is_sign("(", "[")), None)
    if opened is None or len(tokens) - opened > _CALL_LENGTH or unbracketed(tokens[opened:])[1] not in ("()", "[]"):
        return False
    inside = tokens[opened + 1 : -1]
    if [token.text.strip("{}") for token in tokens[1:opened] if token.text not in "{}"] == ["^", "-", "1"]:
        return first.text not in _FACTORS
    is_sum = any(token.kind == "letters" for token in inside) and any(token.is_sign("+", "-") for token in inside)
    if is_sum and (first.text in _FACTORS or any(token.text == first.text for token in inside)):
        return False  # x(x - 2) and a(b + 1) are products
    return all(token.is_sign("_", "'", "{", "}") or token.kind in ("letters", "number") for token in tokens[1:opened])


def _is_composition(tokens: Sequence[Token]) -> bool:
    """Whether tokens are the value of a composition of functions: `(f ∘ g)(x)`."""
    shape = "".join("f" if token.kind == "letters" and len(token.text) == 1 else token.text for token in tokens)
    return shape == "(f°f)(f)"


def _is_segment(tree: Tree | None) -> bool:
    """Whether a tree is the name of a segment: capital letters of points next to each other."""
    match tree:
        case Name(name):
            return name[0].isupper() and name.isascii()
        case Apply(operation="mul", arguments=arguments):
            return all(map(_is_segment, arguments))
    return False
