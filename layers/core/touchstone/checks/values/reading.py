"""Reads a bare answer: text in, one of the kinds in `touchstone.checks.values.kinds` out."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, reduce

from touchstone.checks.notation import trees
from touchstone.checks.notation.numerals import NUMBER_WORDS, numbered, spoken, with_joined_words
from touchstone.checks.notation.syntax import parse_tokens, tree_of
from touchstone.checks.notation.tokens import FUNCTIONS, GREEK_NAMES, Token, folded, tokens_of, with_other_commas
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, digits, value_or_none
from touchstone.checks.notation.unit_reading import UNIT_HEADS, read_unit
from touchstone.checks.notation.units import Unit
from touchstone.checks.values import intervals, kinds, pieces
from touchstone.checks.values.chemistry import formula
from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import EMPTY, Ambiguous, Items, Quantity, Region, Solutions, Value
from touchstone.checks.values.matrices import CELL, ROW, has_environment, matrices, semicolon_rows, systems
from touchstone.checks.values.pieces import Tokens, at_top, closing, connected, label, split, tokens_text, unbracketed
from touchstone.checks.values.quantities import PERCENT_WORDS, added_up, currency_length, quantity, scaled
from touchstone.checks.values.rounding import rounded
from touchstone.checks.values.times import clock, date, ratio_of, zone
from touchstone.checks.values.words import DENIAL, PATTERN, TRAILING, choice, division, fixed, plain_words, words

_APPROXIMATELY = "~="
_LETTERS_ALONE = re.compile(
    r"(?:[Aa] (?!sin|cos|tan|cot|log|ln|lg|exp|sqrt))?[A-Za-zÀ-ɏ]{2,}+(?:[ '’-][A-Za-zÀ-ɏ]++)*+[.!]?"
)
_PHRASES = re.compile(r"(?:[A-Za-z]{2,}+,? ){3,}+[A-Za-z]{2,}+\.?")
"""Words of two letters or more, with commas. They are read as words if one of them is no product of letters."""
_FORMULA = re.compile(
    r"^[A-Z][a-z]?[+-]$|[A-Z][a-z]?[\d_^(\[]|[A-Z][a-z]?[A-Z]|[A-Z][a-z]?-\d|\d[A-Z]|^\d{0,3}[_^]|[1-8][spdf][\^\d]"
)
_SIMPLE = re.compile(r"(-?)(\d{1,30}+(?:\.\d{1,30}+)?)(?:/(\d{1,30}+))?", re.ASCII)
_MANTISSA = re.compile(r"\d{1,30}+(?=$|[ eE])", re.ASCII)
"""The decimals behind a comma, before a scale or an exponent: 1,5 million, 1,5e3."""
_ZERO = re.compile(r"0\d", re.ASCII)
_IN_TWO = re.compile(r"0[^.](?![\d.])")
"""How the hours or minutes of a time begin, and no number of a ratio: 17:00 hrs."""
_COUNTED = re.compile(r"(\d{1,30}+) ([a-z]{3,30}+)", re.ASCII)
_CHINESE_PROSE = re.compile(r"(?:(?![零〇一二两兩三四五六七八九十百千万萬亿億半])[\u4e00-\u9fff，、；！？“”]){8,}+。?")
"""A Chinese text without any numeral that is too long for a name or a value."""
_WHERE = frozenset(("if", "when", "for", "where", "otherwise", "当", "當", "若", "其他", "其它"))
"""Words before the condition of a case, or in place of it."""
_NAMED = GREEK_NAMES | {"pi"}
_COMPUTING = frozenset((
    "times", "divided", "multiplied", "over", "per", "percent", "of", "out", "mod", "modulo",
    "乘", "乘以", "除以", "加", "加上", "减", "減", "减去", "減去", "的",
))  # fmt: skip
"""Words of a computation: a number behind one of them is computed with the one before it."""
_IN_FORMULAS = _NAMED | FUNCTIONS | _COMPUTING
"""Words of several letters that may stand within a formula."""
_UNIT_ALONE = 40
"""The most characters of a unit's name or formula."""
_PHRASE_LIMIT = 10
"""The most commas and joining words of a sentence that is read as words at once."""
_SPELLED = 40
"""From this many characters on, a text of letters alone is no list of options: `A, B and C`."""
_MARKS = re.compile("[TFYN](?:(?:[,;] ?[TFYN])++|(?: [TFYN]){2,40}+)")
"""Letters for true, false, yes and no; in a list of these, each belongs to the question at its place."""
_TWO = 2
_IN_ADDRESS = 3
"""More parts of two characters with colons between them than this are no ratio: 00:1A:2B:3C:4D:5E."""


def read(text: str) -> Value | None:
    """The value of a bare answer; `Words` if it was not read whole.

    None for an empty text, program code and a text that is too long.
    """
    if len(text) > trees.LENGTH_LIMIT:
        return None
    bare = " ".join(text.split())
    bare = bare[:-1] if bare.endswith(".") and not bare.endswith("..") else bare
    if (found := fixed(bare)) is not None:
        return found
    if (simple := simple_number(bare)) is not None:
        return simple
    if (counted := _COUNTED.fullmatch(bare)) is not None and (amount := _counted(*counted.groups())) is not None:
        return amount
    if _CHINESE_PROSE.fullmatch(bare) or _is_phrases(bare) or _MARKS.fullmatch(bare):
        return plain_words(bare)
    if len(bare) > _SPELLED and _LETTERS_ALONE.fullmatch(bare) and (alone := _letters_alone(bare)) is not None:
        return alone
    if "比" in bare and PATTERN["ratio"].fullmatch(bare):
        bare = bare.replace("比", ":")
    but = PATTERN["all reals but"].fullmatch(bare) if "real" in bare or "数" in bare or "數" in bare else None
    if but is not None:
        bare = f"ℝ∖{{{next(filter(None, but.groups()))}}}"
    if DENIAL.search(bare):
        return words(bare)
    if bare[:1] == "!" or bare[1:-1] == " \\ " or (bare[:1] == "," and bare[1:2].isdigit()):
        return kinds.Words(bare, plain=False)  # a negation, as programs write it, a difference of sets, or 0,5
    if len(bare) <= _UNIT_ALONE and not bare[:1].isdecimal() and (unit := _unit_alone(bare)) is not None:
        return unit
    return _read(bare)


def _is_phrases(text: str) -> bool:
    """Whether a text is words with commas that contains no number and is too long for a list of options."""
    if len(text) <= _SPELLED or "," not in text or not _PHRASES.fullmatch(text) or DENIAL.search(text):
        return False
    parts = text.lower().rstrip(".").replace(",", "").split()
    if not NUMBER_WORDS.isdisjoint(parts) or text.count(",") + parts.count("and") + parts.count("or") >= _PHRASE_LIMIT:
        return False
    return tree_of([Token("letters", max(parts, key=len), 0, 0)]) is None


def _unit_alone(text: str) -> Value | None:
    """The name of a unit without a number; None for any other text.

    The result is ambiguous: the name may also be words or a product of letters.
    """
    head = text.split(" ", maxsplit=1)[0]
    if head.isascii() and head.isalpha() and head.lower() not in UNIT_HEADS:
        return None
    tokens = value_or_none(tokens_of, text)
    if not tokens or tokens[0].kind not in ("letters", "han") or (len(tokens) == 1 and len(tokens[0].text) == 1):
        return None
    units = tuple(unit for unit in read_unit(tokens) if unit.dimension and not unit.noun)
    other = _read(text) if units else None
    return None if other is None else Ambiguous((Quantity(Number(Fraction(1)), units), other))


def _read(bare: str) -> Value | None:
    """As `read`, for a text that has no fixed meaning and is none of the commonest forms."""
    if _LETTERS_ALONE.fullmatch(bare) and (alone := _letters_alone(bare)) is not None:
        return alone
    try:
        return _of_tokens(tokens_of(bare), bare)
    except trees.OutOfBoundsError:
        return None
    except NotAnExpressionError:
        return words(bare)


def simple_number(text: str) -> Quantity | None:
    """A number in digits or a quotient of two such numbers, the commonest answers; None for any other text."""
    match = _SIMPLE.fullmatch(text)
    if match is None:
        return None
    sign, over, under = match.groups()
    tree: Tree = Apply("div", (digits(over), digits(under))) if under else digits(over)
    return Quantity(trees.negated(tree) if sign else tree)


def _counted(number: str, word: str) -> Quantity | None:
    """A whole number of things or units named by one word, `306 pages`; None for a word in a number, or a month."""
    units = _counted_in(word)
    return Quantity(digits(number), units) if units and date(f"{number} {word}") is None else None


@lru_cache(maxsize=256)
def _counted_in(word: str) -> tuple[Unit, ...]:
    """All readings of the word as a unit or a counted thing; empty if the word is part of a number."""
    if word in NUMBER_WORDS or word in PERCENT_WORDS:
        return ()
    return read_unit([Token("letters", word, 0, len(word))])


def _letters_alone(text: str) -> Value | None:
    """Letters alone as options or words, never as a product (`cat` is not `act`); None if they may mean more."""
    if len(text) < _SPELLED and (chosen := choice(text)) is not None:
        return chosen
    parts = text.lower().rstrip(".!").replace("-", " ").split()
    head, *behind = text.rstrip(".!").split()
    is_call = head in FUNCTIONS and all(len(part) == 1 or part in FUNCTIONS or part in _NAMED for part in behind)
    if not NUMBER_WORDS.isdisjoint(parts) or (is_call and behind):
        return None
    if len(parts) == 1 and len(text) > _TWO:
        return None if isinstance(tree_of(tokens_of(text)), Name) else plain_words(text)
    return plain_words(text)


def _of_tokens(tokens: list[Token], text: str) -> Value:
    if len(tokens) > trees.TOKEN_LIMIT:
        raise trees.OutOfBoundsError("more tokens than any answer that is read")
    if "~" in text and "\\" not in text and "$" not in text:
        raise NotAnExpressionError("a negation, or nearly")
    if not tokens:
        raise trees.OutOfBoundsError("nothing that shows")
    # Only the part behind the last ⇒ is read; split drops no token that is not mathematics.
    tokens = intervals.turned(spoken(tokens))
    while len(tokens) > 1 and tokens[0].is_sign("=", "->"):
        tokens = tokens[1:]  # an = or → in front is the end of a computation that was left out
    implied = split(tokens, frozenset(("=>",)))[0][-1] or tokens
    tokens = list(_trimmed(implied if "\\" in text or "$" in text else _braced_sets(implied)))
    if "{" in text:
        tokens = systems(_excluded(tokens))
    if not tokens:
        raise NotAnExpressionError("nothing but punctuation")
    flat = tokens_text(tokens)
    if (meant := fixed(flat)) is not None:
        return meant
    if (told := choice(flat) or division(flat)) is not None:
        return told
    stripped = folded(text).strip(TRAILING + "$\\()[]")
    if (day := date(stripped)) is not None:
        return day
    if (offset := zone(stripped)) is not None:
        return offset
    if (time := clock(stripped)) is not None and (":" not in stripped or any(letter.isalpha() for letter in stripped)):
        return time
    return _chemical(tokens, flat) or _lost_power(tokens, text) or _value(tokens)


def _lost_power(tokens: Tokens, text: str) -> Value | None:
    """`1.6×10−19` as a power of ten whose exponent lost its raised form; None for any other text.

    If the text can also be read as a difference, both readings are returned.
    """
    for place in range(len(tokens) - 3):
        times, ten, minus, power = tokens[place : place + 4]
        by = times.is_sign("*") or (times.spaced and times.text in ("x", "X"))
        tight = not (minus.spaced or power.spaced) and by and minus.is_sign("-")
        tight = tight and text[times.start] != "*" and times.spaced == ten.spaced
        if tight and ten.text == "10" and power.kind == "number" and power.text.isdecimal():
            raised = _value([*tokens[: place + 2], minus._replace(text="^"), *tokens[place + 2 :]])
            plain = value_or_none(_value, tokens)
            return raised if plain is None else Ambiguous((raised, plain))
    return None


def _braced_sets(tokens: Tokens) -> Tokens:
    """Read `{1, 2}` as a set without LaTeX: its braces contain a comma and stand at the start or behind a sign."""
    found = list(tokens)
    for place, token in enumerate(found):
        behind = found[place - 1] if place else None
        if not token.is_sign("{") or not (behind is None or (behind.kind == "sign" and behind.text not in "^_")):
            continue
        close = closing(found, place)
        inside = found[place + 1 : close]
        within = behind is not None and behind.is_sign(",") and bool(inside)  # the last of {1, 2, {3}}
        if close < len(found) and (within or any(each.is_sign(",", ";", "|", ":") for _, each in at_top(inside))):
            found[place], found[close] = token._replace(text="⦃"), found[close]._replace(text="⦄")
    return found


def _excluded(tokens: Tokens) -> list[Token]:
    """Read `ℝ - {2}`, and `ℝ {2}` (a form that ℝ\\{2} may take), as a set difference."""
    found: list[Token] = []
    for place, token in enumerate(tokens):
        if place and token.is_sign("{", "⦃"):
            sign = tokens[place - 1].text if tokens[place - 1].is_sign("-", "setminus") else ""
            before = place - 1 - bool(sign)
            reals = before >= 0 and tokens[before].text == "R" and (before == 0 or tokens[before - 1].is_sign("in"))
            if reals or sign == "setminus" or (sign and token.text == "⦃"):
                del found[before + 1 :]
                found.append(token._replace(kind="sign", text="setminus"))
                token = token._replace(text="⦃")  # noqa: PLW2901
        found.append(token)
    return found


def _trimmed(tokens: Tokens) -> Tokens:
    """The tokens without punctuation at the end and without quotation marks around them."""
    end = len(tokens)
    while end and tokens[end - 1].is_sign(".", ",", ";", "?"):
        end -= 1
    if end and tokens[end - 1].is_sign("!") and end > 1 and tokens[end - 2].kind == "han":
        end -= 1
    if end > _TWO and tokens[0].is_sign('"') and tokens[end - 1].is_sign('"'):
        return tokens[1 : end - 1]
    return tokens[:end]


def _chemical(tokens: Tokens, flat: str) -> Value | None:
    """The chemical formula or reaction that the tokens form; None if they form none.

    If the tokens may also be mathematics, both readings are returned.
    """
    read_as = value_or_none(formula, tokens) if _FORMULA.search(flat) else None
    plain = None if read_as is None else value_or_none(_value, tokens)
    return read_as if read_as is None or plain is None else Ambiguous((read_as, plain))


def _value(tokens: Tokens) -> Value:
    items, _ = connected(tokens)
    if len(items) < _TWO:
        return _single(items[0] if items else tokens)
    if (whole := added_up(tokens)) is not None:
        return whole
    return _either(_of_items, tokens)


def _either(reader: Callable[[Tokens], Value], tokens: Tokens) -> Value:
    """The results of a reader for tokens whose commas may separate thousands, `(1,200)`, or members of a list."""
    if not (ways := [*with_joined_words(tokens)] or [*with_other_commas(tokens)]):
        return reader(tokens)
    found = [value for way in ways if (value := value_or_none(reader, way)) is not None]
    if not found:
        raise NotAnExpressionError("neither a list nor a number")
    return Ambiguous(tuple(found)) if len(found) > 1 else found[0]


def _of_items(tokens: Tokens) -> Value:
    items, connector = connected(tokens)
    written = [tokens_text(item).strip() for item in items]
    truths = [value for value in map(fixed, written) if isinstance(value, kinds.Truth)]
    if truths and len(truths) < len(items):
        beside = [_single(item) for item, text in zip(items, written, strict=True) if fixed(text) not in truths]
        if connector == "list" and len(truths) == 1 and all(isinstance(each, Quantity) for each in beside):
            return Items((*truths, *beside))  # Yes, 25
        raise NotAnExpressionError("a yes or a no with a value of another kind")
    values = _as_points([_single(item) for item in items])
    if connector == "or" and (one := _one_number(values)) is not None:
        return one
    if any(token.is_sign("and", "or") for token in tokens) and all(isinstance(value, Quantity) for value in values):
        raise NotAnExpressionError("a sentence of logic")
    if connector == "and" and (mixed := _mixed(values)) is not None:
        return Items(tuple(values), decimal=mixed)
    regions = [value for value in values if isinstance(value, Region)]
    if len(regions) == len(values):
        if connector == "or" or all(region.variable is None for region in regions):
            return intervals.union(regions)
        if connector == "and" or sum(map(_has_ends, regions)) < _TWO:
            return intervals.intersection(regions)
        raise NotAnExpressionError("it is not clear whether both inequalities hold or either")
    if any(region.variable for region in regions) and any(isinstance(value, Quantity) for value in values):
        raise NotAnExpressionError("a list of inequalities and numbers, or decimal commas: 2,5 < x < 3,5")
    if any(isinstance(value, Solutions) for value in values):
        several = _solutions(values, either=connector == "or")
        equals = next((place for place, token in enumerate(tokens) if token.is_sign("=", _APPROXIMATELY)), 0)
        point = _decimal(tokens[equals + 1 :]) if len(items) == _TWO and isinstance(values[1], Quantity) else None
        return Ambiguous((several, Solutions((((several.alternatives[0][0][0], point),),)))) if point else several
    decimal = _decimal(tokens)
    # A list does not begin with −0, and no number of it with 0: 1,05.
    is_one = decimal is not None and (tokens[1].text == "0" or _ZERO.match(tokens[2].text) is not None)
    return decimal if decimal and is_one else Items(_flattened(values), decimal=decimal)


def _one_number(values: list[Value]) -> Value | None:
    """The number that all values are in one form or another: `1/5, or 20%`; None for any others."""
    numbers = {
        value_or_none(rational, each.tree) if isinstance(each, Quantity) and not each.units else None for each in values
    }
    return values[0] if len(numbers) == 1 and None not in numbers else None


def _as_points(values: list[Value]) -> list[Value]:
    """The values; beside points with names, `P(1,0)` is no number of arrangements. Names that some lack are dropped."""
    if not any(isinstance(each, Solutions) for each in values):
        return values
    points = [each.readings[-1] if isinstance(each, Ambiguous) else each for each in values]
    bare = [each for each in points if isinstance(each, Items) and each.brackets == "()"]
    named = [each for each in points if isinstance(each, Solutions)]
    if len(bare) + len(named) < len(values):
        return values
    return [each.alternatives[0][0][1] if bare and isinstance(each, Solutions) else each for each in points]


def _has_ends(region: Region) -> bool:
    """Whether a region ends in one direction or both. x ≠ 2 and ℝ do not, so they may stand beside other conditions."""
    return not region.intervals or region.intervals[0].low is not None or region.intervals[-1].high is not None


def _mixed(values: list[Value]) -> Quantity | None:
    """`1 and 3/4` as the mixed number that it may be; None if the values can only be a list."""
    match values:
        case [Quantity(tree=Number(value=whole), units=()), Quantity(tree=Apply(operation="div") as part, units=())]:
            share = rational(part)
            if whole.denominator == 1 and share is not None and 0 < share < 1:
                return Quantity(Number(whole + share))
    return None


def _decimal(tokens: Tokens) -> Quantity | None:
    """`3,5`, `-3,5 kg` or `€3,50` as one number with a decimal comma; None for any other tokens."""
    signed = int(tokens[0].is_sign("-", "+"))
    signed += currency_length(tokens[signed:])
    sign, whole = tokens[:signed], tokens[signed:]
    groups = whole[::2]
    tight = not any(token.spaced for token in whole[1:]) and all(token.is_sign(",") for token in whole[1::2])
    wholes = [token.text.partition(".")[0] if token is whole[-1] else token.text for token in groups]
    lengths = [len(text) if text.isdigit() else 0 for text in wholes]
    if tight and len(lengths) > 2 and lengths[0] and lengths[-1] == 3 and set(lengths[1:-1]) == {2}:  # noqa: PLR2004
        # Digits in groups of two with a last group of three, as in India: 1,23,456.
        return quantity(tokens_of(tokens_text(sign) + "".join(token.text for token in groups)))
    match whole:
        case [before, comma, behind, *rest] if comma.is_sign(",") and (decimals := _MANTISSA.match(behind.text)):
            if rest and rest[0].is_sign("(") and not rest[0].spaced:
                raise NotAnExpressionError("repeating digits in brackets behind a decimal comma, or a list")
            thousands = len(decimals[0]) == 3 and before.text != "0"  # noqa: PLR2004 - 1，200
            if before.text.isdigit() and not (comma.spaced or behind.spaced):
                joined = tokens_of(f"{tokens_text(sign)}{before.text}{'' if thousands else '.'}{behind.text}")
                return value_or_none(quantity, [*joined, *rest])
    return None


def _flattened(values: Iterable[Value]) -> tuple[Value, ...]:
    """The values; each list among them is replaced by its members."""
    found: list[Value] = []
    for value in values:
        found.extend(value.values if isinstance(value, Items) and value.brackets in ("", "{}") else (value,))
    return tuple(found)


def _solutions(values: list[Value], *, either: bool) -> Solutions:
    """The alternatives in a row of bindings.

    A name that occurs again begins the next alternative. A bare value belongs to the last name.
    """
    alternatives: list[list[tuple[str, Value]]] = []
    for value in values:
        match value:
            case Solutions(alternatives=(bindings,)):
                names = {name for name, _ in alternatives[-1]} if alternatives else set()
                if not alternatives or names.intersection(name for name, _ in bindings) or either:
                    alternatives.append([])
                alternatives[-1].extend(bindings)
            case Quantity() | Ambiguous() if alternatives and len(alternatives[-1]) == 1:
                alternatives.append([(alternatives[-1][0][0], value)])
            case _:
                raise NotAnExpressionError("a list of equations and something else")
    keys = [name for group in alternatives for name, _ in group]
    if len(keys) == len(alternatives) > (size := len(set(keys))) and keys == keys[:size] * (len(keys) // size):
        # x = 0, y = 0 or x = 1, y = 1
        alternatives = [[each for (each,) in alternatives[at : at + size]] for at in range(0, len(keys), size)]
    spread = [_spread(bindings) for bindings in alternatives]
    return Solutions(tuple(tuple(bindings) for group in spread for bindings in group))


def _one_solution(values: list[Value]) -> Solutions | None:
    """Bindings of different names as one solution, {x = 1; y = 2}; None for any other values."""
    bound = [each.alternatives[0] for each in values if isinstance(each, Solutions) and len(each.alternatives) == 1]
    names = {name for bindings in bound for name, _ in bindings}
    if len(values) < _TWO or len(bound) < len(values) or len(names) < sum(map(len, bound)):
        return None
    return Solutions((tuple(binding for bindings in bound for binding in bindings),))


def _spread(bindings: list[tuple[str, Value]]) -> list[list[tuple[str, Value]]]:
    """Split `x = ±2` into two alternatives."""
    match bindings:
        case [(name, Items(values=values, brackets="" | "{}" | "⦃⦄"))]:
            return [[(name, value)] for value in values]
    return [bindings]


def _single(tokens: Tokens) -> Value:
    if not tokens:
        raise NotAnExpressionError("nothing to read")
    if has_environment(tokens) and not any(token.is_sign("=", "~=") for _, token in at_top(tokens)):
        return matrices(tokens)
    for signs, reader in _RELATIONS:
        sides, found = split(tokens, signs)
        if found and all(sides):
            return reader(sides, found)
    # [1,2;3,4] is a matrix, or 1.2 and 3.4.
    enclosed = unbracketed(_point(tokens))[1] or (tokens[0].is_sign("-") and unbracketed(tokens[1:])[1])
    return _either(_one, tokens) if enclosed else _one(tokens)


def _parts(sides: list[Tokens]) -> list[Region]:
    """The sides of a union as parts of the line. Raises NotAnExpressionError for a side that is only a name: A ∪ B."""
    values = [_single(side) for side in sides]
    if any(isinstance(value, Quantity) for value in values):
        raise NotAnExpressionError("a set that is only named")
    return [as_region(value) for value in values]


def _member(sides: list[Tokens], _signs: list[str]) -> Value:
    if len(sides) != _TWO:
        raise NotAnExpressionError("a member of a member")
    name, value = "".join(token.text for token in sides[0] if token.text not in "{}"), _single(sides[1])
    match value:
        case Items(brackets="⦃⦄", values=values):
            return Solutions(tuple(((name, each),) for each in values))
        case Quantity(tree=Name()):
            raise NotAnExpressionError("a member of a set of numbers, which is a condition")
    return Region(as_region(value).intervals, name)


def _headed(sides: list[Tokens]) -> Solutions | None:
    """A value under the words before a colon, `Area: 24 cm²`; None for other sides and for words of a fixed meaning."""
    match sides:
        case [words, value] if pieces.is_words(words) and fixed(tokens_text(words)) is None:
            read_as = value_or_none(quantity, value)
            known = read_as is not None and read_as.tree.is_constant and not read_as.letters
            return Solutions((((label(words) or "", read_as),),)) if read_as and known else None
    return None


def _ratio(sides: list[Tokens], _signs: list[str]) -> Value:
    if (headed := _headed(sides)) is not None:
        return headed
    clock_text = ":".join(map(tokens_text, sides))
    in_two = any(map(_IN_TWO.match, clock_text.split(":")))
    if in_two and len(sides) == _TWO and clock(clock_text) is None:
        raise NotAnExpressionError("a time that no clock shows")
    if len(sides) > _IN_ADDRESS and all(len(part) == _TWO for part in clock_text.split(":")):
        raise NotAnExpressionError("the address of a device, or a time with its frames")
    measured = _in_one_dimension(sides) if any(token.kind in ("letters", "han") for token in sides[0]) else None
    return measured or ratio_of(clock_text, kinds.Ratio(tuple(map(parse_tokens, map(numbered, map(list, sides))))))


def _in_one_dimension(sides: list[Tokens]) -> kinds.Ratio | None:
    """The terms of `1 cm : 5 km` in base units; None if not all are amounts, or if all units may be names: 2a : 3a.

    Raises NotAnExpressionError for amounts of different dimensions.
    """
    amounts = [each for each in (value_or_none(quantity, side) for side in sides) if each is not None and each.units]
    if len(amounts) < len(sides) or all(each.bare is not None for each in amounts):
        return None
    units = [each.units[0] for each in amounts]
    if len({unit.dimension for unit in units}) > 1:
        raise NotAnExpressionError("a ratio of different dimensions")
    terms = tuple(scaled(each.tree, unit) for each, unit in zip(amounts, units, strict=True))
    return kinds.Ratio(terms, () if any(unit.dimension for unit in units) else tuple(unit.noun or "" for unit in units))


def _equation(sides: list[Tokens], signs: list[str]) -> Value:
    """A value under a name, the result of a computation, or an equation of any other form."""
    if signs[-1] == _APPROXIMATELY and not (len(sides) == _TWO and label(sides[0])):
        # The text behind ≈ is an approximation of the text before it.
        _refuse_contradiction(sides if len(sides) == _TWO else [])
        return _value(sides[0]) if len(sides) == _TWO else _equation(sides[:-1], signs[:-1])
    left, right = sides[0], sides[-1]
    if len(sides) == _TWO and label(right) and not label(left) and isinstance(tree_of(right), Name):
        left, right = right, left
    names = _names(left)
    name = None if names else label(left)
    if name is not None and len(sides) > _TWO and (several := _slashed(name, sides)):
        return _solutions([Solutions(((binding,),)) for binding in several], either=True)
    if names:
        match _single(right):
            case Items(brackets="()", values=values) if len(values) == len(names):
                return Solutions((tuple(zip(names, values, strict=True)),))  # (x, y) = (1, 2)
        raise NotAnExpressionError("a tuple of names without a tuple of values")
    if name is not None:
        if any(_is_aside(side, name) for side in sides[1:-1]):
            raise NotAnExpressionError("a value with its reason, or several equations")
        return _given(name, left, right)
    first = tree_of(left)
    if first is None:
        computed = value_or_none(quantity, left)
        if len(sides) > _TWO or (computed is not None and computed.tree.is_constant):
            # A computation with units, such as 3 kg × 2.
            return quantity(right)
        raise NotAnExpressionError("neither an equation nor the value of something")
    if first.is_constant:
        _refuse_contradiction(sides)
        return _single(right)
    if len(sides) != _TWO:
        raise NotAnExpressionError("a chain of equations")
    return kinds.Condition(first, parse_tokens(right))


def _given(name: str, left: Tokens, right: Tokens) -> Value:
    """The value on the right under the name on the left; an equation if the name occurs in the value: x = x²."""
    value = _single(right)
    named = tree_of(left) if isinstance(value, Quantity) else None
    if isinstance(value, Quantity) and isinstance(named, Name) and named.name in value.tree.variables:
        return kinds.Condition(named, value.tree)
    return Solutions(tuple(map(tuple, _spread([(name, value)]))))


def _is_aside(side: Tokens, name: str) -> bool:
    """Whether a middle of `x = … = 6` is no step to its end: `3 since 2·3`, or `3 because 2x`, which has the name."""
    if any(token.is_sign("->") or token.kind == "other" for token in side):
        return True
    tree = tree_of(side)
    again = (at for at, token in enumerate(side) if token.text == name)
    if tree is not None and any(not (at and _measures(side[at], side[at - 1])) for at in again):
        return True  # the s of `s = 5 m/s × 2 s = 10 m` is a unit
    told = tree is not None or value_or_none(quantity, side) is not None
    for place, token in enumerate(side[1:-1], 1):
        words = token.kind == "han" or (len(token.text) > 1 and token.spaced)
        words = words and token.text not in _IN_FORMULAS
        if token.kind in ("letters", "han") and words and side[place - 1].kind in ("number", "close"):
            rest = (each for each in side[place + 1 :] if each.kind not in ("letters", "han") or len(each.text) == 1)
            goes_on = next(rest, None)
            return goes_on is not None and goes_on.kind != "sign" and (not told or goes_on.kind == "letters")
    return False


def _measures(token: Token, before: Token) -> bool:
    """Whether a letter stands where a unit does: the s of 5 m/s and of `2 s`."""
    return before.is_sign("/") or (token.spaced and before.kind == "number")


def _slashed(name: str, sides: list[Tokens]) -> list[tuple[str, Value]]:
    """The alternatives of `x = 2 / x = 3`; empty for a chain of equations.

    Raises NotAnExpressionError for x_1 = 2 / x_2 = 3, which may be either.
    """
    values: list[Tokens] = []
    for side in sides[1:-1]:
        strokes = [place for place, token in at_top(side) if token.is_sign("/")]
        again = label(side[strokes[-1] + 1 :]) if strokes else None
        if again is None or again.partition("_")[0] != name.partition("_")[0]:
            return []
        over = side[: strokes[-1]]
        if again != name:
            # R_1 = R_2 R_3 / R_4 = 5 is a chain.
            tree = tree_of(over)
            if tree is None or not tree.is_constant:
                return []
            raise NotAnExpressionError("alternatives, or a chain of equations")
        values.append(over)
    return [(name, _single(value)) for value in (*values, sides[-1])]


def _refuse_contradiction(sides: list[Tokens]) -> None:
    """Raise NotAnExpressionError if different numbers are called equal: 2 + 3 = 6 has no value."""
    trees = [tree for tree in map(tree_of, sides) if tree is not None]
    if len(trees) < len(sides) or not all(each.is_constant for each in trees):
        return
    for one in trees[:-1]:
        values = rational(one), rational(trees[-1])
        if None not in values and values[0] != values[1] and rounded(one, trees[-1]) is False:
            raise NotAnExpressionError("a false computation")


def _names(tokens: Tokens) -> list[str]:
    """The names in a tuple of names; empty if the tokens are no tuple."""
    inside, brackets = unbracketed(tokens)
    if brackets != "()" or not any(token.is_sign(",") for token in inside):
        return []
    return [tokens_text(item) for item in connected(inside)[0]]


type _Reader = Callable[[list[Tokens], list[str]], Value]
_RELATIONS: tuple[tuple[frozenset[str], _Reader], ...] = (
    (pieces.EQUALITY, _equation),
    (pieces.ORDER, intervals.ordered),
    (frozenset(("in",)), _member),
    (frozenset(("cup",)), lambda sides, _signs: intervals.union(_parts(sides))),
    (frozenset(("cap",)), lambda sides, _signs: intervals.intersection(_parts(sides))),
    (frozenset(("setminus",)), lambda sides, _signs: reduce(intervals.without, _parts(sides))),
    (frozenset((":",)), _ratio),
)
"""The relations between the sides of a statement and their readers, from the loosest relation to the tightest."""


def _one(tokens: Tokens) -> Value:
    point = _point(tokens)
    inside, brackets = unbracketed(point)
    if brackets in ("⦃⦄", "⦃}", "⟦⟧"):
        return _system(inside) if brackets == "⟦⟧" else _set(inside)
    if brackets in ("[)", "(]"):
        return Region((intervals.bounds(point),))
    if tokens[0].is_sign("-") and unbracketed(tokens[1:])[1] in ("[)", "(]"):
        return Region((intervals.mirrored(intervals.bounds(tokens[1:])),))
    if brackets in ("()", "[]", "{}"):
        if (listed := _members(tokens, inside, brackets)) is not None:
            return listed
        if brackets == "{}" and inside:
            if inside[0].is_sign("empty") or unbracketed(inside)[1] == "{}":
                raise NotAnExpressionError("a set, or a set that holds it")
            return _value(inside)
    if len(tokens) == 1 and tokens[0].text in ("empty", "R"):
        return EMPTY if tokens[0].text == "empty" else kinds.REALS
    read_as = quantity(tokens)
    if (below := _under_all(tokens, read_as) or _rooted_all(tokens, read_as)) is not None:
        return Ambiguous((read_as, below))
    both = _branches(read_as.tree)  # the two values of an expression with ±
    if both[0] == both[1]:
        return read_as
    measured = _is_measured(read_as.tree)
    return Items(tuple(replace(read_as, tree=tree, bare=None, letters=False, measured=measured) for tree in both))


def _members(tokens: Tokens, inside: Tokens, brackets: str) -> Value | None:
    """The members in brackets, or rows of a matrix, under the name before the brackets; None for a single one."""
    if brackets == "[]" and (rows := semicolon_rows(inside)) is not None:
        return rows
    items, connector = connected(inside)
    if len(items) < _TWO:
        return None
    name = tokens[: len(tokens) - len(inside) - _TWO]
    if name and connector in ("or", "and"):
        raise NotAnExpressionError("a function of a sentence of logic")
    grouped = _grouped(list(map(_single, items)), brackets)
    if not name:
        return grouped
    named = Solutions((((label(name) or tokens_text(name), grouped),),))
    # `C(5,2)` may be a named point or the number of combinations.
    tree = tree_of(tokens)
    return named if tree is None or isinstance(tree, Name) else Ambiguous((Quantity(tree), named))


def _grouped(values: list[Value], brackets: str) -> Items:
    """The members in brackets; (±1, 0) as the two points that it is. Raises NotAnExpressionError for (±1, ±2)."""
    both = [place for place, value in enumerate(values) if isinstance(value, Items) and not value.brackets]
    if brackets != "()" or not both:
        return Items(_flattened(values), brackets)
    if len(both) > 1:
        raise NotAnExpressionError("two points, or four")
    (place,) = both
    ends = _flattened(values[place : place + 1])
    return Items(tuple(Items((*values[:place], end, *values[place + 1 :]), brackets) for end in ends))


def _under_all(tokens: Tokens, half: Quantity) -> Quantity | None:
    """The reading of `1/2x` as one over 2x, beside the reading as half of x.

    None for other tokens, and if x is a unit.
    """
    place = next((at for at, token in enumerate(tokens) if token.is_sign("/")), 0)
    below = tokens[place + 1 :]
    if half.units or not place or len(below) < _TWO or below[1].kind != "letters":
        return None
    first, over = below[0], tree_of(tokens[:place])
    # In `1/2 x` the space shows which reading is meant; in `1 / 2 x` it does not.
    if below[1].spaced and not (first.spaced or tokens[place].spaced):
        return None
    if any(token.kind not in ("letters", "number") and not token.is_sign("^") for token in below):
        return None
    if first.kind != "number" or over is None or not over.is_constant:
        return None
    opened, closed = first._replace(kind="open", text="("), first._replace(kind="close", text=")")
    return value_or_none(quantity, [*tokens[: place + 1], opened, *below, closed])


def _rooted_all(tokens: Tokens, narrow: Quantity) -> Quantity | None:
    """The reading of `√2gh` as the root of the whole product, beside the reading as √2·g·h; None for other tokens."""
    place = next((at for at, token in enumerate(tokens) if token.is_sign("√")), len(tokens))
    below = tokens[place + 1 :]
    if narrow.units or any(token.kind not in ("letters", "number") for token in below):
        return None
    if any(token.spaced for token in below[1:]) or len(tokens_text(below)) < _TWO or below[-1].kind != "letters":
        return None
    opened, closed = below[0]._replace(kind="open", text="("), below[0]._replace(kind="close", text=")")
    return value_or_none(quantity, [*tokens[: place + 1], opened, *below, closed])


def _point(tokens: Tokens) -> Tokens:
    """The tokens without the name of a point in front: (1, 2) for `A(1, 2)` and `P_1(1, 2)`."""
    first = tokens[0]
    if first.kind != "letters" or len(first.text) != 1 or not first.text.isupper() or len(tokens) < _TWO:
        return tokens
    start = 2 if tokens[1].is_sign("'") or (tokens[1].kind == "number" and not tokens[1].spaced) else 1
    if tokens[1].is_sign("_"):
        start = closing(tokens, 2) + 1 if tokens[2:3] and tokens[2].is_sign("{") else 3
    rest = tokens[start:]
    return rest if rest and unbracketed(rest)[1] == "()" and not rest[0].spaced else tokens


def _set(inside: Tokens) -> Value:
    """The value of the text in a set's braces: its members, or a condition behind a name."""
    if not inside:
        return EMPTY
    if (named := _entries(inside)) is not None:
        return named
    for place, token in enumerate(inside):
        if token.is_sign("|", ":") and place > 0 and inside[0].kind == "letters":
            condition = _value(inside[place + 1 :])
            if place == 1:
                return condition
            return intervals.intersection([as_region(_single(inside[:place])), as_region(condition)])
    members = list(map(_single, connected(inside)[0]))
    return _one_solution(members) or Items(_flattened(members), "⦃⦄")


def _entries(inside: Tokens) -> Solutions | None:
    """The values of `{x: 1, y: 2}` by their names; None for any other set."""
    items = [split(item, frozenset((":",)))[0] for item in connected(inside)[0]]
    names = [label(item[0]) if len(item) == _TWO and item[1] else None for item in items]
    if len(items) < _TWO or None in names:
        return None
    return Solutions((tuple((str(name), _single(item[1])) for name, item in zip(names, items, strict=True)),))


def _system(inside: Tokens) -> Value:
    """The value of the rows of a system or of a function by cases.

    A system's rows hold at once; a row of a function by cases is a pair of a value and its condition.
    """
    values = [_row(split(row, CELL)[0]) for row in split(inside, ROW)[0] if row]
    if (solution := _one_solution(values)) is not None:
        return solution
    regions = [value for value in values if isinstance(value, Region)]
    return intervals.intersection(regions) if len(regions) == len(values) else Items(tuple(values), "⟦⟧")


def _row(cells: list[Tokens]) -> Value:
    match [_trimmed(cell) for cell in cells]:
        case [only]:
            return _value(only)
        case [value, condition] if condition and value:
            if condition[0].text.lower() in _WHERE:
                condition = condition[1:]
            return Items((_value(value), _value(condition) if condition else kinds.Words("otherwise")), "()")
    raise NotAnExpressionError("not a system, nor a function by cases")


def _branches(tree: Tree) -> tuple[Tree, Tree]:
    if not isinstance(tree, Apply):
        return tree, tree
    above, below = zip(*map(_branches, tree.arguments), strict=True)
    if tree.operation == "pm":
        return Apply("add", above), trees.difference(*below)
    if tree.operation == "mp":
        return trees.difference(*above), Apply("add", below)
    return Apply(tree.operation, above), Apply(tree.operation, below)


def _is_measured(tree: Tree) -> bool:
    """Whether an expression may be a value with its uncertainty: 5 ± 0.1, but not 1 ± √2 or ±2."""
    match tree:
        case Apply("pm", (value, uncertainty)):
            return bool(rational(value)) and rational(uncertainty) is not None
        case Apply("mul", (one, other)):
            return any(rational(by) is not None and _is_measured(of) for of, by in ((one, other), (other, one)))
    return False


def as_region(value: Value) -> Region:
    """`value` as a part of the real line; a pair in brackets is an interval.

    Raises NotAnExpressionError if it is no part of the line.
    """
    match value:
        case Region():
            return value
        case Quantity(tree=tree, units=()):
            return Region((intervals.of_trees(tree, tree, low_closed=True, high_closed=True),))
        case Items(values=(Quantity(tree=low), Quantity(tree=high)), brackets="()" | "[]" as brackets):
            closed = brackets == "[]"
            return Region((intervals.of_trees(low, high, low_closed=closed, high_closed=closed),))
        case Items(brackets="⦃⦄", values=values) if all(isinstance(each, Quantity) for each in values):
            trees = [each.tree for each in values if isinstance(each, Quantity)]
            return Region(tuple(intervals.of_trees(tree, tree, low_closed=True, high_closed=True) for tree in trees))
        case Ambiguous(readings=readings):
            regions = [region for region in (value_or_none(as_region, each) for each in readings) if region is not None]
            if regions:
                return regions[0]
    raise NotAnExpressionError("not a part of the real line")


def as_condition(value: Value) -> kinds.Condition | None:
    """`value` as an equation or inequality between expressions; None if it is neither."""
    match value:
        case kinds.Condition():
            return value
        case Solutions(alternatives=(((name, Quantity(tree=tree, units=())),),)):
            left = tree_of(tokens_of(name))
            return None if left is None else kinds.Condition(left, tree)
    return None
