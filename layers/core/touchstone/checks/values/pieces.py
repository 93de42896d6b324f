"""Where tokens come apart: separators and relations outside of all brackets and bars."""

from collections.abc import Iterator, Sequence
from typing import Literal

from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import OutOfBoundsError

type Tokens = Sequence[Token]
type Connector = Literal["", "or", "and", "list"]

PIECE_LIMIT = 30
"""Pieces of one answer; two such lists are compared in at most the square of it."""
EQUALITY = frozenset(("=", "~="))
ORDER = frozenset(("<", ">", "<=", ">=", "!="))
_LIST = frozenset((",", ";"))
_OR = frozenset(("or", "或", "或者", "还是", "ou", "oder"))
_AND = frozenset(("and", "且", "以及", "和", "与", "與", "及", "並且", "并且", "et", "und"))
_FOREIGN = frozenset(("ou", "oder", "et", "und"))
"""Words of other languages, which join an answer only where they stand apart."""
_JOINS = _LIST | _OR | _AND


def at_top(tokens: Tokens) -> Iterator[tuple[int, Token]]:
    """The tokens outside of all brackets and bars, with their places. `[0,1)` is a pair of brackets, too."""
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
    """The pieces between signs outside of brackets, and those signs. Raises OutOfBoundsError past the limit."""
    if not any(token.text in signs for token in tokens):
        return [tokens], []
    places = [(place, token.text) for place, token in at_top(tokens) if token.kind == "sign" and token.text in signs]
    return _cut(tokens, places)


def connected(tokens: Tokens) -> tuple[list[Tokens], Connector]:
    """The items of a list and what connects them."""
    if not any(token.text in _JOINS or token.text.lower() in _JOINS for token in tokens):
        return [tokens] if tokens else [], ""
    places: list[tuple[int, str]] = []
    for place, token in at_top(tokens):
        word = token.text if token.kind in ("sign", "han") else token.text.lower()
        joins = token.kind == "sign" and (word in _LIST or word in ("and", "or"))
        spoken = token.kind == "han" or (token.kind == "letters" and (len(word) > 1 or token.spaced))
        if spoken and (word in _OR or word in _AND):
            joins = word not in _FOREIGN or (token.spaced and 0 < place < len(tokens) - 1 and tokens[place + 1].spaced)
        if joins:
            places.append((place, word))
    pieces, separators = _cut(tokens, places)
    items = [piece for piece in pieces if piece]
    if len(items) < 2:  # noqa: PLR2004 - one item is no list
        return items, ""
    if not _OR.isdisjoint(separators):
        return items, "or"
    return items, "list" if _AND.isdisjoint(separators) else "and"


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
    """What stands inside brackets that enclose all of the tokens, and the two of them; the tokens and "" otherwise."""
    if len(tokens) < 2 or tokens[0].kind != "open" or tokens[-1].kind != "close":  # noqa: PLR2004
        return tokens, ""
    whole = closing(tokens, 0) == len(tokens) - 1
    return (tokens[1:-1], tokens[0].text + tokens[-1].text) if whole else (tokens, "")


def closing(tokens: Tokens, opened: int) -> int:
    """The place of the bracket that closes the one at `opened`; the number of tokens where none does."""
    depth = 0
    for place in range(opened, len(tokens)):
        depth += (tokens[place].kind == "open") - (tokens[place].kind == "close")
        if depth == 0:
            return place
    return len(tokens)


def written(tokens: Tokens) -> str:
    """The tokens next to each other, with a space where there was one: what to call them by."""
    return "".join((" " if token.spaced and place else "") + token.text for place, token in enumerate(tokens))
