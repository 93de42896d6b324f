"""Reads numbers in words (Chinese and English numerals, scales behind digits) as tokens like those of digits."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import NotAnExpressionError, Number
from touchstone.checks.notation.units import UNITS
from touchstone.packaged import own_table

_TABLE = own_table(__file__)
_DIGITS: dict[str, int] = _TABLE["digits"]
_TENS: dict[str, int] = _TABLE["tens"]
MYRIADS: dict[str, int] = _TABLE["myriads"]
"""Characters that multiply the number before them."""
_TWO = "两兩"
_SIGNS = "负負"
_POINTS = "点點"
_HAN_DIGITS = dict(zip("123456789", "一二三四五六七八九", strict=True))
_INTEGER = f"[{''.join(_DIGITS)}{''.join(_TENS)}{''.join(MYRIADS)}]"
_CHINESE = re.compile(
    rf"[{_SIGNS}]?+(?:{_INTEGER}{{1,30}}+(?:[{_POINTS}][{''.join(_DIGITS)}]{{1,30}}+)?+"
    rf"(?:又{_INTEGER}{{1,30}}+)?+(?:分之{_INTEGER}{{1,30}}+(?:[{_POINTS}][{''.join(_DIGITS)}]{{1,30}}+)?+)?+)"
)
_JOINTS = ("又", "分之")
"""Words between the parts of a number in digits: 3又1/2, 3分之2."""
_BINDERS = ("√", "∛", "^", "_", "/", "*")
"""Signs that bind the number behind them: √5分之2 is two over the root of five."""
_ESTIMATE = re.compile("一二|二三|三四|三五|四五|五六|六七|七八|八九|百十")
"""Two numerals side by side as an estimate: seven or eight, a hundred or so. The value is neither of them."""
_DIGITS_AND_SCALES = re.compile(
    r"(?P<first>[1-9][0-9]{0,3}+)(?P<scale>[百佰千仟万萬亿億])"
    r"(?P<rest>(?:[1-9](?:[十拾百佰千仟][万萬]|[十拾百佰千仟万萬]))*+(?:[零〇][1-9]|[1-9]\Z)?+)(?![0-9.十拾百佰千仟万萬亿億])"
)
"""Digits between Chinese scales: 1万5 (15,000, as people say it), 1万零5 (10,005), 3万2千."""
_SCALE = re.compile(f"[{''.join(_TENS)}{''.join(MYRIADS)}]{{1,8}}+")

_ENGLISH: dict[str, int] = _TABLE["english"]
_ENGLISH_TENS: dict[str, int] = _TABLE["english tens"]
SCALES: dict[str, int] = _TABLE["scales"]
"""Words that multiply the number before them."""
_PARTS: dict[str, int] = _TABLE["parts"]
"""The denominators of fractions in words, by the word that ends the numeral: three quarters, a half."""
_ALONE = frozenset(("half", "quarter"))
"""Of these, those that are a number alone: half, half a mile."""
_ADVERBS: dict[str, int] = _TABLE["adverbs"]
_NEGATIVE = frozenset(("negative", "minus"))
_ONE = frozenset(("a", "an"))
NUMBER_WORDS = frozenset((*_ENGLISH, *_ENGLISH_TENS, *SCALES, *_PARTS, *_ADVERBS, *_NEGATIVE))
"""The words of English numerals."""
_TEN, _HUNDRED = 10, 100


def numbered(tokens: list[Token]) -> list[Token]:
    """The tokens with numbers in words read as numbers: 三十二个 as 32 个, `two million` as 2,000,000, 3万 as 30,000.

    The text behind a Chinese numeral becomes a token of its own. A scale that begins a unit's name belongs to it:
    3千克.
    """
    if not any(token.kind in ("han", "letters") for token in tokens):
        return tokens
    found: list[Token] = []
    for token in _with_scales(spoken(tokens)):
        if token.kind == "number" and not token.spaced and found and found[-1].text in tuple(_SIGNS):
            found[-1] = found[-1]._replace(kind="sign", text="-")
        joined = found[-1] if found and found[-1].text in _JOINTS else None
        if joined is not None and len(found) > 1 and _whole(found[-2]) and (token.value or token.text == "frac"):
            _join(found, token)
        else:
            found.extend(_chinese(token, found) if token.kind == "han" else (token,))
    return found


def _with_scales(tokens: list[Token]) -> list[Token]:
    """The tokens; a number in digits and scales at their beginning becomes one token: 1万5, 1万零5, 3万2千."""
    length = next((at for at, token in enumerate(tokens) if at and token.spaced), len(tokens))
    run = "".join(token.text for token in tokens[:length])
    found = _DIGITS_AND_SCALES.match(run) if length > 2 else None  # noqa: PLR2004 - of one scale alone: 3万
    if found is None or not found["rest"]:
        return tokens
    falling = [_integer("一" + scale) or 0 for scale in _SCALE.findall(found[0])]
    rest = _integer("一" + found["scale"] + "".join(_HAN_DIGITS.get(each, each) for each in found["rest"]))
    if rest is None or falling != sorted(set(falling), reverse=True):
        return tokens
    value = (int(found["first"]) - 1) * falling[0] + rest
    end, behind, place = found.end(), list[Token](), 0
    for token in tokens:
        used = min(max(end - place, 0), len(token.text))
        place += len(token.text)
        if used and token.kind == "han" and _names_a_unit(token.text):
            return tokens  # 3万2千米 may be two kilometres
        if used < len(token.text):
            behind.append(_from(token, used) if used else token)
    return [tokens[0]._replace(text=found[0], end=tokens[0].start + end, value=Number(value)), *behind]


def _whole(token: Token) -> bool:
    return token.kind == "number" and token.text.isdecimal()


def _join(found: list[Token], token: Token) -> None:
    """Read the token behind 又 as the fraction of a mixed number, and the token behind 分之 as the numerator."""
    joint, before = found.pop(), found[-2] if len(found) > 1 else None
    if before is not None and (before.kind in ("letters", "function") or before.is_sign(*_BINDERS)):
        raise NotAnExpressionError("it is not clear how much of what stands before is the denominator, or the whole")
    if joint.text == "又":
        found.append(token._replace(spaced=True))
        return
    under = found.pop()
    if under.value is None or token.value is None or not under.value.value:
        raise NotAnExpressionError("a fraction of nothing")
    value = Number(token.value.value / under.value.value)
    found.append(under._replace(text=f"分之{token.text}", end=token.end, value=value))


def spoken(tokens: list[Token]) -> list[Token]:
    """The tokens with English numerals as numbers: `twenty-one` as 21, `2 million` as 2,000,000, `minus five` as -5."""
    if not any(token.kind == "letters" and token.text.lower() in NUMBER_WORDS for token in tokens):
        return tokens
    if len(tokens) == 1 and (times := _ADVERBS.get(tokens[0].text.lower())):
        word = tokens[0]
        return [word._replace(kind="number", value=Number(Fraction(times))), word._replace(text="times", spaced=True)]
    tokens = _half_forward(tokens)
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        length = _english_length(tokens, place, found) if tokens[place].kind == "letters" else 0
        found.append(_spoken(tokens[place : place + length], found) if length else tokens[place])
        is_part = length and tokens[place + length - 1].text.lower() in _PARTS
        place += (length or 1) + (_article(tokens[place + length :]) if is_part else 0)
    return [_signed(token, following) for token, following in zip(found, [*found[1:], None], strict=True)]


def with_joined_words(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The ways to read `one thousand, two hundred`, two numbers or one; nothing if no comma stands so.

    `tokens` come from `spoken`. What is behind such a comma is less than the scale before it. Nothing in a way that is
    returned needs to be read twice.
    """
    found: list[Token] = []
    for token in tokens:
        if len(found) > 1 and found[-1].is_sign(",") and (joined := _continued(found[-2], token)) is not None:
            found[-2:] = [joined]
        else:
            found.append(token)
    if len(found) < len(tokens):
        for way in (list(tokens), found):
            yield [
                each._replace(text=str(each.value.value)) if each.value is not None and " " in each.text else each
                for each in way
            ]


def _continued(first: Token, behind: Token) -> Token | None:
    """Two numerals in words as one that continues behind a comma; None if they are two numbers."""
    scale = SCALES.get(first.text.rpartition(" ")[2], 0)
    if scale <= _HUNDRED or first.value is None or behind.value is None or not behind.text[:1].isalpha():
        return None
    if behind.kind != "number" or not 0 < behind.value.value < scale:
        return None
    value = Number(first.value.value + behind.value.value)
    return first._replace(text=f"{first.text} {behind.text}", end=behind.end, value=value)


def _half_forward(tokens: list[Token]) -> list[Token]:
    """Move the half of `two hours and a half` forward: two and a half hours."""
    words = [token.text.lower() for token in tokens]
    is_number = [
        token.kind == "number" or word in NUMBER_WORDS or word == "-" for token, word in zip(tokens, words, strict=True)
    ]
    count = 1 if words[0] in _ONE else next((place for place, known in enumerate(is_number) if not known), len(words))
    if words[-3:] != ["and", "a", "half"] or not 0 < count < len(words) - 3 or any(is_number[count:-1]):
        return tokens
    first = [tokens[0]._replace(text="one")] if words[0] in _ONE else tokens[:count]
    return [*first, *tokens[-3:], *tokens[count:-3]]


def _article(tokens: list[Token]) -> int:
    """How many tokens stand between a fraction in words and its noun: half an hour, a quarter of a litre."""
    words = [token.text.lower() for token in tokens[:3]]
    count = 2 if words[:1] == ["of"] else 1
    return count if len(words) > count and words[count - 1] in _ONE and tokens[count].kind == "letters" else 0


def _signed(token: Token, following: Token | None) -> Token:
    """The token; "minus" or "negative" before a number becomes the minus sign."""
    named = token.kind == "letters" and token.text.lower() in _NEGATIVE
    return token._replace(kind="sign", text="-") if named and following and following.kind == "number" else token


def digits_of(text: str) -> str:
    """Digits, Chinese or not, as ASCII digits; "" if `text` holds anything but digits."""
    found = "".join(str(_DIGITS.get(character, character)) for character in text)
    return found if found.isascii() and found.isdecimal() else ""


def number_in_words(text: str) -> Fraction | None:
    """The value of `text` as a Chinese numeral; None if the whole text is not one, or if it is an estimate."""
    match = _CHINESE.fullmatch(text)
    return None if match is None else _value(text)


# Chinese


def _chinese(token: Token, before: list[Token]) -> list[Token]:
    """A run of Chinese characters, split into the numeral at its beginning, if any, and the rest."""
    text = token.text
    if text == "百分之":
        return [token]
    if text.startswith("百分之") and (percent := number_in_words(text[3:])) is not None:
        number = token._replace(kind="number", text=text[3:], start=token.start + 3, value=Number(percent))
        return [token._replace(text="百分之", end=number.start), number._replace(spaced=False)]
    joint = next((joint for joint in _JOINTS if text.startswith(joint)), "")
    part = _CHINESE.match(text, len(joint)) if joint and before and _whole(before[-1]) else None
    if part is not None and (share := _value(part[0])) is not None:
        before.append(token._replace(text=joint))
        _join(before, token._replace(kind="number", text=text, value=Number(share)))
        return _rest(token, part.end())
    tight = not token.spaced or text[0] in MYRIADS  # 3 万元
    scaled = before[-1] if tight and before and before[-1].kind == "number" else None
    factor, length = scale_of(text)
    if scaled is not None and scaled.value is not None and length:
        before.pop()
        end = token.start + length
        product = Number(scaled.value.value * factor)
        return [scaled._replace(text=scaled.text + text[:length], end=end, value=product), *_rest(token, length)]
    match = _CHINESE.match(text)
    if match is None or scaled is not None:
        return [token]
    length = _without_a_unit(text, match.end())
    value = _value(text[:length])
    if value is None or (text[:length] in _TENS and _names_a_unit(text)):
        return [token]
    number = token._replace(kind="number", text=text[:length], end=token.start + length, value=Number(value))
    return [number, *_rest(token, length)]


def scale_of(text: str) -> tuple[int, int]:
    """The factor of the scale at the beginning of a text, and its length in characters; 1 and 0 if there is none.

    The scale multiplies the number before the text: 千 in 2千. In 2千克 it belongs to the unit's name.
    """
    found = _SCALE.match(text)
    length = 0 if found is None or _names_a_unit(text) else _without_a_unit(text, found.end())
    factor = _integer("一" + text[:length]) if length else None
    return (1, 0) if factor is None else (int(factor), length)


def _without_a_unit(text: str, length: int) -> int:
    """The length of a numeral at the beginning of a text without a scale at its end that begins a unit.

    No numeral has this scale there: 三万千米, 二十五千克.
    """
    last = length - 1
    if last < 1 or text[last] not in _TENS or not _names_a_unit(text[last:]):
        return length
    smaller = any(_TENS.get(each, _TENS[text[last]] + 1) <= _TENS[text[last]] for each in text[:last])
    return last if smaller or text[last - 1] in MYRIADS else length


def _names_a_unit(text: str) -> bool:
    return text in UNITS or text[:2] in UNITS


def _rest(token: Token, used: int) -> list[Token]:
    """The tokens behind a numeral: its unit, and then the next numeral with its own unit: 一小时三十分.

    A next numeral is looked for only if the unit is known.
    """
    if used == len(token.text):
        return []
    behind = _from(token, used)
    following = _CHINESE.search(behind.text, 1)
    if following is None or not _names_a_unit(behind.text[: following.start()]):
        return [behind]
    unit = behind._replace(text=behind.text[: following.start()])
    return [unit, *_chinese(_from(behind, following.start()), [])]


def _from(token: Token, used: int) -> Token:
    return token._replace(text=token.text[used:], start=token.start + used, spaced=False)


def _value(text: str) -> Fraction | None:
    if text[0] in _SIGNS:
        value = _value(text[1:]) if len(text) > 1 else None
        return None if value is None else -value
    if "又" in text:
        whole, _, part = text.partition("又")
        values = _value(whole), _value(part)
        return None if values[0] is None or values[1] is None or "分之" not in part else values[0] + values[1]
    if "分之" in text:
        under, _, over = text.partition("分之")
        divisor, dividend = _value(under), _value(over)
        return dividend / divisor if dividend is not None and divisor else None
    for point in _POINTS:
        if point in text:
            whole, _, decimals = text.partition(point)
            value = _integer(whole)
            return None if value is None else value + Fraction(int(digits_of(decimals)), 10 ** len(decimals))
    return _integer(text)


def _integer(text: str) -> Fraction | None:
    """The value of a Chinese integer or of bare digits (二〇二四); None for an estimate (七八, 三五, 二三十)."""
    if _ESTIMATE.fullmatch(text):
        return None
    if len(text) > 1 and (written := digits_of(text)):
        return None if any(character in _TWO for character in text) else Fraction(int(written))
    total = section = digit = 0
    unit = 1
    for character in text:
        if character in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[character]
            unit = 1 if character in "零〇" else unit
        elif character in _TENS:
            unit = _TENS[character]
            section += (digit or 1) * unit
            digit = 0
        else:
            unit = MYRIADS[character]
            if not total + section + digit:
                return None
            whole = unit > total or not section + digit  # 一万亿, and 一亿亿
            total = (total + section + digit) * unit if whole else total + (section + digit) * unit
            section = digit = 0
    # 两万三 is 23,000: a last digit right after a unit above ten counts tenths of that unit.
    trailing = digit * (unit // 10) if digit and unit > 10 and text[-2] not in "零〇" else digit  # noqa: PLR2004
    return Fraction(total + section + trailing)


# English


def _english_length(tokens: list[Token], place: int, before: list[Token]) -> int:
    """How many tokens from `place` on are words of one English numeral; 0 if no numeral begins there."""
    number_before = bool(before) and before[-1].kind == "number"
    end, last = place, place
    while end < len(tokens):
        token = tokens[end]
        word = token.text.lower()
        hyphen = token.is_sign("-") and end > place and not token.spaced
        following = next((each.text.lower() for each in tokens[end + 1 : end + 3] if each.text != "-"), "")
        joined = word == "and" and (end > place or number_before)
        joined = joined or (
            word in _ONE
            and (following in _PARTS or (following in SCALES and end == place))
            and (end > place or not place or before[-1].kind != "letters")
        )
        joined = joined or (word == "point" and end > place and following in _ENGLISH)
        if not (token.kind == "letters" or hyphen) or (not hyphen and token.upright != tokens[place].upright):
            break
        known = word in _ENGLISH or word in _ENGLISH_TENS or word in SCALES or word in _PARTS
        if not (hyphen or joined or known):
            break
        end += 1
        last = end if known else last
    words = _words(tokens[place:last])
    if not words or (not number_before and words[0] in SCALES and words[0] != "dozen"):
        return 0
    if number_before and (words[0] not in (*SCALES, "and") or not tokens[place].spaced):
        return 0
    if words[0] == "and" and words[-1] not in _PARTS:
        return 0
    return last - place if _english(words, Fraction(1) if number_before else None) is not None else 0


def _words(tokens: list[Token]) -> list[str]:
    """The words of a numeral; in "a dozen" the article becomes "one"."""
    words = [token.text.lower() for token in tokens if token.kind == "letters"]
    return ["one", *words[1:]] if words[:1] and words[0] in _ONE and set(words[1:2]) & SCALES.keys() else words


def _spoken(tokens: list[Token], before: list[Token]) -> Token:
    """The tokens of one numeral as one number token; a number before it that it scales is included."""
    words = _words(tokens)
    scaled = before.pop() if before and before[-1].kind == "number" else None
    if scaled is not None and words[0] in SCALES:
        scaled = _quotient(before, scaled)
    value = _english(words, scaled.value.value if scaled is not None and scaled.value is not None else None)
    first = scaled or tokens[0]
    text = " ".join(([scaled.text] if scaled else []) + words)
    return first._replace(kind="number", text=text, end=tokens[-1].end, value=Number(value or Fraction(0)))


def _quotient(before: list[Token], under: Token) -> Token:
    """The number before a scale: half, in `1/2 million`, whose first tokens are taken from those before it."""
    match before:
        case [*_, Token("number") as over, Token("sign", "/") as stroke] if not (stroke.spaced or under.spaced):
            if over.value is not None and under.value is not None and 0 < over.value.value < under.value.value:
                del before[-2:]
                share = Number(over.value.value / under.value.value)
                return over._replace(text=f"{over.text}/{under.text}", end=under.end, value=share)
    return under


def _mixed(words: list[str]) -> tuple[list[str], list[str]]:
    """The words before the last "and" and the words behind it; without an "and", all words are behind."""
    place = max((place for place, word in enumerate(words) if word == "and"), default=None)
    return ([], words) if place is None else (words[:place], words[place + 1 :])


def _english(words: list[str], scaled: Fraction | None) -> Fraction | None:
    """The value of `three hundred and five`, `two and three quarters`; None if the words are not a numeral.

    `scaled` is the number in digits before the words. Raises NotAnExpressionError if the words may mean two numbers.
    """
    if words[-1] in _PARTS:
        whole, part = _mixed(words[:-1])
        # A fifth is a part, but fifth may be a place in an order.
        alone = part in (["a"], ["an"]) or (not part and words[-1] in _ALONE)
        over = Fraction(1) if alone else _english(part, None) if len(part) == 1 else None
        joined = part == ["ten"] and _PARTS[words[-1]] > _HUNDRED  # ten thousandths, or ten-thousandths
        if joined or len(part) > 1 or (whole and whole[-1] in SCALES):
            raise NotAnExpressionError("three hundred and five sixths may be 305/6, and twenty three quarters 23/4")
        if over is None:
            return None
        before = _english(whole, scaled) if whole else scaled or Fraction(0)
        return None if before is None else before + over / _PARTS[words[-1]]
    if "point" in words:
        whole, decimals = words[: words.index("point")], words[words.index("point") + 1 :]
        value = _english(whole, scaled)
        if value is None or not decimals or any(_ENGLISH.get(word, _TEN) >= _TEN for word in decimals):
            return None
        return value + Fraction(int("".join(str(_ENGLISH[word]) for word in decimals)), _TEN ** len(decimals))
    total, section = Fraction(0), scaled or Fraction(0)
    seen = scaled is not None
    ones = tens = scaled is not None
    for word in words:
        if word == "and" and seen:
            continue
        if word in SCALES and (seen or word == "dozen"):
            section = (section if ones else section or Fraction(1)) * SCALES[word]  # 0 million is none
            if SCALES[word] > _HUNDRED:  # hundreds belong to the thousand after them
                total, section = total + section, Fraction(0)
            ones = tens = False
        elif word in _ENGLISH and not ones and not (tens and _ENGLISH[word] >= _TEN):
            section += _ENGLISH[word]
            ones = tens = True
        elif word in _ENGLISH_TENS and not tens:
            section += _ENGLISH_TENS[word]
            tens = True
        else:
            return None
        seen = True
    return total + section if seen else None
