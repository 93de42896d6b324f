"""The words of a mathematical expression: numbers, names, functions and signs, with bounds on their size."""

import re
from dataclasses import dataclass
from fractions import Fraction

LENGTH_LIMIT = 2_000
"""Characters of one expression; the longest honest answers seen have about 300."""
TOKEN_LIMIT = 400
"""Tokens of one expression; bounds the size of the tree and all work on it."""
DIGIT_LIMIT = 400
"""Digits of one number; keeps all arithmetic on it in microseconds."""


class NotAnExpressionError(ValueError):
    """The text is not one expression of the grammar, is ambiguous, or exceeds a bound."""


class OutOfBoundsError(NotAnExpressionError):
    """The text or a number in it is larger than anything that is read or evaluated."""


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational. `decimals` counts the digits written after a decimal point, None for an integer."""

    value: Fraction
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A variable (`x`, `x_1`, `alpha`) or one of the constants `pi`, `e`, `i` and `oo` (infinity)."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation (add, mul, div, pow, neg, pm, mp, root, factorial, binomial, percent, degrees) or a function."""

    operation: str
    arguments: tuple["Tree", ...]


type Tree = Number | Name | Apply

ONE_ARGUMENT = frozenset(
    (
        "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "arccot", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "ln", "lg", "log", "exp", "abs", "floor", "ceil", "cbrt", "sqrt",
    )
)  # fmt: skip
"""Functions that are called by name."""
_EXPONENT_LENGTH = 5
"""Characters of an exponent as written, `e-123`; a longer one is beyond any bound."""
_CANONICAL = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
CONSTANTS = {"pi": "pi", "infty": "oo", "infinity": "oo", "oo": "oo", "inf": "oo"}
GREEK = frozenset(
    (
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "lambda", "mu", "nu", "xi", "rho",
        "sigma", "tau", "phi", "chi", "psi", "omega", "Delta", "Gamma", "Theta", "Lambda", "Phi", "Psi", "Omega",
        "hbar", "ell",
    )
)  # fmt: skip
_OPERATOR_COMMANDS = {"pm": "pm", "mp": "mp", "frac": "frac", "binom": "binom", "sqrt": "sqrt", "circ": "°"}
LETTERS_IN_A_ROW = 3
"""A longer run of letters that are no known names is a word, not a product of variables."""
_KNOWN = sorted(ONE_ARGUMENT | GREEK | set(CONSTANTS), key=len, reverse=True)
_LETTERS = re.compile("|".join([*_KNOWN, "[A-Za-z]"]))
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?P<exponent>[eE][+-]?\d+(?![\d.]))?
    | (?P<command>\\[A-Za-z]+)
    | (?P<letters>[A-Za-z]+)
    | (?P<sign>\*\*|[-+*/^()\[\]{}|!%_√∛°,'])
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is number, name, function or sign; `spaced` tells whether white space stands before it."""

    kind: str
    text: str
    spaced: bool
    value: Tree | None = None


def number(text: str) -> Number:
    """The number that a numeral of digits writes: `1,234.50`, `.5`, `7`. Raises NotAnExpressionError past the bound."""
    digits = text.replace(",", "")
    if len(digits) > DIGIT_LIMIT:
        raise OutOfBoundsError("more digits than any number that is read")
    whole, point, part = digits.partition(".")
    return Number(Fraction(int((whole + part) or "0"), 10 ** len(part)), len(part) if point else None)


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotAnExpressionError(f"unreadable at {text[position : position + 10]!r}")
        spaced = text[position].isspace()
        match match.lastgroup:
            case "number" | "exponent":
                found.append(Token("number", match["number"], spaced, _scientific(match, text)))
            case "command":
                found.append(_command(match["command"][1:], spaced=spaced))
            case "letters":
                found.extend(_names(match["letters"], spaced=spaced))
            case _:
                found.append(Token("sign", "^" if match["sign"] == "**" else match["sign"], spaced))
        if len(found) > TOKEN_LIMIT:
            raise OutOfBoundsError("more tokens than any expression that is read")
        position = match.end()
    return found


def _scientific(match: re.Match[str], text: str) -> Number:
    mantissa, exponent = number(match["number"]), match["exponent"]
    if not exponent:
        return mantissa
    if len(exponent) > _EXPONENT_LENGTH or abs(int(exponent[1:])) > DIGIT_LIMIT:
        raise OutOfBoundsError("an exponent beyond the bound")
    # `2e-3` inside a longer expression may be 2·e − 3.
    if (
        exponent[0] == "e"
        and exponent[1] in "+-"
        and mantissa.decimals is None
        and match[0].strip() != text.strip(" -+")
    ):
        raise NotAnExpressionError("a number in scientific notation or a product with e")
    return Number(mantissa.value * Fraction(10) ** int(exponent[1:]), 0)


def _command(name: str, *, spaced: bool) -> Token:
    if name in _OPERATOR_COMMANDS:
        return Token("sign", _OPERATOR_COMMANDS[name], spaced)
    return _known(name, spaced=spaced)


def _known(name: str, *, spaced: bool) -> Token:
    if name in ONE_ARGUMENT:
        return Token("function", _CANONICAL.get(name, name), spaced)
    if name in CONSTANTS:
        return Token("name", name, spaced, Name(CONSTANTS[name]))
    if name in GREEK or len(name) == 1:
        return Token("name", name, spaced, Name(name))
    raise NotAnExpressionError(f"unknown name {name!r}")


def _names(letters: str, *, spaced: bool) -> list[Token]:
    parts = _LETTERS.findall(letters)
    if sum(len(part) == 1 for part in parts) > LETTERS_IN_A_ROW:
        raise NotAnExpressionError(f"a word: {letters!r}")
    return [_known(part, spaced=spaced and place == 0) for place, part in enumerate(parts)]
