"""Reads a number, an amount or an expression, whole or not at all: `12 cm`, 2小时30分, 三十二个, `2x+1`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product

from touchstone.checks.notation.numerals import digits_of, numbered
from touchstone.checks.notation.syntax import parse_tokens, tree_of
from touchstone.checks.notation.tokens import FUNCTIONS, GREEK, Token
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, negated, value_or_none
from touchstone.checks.notation.unit_reading import NOT_COUNTED, NOUN_LENGTH, UNIT_TOKENS, read_unit, units_of
from touchstone.checks.notation.units import Unit
from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import Quantity
from touchstone.checks.values.pieces import split
from touchstone.packaged import own_table

_TABLE = own_table(__file__)
_LEADS = frozenset(_TABLE["leads"])
"""Words that introduce a value and are not part of it."""
PERCENT_WORDS = frozenset(("percent", "percentage", "pct", "prozent"))
_PER_CENT = frozenset((("per", "cent"), ("pour", "cent"), ("por", "ciento")))
_CURRENCY_SIGNS = frozenset(("¤", "€", "£", "¥", "₩", "₹"))
CURRENCIES = frozenset(_TABLE["currency codes"])
"""The codes of currencies that stand before an amount."""
_HALF = "半"
_AND_A_HALF = ("个半", "個半", "半")
_TEMPERATURE = re.compile(r"(?=[摄攝华華零])(?P<scale>[摄攝华華]氏)?(?P<below>零下)?(?=[^氏度]|\Z)")
_DEGREES = re.compile(r"([摄攝华華]氏)?度\Z")
_SECOND_MARK = re.compile(r"\D\d+\D{0,2},")
"""A comma behind another mark between digits, which may separate members of a list: 1,200,300 and 1 200,3."""
_THOUSANDS = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "mn": 10**6, "bn": 10**9, "tn": 10**12}
"""Letters behind a number that may mean thousands, millions and billions: 5k. With money they do."""
_TIME = {"d": "day", "h": "h", "m": "min", "s": "s"}
"""Letters for days, hours, minutes and seconds if several stand together: 2h15m."""
ORDERS = frozenset(("O", "Theta", "Omega"))
"""Signs of orders of growth: O(n), Θ(n), Ω(n)."""
_TWO = 2
MAX_SIZES = 64
"""The most ways in which an amount in several units is added up: a unit may have other sizes elsewhere."""
_DOZENS = re.compile("打(?![折开開击擊架工赢贏败敗])([\u4e00-\u9fff]{0,7})")
_WITH_HUNDREDTHS = frozenset(("米", "公尺", "元", "块", "塊"))
"""Units behind which two digits count hundredths: 1米75, 3块05."""


def quantity(tokens: Sequence[Token]) -> Quantity:
    """The quantity that all of `tokens` form. Raises NotAnExpressionError if they form none."""
    while len(tokens) > 1 and (tokens[0].is_sign("~=", ":") or (tokens[0].kind == "han" and tokens[0].text in _LEADS)):
        tokens = tokens[1:]
    if not tokens:
        raise NotAnExpressionError("no value")
    tokens = _discount(_halves(_temperature(tokens)))
    if len(tokens) > 1 and tokens[0].kind == "han" and tokens[0].text[0] == "每" and tokens[1].kind == "number":
        # 每小时60公里 means 60公里/小时.
        per = tokens[0]._replace(text=tokens[0].text[1:], spaced=False)
        behind = [per._replace(kind="sign", text="/"), *([per] if per.text else [])]
        return replace(quantity([*tokens[1:], *behind]), rate=True)
    told = _said_otherwise(tokens) or _uncertain(tokens) or _per_amount(tokens) or _priced(tokens)
    if told is not None:
        return told
    tokens = _said_once(_percents(_dozens(numbered(list(tokens)))))
    if tokens[0].kind == "han" and tokens[0].text == "百分之":
        return Quantity(Apply("percent", (parse_tokens(tokens[1:]),)), percent=True)
    if (share := _percentage(tokens)) is not None:
        return share
    if (whole := _mixed_units(tokens) or _spoken_price(tokens)) is not None:
        return whole
    kinds = [token.kind if token.kind == "number" else token.text for token in tokens[:6]]
    tight = not any(token.spaced for token in tokens[1:5])
    if tight and kinds[:-1] == ["number", "-", "number", "/", "number"]:
        # In recipes, 1-1/2 cups means one and a half.
        raise NotAnExpressionError("a mixed number with a hyphen, or a difference")
    measured = _unit_in_brackets(tokens) or _measured(tokens) or _per_unit(tokens)
    numbers = [token.text for token in tokens if token.kind == "number"]
    several = any(_SECOND_MARK.search(text) for text in numbers)
    return measured or Quantity(parse_tokens(tokens), letters=_letters_behind(tokens), listed=several)


def _percentage(tokens: Sequence[Token]) -> Quantity | None:
    """A number or expression with a percent sign at its end; None without one."""
    for place, token in enumerate(tokens[:-3]):
        if token.text == "%" and tokens[place + 1].kind == "letters" and tokens[place + 2].is_sign("/"):
            raise NotAnExpressionError("a percentage by weight, volume or amount")
    if not tokens[-1].is_sign("%", "‰"):
        return None
    if len(tokens) > 1 and tokens[-2].kind == "letters" and len(tokens[-2].text) > 1:
        raise NotAnExpressionError("a percentage by weight, volume or amount")
    if any(token.is_sign("pm") for token in tokens[:-1]) and sum(token.is_sign("%", "‰") for token in tokens) == 1:
        raise NotAnExpressionError("an uncertainty in percent of the value, or a percentage with its uncertainty")
    if [token.text if token.kind == "sign" else token.kind for token in tokens] == ["number", "/", "number", "%"]:
        return Quantity(Apply("percent", (parse_tokens(tokens[:-1]),)), percent=True)  # ¾ %
    return Quantity(parse_tokens(tokens), percent=True)


def _said_otherwise(tokens: Sequence[Token]) -> Quantity | None:
    """`0.2 (20%)` and `1/5 (0.2)`: a number that is said again in another form is no product; None for other tokens.

    Raises NotAnExpressionError for a number with the share that it is of something: `10 (20%)`.
    """
    if not tokens[-1].is_sign(")"):
        return None
    opened = next((place for place, token in enumerate(tokens) if token.is_sign("(")), 0)
    before, inside = tokens[:opened], tokens[opened + 1 : -1]
    plain = all(token.kind == "number" or token.is_sign("/", "%", "{", "}", "frac") for token in (*before, *inside))
    if not (before and inside and plain):
        return None
    shares = [side[-1].text == "%" for side in (before, inside)]
    value, again = (value_or_none(quantity, side) for side in (before, inside))
    if value is None or again is None or all(shares):
        return None
    if rational(value.tree) == rational(again.tree) and (any(shares) or len(before) != len(inside)):
        if not tokens[opened].spaced:
            raise NotAnExpressionError("a number in two forms, or a product")
        return value
    if any(shares):
        raise NotAnExpressionError("a number, and the share that it is of something")
    return None


def _said_once(tokens: list[Token]) -> list[Token]:
    """`5 (five)` and `twelve (12) eggs` with their number once: a number in words and again in digits is no product."""
    match tokens:
        case [Token("number") as one, Token("open"), Token("number") as other, Token("close"), *behind]:
            if one.text[0].isdecimal() != other.text[0].isdecimal():
                if one.value != other.value:
                    raise NotAnExpressionError("a number said twice, and otherwise")
                return [one, *behind]
    return tokens


def _temperature(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens of a temperature with its sign in front and its scale behind: 摄氏零下5度 as −5摄氏度."""
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


def _discount(tokens: Sequence[Token]) -> Sequence[Token]:
    """A discounted price in tenths of the full price: 打八折 as 8折, 八五折 as 8.5折."""
    first, last = tokens[0], tokens[-1]
    if not last.text.endswith("折"):
        return tokens
    rest = numbered([first._replace(text=first.text.removeprefix("打")), *tokens[1:]][first.text == "打" :])
    match rest:
        case [Token(value=Number(value=tenths)) as number, behind] if tenths > 10:  # noqa: PLR2004
            return [_number(number, tenths / 10), behind]
    return rest


def _dozens(tokens: list[Token]) -> list[Token]:
    """The tokens with Chinese dozens as twelves: 半打 as 6, 两打鸡蛋 as 24个鸡蛋."""
    match tokens:
        case [Token(value=Number(value=count)) as number, Token(kind="han") as behind] if not behind.spaced:
            if (dozens := _DOZENS.fullmatch(behind.text)) is not None:
                counted = [behind._replace(text=f"个{dozens[1]}")] if dozens[1] else []
                return [_number(number, 12 * count), *counted]
    return tokens


def _percents(tokens: list[Token]) -> list[Token]:
    """The tokens with `percent`, `per cent`, `pour cent` and `por ciento` as the percent sign."""
    found: list[Token] = []
    for token in tokens:
        word = token.text.lower() if token.kind == "letters" else ""
        if found and word in PERCENT_WORDS:
            found.append(token._replace(kind="sign", text="%"))
        elif found and (found[-1].text.lower(), word) in _PER_CENT:
            found[-1] = found[-1]._replace(kind="sign", text="%")
        else:
            found.append(token)
    return found


# Money


def _priced(tokens: Sequence[Token]) -> Quantity | None:
    """An amount behind its currency: `$5`, `-$5`, `US$5`, `RMB 5`, `NT$ 100`; None if no currency stands in front."""
    signed = tokens[0].is_sign("-", "+")
    rest = tokens[1:] if signed else tokens
    length = currency_length(rest)
    if not length or len(rest) == length:
        return None
    own = read_unit(rest[:length])
    if not own or not (rest[length].kind in ("number", "function") or rest[length].is_sign("-", "(", "frac")):
        return None
    behind = rest[length:]
    if len(behind) == _TWO and behind[1].text in _THOUSANDS and not behind[1].spaced and behind[0].value is not None:
        behind = [_number(behind[0], behind[0].value.value * _THOUSANDS[behind[1].text])]
    rate = read_unit(behind[1:]) if behind[0].kind == "number" and behind[1:2] and behind[1].is_sign("/") else ()
    amount = Quantity(parse_tokens(behind[:1]), rate) if rate else quantity(behind)
    tree = negated(amount.tree) if tokens[0].is_sign("-") else amount.tree
    if amount.units and all(unit.dimension and max(power for _, power in unit.dimension) < 0 for unit in amount.units):
        return Quantity(tree, tuple(one * other for one, other in product(own, amount.units)))  # $5 per hour
    if amount.units:
        same = tuple(one for one in amount.units for other in own if one.dimension == other.dimension)
        if not same and any(unit.noun == "" for unit in amount.units):
            raise NotAnExpressionError("two currencies")
        own = same or tuple(replace(one, noun=other.noun) for one, other in product(own, amount.units))
    return Quantity(tree, own, letters=amount.letters)


def currency_length(tokens: Sequence[Token]) -> int:
    """How many tokens at the front name a currency; 0 if none do."""
    match [(token.kind, token.text) for token in tokens[:2]]:
        case [("letters", code), ("sign", "¤")] if code in CURRENCIES:
            return 2
        case [("letters", code), *_] if code in CURRENCIES:
            return int(len(code) == 3)  # noqa: PLR2004 - the letters of a currency's code
        case [("sign", sign), *_] if sign in _CURRENCY_SIGNS:
            return 1
    return 0


# Numbers with units


def _measured(tokens: Sequence[Token]) -> Quantity | None:
    """A number or expression with the longest unit that can stand behind it; None if no unit stands at the end."""
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
        constant, counted = tree.is_constant, any(unit.noun for unit in units)
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


def _per_amount(tokens: Sequence[Token]) -> Quantity | None:
    """An amount per power of ten of a unit: `15 g/100 mL`; None for any other text.

    In `6 kg/2 m`, the divisor may be 2 alone.
    """
    for place, token in enumerate(tokens[:-2]):
        number = tokens[place + 1]
        if number.value is None or number.text.strip("0") != "1" or number.text == "1":
            continue
        if not (token.is_sign("/") or token.text in ("per", "每")) or tokens[place + 2].kind not in ("letters", "han"):
            continue
        over, under = value_or_none(quantity, tokens[:place]), read_unit(tokens[place + 2 :])
        if over is not None and over.units and any(unit.dimension for unit in under):
            units = dict.fromkeys(one * other**-1 for one in over.units for other in under)
            share = Fraction(1) / number.value.value
            return Quantity(over.tree, tuple(replace(unit, factor=unit.factor * share) for unit in units), rate=True)
    return None


def _uncertain(tokens: Sequence[Token]) -> Quantity | None:
    """An amount and its uncertainty, each with a unit: `5 cm ± 1 mm`.

    None if no amount with a unit stands before the ±. Raises NotAnExpressionError if the units do not fit.
    """
    (amount, *uncertainty), _ = split(tokens, frozenset(("pm",)))
    measured = value_or_none(quantity, amount) if len(uncertainty) == 1 and amount else None
    if measured is None or measured.bare is not None or not any(unit.dimension for unit in measured.units):
        return None
    spread = quantity(uncertainty[0])
    match [(one, other) for one in measured.units for other in spread.units if one.dimension == other.dimension]:
        case [(one, other)] if not one.offset and not other.offset:
            return Quantity(Apply("pm", (measured.tree, unscaled(scaled(spread.tree, other), one))), (one,))
    raise NotAnExpressionError("an uncertainty in another unit, or in none")


def _per_unit(tokens: Sequence[Token]) -> Quantity | None:
    """A number per unit without spaces, such as `15/hr`; None if the tokens may be an expression: 15/h."""
    if len(tokens) < _TWO or tokens[0].kind != "number" or not tokens[1].is_sign("/"):
        return None
    units = read_unit(tokens[1:])
    known = bool(units) and all(unit.dimension for unit in units)
    return Quantity(parse_tokens(tokens[:1]), units) if known and tree_of(tokens) is None else None


def _letters_behind(tokens: Sequence[Token]) -> bool:
    """Whether letters stand apart behind a number: they may be an unknown unit."""
    first = next((place for place, token in enumerate(tokens) if token.kind == "letters"), None)
    if first is None or first == 0 or tokens[first - 1].kind != "number" or tokens[first].text in FUNCTIONS:
        return False
    if tokens[first].text in ("C", "P") and tokens[first + 1 : first + 2] and tokens[first + 1].kind == "number":
        return True  # 5C2 may be a number of combinations, or five times C_2
    separated = tokens[first].spaced or tokens[first].upright or tokens[first].text in _THOUSANDS
    known = ("letters", "accent", "open", "close", "number")
    return separated and all(token.kind in known or token.is_sign("*", "/", "^", "-") for token in tokens[first:])


def _may_begin_unit(tokens: Sequence[Token], place: int) -> bool:
    """Whether a unit may begin at `place`: a word, a Chinese character, a degree or a currency, behind an operand."""
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
    return token.text in _CURRENCY_SIGNS or token.text == "¢" or (token.text in "'\"" and before.kind == "number")


def added_up(tokens: Sequence[Token]) -> Quantity | None:
    """The sum of amounts in descending units with words between: `1 hour and 30 minutes`; None if they are a list."""
    joints = [token for token in tokens if token.is_sign(",") or token.text == "and"]
    rest = [token for token in tokens if token not in joints]
    return _mixed_units(rest) if joints else None


def _mixed_units(tokens: Sequence[Token]) -> Quantity | None:
    """The sum of amounts in descending units of one dimension: 2小时30分钟, `1 m 20 cm`, 5元3角, `5 ft 3 in`.

    None if the tokens are not such amounts.
    """
    starts = [place for place, token in enumerate(tokens) if token.kind == "number"]
    if len(starts) < _TWO or starts[0] != 0 or tokens[-1].kind == "number":
        return None
    ends = [*starts[1:], len(tokens)]
    names = ["".join(token.text for token in tokens[start + 1 : end]) for start, end in zip(starts, ends, strict=True)]
    # In 5m2s the 2 may be a power of m.
    clear = all(tokens[start].spaced or tokens[start].text not in ("2", "3") for start in starts[1:])
    is_time = set(names) <= _TIME.keys() and not any(tokens[start + 1].spaced for start in starts)
    parts = [
        (tokens[start], units_of(_TIME[name]) if is_time else read_unit(tokens[start + 1 : end]))
        for start, end, name in zip(starts, ends, names, strict=True)
    ]
    if not all(units for _, units in parts):
        return None
    amounts = [number.value.value for number, _ in parts if number.value is not None]
    count, found = Fraction(0), list[Unit]()
    for first in parts[0][1]:
        same = [[unit for unit in units if unit.dimension == first.dimension and not unit.noun] for _, units in parts]
        factors = [units[0].factor for units in same if units]
        if len(factors) < len(parts) or factors != sorted(set(factors), reverse=True) or first.offset:
            continue
        if any(amount.denominator != 1 for amount in amounts[:-1]):
            return None
        total, *others = _totals(amounts, [units[0] for units in same])
        count = count or total / first.factor
        # 2'30" is 2.5 feet or 2.5 minutes: further readings get a unit of such a size that the first count is theirs.
        factor = total / count if count else first.factor
        elsewhere = frozenset(other / total for other in others if total and other != total)
        unit = replace(first, factor=factor, elsewhere=elsewhere)
        found.append(replace(unit, lone_letter=is_time and not clear, unsure=bool(found)))
    # 2h15m may also be a product of names.
    return Quantity(Number(count), tuple(found), bare=tree_of(tokens) if is_time else None) if found else None


def _totals(amounts: Sequence[Fraction], units: Sequence[Unit]) -> Iterator[Fraction]:
    """What amounts come to in base units: first by the usual sizes of their units, then by their sizes elsewhere."""
    for sizes in islice(product(*(unit.sizes() for unit in units)), MAX_SIZES):
        yield sum((amount * size.factor for amount, size in zip(amounts, sizes, strict=True)), start=Fraction(0))


def _spoken_price(tokens: Sequence[Token]) -> Quantity | None:
    """3块5, 1米75, 七成五: the digits right behind a unit count tenths or hundredths of it; None for any other text."""
    if len(tokens) != 3 or tokens[1].kind != "han" or tokens[2].spaced:  # noqa: PLR2004
        return None
    amount, decimals = tokens[0].value, digits_of(tokens[2].text)
    units = tuple(unit for unit in read_unit(tokens[1:2]) if unit.dimension or not unit.noun)
    if amount is None or amount.value.denominator != 1 or not units:
        return None
    if len(decimals) != 1 and not (len(decimals) == _TWO and tokens[1].text in _WITH_HUNDREDTHS):
        return None
    return Quantity(Number(amount.value + Fraction(int(decimals), 10 ** len(decimals))), units)


def _unit_in_brackets(tokens: Sequence[Token]) -> Quantity | None:
    """A unit in brackets behind a number or calculation, as pupils write it: 3×4=12(个), `12 (cm)`; else None."""
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
    if opened == 1 and GREEK.get(tokens[0].text, tokens[0].text) in ORDERS:
        return None  # O(nm)
    if tokens[opened - 1].is_sign("/", "*", "^", "-", "+"):
        return None
    units = read_unit(inside)
    if not units and any(len(token.text) >= NOUN_LENGTH and token.text in NOT_COUNTED for token in inside):
        raise NotAnExpressionError("a remark in brackets")
    if units and inside[0].kind == "letters" and not any(unit.dimension for unit in units):
        raise NotAnExpressionError("a remark in brackets")
    return Quantity(parse_tokens(tokens[:opened]), units) if units else None


# Halves


def _halves(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens with Chinese halves in digits: 两个半小时 and 两小时半 as 2.5小时, 半小时 as 0.5小时, 一半 as 0.5."""
    if not any(token.kind == "han" and _HALF in token.text for token in tokens):
        return tokens
    match numbered(list(tokens)):
        case [Token(kind="han", text=text) as first] if text[0] == _HALF and len(text) > 1:
            unit = text[1:].removeprefix("个").removeprefix("個")
            return [_number(first, Fraction(1, 2)), first._replace(text=unit)]
        case [Token(value=Number(value=whole)) as first, Token(kind="han", text=text)] if text == _HALF and whole == 1:
            return [_number(first, Fraction(1, 2))]
        case [Token(value=Number(value=whole)) as first, Token(kind="han", text=text) as behind] if text != _HALF:
            unit = next((text.removeprefix(lead) for lead in _AND_A_HALF if text.startswith(lead)), "")
            unit = unit or (text.removesuffix(_HALF) if text.endswith(_HALF) else "")
            if unit and whole.denominator == 1:
                return [_number(first, whole + Fraction(1, 2)), behind._replace(text=unit)]
    return tokens


def _number(token: Token, value: Fraction) -> Token:
    return token._replace(kind="number", text=str(value), value=Number(value))


def scaled(tree: Tree, unit: Unit) -> Tree:
    """The value of `tree` times `unit`, in base units."""
    result = tree if unit.factor == 1 else Apply("mul", (Number(unit.factor), tree))
    result = _times_pi(result, unit.pi)
    return Apply("add", (result, Number(unit.offset))) if unit.offset else result


def unscaled(tree: Tree, unit: Unit) -> Tree:
    """The number of `unit` in `tree`, a value in base units."""
    result = Apply("add", (tree, Number(-unit.offset))) if unit.offset else tree
    return _times_pi(Apply("div", (result, Number(unit.factor))), -unit.pi)


def _times_pi(tree: Tree, power: int) -> Tree:
    return Apply("mul", (tree, Apply("pow", (Name("pi"), Number(Fraction(power)))))) if power else tree
