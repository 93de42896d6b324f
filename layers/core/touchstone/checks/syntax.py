"""A bounded parser for one mathematical expression: text in, tree out, nothing evaluated and nothing imported.

The grammar is that of school mathematics in LaTeX and in plain text: implicit products (`2ab`, `3\\sqrt{2}`), functions
without parentheses (`\\sin 2x`), mixed numbers (`1 1/2`, `1\\frac12`), absolute bars, factorials, percent and degree
signs. What can be read in two ways (`x/2y`) is refused rather than guessed.
"""

from fractions import Fraction

from touchstone.checks.tokens import (
    LENGTH_LIMIT,
    Apply,
    Name,
    NotAnExpressionError,
    Number,
    OutOfBoundsError,
    Token,
    Tree,
    number,
    tokens,
)

DEPTH_LIMIT = 40
"""Nesting of one expression; far below Python's own recursion limit, at about four frames a level."""
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
_FUNCTION_LETTERS = frozenset("fgFG")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_BINDING = {"+": 10, "-": 10, "pm": 10, "mp": 10, "*": 20, "/": 20, "^": 30}
_IMPLICIT = 20
_PREFIX = 25
_POSTFIX = {"!": ("factorial", 40), "°": ("degrees", 40), "%": ("percent", 24)}
"""A percent sign takes the whole power before it, the others the last factor."""


def parse(text: str) -> Tree:
    """The tree of `text`, already in the notation of `touchstone.checks.notation.plain`.

    Raises NotAnExpressionError where it is not one expression or ambiguous, OutOfBoundsError past a bound.
    """
    if len(text) > LENGTH_LIMIT:
        raise OutOfBoundsError("longer than any expression that is read")
    parser = _Parser(tokens(text))
    tree = parser.expression(0)
    if parser.peek() is not None:
        raise NotAnExpressionError(f"unexpected {parser.take().text!r}")
    return tree


class _Parser:
    """Precedence climbing over the tokens of one expression."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self._bars = 0

    def peek(self, ahead: int = 0) -> Token | None:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def take(self) -> Token:
        token = self.peek()
        if token is None:
            raise NotAnExpressionError("ends too early")
        self._place += 1
        return token

    def _is(self, *signs: str, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        return token is not None and token.kind == "sign" and token.text in signs

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise NotAnExpressionError(f"{sign!r} is missing")
        self._place += 1

    def expression(self, minimum: int) -> Tree:
        """Everything that binds at least as tightly as `minimum`."""
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise OutOfBoundsError("nested deeper than any expression that is read")
        left = self._prefix()
        quotient = False
        while (token := self.peek()) is not None:
            if token.kind == "sign" and token.text in _POSTFIX:
                operation, binding = _POSTFIX[token.text]
                if binding < minimum:
                    break
                self._place += 1
                left = Apply(operation, (left,))
            elif token.kind == "sign" and token.text in _BINDING:
                binding = _BINDING[token.text]
                if binding < minimum:
                    break
                self._place += 1
                left, quotient = self._infix(token.text, left, binding), token.text == "/"
            elif self._starts_operand(token):
                if minimum > _IMPLICIT:
                    break
                left, quotient = self._implicit(left, token, after_slash=quotient), False
            else:
                break
        self._depth -= 1
        return left

    def _infix(self, sign: str, left: Tree, binding: int) -> Tree:
        # A power binds to the right, everything else to the left.
        right = self.expression(_PREFIX if sign == "^" else binding + 1)
        match sign:
            case "-":
                return Apply("add", (left, Apply("neg", (right,))))
            case "^":
                return Apply("pow", (left, right))
            case _:
                return Apply({"+": "add", "*": "mul", "/": "div"}.get(sign, sign), (left, right))

    def _starts_operand(self, token: Token) -> bool:
        if token.kind != "sign":
            return True
        return (
            token.text in "([{√∛" or token.text in ("frac", "sqrt", "binom") or (token.text == "|" and not self._bars)
        )

    def _implicit(self, left: Tree, token: Token, *, after_slash: bool) -> Tree:
        if token.kind == "number":
            raise NotAnExpressionError("two numbers without a sign between them")
        if after_slash and not (_constant(left) and token.text not in "([{"):
            raise NotAnExpressionError("it is not clear how far the denominator goes")
        return Apply("mul", (left, self.expression(_IMPLICIT + 1)))

    def _prefix(self) -> Tree:
        token = self.take()
        match token.kind:
            case "number":
                return self._mixed(token)
            case "name":
                return self._subscripted(token)
            case "function":
                return self._function(token.text)
        return self._sign(token.text)

    def _sign(self, sign: str) -> Tree:
        """An operand that begins with a sign or a LaTeX command."""
        match sign:
            case "-":
                return Apply("neg", (self.expression(_PREFIX),))
            case "+":
                return self.expression(_PREFIX)
            case "pm" | "mp":
                return Apply(sign, (Number(Fraction(0)), self.expression(_PREFIX)))
            case "(" | "[" | "{":
                return self._group(sign)
            case "|":
                return self._absolute()
            case "frac" | "binom":
                return Apply({"frac": "div", "binom": "binomial"}[sign], (self._argument(), self._argument()))
            case "sqrt":
                return self._root()
            case "√" | "∛":
                return Apply("root", (self._operand(), Number(Fraction({"√": 2, "∛": 3}[sign]))))
        raise NotAnExpressionError(f"unexpected {sign!r}")

    def _group(self, opener: str) -> Tree:
        bars, self._bars = self._bars, 0
        inside = self.expression(0)
        self._bars = bars
        self._expect(_CLOSERS[opener])
        return inside

    def _absolute(self) -> Tree:
        self._bars += 1
        inside = self.expression(0)
        self._bars -= 1
        self._expect("|")
        return Apply("abs", (inside,))

    def _mixed(self, token: Token) -> Tree:
        """A number, or a mixed number: an integer with a proper fraction behind it."""
        whole = token.value
        if not isinstance(whole, Number) or whole.decimals is not None:
            return whole or Number(Fraction(0))
        place, kept = self._place, list(self._tokens)
        following = self.peek()
        if self._is("frac"):
            self._place += 1
            over, under = self._argument(), self._argument()
        elif following is not None and following.kind == "number" and following.spaced and self._is("/", ahead=1):
            over = following.value or whole
            self._place += 2
            under = self.take().value or whole
        else:
            return whole
        match over, under:
            case Number(value=part, decimals=None), Number(value=parts, decimals=None) if 0 < part < parts:
                return Number(whole.value + part / parts)
            case Number(decimals=None), Number(decimals=None):
                raise NotAnExpressionError("a mixed number with an improper fraction, or a product")
        self._place, self._tokens = place, kept
        return whole

    def _subscripted(self, token: Token) -> Tree:
        if not self._is("_"):
            if token.text in _FUNCTION_LETTERS and self._is("("):
                raise NotAnExpressionError("the value of an unknown function, or a product")
            return token.value or Name(token.text)
        self._place += 1
        parts: list[str] = []
        if self._is("{"):
            self._place += 1
            while not self._is("}"):
                parts.append(self.take().text)
            self._place += 1
        else:
            parts.append(self.take().text)
        label = "".join(parts)
        if not label.replace(",", "").isalnum():
            raise NotAnExpressionError(f"unreadable index {label!r}")
        return Name(f"{token.text}_{label}")

    def _argument(self) -> Tree:
        r"""An argument of `\frac` and its like: a group in braces, or one digit or letter."""
        token = self.take()
        if token.kind == "sign" and token.text == "{":
            return self._group("{")
        if token.kind == "number" and token.text.isdigit():
            # `\frac12` is one half: LaTeX takes one digit at a time.
            if len(token.text) > 1:
                rest = token.text[1:]
                self._place -= 1
                self._tokens[self._place] = Token("number", rest, spaced=False, value=number(rest))
            return number(token.text[0])
        if token.kind == "name":
            return token.value or Name(token.text)
        raise NotAnExpressionError(f"unexpected {token.text!r}")

    def _root(self) -> Tree:
        index: Tree = Number(Fraction(2))
        if self._is("["):
            self._place += 1
            index = self._group("[")
        return Apply("root", (self._operand(), index))

    def _operand(self) -> Tree:
        """What a root sign without braces covers: a group, a number or a name."""
        token = self.take()
        if token.kind == "sign" and token.text in _CLOSERS:
            return self._group(token.text)
        if token.kind == "number" and token.value is not None:
            return token.value
        if token.kind == "name":
            return self._subscripted(token)
        raise NotAnExpressionError(f"unexpected {token.text!r}")

    def _function(self, name: str) -> Tree:
        if name == "sqrt":
            return Apply("root", (self._operand(), Number(Fraction(2))))
        base: tuple[Tree, ...] = ()
        if name == "log" and self._is("_"):
            self._place += 1
            base = (self._base(),)
        power: Tree | None = None
        if self._is("^"):
            self._place += 1
            power = self.expression(_PREFIX) if not self._is("{") else self._argument()
        argument = self._function_argument()
        if power == Apply("neg", (Number(Fraction(1)),)) and name in _INVERSES:
            return Apply(_INVERSES[name], (argument,))
        call = Apply(name, (argument, *base))
        return call if power is None else Apply("pow", (call, power))

    def _base(self) -> Tree:
        r"""The base of a logarithm: `\log_{2}`, `\log_2`, `log_10`."""
        following = self.peek()
        if following is not None and following.kind == "number" and following.value is not None:
            self._place += 1
            return following.value
        return self._argument()

    def _function_argument(self) -> Tree:
        """A group, or the product of factors up to the next sign or function: `\\sin 2x \\cos x` has two."""
        if self._is("(", "[", "{"):
            return self._group(self.take().text)
        argument = self.expression(_PREFIX)
        while (token := self.peek()) is not None and token.kind != "function" and self._starts_operand(token):
            if token.kind == "number" or (token.kind == "sign" and token.text in "(["):
                break
            argument = Apply("mul", (argument, self.expression(_PREFIX)))
        return argument


def _constant(tree: Tree) -> bool:
    """Whether no variable occurs in `tree`."""
    match tree:
        case Number():
            return True
        case Name(name):
            return name in ("pi", "e", "i", "oo")
        case Apply(arguments=arguments):
            return all(_constant(argument) for argument in arguments)
