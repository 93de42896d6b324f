"""A bounded parser for one mathematical expression: it turns tokens into a tree and evaluates and imports nothing.

The grammar is that of school mathematics in LaTeX and in plain text: implicit products (`2ab`), functions without
parentheses (`\\sin 2x`), mixed numbers (`1 1/2`, `1\\frac12`), absolute bars, factorials, percent and degree signs.
Text that can be read in two ways (`x/2y`) is refused rather than guessed.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import takewhile

from touchstone.checks.notation import trees
from touchstone.checks.notation.numerals import numbered
from touchstone.checks.notation.tokens import FUNCTIONS, GREEK, GREEK_NAMES, Token, tokens_of
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, digits

DEPTH_LIMIT = 40
"""The deepest nesting of an expression: at about four frames a level, far below Python's own recursion limit."""
_ARGUMENT = 12
"""The most tokens behind a letter that are searched for its argument."""
LETTERS_IN_A_ROW = 3
"""A longer run of letters without known names is a word, not a product of variables."""

_CANONICAL = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_CONSTANTS = {"pi": "pi", "infinity": "oo", "infty": "oo", "oo": "oo", "inf": "oo"}
_PIECES = re.compile(
    "|".join([*sorted(FUNCTIONS | GREEK_NAMES | set(_CONSTANTS), key=len, reverse=True), "[A-Za-zμΩÅÀ-ɏ]"])
)
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
_SMALL = "abcdef"
_HEXADECIMAL = frozenset(f"0123456789ABCDEF{_SMALL}")
_FUNCTION_LETTERS = frozenset("fgFG")
_OPERATORS = dict.fromkeys("EVHP", frozenset("ABXYZ")) | {"T": frozenset("n"), "phi": frozenset("nxt")}
"""Letters of a mean, variance, entropy, probability and time, and φ, with what their brackets hold then."""
OPERATOR_NAMES = frozenset(("Var", "Cov", "Corr", "Pr", "SD", "det", "dim", "sgn", "min", "max"))
"""Names of functions, which are no products of letters."""
_CLOSERS = {"(": ")", "[": "]", "{": "}", "⌊": "⌋", "⌈": "⌉"}
_ORDINALS = frozenset(("st", "nd", "rd", "th", "ths", "rds"))
_NO_PRODUCTS = frozenset(
    ("is", "it", "not", "but", "or", "are", "was", "the", "if", "no", "isn", "so", "of", "to", "per")
)
"""Short words of sentences, which are not products of letters."""
_BINDING = {"choose": 5, "+": 10, "-": 10, "pm": 10, "mp": 10, "*": 20, "/": 20, "over": 20, "^": 30}
IMPLICIT = 20
_PREFIX = 25
_POSTFIX = {"!": ("factorial", 40), "°": ("degrees", 40), "%": ("percent", 24), "‰": ("percent", 24)}
"""A percent or per mille sign applies to the whole power before it; ! and ° apply to the last factor."""
_OPERANDS = frozenset(("(", "[", "{", "⌊", "⌈", "√", "∛", "frac", "binom", "oo"))
_COUNTS = frozenset("CAP")
"""Letters for the number of combinations (C) and of arrangements (A, P): `C_5^2`, `A_5^2`, `P(5,2)`."""
_COUNT_SHAPES = ("(n,n)", "_n^n", "_{n}^{n}", "_n^{n}", "_{n}^n", "^n_n", "^{n}_{n}")


def parse(text: str) -> Tree:
    """The tree of `text`.

    Raises NotAnExpressionError if the text is not one expression, and OutOfBoundsError if it exceeds a bound.
    """
    if len(text) > trees.LENGTH_LIMIT:
        raise trees.OutOfBoundsError("longer than any expression that is read")
    return parse_tokens(numbered(tokens_of(text)))


def parse_tokens(tokens: Sequence[Token]) -> Tree:
    """As `parse`, for the tokens of a text."""
    if not tokens or len(tokens) > trees.TOKEN_LIMIT:
        raise trees.OutOfBoundsError("no token, or more than any expression that is read")
    parser = Parser(_spread(_based(tokens)))
    tree = parser.expression(0)
    if parser.peek() is not None:
        raise NotAnExpressionError(f"unexpected {parser.take().text!r}")
    return tree


def tree_of(tokens: Sequence[Token]) -> Tree | None:
    """As `parse_tokens`, but numbers in words are read as well; None if the tokens are not one expression."""
    try:
        return parse_tokens(numbered(list(tokens)))
    except NotAnExpressionError:
        return None


def _based(tokens: Sequence[Token]) -> Sequence[Token]:
    """Read `FF_{16}` and `(1A)_{16}` as their number, and `(101)_2` as `101_2`.

    `A_{16}` may be a name and is refused; `(5)_2` may be a product and stays.
    """
    place = next((place for place, token in enumerate(tokens) if token.is_sign("_")), 0)
    enclosed = place > 2 and tokens[0].is_sign("(") and tokens[place - 1].is_sign(")")  # noqa: PLR2004
    inside = tokens[1 : place - 1] if enclosed else tokens[:place]
    base = "".join(token.text for token in tokens[place + 1 :]).strip("{}")
    written = "".join(token.text for token in inside)
    if not inside or any(token.kind not in ("number", "letters") for token in inside):
        return tokens
    if any(token.spaced for token in inside[1:]):
        return tokens
    if written.isdecimal() or base != "16":
        return [*inside, *tokens[place:]] if enclosed and written.isdecimal() and len(written) > 1 else tokens
    if written in _HEXADECIMAL - frozenset(_SMALL):
        raise NotAnExpressionError("digits to the base sixteen, or a name with an index")
    if not set(written) <= _HEXADECIMAL or len(written) == 1:
        return tokens
    value = Number(Fraction(int(written, 16)))
    return [tokens[0]._replace(kind="number", text=written, end=tokens[-1].end, value=value)]


def _spread(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with every run of letters split into names and functions; an index stays whole: `v_{max}`."""
    found: list[Token] = []
    index_depth = 0
    for place, token in enumerate(tokens):
        lowered = bool(found) and found[-1].is_sign("_")
        if index_depth or (lowered and token.is_sign("{")):
            index_depth += token.is_sign("{") - token.is_sign("}")
            found.append(token)
        elif lowered and token.kind == "letters" and len(token.text) > 1 and not token.text.islower():
            # LaTeX lowers one letter only: k_BT is k_B·T.
            found.append(token._replace(text=token.text[0]))
            found.extend(_pieces(token._replace(text=token.text[1:], spaced=False)))
        elif lowered:
            found.append(token)
        elif token.text in ("x", "X") and _is_times(tokens, place):
            found.append(token._replace(kind="sign", text="*"))
        elif token.text in _ORDINALS and token.kind == "letters" and place and tokens[place - 1].kind == "number":
            raise NotAnExpressionError("a number in an order")
        else:
            found.extend(_pieces(token))
    return found


def _is_times(tokens: Sequence[Token], place: int) -> bool:
    """Whether the x at `place` means "times": `6.02 x 10^23`, `3x10^8`. Raises NotAnExpressionError for `3x4`."""
    if not 0 < place < len(tokens) - 1:
        return False
    before, letter, behind = tokens[place - 1 : place + 2]
    if letter.spaced or behind.spaced:
        return letter.spaced and behind.spaced and behind.kind == "number" and before.kind in ("number", "close")
    if before.kind != "number" or behind.kind != "number":
        return False
    if behind.text != "10" or not (place + 2 < len(tokens) and tokens[place + 2].is_sign("^")):
        raise NotAnExpressionError("letters between digits: a product, a name with an index, or a count")
    return True


def _pieces(token: Token) -> list[Token]:
    """The functions, constants and variables that make up a run of letters."""
    if token.kind != "letters":
        return [token]
    text = token.text
    if len(text) == 1:
        return [token._replace(text=_canonical(text))]
    parts = _PIECES.findall(text)
    single = sum(len(part) == 1 for part in parts)
    if text in OPERATOR_NAMES:
        return [token]
    if single > LETTERS_IN_A_ROW or (token.upright and single > 1) or "".join(parts) != text:
        raise NotAnExpressionError(f"a word: {text!r}")
    if text in ("ish", "odd") or (token.spaced and text.lower() in _NO_PRODUCTS):
        raise NotAnExpressionError("a sentence")
    pieces = [
        token._replace(kind="function" if part in FUNCTIONS else "letters", text=_canonical(part), spaced=False)
        for part in parts
    ]
    return [pieces[0]._replace(spaced=token.spaced), *pieces[1:]]


def _canonical(name: str) -> str:
    name = GREEK.get(name, name)
    return _CONSTANTS.get(name, name)


def _count(letter: str, above: Fraction, below: Fraction) -> Tree | None:
    """The number of combinations (C) or arrangements (A, P) of `below` out of `above`; None if it is not defined."""
    if not (above.denominator == below.denominator == 1 and 0 <= below <= above):
        return None
    counted = Apply("binomial", (Number(above), Number(below)))
    return Apply("mul", (counted, Apply("factorial", (Number(below),)))) if letter in "AP" else counted


def _is_marked_name(tree: Tree) -> bool:
    """Whether a ring stands behind a name: degrees, or the sign of a composition."""
    return isinstance(tree, Apply) and tree.operation == "degrees" and isinstance(tree.arguments[0], Name)


class Parser:
    """Precedence climbing over the tokens of one expression. `place` is the index of the next token."""

    postfix: Mapping[str, tuple[str, int]] = _POSTFIX

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self.place = 0
        self._depth = 0
        self._bars = 0

    def peek(self, ahead: int = 0) -> Token | None:
        place = self.place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def take(self) -> Token:
        token = self.peek()
        if token is None:
            raise NotAnExpressionError("ends too early")
        self.place += 1
        return token

    def _is(self, *signs: str, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        return token is not None and token.is_sign(*signs)

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise NotAnExpressionError(f"{sign!r} is missing")
        self.place += 1

    def expression(self, minimum: int) -> Tree:
        """Parse everything that binds at least as tightly as `minimum`."""
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise trees.OutOfBoundsError("nested deeper than any expression that is read")
        started = self.place
        left = self._prefix()
        quotient = False
        while (token := self.peek()) is not None:
            if token.kind == "sign" and token.text in self.postfix:
                operation, binding = self.postfix[token.text]
                if binding < minimum:
                    break
                if token.text == "!" and self._tokens[self.place - 1].is_sign("!"):
                    raise NotAnExpressionError("a double factorial, or a factorial of one")
                self.place += 1
                if token.text == "‰":
                    left = Apply("div", (left, Number(Fraction(10))))
                left = Apply(operation, (left,))
            elif token.kind == "sign" and token.text in _BINDING:
                binding = _BINDING[token.text]
                if binding < minimum:
                    break
                self.place += 1
                left, quotient = self._infix(token.text, left, binding), token.text == "/"
            elif self._starts_operand(token):
                if minimum > IMPLICIT:
                    break
                left, quotient = self._implicit(left, token, started, after_slash=quotient), False
            else:
                break
        self._depth -= 1
        return left

    def _infix(self, sign: str, left: Tree, binding: int) -> Tree:
        # A power binds to the right, everything else to the left.
        right = self.expression(_PREFIX if sign == "^" else binding + 1)
        match sign:
            case "-":
                return trees.difference(left, right)
            case "^":
                return Apply("pow", (left, right))
            case _:
                operations = {"+": "add", "*": "mul", "/": "div", "over": "div", "choose": "binomial"}
                return Apply(operations.get(sign, sign), (left, right))

    def _starts_operand(self, token: Token) -> bool:
        if token.kind in ("number", "letters", "function", "accent"):
            return True
        return token.text in _OPERANDS or (token.is_sign("|") and not self._bars)

    def _implicit(self, left: Tree, token: Token, started: int, *, after_slash: bool) -> Tree:
        # A number right after another may begin a power, `2.2 10^{-6}`, `2^6 3^5`, but not after a quotient.
        plain = all(not each.is_sign("/", "frac", "|", "(") for each in self._tokens[started : self.place])
        if token.kind == "number" and not (plain and token.spaced and self._is("^", ahead=1)):
            raise NotAnExpressionError("two numbers without a sign between them")
        if token.kind == "letters" and token.text not in ("C", "F") and _is_marked_name(left):
            raise NotAnExpressionError("a composition of functions: f∘g")
        if token.kind == "accent" and self._is("°", ahead=2):
            raise NotAnExpressionError("a number by its size and its angle: 2∠60°")
        number = left.arguments[0] if isinstance(left, Apply) and left.operation == "neg" else left
        if token.is_sign("(") and isinstance(number, Number) and self._may_repeat(number, whole=started == 0):
            raise NotAnExpressionError("repeating digits in brackets, an uncertainty, or a product")
        inside = self.peek(1) if token.is_sign("(") and not isinstance(number, Number) else None
        if inside is not None and inside.kind == "number" and "," in inside.text:
            raise NotAnExpressionError("a function of two numbers, or a product")
        if after_slash and not (left.is_constant and token.text not in "([{"):
            raise NotAnExpressionError("it is not clear how far the denominator goes")
        return Apply("mul", (left, self.expression(IMPLICIT + 1)))

    def _may_repeat(self, left: Number, *, whole: bool) -> bool:
        """Whether digits in brackets may repeat or be an uncertainty, so no factor: `0.1(6)`, `1.234(5)`, `5 (1)`."""
        inside, bracket = self.peek(1), self.peek()
        if inside is None or bracket is None or not inside.text.isdecimal() or not self._is(")", ahead=2):
            return False
        return bool(left.decimals) or (whole and self.peek(3) is None and (bracket.spaced or inside.text == "1"))

    def _prefix(self) -> Tree:
        token = self.take()
        match token.kind:
            case "number":
                return self._between(token) or self._mixed(token)
            case "letters":
                return self._named(token)
            case "function":
                return self._function(_CANONICAL.get(token.text, token.text))
            case "accent":
                return self._accented(token)
            case "sign" | "open":
                return self._sign(token.text)
        raise NotAnExpressionError(f"unexpected {token.text!r}")

    def _sign(self, sign: str) -> Tree:
        """Parse an operand that begins with a sign or a bracket."""
        match sign:
            case "-":
                return Apply("neg", (self.expression(_PREFIX),))
            case "+":
                return self.expression(_PREFIX)
            case "pm" | "mp":
                return Apply(sign, (Number(Fraction(0)), self.expression(_PREFIX)))
            case "(" | "[" | "{":
                return self._group(sign)
            case "⌊" | "⌈":
                return Apply("floor" if sign == "⌊" else "ceil", (self._group(sign),))
            case "|":
                self._bars += 1
                inside = self.expression(0)
                self._bars -= 1
                self._expect("|")
                return Apply("abs", (inside,))
            case "frac" | "binom":
                over, under = self._argument(), self._argument()
                if over == Name("d") and isinstance(under, Apply) and under.arguments[0] == over:
                    raise NotAnExpressionError("a derivative that is still to be taken")
                return Apply({"frac": "div", "binom": "binomial"}[sign], (over, under))
            case "√" | "∛":
                return Apply("root", (self._operand(), Number(Fraction({"√": 2, "∛": 3}[sign]))))
            case "oo":
                return Name("oo")
        raise NotAnExpressionError(f"unexpected {sign!r}")

    def _group(self, opener: str) -> Tree:
        bars, self._bars = self._bars, 0
        inside = self.expression(0)
        self._bars = bars
        self._expect(_CLOSERS[opener])
        return inside

    def _mixed(self, token: Token) -> Tree:
        """Parse a number, or a mixed number: an integer with a proper fraction behind it."""
        whole = token.value or Number(Fraction(0))
        if self._is("_") and token.text.isdigit():
            # 204_5: digits to another base.
            self.place += 1
            return Apply("base", (whole, self._argument()))
        mark, digit = self.peek(), self.peek(1)
        if mark is not None and mark.kind == "letters" and not mark.spaced:
            prefixed = token.text == "0" and mark.text in ("x", "b", "o") and digit is not None and not digit.spaced
            binary = mark.text == "b" and len(token.text) > 2 and set(token.text) <= {"0", "1"}  # noqa: PLR2004 - but 10b
            goes_on = len(token.text) > 1 or len(mark.text) > 1 or (digit is not None and not digit.spaced)
            padded = token.text[0] == "0" and token.text.isdigit() and mark.text[0] in "ABCDEF" and goes_on
            if prefixed or binary or padded:
                raise NotAnExpressionError("a number to another base")
        if whole.decimals is not None or whole.value.denominator != 1:
            return whole
        following = self.peek()
        if following is not None and following.kind == "number" and following.value and not following.text[0].isdigit():
            # 1½
            self.place += 1
            if 0 < following.value.value < 1 and following.value.decimals is None:
                return Number(whole.value + following.value.value)
            raise NotAnExpressionError("two numbers without a sign between them")
        separated = following is not None and following.kind == "number" and following.spaced and self._is("/", ahead=1)
        if not (separated or self._is("frac")):
            return whole
        place, kept = self.place, list(self._tokens)
        over: Tree | None = self.take().value
        under: Tree | None
        if over is None:
            over, under = self._argument(), self._argument()
        else:
            self._expect("/")
            under = self.take().value
        match over, under:
            case Number(value=part, decimals=None), Number(value=parts, decimals=None) if 0 < part < parts:
                return Number(whole.value + part / parts)
            case Number(decimals=None), Number(decimals=None):
                raise NotAnExpressionError("a mixed number with an improper fraction, or a product")
        self.place, self._tokens = place, kept
        return whole

    def _named(self, token: Token) -> Tree:
        name = token.text
        if name in _FUNCTION_LETTERS and self._is("("):
            raise NotAnExpressionError("the value of an unknown function, or a product")
        if name in OPERATOR_NAMES or (name in _OPERATORS and self._is_applied(_OPERATORS[name])):
            if self._is("(", "["):
                return Apply(name, (self._group(self.take().text),))
            if len(self._tokens) > 1:
                raise NotAnExpressionError(f"a word: {name!r}")
        following = self.peek()
        if name == "m" and following is not None and following.kind == "accent" and following.text == "angle":
            return self._accented(self.take())  # the measure of an angle
        if name == "Delta" and following is not None and following.kind == "letters" and following.text != "Delta":
            # Δx is one name.
            name = f"Delta {self.take().text}"
        if name in _COUNTS and (counted := self._counted(name)) is not None:
            return counted
        return Name(name + self._index())

    def _is_applied(self, arguments: frozenset[str]) -> bool:
        """Whether brackets behind a letter hold what it is a function of: E(2X), P(A), T(n/2)."""
        if not self._is("(", "["):
            return False
        behind = self._tokens[self.place + 1 : self.place + _ARGUMENT]
        inside = takewhile(lambda token: token.kind != "close", behind)
        return any(token.text in arguments for token in inside)

    def _between(self, token: Token) -> Tree | None:
        """The count written by a C or P right between two numbers, `5C2`; None if no such letter stands there."""
        mark, digit = self.peek(), self.peek(1)
        if mark is None or digit is None or mark.text not in ("C", "P") or mark.spaced or digit.spaced:
            return None
        if token.value is None or digit.value is None:
            return None
        self.place += 2
        counted = _count(mark.text, token.value.value, digit.value.value)
        if counted is None or self._is("^", "_"):
            raise NotAnExpressionError("letters between digits: a product, a name with an index, or a count")
        return counted

    def _counted(self, letter: str) -> Tree | None:
        """The count of `C(5,2)`, `C_5^2`, `C_{5}^{2}` or `A_5^2`, with whole numbers; None for anything else."""
        behind = self._tokens[self.place : self.place + 9]
        signs = "".join("n" if token.kind == "number" else token.text for token in behind)
        shape = next((shape for shape in _COUNT_SHAPES if signs.startswith(shape)), "")
        sizes = [token.value.value for token in behind if token.value is not None][:2]
        if not shape or len(sizes) < 2:  # noqa: PLR2004 - of how many, how many
            return None
        counted = _count(letter, *(sizes if shape[0] != "^" else sizes[::-1]))
        self.place += 0 if counted is None else len(shape)
        return counted

    def _index(self) -> str:
        """The index that distinguishes a name from others: `_1`, `_{max}`, and the 1 of `x1`; "" if there is none."""
        following = self.peek()
        if following is not None and following.kind == "number" and not following.spaced and following.text.isdigit():
            if self._tokens[self.place - 1].text in ("i", "e", "pi"):
                raise NotAnExpressionError("a product of a constant, or a name with an index")
            self.place += 1
            return f"_{following.text}"
        if not self._is("_"):
            return ""
        self.place += 1
        parts = [token.text for token in self._braced()]
        label = "".join(parts)
        if not label or not all(part.isalnum() or part in (",", "+", "-", "'", "*") for part in parts):
            raise NotAnExpressionError(f"unreadable index {label!r}")
        return f"_{label}"

    def _braced(self) -> list[Token]:
        """The tokens in braces, or the single token that stands there without braces."""
        found = [self.take()]
        if found[0].is_sign("{"):
            while not found[-1].is_sign("}"):
                found.append(self.take())
            found = found[1:-1]
        return found

    def _accented(self, accent: Token) -> Tree:
        r"""A name with a sign over or before it: `\vec{a}`, `\overline{AB}`, `\angle ABC`."""
        braced, parts = self._is("{"), self._braced()
        if accent.text == "triangle" and len(parts) == 1 and parts[0].kind == "letters" and parts[0].text.islower():
            return Name(f"Delta {parts[0].text}")  # △t for Δt
        while not braced and (token := self.peek()) is not None and token.kind == "letters" and token.text.isupper():
            parts.append(self.take())
        counted = braced or accent.text == "angle"
        plain = (part.kind == "letters" or (part.kind == "number" and counted) for part in parts)
        if not all(known or (braced and part.is_sign("_", "{")) for known, part in zip(plain, parts, strict=True)):
            raise NotAnExpressionError(f"{accent.text!r} of what is no name")
        named = "".join(part.text for part in parts)
        if accent.text == "angle" and len(named) == len("ABC") and named.isalpha() and named.isupper():
            named = min(named, named[::-1])  # ∠CBA is ∠ABC
        return Name(f"{accent.text} {named}{self._index()}")

    def _argument(self) -> Tree:
        r"""The argument of a command like `\frac`: a group in braces, or one digit or letter."""
        token = self.take()
        if token.is_sign("{"):
            return self._group("{")
        if token.kind == "number" and token.text.isdigit():
            # `\frac12` is one half: LaTeX takes one digit at a time.
            if len(token.text) > 1:
                rest = token.text[1:]
                self.place -= 1
                self._tokens[self.place] = token._replace(text=rest, spaced=False, value=digits(rest))
            return digits(token.text[0])
        if token.kind == "letters":
            return Name(token.text)
        raise NotAnExpressionError(f"unexpected {token.text!r}")

    def _operand(self) -> Tree:
        """The operand of a root sign: a group, a number or a name."""
        token = self.take()
        if token.kind == "open" and token.text in _CLOSERS:
            return self._group(token.text)
        if token.kind == "number" and token.value is not None:
            return token.value
        if token.kind == "letters":
            return Name(token.text + self._index())
        raise NotAnExpressionError(f"unexpected {token.text!r}")

    def _function(self, name: str) -> Tree:
        if name == "sqrt":
            index = self._group(self.take().text) if self._is("[") else Number(Fraction(2))
            return Apply("root", (self._operand(), index))
        base: tuple[Tree, ...] = ()
        if name == "log" and self._is("_"):
            self.place += 1
            following = self.peek()  # \log_{2}, \log_2, log_10
            number = following.value if following is not None and following.kind == "number" else None
            self.place += number is not None
            base = (number or self._argument(),)
        power: Tree | None = None
        if self._is("^"):
            self.place += 1
            power = self._argument() if self._is("{") else self.expression(_PREFIX)
        argument = self._function_argument()
        if power == Apply("neg", (Number(Fraction(1)),)) and name in _INVERSES:
            return Apply(_INVERSES[name], (argument,))
        if name == "cis":
            turned = Apply("mul", (Name("i"), Apply("sin", (argument,))))
            call = Apply("add", (Apply("cos", (argument,)), turned))
        else:
            call = Apply(name, (argument, *base))
        return call if power is None else Apply("pow", (call, power))

    def _function_argument(self) -> Tree:
        """A group, or the factors up to a sign or a function: in `\\sin 2x \\cos x`, the argument of sin is 2x.

        Raises NotAnExpressionError for `\\sin x/2`.
        """
        if self._is("(", "[", "{"):
            return self._group(self.take().text)
        argument = self.expression(_PREFIX)
        while (token := self.peek()) is not None and token.kind != "function" and self._starts_operand(token):
            if token.kind == "number" or token.is_sign("(", "["):
                break
            argument = Apply("mul", (argument, self.expression(_PREFIX)))
        below = self.peek(1) if self._is("/") else None
        if (
            below is not None
            and below.kind in ("number", "letters")
            and not self._is_over_its_argument(argument, below)
        ):
            raise NotAnExpressionError("it is not clear how far the argument goes")
        return argument

    def _is_over_its_argument(self, argument: Tree, below: Token) -> bool:
        """Whether a function's value is divided by its argument: `ln x / x` is not the logarithm of 1."""
        return argument == Name(below.text) and not self._is("^", "_", "(", ahead=2)
