"""A solution as the shared tokens, with the meaning that its sentences give to words and signs.

First the text is respelled in the same length, so that offsets do not move. Words are written as the sign they mean
(`plus`, 除以, `equals`). Marks of headings, items and bold type, and parts that are no arithmetic (dates, ratios,
ordinals) are replaced. The signs that remain are + - * / ^ % ! frac sqrt √ °, signs of money, = and ~= (about), the two
signs of this module (`BREAK`, `BULLET`), and "other".
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from touchstone.checks.notation.tokens import Token, folded, tokens_of
from touchstone.checks.notation.trees import Number
from touchstone.checks.notation.unit_reading import is_foreign
from touchstone.checks.notation.units import UNITS
from touchstone.packaged import own_patterns, own_table, with_pieces

BREAK = ";"
"""The end of a line, of a sentence or of a part of a sentence."""
BULLET = "\ue001"
"""A dash at the beginning of a line: it is the mark of an item, or a minus sign."""
RELATIONS = ("=", "~=")

_CURRENCIES = ("¤", "¥", "€", "£")
_KEPT = frozenset(("+", "-", "*", "/", "^", "%", "!", "°", "frac", "√", *RELATIONS, *_CURRENCIES))
_BREAKS = frozenset((BREAK, "?", '"', ".", ",", ":", "=>", "->", "—", "<", ">", "<=", ">="))
_LINES = ("\n", "\\\\")
_TIMES = frozenset(("x", "of", "von", "de", "的"))
_NOTHING = "\ue000"
_NOWHERE = "\u2060"
"""A character that is not shown and does not separate tokens."""
_HYPHEN = "ǀ"
"""A letter that nobody writes. It stands for the hyphen or the apostrophe within a word."""
_TABLE = own_table(__file__)
_PATTERN = own_patterns(__file__)
OPERATORS: dict[str, str] = _TABLE["operators"]
MODIFIERS = frozenset(_TABLE["modifiers"])
"""Words after which a number is an argument of something larger. A reading that begins right after one is not whole."""
MODIFIER_CHARACTERS = frozenset(_TABLE["modifier_characters"])
NUMERAL_CHARACTERS = frozenset(_TABLE["numeral_characters"])
UNIT_STOPS = frozenset(_TABLE["unit_stops"]) | frozenset(_TABLE["unit_stop_characters"])
"""Words that never belong to a unit such as "tablespoons of sugar per muffin"."""
RATES = frozenset(_TABLE["rates"])
"""Words that make a unit a rate: an amount of one thing per amount of another."""
ATTACHED = frozenset(_TABLE["attached"])
"""Units of two letters that may follow a number without a space; another pair may be a product of variables."""
RESULT_STOPS = frozenset(_TABLE["result_stops"])
"""Words after a result that make it part of something else."""
_TABLE["operator"] = "|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True)))
_TABLE["initials"] = "".join(sorted({word[0] for word in OPERATORS}))
_SPECIAL = re.compile(
    with_pieces(f"{_TABLE['begins']}(?:{'|'.join(_TABLE['grammar'])})", _TABLE),
    re.MULTILINE | re.IGNORECASE,
)
_SIGNS = {
    "heading": " ",
    "item": " ",
    "type": " ",
    "hyphen": _HYPHEN,
    "cry": BREAK,
    "environment": BREAK,
    "percent": "%",
    "equality": "=",
}

PI = Fraction("3.14159265358979323846")
"""π to as many digits as nobody needs: what is equal with it is equal with π."""
_EXCHANGED = str.maketrans(".,", ",.")
_DENIAL_REACH = 80
"""Characters after a statement in which the text may still deny it."""
_CLAUSE_REACH = 400
_ABOUT_REACH = 40


def is_currency(token: Token) -> bool:
    """Whether the token is a sign of money."""
    return token.is_sign(*_CURRENCIES)


def is_start(token: Token) -> bool:
    """Whether an operand can begin with the token, apart from the operand's sign."""
    return token.kind in ("number", "open", "function") or token.is_sign("frac", "√", *_CURRENCIES)


def is_word(token: Token) -> bool:
    """Whether the token is a word, a Chinese character or a degree sign."""
    return token.kind in ("letters", "han") or token.is_sign("°")


def arithmetic_tokens(text: str) -> list[Token]:
    """The tokens of a solution, in linear time. Raises OutOfBoundsError for a number of too many digits."""
    text = _PATTERN["row"].sub(lambda row: _PATTERN["border"].sub(BREAK, row[0]), text.replace("，", "；"))
    tokens = tokens_of(_SPECIAL.sub(_respelled, folded(text)), prose=True)
    found: list[Token] = []
    for place, token in enumerate(tokens):
        match token.kind:
            case "number" | "open" | "close":
                found.append(token)
            case "letters" | "han" if _is_times(token, found[-4:], tokens[place + 1 : place + 5]):
                found.append(token._replace(kind="sign", text="*"))
            case "letters" if token.text in ("π", "pi"):
                found.append(token._replace(kind="number", text="π", value=Number(PI)))
            case "function" if token.text == "sqrt":
                found.append(token)
            case "function" if token.text == "min" and found and found[-1].kind == "number":
                found.append(token._replace(kind="letters"))
            case "letters" if not "Ͱ" <= token.text[0] <= "Ͽ" or token.text in UNITS:
                found.append(token._replace(text=token.text.replace(_HYPHEN, "-")) if _HYPHEN in token.text else token)
            case "han":
                for at, character in enumerate(token.text, token.start):
                    spaced = token.spaced and at == token.start
                    found.append(token._replace(text=character, start=at, end=at + 1, spaced=spaced))
            case "sign" if _is_fraction(tokens[max(place - 2, 0) : place + 1], text):
                found.append(token._replace(kind="other"))
            case "sign" if token.text in _KEPT:
                found.append(token)
            case _:
                found.extend(_break(token, tokens[place + 1 : place + 2]))
    return [found[0]._replace(spaced=True), *found[1:]] if found else []


def in_points(text: str) -> tuple[str, ...]:
    """The readings of a text with its numbers as English writes them: 2,50 as 2.50, 1.250 as 1,250.

    Of a text of another language where 10 : 4 is a quotient. If none of its commas must be decimal, it may also be
    written as in English, as Spanish in Mexico is; and so may a text without words, such as 1.250 + 750 = 2.000. The
    text itself if nothing shows that its commas are decimal. Every character keeps its place.
    """
    if not _PATTERN["other numbers"].search(text) or _PATTERN["decimal points"].search(text):
        return (text,)
    wordless = not _PATTERN["words"].search(text)
    if not (is_foreign(text) or (wordless and _PATTERN["decimal commas"].search(text))):
        points = wordless and _PATTERN["points of three"].search(text)
        return (
            (text, _PATTERN["number"].sub(lambda number: number[0].translate(_EXCHANGED), text)) if points else (text,)
        )
    if not _PATTERN["three terms"].search(text):
        text = _PATTERN["division"].sub(" ÷ ", text)
    exchanged = _PATTERN["number"].sub(lambda number: number[0].translate(_EXCHANGED), text)
    return (exchanged,) if exchanged == text or _PATTERN["sure commas"].search(text) else (exchanged, text)


def _respelled(match: re.Match[str]) -> str:
    """The sign that the match stands for, padded to the length of the match."""
    name, length = match.lastgroup or "", len(match[0])
    match name:
        case "nothing":
            return _NOTHING * length
        case "bullet":
            return BULLET.rjust(length)
        case "negative" | "money":  # 负5, NT$250
            return ("-" if name == "negative" else "$").ljust(length, _NOWHERE)
        case "unit":  # 3×4=12(元)
            return match[0][1:-1].rjust(length)
        case "operator":
            return OPERATORS[match[0].lower()].ljust(length)
    return _SIGNS[name].ljust(length)


def _is_times(token: Token, earlier: Sequence[Token], behind: Sequence[Token]) -> bool:
    """Whether a letter or word between two numbers means "times": 3 x 4, 20% of 50, 1/4 of 20 =, 50的20%."""
    text = token.text.lower()
    if text not in _TIMES or not earlier or not behind:
        return False
    before, after = earlier[-1], behind[0]
    match text:
        case "x":
            return is_start(after) and (token.spaced == after.spaced or is_currency(after))
        case "of" if earlier[-2:][0].is_sign("/") and before.kind == after.kind == "number":
            # 1 - 1/4 of 20 may be three quarters of 20, and 1/4 of 2 = 30 minutes is of 2 hours.
            stated = any(each.is_sign(*RELATIONS) for each in behind[1:2])
            return stated and not (earlier[0].is_sign("-", "/") or any(each.text in UNITS for each in behind[3:]))
        case "of" | "von" | "de":
            return before.is_sign("%") and (after.kind in ("number", "open") or is_currency(after))
        case "的":
            return before.kind in ("number", "close") and after.kind == "number"
    return False


def _is_fraction(tokens: Sequence[Token], text: str) -> bool:
    """Whether a slash may be that of a fraction, since a division sign stands before its numerator: 6 ÷ 1/2."""
    return [token.text for token in tokens[::2]] == ["/", "/"] and text[tokens[0].start] != "/" == text[tokens[2].start]


def _break(token: Token, behind: Sequence[Token]) -> Iterator[Token]:
    """The token as the end of a part, as the mark of an item, or as "other".

    Nothing for a line end after which the statement goes on: `3 + 4\n= 7`.
    """
    is_line = token.text in _LINES
    if is_line and behind and behind[0].is_sign(*_LINES, *RELATIONS):
        return
    groups = token.text == "," and behind and behind[0].kind == "number" and not behind[0].spaced
    kept = BULLET if token.text == BULLET else BREAK if (is_line or token.text in _BREAKS) and not groups else ""
    yield token._replace(kind="sign" if kept else "other", text=kept)


def ratios(text: str) -> Iterator[re.Match[str]]:
    """Every `a : b = c : d` of whole numbers that is no equation of two times of day."""
    for match in _PATTERN["ratio"].finditer(folded(text)):
        sides = match[0].rstrip("= "), match.string[match.start("first") : match.end("second")]
        if not all(map(_PATTERN["time"].fullmatch, sides)):
            yield match


def is_doubted(text: str, start: int, end: int) -> bool:
    """Whether the statement from `start` to `end` is supposed, denied, asked, of a range, or in another notation."""
    before = folded(text[max(0, start - _CLAUSE_REACH) : start]).lower()
    if _PATTERN["other notation"].search(_behind(before, "\n。")):
        return True
    counted = _PATTERN["range"].match(text, start)
    if counted and int(counted[1]) < int(counted[2]):
        return True
    # "If he eats 200 g, then he gets 200 * 7 = 1400": what follows "then" is stated, not supposed.
    if _PATTERN["before"].search(_behind(before, "\n.,;:，。；：、").rpartition(" then ")[2]):
        return True
    after = folded(text[end : end + _DENIAL_REACH]).lower()
    sentence = _PATTERN["sentence end"].split(after, maxsplit=1)[0]
    # The words behind a number that are read as its unit may also be a denial: 24个错误.
    denials = (_PATTERN["denial"].search(part) for part in (after, text[start:end].lower()))
    if _PATTERN["in sentence"].search(sentence) or any(denials):
        return True
    # Loaded only here: few texts have a false statement, and it brings all of the comparison of answers with it.
    from touchstone.checks.equivalence.retractions import takes_back

    return takes_back(text[end : end + _DENIAL_REACH])


def _behind(text: str, marks: str) -> str:
    """The part of the text behind the last of the given marks."""
    return text[max(text.rfind(mark) for mark in marks) + 1 :]


def is_to_scale(text: str) -> bool:
    """Whether a text speaks of a map or a model, in which a length stands for another: 2 cm = 10 km."""
    return _PATTERN["to scale"].search(text) is not None


def is_about(text: str, start: int, end: int) -> bool:
    """Whether a word near the text from `start` to `end` says that the value is not exact."""
    return _PATTERN["about"].search(text, max(0, start - _ABOUT_REACH), end + _ABOUT_REACH) is not None
