"""How one number, measured amount or expression is read: `12 cm`, `¤3.50`, 2小时30分, `28 percent`, 三十二个, `2x+1`.

All of the tokens are read, or none: a number, then a unit that takes everything behind it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from touchstone.checks.notation.numerals import numbered
from touchstone.checks.notation.syntax import parse_tokens, tree_of
from touchstone.checks.notation.tokens import FUNCTIONS, Token
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, is_constant, negated
from touchstone.checks.notation.units import UNIT_TOKENS, Unit, read_unit
from touchstone.checks.packaged import own_table
from touchstone.checks.values.kinds import Quantity

_TABLE = own_table(__file__)
_LEADS = frozenset(_TABLE["leads"])
"""What introduces a value and is no part of it."""
PERCENT_WORDS = frozenset(("percent", "percentage", "pct"))
_CURRENCIES = frozenset(("¤", "€", "£", "¥", "₩", "₹"))
_CODES = frozenset(_TABLE["currency codes"])
_HALF = "半"
_TEMPERATURE = re.compile(r"(?=[摄攝华華零])(?P<scale>[摄攝华華]氏)?(?P<below>零下)?(?=[^氏度]|\Z)")
_DEGREES = re.compile(r"([摄攝华華]氏)?度\Z")
_THOUSANDS = frozenset(("k", "K", "M", "B"))
"""Letters that may say thousands, millions and billions: 5k."""
_TWO = 2


def quantity(tokens: Sequence[Token]) -> Quantity:
    """The quantity that all of `tokens` write. Raises NotAnExpressionError."""
    tokens = _unled(tokens)
    if not tokens:
        raise NotAnExpressionError("no value")
    tokens = _halves(_temperature(tokens))
    if (priced := _priced(tokens)) is not None:
        return priced
    tokens = _percents(numbered(list(tokens)))
    if tokens[0].kind == "han" and tokens[0].text == "百分之":
        return Quantity(Apply("percent", (parse_tokens(tokens[1:]),)), percent=True)
    if tokens[-1].is_sign("%", "‰"):
        return Quantity(parse_tokens(tokens), percent=True)
    if (whole := _mixed_units(tokens) or _spoken_price(tokens)) is not None:
        return whole
    if _is_recipe(tokens):
        raise NotAnExpressionError("a mixed number with a hyphen, or a difference")
    if (bracketed := _unit_in_brackets(tokens)) is not None:
        return bracketed
    return _measured(tokens) or Quantity(parse_tokens(tokens), letters=_letters_behind(tokens))


def _unled(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens without what only introduces the value."""
    place = 0
    while place < len(tokens) - 1 and (
        (tokens[place].kind == "han" and tokens[place].text in _LEADS) or tokens[place].is_sign("~=", ":")
    ):
        place += 1
    return tokens[place:]


def _temperature(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens with a temperature's sign as a sign and its scale behind: 摄氏零下5度 as −5摄氏度."""
    first = tokens[0]
    led = _TEMPERATURE.match(first.text) if first.kind == "han" else None
    if led is None:
        return tokens
    scale, below = led["scale"], led["below"]
    rest = [first._replace(text=first.text[led.end() :]), *tokens[1:]] if first.text[led.end() :] else [*tokens[1:]]
    if below and rest and rest[0].is_sign("-", "+"):
        return tokens
    if rest and rest[-1].kind == "han" and (degrees := _DEGREES.search(rest[-1].text)) is not None:
        if not (degrees[1] and scale):
            rest[-1] = rest[-1]._replace(text=f"{rest[-1].text[: degrees.start()]}{scale or degrees[1] or '摄氏'}度")
    elif scale or not rest:
        return tokens
    return [first._replace(kind="sign", text="-"), *rest] if below else rest


def _percents(tokens: list[Token]) -> list[Token]:
    """The tokens with `percent` and `per cent` as the sign."""
    found: list[Token] = []
    for token in tokens:
        word = token.text.lower() if token.kind == "letters" else ""
        if found and word in PERCENT_WORDS:
            found.append(token._replace(kind="sign", text="%"))
        elif found and word == "cent" and found[-1].text == "per":
            found[-1] = found[-1]._replace(kind="sign", text="%")
        else:
            found.append(token)
    return found


# Money


def _priced(tokens: Sequence[Token]) -> Quantity | None:
    """An amount behind its currency: `$5`, `-$5`, `US$5`, `RMB 5`, `NT$ 100`; None where there is no such sign."""
    signed = tokens[0].is_sign("-", "+")
    rest = tokens[1:] if signed else tokens
    length = _currency_length(rest)
    if not length or len(rest) == length:
        return None
    own = read_unit(rest[:length])
    if not own or not (rest[length].kind in ("number", "function") or rest[length].is_sign("-", "(", "frac")):
        return None
    amount = quantity(rest[length:])
    if amount.units:
        same = tuple(one for one in amount.units for other in own if one.dimension == other.dimension)
        if not same and any(unit.noun == "" for unit in amount.units):
            raise NotAnExpressionError("two currencies")
        own = same or own
    return Quantity(
        negated(amount.tree) if signed and tokens[0].text == "-" else amount.tree, own, letters=amount.letters
    )


def _currency_length(tokens: Sequence[Token]) -> int:
    first = tokens[0] if tokens else None
    if first is None:
        return 0
    if first.kind == "sign" and first.text in _CURRENCIES:
        return 1
    if first.kind == "letters" and first.text in _CODES:
        if len(tokens) > 1 and tokens[1].is_sign("¤"):
            return _TWO
        return 1 if len(first.text) == 3 else 0  # noqa: PLR2004 - the letters of a currency's code
    return 0


# Numbers with units


def _measured(tokens: Sequence[Token]) -> Quantity | None:
    """A number or expression and the longest unit that can stand behind it; None where no unit ends it."""
    for place in range(max(1, len(tokens) - UNIT_TOKENS), len(tokens)):
        if not _may_begin_unit(tokens, place):
            continue
        before, behind = tokens[:place], tokens[place:]
        units = read_unit(behind)
        if not units:
            continue
        tree = tree_of(before[:-1] if before[-1].is_sign("*") else before)
        if tree is None:
            continue
        constant, counted = is_constant(tree), any(unit.noun for unit in units)
        first = behind[0]
        if not constant and (counted or len(first.text) == 1):
            continue
        if counted and first.kind == "letters" and not first.spaced and not first.upright:
            continue
        lone = len(behind) == 1 and len(first.text) == 1 and first.kind == "letters"
        if lone and not first.spaced and not first.upright:
            units = tuple(replace(unit, lone_letter=True) for unit in units)
        return Quantity(tree, units, bare=tree_of(tokens) if lone else None)
    return None


def _letters_behind(tokens: Sequence[Token]) -> bool:
    """Whether a number is followed by letters that stand apart, which may be a unit that is not known."""
    first = next((place for place, token in enumerate(tokens) if token.kind == "letters"), None)
    if first is None or first == 0 or tokens[first - 1].kind != "number" or tokens[first].text in FUNCTIONS:
        return False
    apart = tokens[first].spaced or tokens[first].upright or tokens[first].text in _THOUSANDS
    return apart and all(token.kind == "letters" or token.is_sign("*", "/", "^", "-") for token in tokens[first:])


def _may_begin_unit(tokens: Sequence[Token], place: int) -> bool:
    """Whether a unit may begin there: a word, a character, a degree or a currency, behind an operand."""
    token, before = tokens[place], tokens[place - 1]
    if before.kind in ("letters", "han", "function", "accent") and not (before.kind == "letters" and token.spaced):
        return False
    if before.is_sign("^", "_", "/", "frac", "+", "-", "("):
        return False
    if before.is_sign("*") and (place < _TWO or tokens[place - 2].kind not in ("number", "close")):
        return False
    if token.kind in ("letters", "han"):
        return True
    if token.kind != "sign":
        return False
    if token.text == "°":
        scale = place + 1 < len(tokens) and tokens[place + 1].kind == "letters"
        plain = all(each.kind not in ("letters", "function") for each in tokens[:place])
        return before.kind in ("number", "close") and (scale or plain)
    if token.text == "/":
        behind = tokens[place + 1] if place + 1 < len(tokens) else None
        return token.spaced and before.kind in ("number", "close") and behind is not None and behind.kind == "letters"
    return token.text in _CURRENCIES or token.text == "¢" or (token.text in "'\"" and before.kind == "number")


def added_up(tokens: Sequence[Token]) -> Quantity | None:
    """Amounts in descending units with words between: `1 hour and 30 minutes`; None where they are a list."""
    joints = [token for token in tokens if token.is_sign(",") or token.text == "and"]
    rest = [token for token in tokens if token not in joints]
    return _mixed_units(rest) if joints else None


def _mixed_units(tokens: Sequence[Token]) -> Quantity | None:
    """Amounts in descending units of one dimension, added up: 2小时30分钟, `1 m 20 cm`, 5元3角, `5 ft 3 in`."""
    starts = [place for place, token in enumerate(tokens) if token.kind == "number"]
    if len(starts) < _TWO or starts[0] != 0 or tokens[-1].kind == "number":
        return None
    ends = [*starts[1:], len(tokens)]
    parts = [(tokens[start], read_unit(tokens[start + 1 : end])) for start, end in zip(starts, ends, strict=True)]
    if not all(units for _, units in parts):
        return None
    for first in parts[0][1]:
        same = [[unit for unit in units if unit.dimension == first.dimension and not unit.noun] for _, units in parts]
        factors = [units[0].factor for units in same if units]
        if len(factors) < len(parts) or factors != sorted(set(factors), reverse=True) or first.offset:
            continue
        amounts = [number.value.value for number, _ in parts if number.value is not None]
        if any(amount.denominator != 1 for amount in amounts[:-1]):
            return None
        total = sum((amount * factor for amount, factor in zip(amounts, factors, strict=True)), start=Fraction(0))
        return Quantity(Number(total / first.factor), (replace(first, lone_letter=False),))
    return None


def _spoken_price(tokens: Sequence[Token]) -> Quantity | None:
    """3块5 and 1米8: a last digit right behind a unit counts tenths of it; None where it is something else."""
    if len(tokens) != 3 or tokens[1].kind != "han" or not (tokens[2].text.isdigit() and len(tokens[2].text) == 1):  # noqa: PLR2004
        return None
    amount, tenth, units = tokens[0].value, tokens[2].value, read_unit(tokens[1:2])
    if amount is None or tenth is None or amount.value.denominator != 1 or not any(unit.dimension for unit in units):
        return None
    return Quantity(Number(amount.value + tenth.value / 10), units)


def _is_recipe(tokens: Sequence[Token]) -> bool:
    """Whether a unit follows `1-1/2`, which cooks write for one and a half."""
    kinds = [token.kind if token.kind == "number" else token.text for token in tokens[:5]]
    tight = not any(token.spaced for token in tokens[1:5])
    return len(tokens) > 5 and tight and kinds == ["number", "-", "number", "/", "number"]  # noqa: PLR2004


def _unit_in_brackets(tokens: Sequence[Token]) -> Quantity | None:
    """The school's way to write a unit behind a calculation: 3×4=12(个), `12 (cm)`."""
    if not tokens[-1].is_sign(")"):
        return None
    opened = next((place for place in range(len(tokens) - 2, 0, -1) if tokens[place].is_sign("(")), None)
    if opened is None or tokens[opened + 1].kind not in ("letters", "han"):
        return None
    inside = tokens[opened + 1 : -1]
    if inside[0].text == "in" and len(inside) > 1:
        inside = inside[1:]
    if inside[0].kind == "letters" and len(inside[0].text) == 1 and not tokens[opened].spaced:
        return None
    if tokens[opened - 1].is_sign("/", "*", "^", "-", "+"):
        return None
    units = read_unit(inside)
    if units and inside[0].kind == "letters" and not any(unit.dimension for unit in units):
        raise NotAnExpressionError("a remark in brackets")
    return Quantity(parse_tokens(tokens[:opened]), units) if units else None


# Halves


def _halves(tokens: Sequence[Token]) -> Sequence[Token]:
    """Chinese halves in digits: 两个半小时 and 两小时半 as 2.5小时, 半小时 as 0.5小时, 一半 as 0.5."""
    if not any(token.kind == "han" and _HALF in token.text for token in tokens):
        return tokens
    merged = numbered(list(tokens))
    first = merged[0]
    if first.kind == "han" and len(merged) == 1 and first.text[0] == _HALF and len(first.text) > 1:
        return [
            _number(first, Fraction(1, 2)),
            first._replace(text=first.text[1:].removeprefix("个").removeprefix("個")),
        ]
    if len(merged) != _TWO or first.kind != "number" or first.value is None or merged[1].kind != "han":
        return tokens
    behind = merged[1]
    unit = behind.text
    if unit == _HALF:
        return [_number(first, first.value.value / 2)] if first.value.value == 1 else tokens
    if first.value.value.denominator != 1:
        return tokens
    value = _number(first, first.value.value + Fraction(1, 2))
    for lead in ("个半", "個半", "半"):
        if unit.startswith(lead) and len(unit) > len(lead):
            return [value, behind._replace(text=unit.removeprefix(lead))]
    return [value, behind._replace(text=unit[:-1])] if unit.endswith(_HALF) else tokens


def _number(token: Token, value: Fraction) -> Token:
    return token._replace(kind="number", text=str(value), value=Number(value))


def scaled(tree: Tree, unit: Unit) -> Tree:
    """The value of `tree` times `unit`, in base units."""
    result = tree if unit.factor == 1 else Apply("mul", (Number(unit.factor), tree))
    result = _times_pi(result, unit.pi)
    return Apply("add", (result, Number(unit.offset))) if unit.offset else result


def unscaled(tree: Tree, unit: Unit) -> Tree:
    """The number of `unit` that a value in base units is."""
    result = Apply("add", (tree, Number(-unit.offset))) if unit.offset else tree
    return _times_pi(Apply("div", (result, Number(unit.factor))), -unit.pi)


def _times_pi(tree: Tree, power: int) -> Tree:
    return Apply("mul", (tree, Apply("pow", (Name("pi"), Number(Fraction(power)))))) if power else tree
