"""Reads the unit behind a number from tokens: products, quotients and powers of names, and things that are counted."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from touchstone.checks.notation.numerals import NUMBER_WORDS
from touchstone.checks.notation.tokens import Token, tokens_of
from touchstone.checks.notation.units import ONE, UNITS, WORDS, Unit

UNIT_TOKENS = 24
"""The most tokens of a unit: kg·m^5·s^{-2}·mol^{-2} in LaTeX has 22."""
READINGS = 8
"""The most readings of a unit: a name may have several, and so may the units behind a slash."""
NOUN_LENGTH = 3
"""The least letters of a noun; a shorter word is a variable or an unknown unit."""
NOUN_WORDS = 6
_SPELLED_FROM = 4
"""From this many letters on, a unit's name is a word whose case is ignored; in a shorter name it matters (mW, MW)."""
_SQUARES = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_SIGNED = "(?:([+-]) )?([1-9])"
_POWER = re.compile(rf"(?:\^ (?:\{{ {_SIGNED} \}}|\( {_SIGNED} \)|{_SIGNED})|(?:(-) )?([1-9]))(?!\S)")
_POWER_TOKENS = 5
UNIT_HEADS = frozenset(name.split()[0].lower() for name in (*UNITS, *_SQUARES))
"""The first words of the names of units, in lower case."""
_POWERED = {"squared": 2, "cubed": 3}
_HAN_POWERS = {"平方": 2, "立方": 3, "二次方": 2, "三次方": 3}
_TIGHT = {"°", "度", "μ", *(prefix[1] for prefix in WORDS["prefixes"].values() if prefix[1])}
"""Beginnings of names that join the rest without a space: kilo metre, as siunitx writes it, is a kilometre."""
_TIGHT_PRODUCTS = {"ms": ("m", "s"), "kmh": ("km", "h")}
"""Names of units that are also two names without a blank, if a negative power is behind them: 3 ms⁻¹ for 3 m s⁻¹."""
_PER_ALONE = frozenset(("per", "pro", "par", "por", "al"))
_PER = _PER_ALONE | {"a", "an", "each"}
_COUNTED = re.compile(rf"(?:[{WORDS['classifiers']}]|人次|平方|立方)[\u4e00-\u9fff]{{0,7}}+")
CHANGING = frozenset(WORDS["foreign and changing"])
"""Words of French, German, Spanish and their neighbours that may change the value of a number beside them."""
FOREIGN = CHANGING | frozenset(WORDS["foreign"])
"""Words that are frequent in sentences of these languages, and not English."""
ENGLISH = frozenset(WORDS["english sentences"])
"""Words that are frequent in English sentences."""
_WORD = re.compile(r"(?<![\\A-Za-zÀ-ɏ])[A-Za-zÀ-ɏ]{2,}+")
NOT_COUNTED = FOREIGN | frozenset(WORDS["not counted"])
_VAGUE = re.compile(WORDS["vague"])
"""Words that make a number a bound or an estimate, so that the value is not that number."""
_SCALE = re.compile("[a-z]{1,20}illions?")
"""A number's name beyond those that are read: vigintillion, zillions."""
_PART = re.compile(
    "(?:seven|nin|eleven|twelf|[a-z]{3,5}teen|[a-z]{3,5}tie|hundred|thousand|[a-z]{1,20}illion)ths?|[a-z]{2,12}ièmes?"
)
"""A part's name that is not read: one seventh, three sixteenths. Before a noun it is a place: 7 eleventh graders."""
_OF = frozenset(("of", "de", "d"))


def is_foreign(text: str, words: frozenset[str] = FOREIGN) -> bool:
    """Whether one of these words of other languages occurs in a text that has more words of these than of English.

    `al`, `los` and `mayor` are words of names and of English as well.
    """
    found = _WORD.findall(text.lower())
    return not words.isdisjoint(found) and sum(word in FOREIGN for word in found) > sum(
        word in ENGLISH for word in found
    )


@cache
def units_of(text: str) -> tuple[Unit, ...]:
    """All readings of the unit that the whole of `text` names; empty if it names no unit."""
    return read_unit(tokens_of(text.strip().rstrip(".")))


def read_unit(tokens: Sequence[Token]) -> tuple[Unit, ...]:
    """All readings of the unit that all of `tokens` together name; empty if they name no unit.

    Knows products, quotients and powers (`m/s`, `kg·m^2`, `J K^{-1} mol^{-1}`, 千米/小时, `square feet`,
    `km per hour`), measured things (`cups of sugar`) and counted things (棵树, `apples`).
    """
    if not tokens or len(tokens) > UNIT_TOKENS:
        return ()
    end = next((place for place, token in enumerate(tokens) if token.text in _OF and token.kind == "letters"), None)
    if end is not None:
        noun = _noun(tokens[end + 1 :])
        return tuple(replace(unit, noun=noun) for unit in _Reader(tokens[:end]).whole()) if noun else ()
    if units := _Reader(tokens).whole():
        return units
    noun = _noun(tokens)
    return (Unit((), Fraction(1), noun=noun),) if noun else ()


class _Reader:
    """Reads a product of units from tokens. Every method returns all readings; none if it cannot read on."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = [piece for token in tokens for piece in _spread(token)]
        self._place = 0

    def whole(self) -> tuple[Unit, ...]:
        readings = self._product()
        return readings if self._place == len(self._tokens) else ()

    def _peek(self, ahead: int = 0) -> Token | None:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def _product(self) -> tuple[Unit, ...]:
        first, second = self._peek(), self._peek(1)
        divides = first is not None and (first.is_sign("/") or first.text.lower() in _PER_ALONE)
        if first is not None and second is not None and first.text in ("a", "an") and first.spaced:
            divides = second.spaced and len(second.text) >= NOUN_LENGTH  # 12 a day
        readings = (ONE,) if divides else self._factor()
        below = False
        while readings and (token := self._peek()) is not None and not token.is_sign(")"):
            word = token.text.lower() if token.kind == "letters" else ""
            if token.is_sign("/") or (word in _PER and (len(word) > 1 or (token.text == "a" and token.spaced))):
                self._place += 1
                readings, below = _combined(readings, self._factor(), (-1,)), True
                continue
            if token.is_sign("*") or (token.is_sign("-") and not token.spaced):
                self._place += 1
            # In `J/mol K` the kelvin may belong to the denominator or not.
            readings = _combined(readings, self._factor(), (-1, 1) if below else (1,))
        return readings

    def _factor(self) -> tuple[Unit, ...]:
        token = self._peek()
        if token is None:
            return ()
        if token.is_sign("("):
            self._place += 1
            inside = self._product()
            closing = self._peek()
            self._place += 1
            return self._raised(inside) if closing is not None and closing.is_sign(")") else ()
        if token.kind == "letters" and (power := _SQUARES.get(token.text.lower())) and self._peek(1) is not None:
            self._place += 1
            if (point := self._peek()) is not None and point.is_sign("."):
                self._place += 1
            return tuple(unit**power for unit in self._symbol())
        return self._raised(self._symbol())

    def _symbol(self) -> tuple[Unit, ...]:
        """The readings of the longest name of a unit that begins at the current place."""
        for length in (3, 2, 1):
            parts = self._tokens[self._place : self._place + length]
            if len(parts) < length or (length > 1 and not _joins(parts)):
                continue
            if found := _known(parts):
                self._place += length
                return found
        return ()

    def _raised(self, units: tuple[Unit, ...]) -> tuple[Unit, ...]:
        """The units raised to the power that stands behind them."""
        token = self._peek()
        if token is None or not units:
            return units
        if token.kind == "letters" and token.text in _POWERED:
            self._place += 1
            return tuple(unit ** _POWERED[token.text] for unit in units)
        marked = token.is_sign("^")
        if not marked and token.spaced:
            return units
        symbol = self._tokens[self._place - 1]
        if not marked and not (symbol.spaced or symbol.upright or len(symbol.text) > 1):
            # In 2m+3 and 2m3, m may be a variable.
            return units
        power, count = power_at(self._tokens, self._place)
        self._place += count
        raised = tuple(unit**power for unit in units)
        if power < 0 and (names := _TIGHT_PRODUCTS.get(symbol.text)) is not None:
            first, last = map(UNITS.__getitem__, names)
            raised += tuple(one * other**power for one in first for other in last)
        return raised if count else () if marked else units


def power_at(tokens: Sequence[Token], place: int) -> tuple[int, int]:
    """The power written at `place`, and how many tokens it takes: `^2`, `^{-1}`, `-1`, `2`.

    0 and 0 if no power stands there.
    """
    found = _POWER.match(" ".join(token.text for token in tokens[place : place + _POWER_TOKENS]))
    return (int("".join(filter(None, found.groups()))), len(found[0].split())) if found else (0, 0)


def _combined(left: tuple[Unit, ...], right: tuple[Unit, ...], powers: tuple[int, ...]) -> tuple[Unit, ...]:
    found = dict.fromkeys(one * (other**power) for one in left for other in right for power in powers)
    return tuple(found) if len(found) <= READINGS else ()


def _spread(token: Token) -> list[Token]:
    """A run of Chinese characters as units with slashes between them, one for each 每: 千克每立方米."""
    if token.kind != "han" or "每" not in token.text[1:]:
        return [token]
    parts = token.text.split("每")
    strokes = [token._replace(kind="sign", text="/")] * len(parts)
    pieces = [token._replace(text=part) for part in parts]
    return [each for pair in zip(pieces, strokes, strict=True) for each in pair if each.text][:-1]


def _joins(parts: Sequence[Token]) -> bool:
    """Whether tokens can form one name: words with spaces or hyphens, ° and a letter, μ and a unit, US and $."""
    first, last = parts[0], parts[-1]
    if first.is_sign("°") or first.text == "度":
        return len(parts) == 2 and last.kind == "letters"  # noqa: PLR2004 - degrees and their scale
    if last.is_sign("¤"):
        return len(parts) == 2 and not last.spaced and first.text in ("US", "NT", "HK", "A", "C")  # noqa: PLR2004
    return all(part.kind == "letters" or part.is_sign("-") for part in parts)


def _known(parts: Sequence[Token]) -> tuple[Unit, ...]:
    if len(parts) == 1 and parts[0].kind == "han":
        return _han(parts[0].text)
    if parts[0].is_sign("pm", "in", "cup"):
        return ()  # ±, ∈ and ∪ are no picometre, inch and cup
    first, last = parts[0].text, parts[-1].text
    tight = first in _TIGHT or last in ("Ω", "¤") or any(part.is_sign("-") for part in parts)
    name = ("" if tight else " ").join(part.text for part in parts)
    if (found := UNITS.get(name)) is not None:
        return tuple(found)
    lowered = name.lower()
    return tuple(UNITS.get(lowered, ())) if len(lowered) >= _SPELLED_FROM and lowered.isascii() else ()


def _han(text: str) -> tuple[Unit, ...]:
    if (found := UNITS.get(text)) is not None:
        return tuple(found)
    for prefix, power in _HAN_POWERS.items():
        if text.startswith(prefix):
            return tuple(unit**power for unit in UNITS.get(text.removeprefix(prefix), ()))
    return tuple(UNITS.get(text[1:], ())) if text[0] in "个個" and len(text) > 1 else ()


def _noun(tokens: Sequence[Token]) -> str:
    """The thing that the tokens name, in the singular; "" if they are not plain words."""
    if len(tokens) == 1 and tokens[0].kind == "han":
        text = tokens[0].text
        return text if _COUNTED.fullmatch(text) and not _VAGUE.search(text) else ""
    words = [token.text.lower() for token in tokens if token.kind == "letters"]
    if not 0 < len(words) <= NOUN_WORDS or len(words) < len(tokens):
        return ""
    too_short = len(words[0]) < NOUN_LENGTH or min(map(len, words)) == 1
    if words == ["times"]:
        return "time"
    if (
        too_short
        or words[0] in UNITS
        or any(map(_SCALE.fullmatch, words))
        or _PART.fullmatch(words[-1])
        or not (NOT_COUNTED | NUMBER_WORDS).isdisjoint(words)
    ):
        return ""
    return " ".join(word.removesuffix("s") if len(word) > NOUN_LENGTH else word for word in words)
