from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy

from tests.support.timing import takes_at_most
from touchstone.checks.algebra.symbolic import build
from touchstone.checks.notation.syntax import parse
from touchstone.checks.notation.trees import NotAnExpressionError, Tree
from touchstone.checks.values import exact
from touchstone.checks.values.exact import bound

x, y = sympy.symbols("x y")
READ = {
    r"\frac{1}{2}x^2+3x-1": x**2 / 2 + 3 * x - 1,
    "2x^2 - 5": 2 * x**2 - 5,
    r"$\frac12$": sympy.Rational(1, 2),
    "1 1/2": sympy.Rational(3, 2),
    r"2\frac58": sympy.Rational(21, 8),
    r"2\frac{x}{3}": 2 * x / 3,
    "√12+1": 2 * sympy.sqrt(3) + 1,
    "x²＋１": x**2 + 1,
    "5−2": sympy.Integer(3),
    "6÷3×2": sympy.Integer(4),
    "1/2x": x / 2,
    "-x^2": -(x**2),
    "2**-1": sympy.Rational(1, 2),
    "2^{10}%": sympy.Rational(256, 25),
    "sin 2x cos x": sympy.sin(2 * x) * sympy.cos(x),
    r"\sin^2 x + \cos^{2} x": sympy.sin(x) ** 2 + sympy.cos(x) ** 2,
    r"\sin^{-1} x": sympy.asin(x),
    r"\sin 30^\circ": sympy.Rational(1, 2),
    r"2|x-y|+1": 2 * sympy.Abs(x - y) + 1,
    r"\sqrt[3]{-8}": sympy.Integer(-2),
    r"\sqrt[4]{16}": sympy.Integer(2),
    "∛27": sympy.Integer(3),
    r"\log_2 8": sympy.log(8) / sympy.log(2),
    "log_10 100": sympy.log(100) / sympy.log(10),
    "lg 1000": sympy.Integer(3),
    r"\ln(e^{2x})": sympy.log(sympy.exp(2 * x)),
    "5!": sympy.Integer(120),
    r"\binom{5}{2}": sympy.Integer(10),
    "x_{1}+x_1": 2 * sympy.Symbol("x_1"),
    r"6.02\times 10^{23}": sympy.Integer(602 * 10**21),
    "6.02e23": sympy.Integer(602 * 10**21),
    "1,234.5": sympy.Rational(2469, 2),
    r"\left(\frac{1}{2}\right)^{3}": sympy.Rational(1, 8),
    r"1-\frac{1}{\mathrm{e}}": 1 - sympy.exp(-1),
    r"(1+i)^2": (1 + sympy.I) ** 2,
    r"e^{-x^2/2}": sympy.exp(-(x**2) / 2),
}
NOT_READ = [
    "", " ", "x/2y", "abcd", "2 3", "x=2", "(1,2)", "f(x)", "2 +", "(1", "1)", r"5\frac74", r"\pm 2", "x'", "2,5,6",
    r"\unknown{3}", "x_{!}", "|x", "a > b", "12345.6.7", "n_5(", r"\frac{1}", "sqrt", "苹果",
]  # fmt: skip
HOSTILE = {
    "a tower of powers": "9**9**9**9",
    "nested brackets": "(" * 100_000,
    "matched brackets": "(" * 900 + "1" + ")" * 900,
    "nested fractions": r"\frac{1}{" * 150 + "1" + "}" * 150,
    "a megabyte of digits": "1" * 1_000_000,
    "a thousand digits": "1" * 1_000,
    "a huge factorial": "(10**7)!",
    "a factorial by name": "factorial(10**7)",
    "a nested factorial": "((9!)!)!",
    "a huge binomial": r"\binom{1000000000}{50000}",
    "Python": "__import__('os').system('true')",
    "an attribute": "x.__class__",
    "an exponential tower": "e^{e^{e^{100}}}",
    "a power through a logarithm": r"e^{1000000000\ln 2}",
    "a power through two logarithms": r"e^{4000\ln 2 \cdot 4000 \cdot 4000 \cdot 4000}",
    "a root's huge power": r"\sqrt{2}^{10000000}",
    "a huge exponent of ten": "1e999999999",
    "signs": "-" * 2_000 + "1",
    "terms": "+".join(["x"] * 1_000),
    "superscripts": "9⁹⁹⁹⁹⁹⁹⁹⁹⁹",
}


def parse_expression(text: str) -> sympy.Expr | None:
    try:
        tree = parse(text)
        bound(tree)
        return build(tree)
    except NotAnExpressionError:
        return None


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_reads(text: str, expected: sympy.Expr) -> None:
    assert parse_expression(text) == expected


@pytest.mark.parametrize("text", NOT_READ)
def test_does_not_guess(text: str) -> None:
    assert parse_expression(text) is None


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_refuses_what_could_not_be_evaluated_in_time(text: str) -> None:
    assert takes_at_most(0.1, lambda: parse_expression(text)) is None


@pytest.mark.parametrize("asked", [exact.bound, exact.linear])
def test_the_work_on_a_deep_tree_grows_with_its_depth(asked: Callable[[Tree], object]) -> None:
    def steps(depth: int) -> int:
        asks: list[Tree] = []

        def counted(tree: Tree, known: exact.Known | None = None) -> Fraction | None:
            asks.append(tree)
            return rational(tree, known)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exact, "rational", counted)
            asked(parse("x" + "+1" * depth))
        return len(asks)

    rational = exact.rational
    assert steps(80) <= 2.2 * steps(40)
