"""An answer is proved or refuted only where a program can be certain; everything else is unknown."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from math import gcd, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.timing import takes_at_most
from touchstone.checks import prove_answer
from touchstone.checks.proofs import algebra
from touchstone.limits import AT_ONCE_SECONDS, NotAtOnceError

# The time limit ends a thread by an exception, which may land in a callback of the interpreter, and is told there.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True, scope="module")
def patient() -> Iterator[None]:
    """Time for sympy on a machine that runs other things: what is tested is the verdict, not the speed."""
    patch = pytest.MonkeyPatch()
    patch.setattr(algebra, "SECONDS", 20.0)
    yield
    patch.undo()


CARE = "We look at each side of the equation, and at what may be done to both of them while it stays true. " * 4
"""Of a solution that is longer than an answer."""
SOLUTIONS = [
    (f"{CARE}\n\\boxed{{x=2}}", "proved"),
    (f"{CARE}\nSo the answer is $\\boxed{{x=3}}$.", "refuted"),
    (f"{CARE}\nThe answer is x = 2.", "proved"),
    (f"The answer is x = 5.\n{CARE}", "refuted"),
    (f"### 1. Subtract 3\n{CARE}\n### 2. Divide by 2\n$x = 5$", "unknown"),
    (f"### 1. Subtract 3\n{CARE}\n### 3. Check it with 3\n**x = 2**", "unknown"),
    (f"{CARE}\nSo \\boxed{{x=2}}. A common mistake is \\boxed{{x=5}}.", "unknown"),
    (f"{CARE}\nSome say the answer is x = 5. In truth it is x = 2.", "unknown"),
    (f"Answer: x = 5\n{CARE} Wait, I made a mistake: it is x = 2.", "unknown"),
    (f"\\boxed{{x=5}} {CARE}\n### Summary\nSo x = 2.", "unknown"),
]


@pytest.mark.parametrize(("solution", "outcome"), SOLUTIONS)
def test_a_long_solution_is_decided_where_it_tells_its_answer_in_one_place(solution: str, outcome: str) -> None:
    assert prove_answer("Solve 2x+3=7", solution).outcome == outcome


CASES = [
    # problem, answer, outcome, correct answer (None: not looked at)
    ("Compute 3/4 + 1/6.", "11/12", "proved", "11/12"),
    ("Compute 3/4 + 1/6.", "4/10", "refuted", "11/12"),
    ("Compute 3/4 + 1/6.", "0.92", "unknown", None),
    ("Please calculate 2^10", "The answer is 1024.", "proved", "1024"),
    ("Evaluate 2^10", "2^10", "unknown", None),
    ("What is 7 × 8?", "$\\boxed{56}$", "proved", "56"),
    ("计算：25×4－36÷9", "96", "proved", "96"),
    ("计算：25×4－36÷9", "64", "refuted", "96"),
    ("25×4－36÷9=?", "答案：96", "proved", "96"),
    ("请计算：(1/2+1/3)×6", "5", "proved", "5"),
    ("Compute 10/4", "2.6", "refuted", "5/2"),
    ("Compute 10/4", "10/4", "unknown", None),
    ("Compute 6/2(1+2)", "9", "unknown", None),
    ("Compute 3+4!", "27", "unknown", None),
    ("Compute 5!", "120", "proved", "120"),
    ("Compute sin 30", "0.5", "unknown", None),
    ("Compute \\sin \\frac{\\pi}{6}", "1/2", "proved", None),
    ("Compute log 100", "2", "unknown", None),
    ("What is 0^0?", "1", "unknown", None),
    ("What is 0^0?", "0", "unknown", None),
    ("Compute \\sqrt{8} + \\sqrt{2}", "3\\sqrt{2}", "proved", None),
    ("Compute \\sqrt{8} + \\sqrt{2}", "\\sqrt{10} + 9", "refuted", None),
    ("Compute \\sqrt{8} + \\sqrt{2}", "4.24", "unknown", None),
    ("Compute 9^9^9^9", "1", "unknown", None),
    ("What is 15% of 80?", "12", "proved", "12"),
    ("What is 15% of 80?", "15", "refuted", "12"),
    ("80的15%是多少？", "12", "proved", "12"),
    ("Simplify 6/8", "3/4", "proved", "3/4"),
    ("Simplify 6/8", "6/8", "unknown", None),
    ("Simplify 6/8", "2/4", "refuted", "3/4"),
    ("Which is larger, 3/4 or 2/3?", "3/4", "proved", None),
    ("Which is smaller, 3/4 or 2/3?", "3/4", "refuted", None),
    ("比较3/4和2/3的大小", "3/4>2/3", "proved", None),
    ("比较3/4和2/3的大小", "3/4<2/3", "refuted", None),
    ("Compare 1/2 and 0.5", "they are equal", "proved", None),
    # whole numbers
    ("Find the greatest common divisor of 84 and 126.", "42", "proved", "42"),
    ("Find the greatest common divisor of 84 and 126.", "21", "refuted", "42"),
    ("gcd(12, 18)", "6", "proved", "6"),
    ("求12和18的最小公倍数", "36", "proved", "36"),
    ("求12和18的最大公因数", "36", "refuted", "6"),
    ("What is the remainder when 2^100 is divided by 7?", "2", "proved", "2"),
    ("17 mod 5", "3", "refuted", "2"),
    ("17除以5的余数是多少？", "2", "proved", "2"),
    ("Is 91 prime?", "No", "proved", "no"),
    ("Is 97 a prime number?", "No", "refuted", "yes"),
    ("91是质数吗？", "是", "refuted", "不是"),
    ("91是质数吗？", "错的", "proved", "不是"),
    ("97是質數嗎？", "對", "proved", "是"),
    ("Is 1 prime?", "No", "proved", "no"),
    ("Find the prime factorization of 84", "2^2 * 3 * 7", "proved", "2 × 2 × 3 × 7"),
    ("Find the prime factorization of 84", "4 * 3 * 7", "refuted", None),
    ("把84分解质因数", "84=2×2×3×7", "proved", None),
    # units
    ("Convert 2.5 km to m.", "2500 m", "proved", None),
    ("Convert 2.5 km to m.", "250 m", "refuted", "2500 m"),
    ("Convert 2.5 km to m.", "2.5 km", "unknown", None),
    ("How many minutes are in 3 hours?", "180", "proved", None),
    ("2.5千米等于多少米？", "2500米", "proved", None),
    ("0.5小时=（ ）分钟", "30", "proved", None),
    ("Convert 5 miles to km", "8 km", "unknown", None),
    ("Convert 1 gallon to L", "3.785 L", "unknown", None),
    ("Convert 3 kg to m", "3", "unknown", None),
    # equations
    ("Solve x^2 - 5x + 6 = 0.", "x = 2 or x = 3", "proved", "x = 2 or x = 3"),
    ("Solve x^2 - 5x + 6 = 0.", "2, 3", "proved", None),
    ("Solve x^2 - 5x + 6 = 0.", "x = 2 or x = 4", "refuted", "x = 2 or x = 3"),
    ("Solve x^2 = 4", "x = 2", "refuted", "x = -2 or x = 2"),
    ("Solve x^2 = 4", "x = \\pm 2", "proved", None),
    ("Find x if x^2 = 4", "2", "unknown", None),
    ("Find a solution of x^2 = 4", "2", "unknown", None),
    ("Solve x^2 = 2", "x = \\sqrt{2}, x = -\\sqrt{2}", "proved", None),
    ("Solve x^2 = 2", "x = 1.414 or x = -1.414", "unknown", None),
    ("Solve x^2 = 2", "1 and -1", "refuted", None),
    ("Solve x^2 + 1 = 0", "no real solutions", "proved", None),
    ("Solve x^2 + 1 = 0", "x = 1", "refuted", None),
    ("Solve x^2/x = 0", "x = 0", "unknown", None),
    ("Solve x^2/x = 0", "no solution", "proved", None),
    ("Solve 2(x + 1) = 2x + 2", "all real numbers", "proved", None),
    ("Solve 2(x + 1) = 2x + 2", "x = 1", "refuted", None),
    ("Solve x = x + 1", "no solution", "proved", None),
    ("Solve x^3 - 8 = 0", "x = 2", "proved", None),
    ("解方程：2x + 7 = 15", "x = 4", "proved", "x = 4"),
    ("解方程：2x + 7 = 15", "x = 5", "refuted", "x = 4"),
    ("解方程：x^2-3x=0", "x₁=0，x₂=3", "proved", None),
    ("解方程：x/(x-1) = 2", "x=2", "proved", None),
    ("已知2x+1=7，求x的值", "3", "proved", "x = 3"),
    ("Solve \\sin x = 1/2", "x = 30°", "unknown", None),
    ("Solve |x - 1| = 0", "x = 1", "unknown", None),
    ("Solve ax + b = 0", "x = -b/a", "unknown", None),
    ("Solve 2x + 3 = 7", "If n is odd, x = 2", "unknown", None),
    ("解方程 2x+3=7", "x大于等于2", "unknown", None),
    ("计算 3+4*2", "大于等于11", "unknown", None),
    ("计算 3+4*2", "答案是11。不对，是14。", "unknown", None),
    ("Solve x^2 = 4", "x = 1,234", "unknown", None),
    # systems
    ("解方程组：x + y = 10，x - y = 4", "x = 7，y = 3", "proved", None),
    ("解方程组：x + y = 10，x - y = 4", "x = 6，y = 4", "refuted", "x = 7, y = 3"),
    ("Solve the system: 2x+y=5, x-y=1", "(2, 1)", "proved", None),
    ("Solve the system: 2x+y=5, x-y=1", "x = 2", "unknown", None),
    ("Solve the system: x+y=5, 2x+2y=10", "x = 2, y = 3", "unknown", None),
    (r"Solve: \begin{cases} x + y = 3 \\ x - y = 1 \end{cases}", "x = 2, y = 1", "proved", None),
    ("Solve the system: xy=5, x-y=1", "x = 2, y = 1", "unknown", None),
    # inequalities
    ("Solve 2x + 3 > 7", "x > 2", "proved", None),
    ("Solve 2x + 3 > 7", "x >= 2", "refuted", "x ∈ (2, ∞)"),
    ("Solve 2x + 3 > 7", "2 < x", "proved", None),
    ("Solve x^2 < 4", "(-2, 2)", "proved", None),
    ("Solve x^2 < 4", "-2 < x < 2", "proved", None),
    ("Solve x^2 < 4", "x < 2", "refuted", None),
    ("Solve x^2 + 1 < 0", "no solution", "proved", None),
    ("解不等式：x^2-3x+2≥0", "x≤1或x≥2", "proved", None),
    ("解不等式：x^2-3x+2≥0", "1≤x≤2", "refuted", None),
    ("Solve 1/x > 0", "x > 0", "proved", None),
    ("Solve 1/x <= 1", "x < 0 or x >= 1", "proved", None),
    ("Solve x^2 < 2", "x < 1.41", "unknown", None),
    # forms
    ("Expand (x+1)^2", "x^2 + 2x + 1", "proved", None),
    ("Expand (x+1)^2", "x^2 + 1", "refuted", None),
    ("Expand (x+1)^2", "(x+1)(x+1)", "unknown", None),
    ("Expand (x+1)^2", "x^2 + x + x + 1", "unknown", None),
    ("展开：(a+b)(a-b)", "a^2-b^2", "proved", None),
    ("展开：(a+b)(a-b)", "a^2+b^2", "refuted", None),
    ("Factor x^2 - 9.", "(x - 3)(x + 3)", "proved", None),
    ("Factor x^2 - 9.", "x^2 - 9", "refuted", None),
    ("Factor x^2 - 9.", "(x - 3)(x - 3)", "refuted", None),
    ("Factor completely 2x^2 - 18", "2(x - 3)(x + 3)", "proved", None),
    ("Factor completely 2x^2 - 18", "2(x^2 - 9)", "unknown", None),
    ("因式分解：x^2-4x+4", "(x-2)^2", "proved", None),
    ("Simplify (x^2-1)/(x-1)", "x + 1", "proved", None),
    ("化简：3a+2b-a", "2a+2b", "proved", None),
    ("化简：3a+2b-a", "3a+2b-a", "unknown", None),
    # calculus
    ("Find the derivative of x^3 - 4x.", "3x^2 - 4", "proved", None),
    ("Find the derivative of x^3 - 4x.", "3x^2 + 4", "refuted", "3·x^2 - 4"),
    ("求函数y=x^2的导数", "y'=2x", "proved", None),
    ("Differentiate e^x \\sin x", "e^x (\\sin x + \\cos x)", "proved", None),
    ("Find the derivative of ax^2", "2ax", "unknown", None),
    ("Find the antiderivative of 6x^2.", "2x^3 + C", "proved", "2·x^3 + C"),
    ("Find the antiderivative of 6x^2.", "3x^3 + C", "refuted", "2·x^3 + C"),
    ("求 \\int \\frac{1}{x} dx", "\\ln|x| + C", "proved", None),
    ("Evaluate \\int_0^1 x^2 dx", "1/3", "proved", "1/3"),
    ("Evaluate the integral of x^2 from 0 to 3", "8", "refuted", "9"),
    ("Evaluate \\int_{-1}^{1} 1/x^2 dx", "-2", "unknown", None),
    ("\\lim_{x \\to 0} \\frac{\\sin x}{x}", "1", "proved", "1"),
    ("\\lim_{x \\to 0} \\frac{\\sin x}{x}", "0", "refuted", "1"),
    ("Find the limit of 1/x as x approaches 0", "0", "unknown", None),
    # more of each kind: forms of the answer, and where certainty ends
    ("Compute 1/0 + 1", "1", "unknown", None),
    ("Compute 2.468/2", "1,234", "unknown", None),
    ("Compute 2^600", "1", "unknown", None),
    ("Compute \\pi + 1", "\\pi + 2", "refuted", None),
    ("Solve x/2 + (x+1)(x-1) = x^2", "x = 2", "proved", None),
    ("Compute 2\\pi + 3\\pi", "5\\pi", "proved", None),
    ("Compute \\sqrt{-4} + 1", "3", "unknown", None),
    ("What is 15% of 80?", "about twelve", "unknown", None),
    ("Which is larger, 3/4 or 2/3?", "5/6", "unknown", None),
    ("Which is larger, 3/4 or 2/3?", "2/3 < 3/4", "proved", None),
    ("Which is larger, 3/4 or 2/3?", "2/3 < x", "unknown", None),
    ("Which is larger, 3/4 or 2/3?", "2/3 is smaller", "unknown", None),
    ("3/4和2/3哪个大", "3/4大", "proved", None),
    ("Find the gcd of 12 and 18", "six", "proved", "6"),
    ("Find the remainder when 5 is divided by 0", "0", "unknown", None),
    ("Is 91 prime?", "perhaps", "unknown", None),
    ("Is 1 prime?", "composite", "unknown", None),
    ("Find the prime factorization of 1", "1", "unknown", None),
    ("Find the prime factorization of 12", "2*2*3 = 12", "proved", None),
    ("Find the prime factorization of 12", "two twos and a three", "unknown", None),
    ("Convert 2.5 km to m", "a lot", "unknown", None),
    ("Convert 1 km to yards", "1 yard", "refuted", None),
    ("Solve 2x = 8", "all real numbers", "refuted", "x = 4"),
    ("Solve 2x = 8", "y = 4", "unknown", None),
    ("Solve 3x = 1", "x = 0.33", "unknown", None),
    ("Solve 3x = 1", "x = 0.5", "refuted", "x = 1/3"),
    ("Solve x^3 = 3x", "x = 0, x = \\sqrt{3}, x = -\\sqrt{3}", "proved", None),
    ("Solve x^3 = 3x", "x = 0, x = 5", "refuted", None),
    ("Solve x^3 = 3x", "x = 0, x = i", "unknown", None),
    ("Solve x^3 = 3x", "x = 0, x = 1.7, x = -1.7", "unknown", None),
    ("Solve x^{-1} = 2", "x = 1/2", "proved", None),
    ("Solve x^{1/2} = 2", "x = 4", "unknown", None),
    ("Solve x/x = 1", "all real numbers", "unknown", None),
    ("Solve \\pi x = x^2", "x = 0", "unknown", None),
    ("Solve x^{12} = x", "x = 0", "unknown", None),
    ("Solve 1/x = 0", "x = 1", "refuted", None),
    ("Find x if x^2 - 5x + 6 = 0", "x = 2 or x = 3", "proved", None),
    ("Find all real roots of x^2 = 4", "-2和2", "proved", None),
    ("Solve the system: x+y=1/0, x-y=4", "x = 7, y = 3", "unknown", None),
    ("Solve the system: x+y=10, x-y=4", "x = 7, x = 3", "unknown", None),
    ("Solve the system: x+y=10, x-y=4", "(7, 3, 1)", "unknown", None),
    ("Solve the system: x+y=10, x-y=4", "(x, y) = (7, 3)", "proved", None),
    ("Solve the system: x+y=10, x-y=4", "x = 7.1, y = 3", "unknown", None),
    ("Solve the system: 2y=4, x/2-y=4, 3x=36", "x = 12, y = 2", "proved", None),
    ("Solve the system: x+y=10, x-y=4, x=1", "x = 7, y = 3", "unknown", None),
    ("Solve the system: x=1, x=2", "x = 1", "unknown", None),
    ("Solve 1 < x < 3", "(1, 3)", "unknown", None),
    ("Solve 2x > y", "x > 1", "unknown", None),
    ("Solve x^{1/2} > 1", "x > 1", "unknown", None),
    ("Solve 2x > > 3", "x > 1", "unknown", None),
    ("Solve 2x > 3 for y", "x > 1", "unknown", None),
    ("Solve x^2 < 4", "2 > x > -2", "proved", None),
    ("Solve x^2 < 4", "-2 < x > 2", "unknown", None),
    ("Solve x^2 < 4", "large x", "unknown", None),
    ("Solve x^2 <= 4", "[-2, 2]", "proved", None),
    ("Solve x^2 >= 2", "x \\in (-\\infty, -\\sqrt{2}] \\cup [\\sqrt{2}, \\infty)", "proved", None),
    ("Solve x^2 > 0", "x < 0 or x > 0", "proved", "x ∈ (-∞, 0) ∪ (0, ∞)"),
    ("Solve x^2 <= 0", "no solution", "refuted", "x ∈ [0, 0]"),
    ("Expand (x+1)^2", "(x+1)^2 = x^2+2x+1", "proved", None),
    ("Expand (x+1)^2", "(x+2)^2 = x^2+2x+1", "unknown", None),
    ("Expand (x+1)^2", "x^2 + 2y + 1", "unknown", None),
    ("Expand (x+1)^{99}", "x", "unknown", None),
    ("Expand -(x+1)(x-1)", "-x^2 + 1", "proved", None),
    ("Factor 4 - x^2", "-(x - 2)(x + 2)", "proved", None),
    ("Factor 1/x + 1", "(1 + x)/x", "unknown", None),
    ("Factor x^2 - 2", "x^2 - 2", "unknown", None),
    ("Factor x^3 - x", "x(x^2 - 1)", "unknown", None),
    ("Find the derivative of \\sin x", "y", "unknown", None),
    ("Find the derivative of |x|", "1", "unknown", None),
    ("Find the derivative of x^2", "2.0001x", "unknown", None),
    ("Find the derivative of \\ln x", "1/x", "proved", None),
    ("Find the derivative of ln x / x", "(1 - ln(x))/x^2", "proved", None),
    ("Let f(x) = x^2, find f'(x)", "f'(x) = 2x", "proved", None),
    ("Find the antiderivative of 6x^2.", "it is cubic", "unknown", None),
    ("Find the antiderivative of e^{-x^2}", "e^{-x^2}", "refuted", None),
    ("Evaluate \\int_0^1 x^2 dx", "0.33", "unknown", None),
    ("Evaluate \\int_0^1 x^2 dx", "a third", "proved", None),
    ("Evaluate \\int_0^{y} x^2 dx", "1", "unknown", None),
    ("Evaluate \\int_0^1 e^x dx", "e - 1", "proved", None),
    ("Evaluate \\int_0^1 e^x dx", "7", "refuted", None),
    ("Find the limit of (2x+1)/x as x approaches infinity", "2", "proved", None),
    ("Find the limit of x^2 as x approaches y", "0", "unknown", None),
    ("Find the limit of x^2 as x approaches 3", "infinity", "unknown", None),
    ("Find the limit of x^2 as x approaches 3", "9", "proved", None),
    # answers are read as `equivalent` reads them, and proofs are stricter
    ("Compute 33 + 51 * 6", "339 apples", "proved", "339"),
    ("Compute 33 + 51 * 6", "339 cm", "unknown", None),
    ("Compute 20 + 8", "28%", "unknown", None),
    ("Compute 3/7 + 1/4", "19/28%", "unknown", None),
    ("Compute 20 + 8", "28!", "unknown", None),
    ("Compute 20 + 8", "29!", "unknown", None),
    ("Compute 20 + 8", "= 28", "proved", None),
    ("Compute 20 + 8", "14 * 2", "unknown", None),
    ("Compute 7/3", "2", "unknown", None),
    ("Simplify 6/8", "0.75", "proved", None),
    ("Simplify \\frac{43}{3}", "\\frac{43}{3}", "proved", None),
    ("Is 0 prime?", "false", "proved", "no"),
    ("Find the prime factorization of 97", "97", "proved", None),
    ("Find the prime factorization of 6", "(-2)(-3)", "unknown", None),
    ("Find the prime factorization of 12", "2 * 6", "refuted", "2 × 2 × 3"),
    ("Express 1.4 inches in cm", "4", "unknown", None),
    ("Solve x^2 + x + 1 = 0", "There are no solutions.", "proved", "no real solution"),
    ("解方程：x^2 + x + 1 = 0", "方程没有实数根", "proved", "无实数解"),
    ("Solve 2(x + 1) = 2x + 2", "infinitely many solutions", "proved", "all real numbers"),
    ("Solve x/0 = x/0", "all real numbers", "unknown", None),
    ("Solve x/x = 1", "x = 1", "unknown", None),
    ("Solve 3x = 1", "x = 0", "refuted", "x = 1/3"),
    ("Solve x^2 = 10", "x = 3.16 or x = -3.16", "unknown", None),
    ("Solve x^2 = 10", "x = 3.5 or x = -3.5", "refuted", None),
    ("Solve x^2 - 5x + 6 = 0", "(2, 3)", "unknown", None),
    ("Solve x^3 - x - 1 = 0", "x = 1", "unknown", None),
    ("Solve 2x = 8", "x = 4°", "unknown", None),
    (r"解方程组：x + y = 10，x - y = 4", r"\begin{cases} x = 7 \\ y = 3 \end{cases}", "proved", None),
    # a problem that may mean something else than what is written is decided only if both agree
    ("Compute 6 ÷ 1/2", "12", "unknown", None),
    ("Compute 6 ÷ 1/2", "3", "unknown", None),
    ("Compute 6 ÷ 1/2", "4", "refuted", None),
    ("Compute 1/2 \\div 1/4", "1/8", "unknown", None),
    ("Compute 1/2 ÷ 3", "1/6", "proved", None),
    ("Find the derivative of e^2x", "e^2", "unknown", None),
    ("Find the derivative of e^2x", "2e^(2x)", "unknown", None),
    ("Find the derivative of e^2x", "e^x", "refuted", None),
    ("Find the derivative of 1/2x", "1/2", "unknown", None),
    ("Find the derivative of 1/2x", "-1/(2x^2)", "unknown", None),
    ("Solve 1/2x = 4", "x = 1/8", "unknown", None),
    ("Solve 1/2x = 4", "x = 8", "proved", None),
    ("Solve 1/2x = 4", "x = 2", "refuted", None),
    ("Solve x^1/2 = 3", "x = 9", "unknown", None),
    ("Solve x^1/2 = 3", "x = 6", "unknown", None),
    ("Solve x2 = 9", "x = 3 or x = -3", "unknown", None),
    ("Find the derivative of x2", "2", "unknown", None),
    ("Solve the system x1 + x2 = 5, x1 - x2 = 1", "x1 = 3, x2 = 2", "proved", None),
    ("Convert 3 m^2 to cm^2", "30000 cm2", "proved", None),
    ("Find the GCD of 1,200 and 500", "100", "unknown", None),
    ("Find the GCD of 1,200 and 500", "1", "unknown", None),
    ("Find the GCD of 1,200 and 500", "7", "refuted", None),
    ("Solve the system: b + a = 5, b - a = 1", "(2, 3)", "unknown", None),
    ("Solve the system: b + a = 5, b - a = 1", "(3, 2)", "unknown", None),
    ("Solve the system: y + x = 5, y - x = 1", "(2, 3)", "proved", None),
    # … and so is an answer, unless it is right as it is written
    ("Find the derivative of e^(2x)", "2e^2x", "unknown", None),
    ("Find the derivative of sqrt(x)", "1/2sqrt(x)", "unknown", None),
    ("Find the derivative of sqrt(x)", "1/2√x", "unknown", None),
    ("Find ∫ x^(1/2) dx", "2/3 x^3/2 + C", "unknown", None),
    ("Find ∫ x dx", "x^2/2 + C", "proved", None),
    ("Find ∫ x dx", "x^2/3 + C", "refuted", None),
    ("Solve x^2 = 9", "3 -3", "unknown", None),
    # the same commands in other words
    ("Solve the system of equations: 2x + 3y = 12 and x - y = 1", "x = 3, y = 2", "proved", None),
    ("Solve the system of equations: 2x + 3y = 12 and x - y = 1", "x = 3, y = 3", "refuted", None),
    ("Integrate x^2.", "x^3/3 + C", "proved", None),
    ("Integrate x^2.", "x^3 + C", "refuted", None),
    ("Integrate x^2 from 0 to 1.", "x^3/3 + C", "unknown", None),
    ("Find the integral of 1/x.", "ln|x| + C", "proved", None),
    ("Find the integral of x^2 from 0 to 3.", "9", "proved", None),
    ("Find x: 2x = 10", "5", "proved", None),
    ("Find x: x^2 = 16", "4", "unknown", None),
    ("Find 1/2 + 1/3.", "5/6", "proved", None),
    ("Find 1/2 + 1/3.", "2/5", "refuted", None),
    ("Find 3/5 of 20.", "12", "proved", None),
    ("Find lim x→0 sin(x)/x.", "1", "proved", None),
    ("Convert 1 fl oz to mL", "28.4 mL", "unknown", None),
    ("Solve the system: p + q = 10, p - q = 4", "(7, 3)", "proved", None),
    ("Solve the system: p + t = 10, p - t = 4", "(7, 3)", "unknown", None),
    ("Solve x^2 < 4", "x > -2 and x < 2", "proved", None),
    ("Solve x^2 - x - 1 < 0", "-1 < x < 2", "refuted", None),
    ("Solve x^2 - x - 1 < 0", "\\frac{1-\\sqrt5}{2} < x < \\frac{1+\\sqrt5}{2}", "proved", None),
    ("Solve 1/(x^2 - 2) < 0", "-\\sqrt{2} < x < \\sqrt{2}", "proved", None),
    ("Solve 1/(x^2 - 2) < 0", "-\\sqrt{2} <= x < \\sqrt{2}", "refuted", None),
    ("Simplify 3a + 2b - a", "x = 2", "unknown", None),
    ("Expand (x+1)^2", "y = x^2 + 2x + 1", "proved", None),
    ("Differentiate \\sin x", "cos x", "proved", "cos(x)"),
    ("Differentiate x^2", "\\frac{dy}{dx} = 2x", "proved", None),
    # temperatures have scales with other zeros
    ("Convert 100 °C to °F", "212", "proved", "212 °F"),
    ("Convert 100 °C to °F", "212 °F", "proved", None),
    ("Convert 100 °C to °F", "180", "refuted", "212 °F"),
    ("Convert 0 Celsius to Fahrenheit", "32", "proved", None),
    ("Convert 32 Fahrenheit to Celsius", "0", "proved", None),
    ("express 50 °F in °C", "10", "proved", None),
    ("100攝氏度=多少華氏度", "212", "proved", None),
    ("Convert 100 °F to °C", "37.8", "unknown", None),
    ("Convert 0 °C to K", "273.15", "proved", None),
    ("Convert 275.5 K to °C", "2.5", "unknown", None),
    ("Convert 300 K to °C", "300", "refuted", None),
    ("How many degrees Fahrenheit are in 10 degrees Celsius", "18", "unknown", None),
    ("Convert a temperature difference of 10 °C to °F", "18", "unknown", None),
    ("Convert 10 °C difference to °F", "18", "unknown", None),
    ("Convert 1 rev to rad", "2", "unknown", None),
    ("Convert 1234 m to km", "1,234", "unknown", None),
    # units of several sizes, in both scripts
    ("1两=多少克", "37.5", "unknown", None),
    ("1兩=多少公克", "37.5", "unknown", None),
    ("1噸=多少公斤", "907", "unknown", None),
    ("1斤=多少公克", "600", "unknown", None),
    ("1錢=多少公克", "3.75", "unknown", None),
    ("1尺=多少公分", "30.3", "unknown", None),
    ("1寸=多少公分", "3.03", "unknown", None),
    # roundings that are still to be worked out
    ("Solve x^2=2", "±1.414", "unknown", None),
    ("Solve x^2=2", "x≈±1.414", "unknown", None),
    ("解方程 x^2=5", "x≈±2.24", "unknown", None),
    ("Solve 9x^2=1", "±0.33", "unknown", None),
    ("Solve 4x^2=9", "±1.5", "proved", None),
    ("Solve 4x^2=9", "±3", "refuted", None),
    ("Solve (x-1)^2=2", "x≈1±1.414", "unknown", None),
    ("Solve x^2-2x-1=0", "x=1+1.414, x=1-1.414", "unknown", None),
    ("Solve x^2<2", "|x|<1.414", "unknown", None),
    ("Solve x^2<2", "x>-1.414 and x<1.414", "unknown", None),
    ("Solve x^2<2", "|x|<3/2", "refuted", None),
    ("Solve x^2<2.25", "|x|<1.5", "proved", None),
    ("Solve x^2>2", "|x|>1.414", "unknown", None),
    ("Compute 100/3", "3.33 × 10", "unknown", None),
    ("Compute 10000000/3", "3.33 million", "unknown", None),
    ("Compute sqrt(2)/2", "1.414/2", "unknown", None),
    ("Compute 22/7", "3.14×1", "unknown", None),
    (r"Evaluate \int_0^1 e^x dx", "2.718-1", "unknown", None),
    ("計算 √2+√3", "1.414+1.732", "unknown", None),
    # solutions with a stroke between them
    ("Solve x^2-5x+6=0", "x=2 / x=3", "proved", None),
    ("解方程 x^2-5x+6=0", "x=2/x=3", "proved", None),
    ("Solve x^2=4", "x = 2 / x = -2", "proved", None),
    ("Solve x^2-5x+6=0", "x=2/x=4", "refuted", None),
    ("Solve x^2-5x+6=0", "x_1=2/x_2=3", "unknown", None),
    ("Solve 3x=12", "x=12/3=4", "proved", None),
    # constants of integration that are not any number
    (r"\int 2x dx", "x^2+|C|", "unknown", None),
    (r"\int 2x dx", r"x^2+\sin C", "unknown", None),
    (r"\int 2x dx", "x^2+e^C", "unknown", None),
    (r"\int 2x dx", "x^2+C-C", "unknown", None),
    (r"\int 2x dx", "x^2-C", "proved", None),
    (r"\int 2x dx", "x^2+C/2", "proved", None),
    (r"\int 2x dx", r"x^2+\ln C", "proved", None),
    (r"\int \frac{1}{x} dx", r"\ln|Cx|", "proved", None),
    (r"\int 2x dx", "x^3+|C|", "refuted", None),
    # numbers that have another value elsewhere
    ("Compute 7/2", "3-1/2", "unknown", None),
    ("Compute 5/2", "3-1/2", "unknown", None),
    ("What is 2+2?", "La réponse n'est pas 4.", "unknown", None),
    ("What is 2000000000*2?", "4 Milliarden", "proved", None),
    # no constant of integration
    ("Find ∫ 2x dx.", "x^2", "unknown", None),
    ("Find ∫ 2x dx.", "x^2 + 7", "unknown", None),
    ("Find ∫ 2x dx.", "x^3", "refuted", None),
    ("Find the antiderivative of 2x.", "x^2", "unknown", None),
    ("Find a general antiderivative of 2x.", "x^2", "unknown", None),
    ("求2x的不定积分", "x^2", "unknown", None),
    ("Find an antiderivative of 2x.", "x^2", "proved", None),
    ("Find a primitive of 2x.", "x^2 + 7", "proved", None),
    ("求2x的一个原函数", "x^2", "proved", None),
    # a comma that may mark the decimals
    ("Solve 2x=7", "3,5", "unknown", None),
    ("Solve 2x=7", "x=3,5", "unknown", None),
    ("Solve 2x=7", "3,6", "refuted", None),
    ("Solve x^2-5x+6=0", "2,4", "refuted", None),
]

NOT_RECOGNISED = [
    "妈妈带了50元，买了3本笔记本，每本8元，还剩多少元？",
    "A train leaves at 09:40 and arrives at 11:05. How many minutes does the journey take?",
    "If 2x+1=7, what is x + 2?",
    "Solve x^2 = 4 and explain why there are two solutions",
    "Solve x^2 = 4 for x > 0",
    "Solve x^2 = 4 over the complex numbers",
    "Compute the number of primes below 10",
    "What is the capital of France?",
    "What is 3 apples plus 4 apples in a base 5 system?",
    "Find the derivative of x^2 at x = 3",
    "Solve the equation mentally: 2x = 4 or 3x = 9",
    "求证：x^2>=0",
    "x",
    "",
]

HOSTILE = [
    ("Compute 9**9**9**9", "1"),
    ("Compute " + "(" * 100_000 + "1", "1"),
    ("Compute " + "(" * 380, "1"),
    ("Compute " + "1" * 1_000_000, "1"),
    ("Solve x = 1", "1" * 1_000_000),
    ("Solve x^99999 = 1", "x = 1"),
    ("Solve (x+1)^(999) = 1", "x = 0"),
    ("Expand (x+1)^1000", "x^2"),
    ("Expand (a+b+c+d)^99", "a"),
    ("Factor x^4096 - 1", "x - 1"),
    ("Compute factorial(10^7)", "1"),
    ("Compute 99999999!", "1"),
    ("Compute __import__('os').system('true')", "1"),
    ("Find the limit of " + "x^" * 100 + "x as x approaches 0", "1"),
    ("find " * 80, "1"),
    ("1+" * 199 + "x", "1"),
    ("-( " * 130 + "1+1", "1"),
    ("1 " * 198 + "+1", "1"),
    ("9^" * 190 + "9", "1"),
    ("Find the prime factorization of 9999999999971", "3"),
    ("What is the remainder when 2^999999999999999999 is divided by 999999999999999999999999999989?", "1"),
    ("Compute \\int_0^1 " + "\\sin(" * 20 + "x" + ")" * 20 + " dx", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "answer", "outcome", "correct"), CASES)
def test_the_outcome_is_certain_or_unknown(problem: str, answer: str, outcome: str, correct: str | None) -> None:
    proof = prove_answer(problem, answer)

    assert proof.outcome == outcome
    assert correct is None or proof.correct_answer == correct
    assert bool(proof.derivation) == (outcome != "unknown")


@pytest.mark.parametrize("problem", NOT_RECOGNISED)
@pytest.mark.parametrize("answer", ["2", "x = 2", "x = ±2", "4", ""])
def test_a_problem_that_is_not_one_bare_command_is_unknown(problem: str, answer: str) -> None:
    assert prove_answer(problem, answer).outcome == "unknown"


BARE = [
    ("2+2", "4"), ("2 + 2", "4"), ("２＋２", "4"), ("2+2.", "4"), ("2+2?", "4"), ("$2+2$", "4"), ("25×4", "100"),
    ("25 · 4", "100"), ("7\\times 8", "56"), ("3/4 + 1/6", "11/12"), ("\\frac{3}{4}+\\frac{1}{6}", "11/12"),
    ("25×4－36÷9", "96"), ("10-2*3", "4"), ("-3+5", "2"), ("2^10", "1024"), ("2^{10}", "1024"), ("3²+4²", "25"),
    ("(1/2+1/3)×6", "5"), ("((2+3))*4", "20"), ("0.5+0.25", "0.75"), ("7 - 3 + 2", "6"), ("100-(20+30)", "50"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "value"), BARE)
def test_a_calculation_that_stands_alone_is_one_to_work_out(problem: str, value: str) -> None:
    assert prove_answer(problem, value).outcome == "proved"
    assert prove_answer(problem, "99999").outcome == "refuted"
    assert prove_answer(problem, problem).outcome == "unknown"


@pytest.mark.parametrize(
    "text",
    ["2", "3-5", "3 - 5", "3–5", "1/2", "1 / 2", "10/12", "6÷2", "24/7", "120/80", "50-50", "(3-5)", "-3", "3:5",
     "2024-11-22", "2024/11/22", "22/11/2024", "22.11.2024", "2024-11-22+1", "1/2/2024+1", "22-11-2024*2", "2024-11",
     "555-1234", "555-1234+2", "(555)123-4567", "555-123-4567*2", "+1 555 123 4567", "+15551234567", "1+5551234567",
     "0086+13800138000", "86+13800138000", "007+1", "1+01", "2024-11-22T10+02", "2024-11-22+01", "3·14", "3・14",
     "2·5+1", "1.2.3+4", "v1.2+3", "192.168.0.1*2", "1,2+3", "1,234+1", "4+ apples", "3 x 4", "1920x1080", "5+",
     "+5", "5*", "*123#", "2 3+4", "1 1/2+2", "8/2(2+2)", "1) 2+2", "1. 2+2", "C+1", "2+2 apples", "50%+10%", "2**3",
     "100+10%", "2++2", "3!+1", "sin 30+1", "x+2", "2+2; 3+3", "1+1+"],
)  # fmt: skip
@pytest.mark.parametrize("answer", ["2", "-2", "4", "1/2", "99999"])
def test_what_may_be_a_date_a_number_to_call_or_a_range_is_not_worked_out(text: str, answer: str) -> None:
    assert prove_answer(text, answer).outcome == "unknown"


@given(st.lists(st.integers(0, 999), min_size=2, max_size=6), st.data())
def test_whatever_is_added_and_multiplied_alone_comes_to_its_value(numbers: list[int], data: st.DataObject) -> None:
    signs = data.draw(st.lists(st.sampled_from("+*"), min_size=len(numbers) - 1, max_size=len(numbers) - 1))
    text = "".join(f"{sign}{number}" for sign, number in zip(["", *signs], numbers, strict=True))
    value = sum(prod(int(factor) for factor in term.split("*")) for term in text.split("+"))
    assert prove_answer(text, str(value)).outcome == "proved"
    assert prove_answer(text, str(value + 1)).outcome == "refuted"


@pytest.mark.parametrize("answer", ["", " ", "hello", "x", "I think it is about 4", "1" * 400, "4 or so", "2 =", "= ="])
def test_an_answer_that_cannot_be_read_is_unknown(answer: str) -> None:
    assert prove_answer("Solve 2x = 8", answer).outcome == "unknown"
    assert prove_answer("Compute 3 + 4", answer).outcome == "unknown"


def test_the_derivation_speaks_the_language_of_the_problem() -> None:
    assert prove_answer("Solve 2x + 7 = 15", "x = 5").derivation == (
        "Substituting x = 5: the left side is 17, the right side is 15.",
        "The equation 2x + 7 = 15 has exactly these real solutions: x = 4.",
    )
    assert prove_answer("解方程：2x + 7 = 15", "x = 5").derivation == (
        "代入 x = 5：左边是 17，右边是 15。",
        "方程 2x + 7 = 15 的全部实数解是：x = 4。",
    )


@pytest.mark.parametrize(("problem", "answer"), HOSTILE)
def test_hostile_input_is_unknown_in_bounded_time(problem: str, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A7: 300 ms once sympy is loaded; process time, so that a busy machine does not decide."""
    monkeypatch.setattr(algebra, "SECONDS", 0.2)
    prove_answer("Differentiate x^2", "2x")
    outcome = takes_at_most(0.3, lambda: prove_answer(problem, answer).outcome)
    assert outcome == "unknown" or "remainder" in problem or "prime" in problem


@pytest.mark.parametrize(("problem", "answer"), [*HOSTILE, ("solve " + "," * 394, "1"), ("please " * 57, "1")])
def test_whoever_asks_at_once_never_waits_for_hostile_input(problem: str, answer: str) -> None:
    """A7: a few milliseconds, twice over for the slowness of a machine that tests; else no answer is given at once."""

    def asked() -> None:
        with suppress(NotAtOnceError):
            prove_answer(problem, answer, at_once=True)

    takes_at_most(2 * AT_ONCE_SECONDS, asked)


def test_only_that_a_problem_is_not_recognised_is_said_at_once() -> None:
    assert prove_answer("Tom has 3 apples. How many are left?", "2", at_once=True).outcome == "unknown"
    with pytest.raises(NotAtOnceError):
        prove_answer("Solve 2x = 8", "4", at_once=True)


def test_recognising_a_word_problem_loads_no_algebra() -> None:
    code = (
        "import sys\n"
        "from touchstone.checks import prove_answer\n"
        "prove_answer('Tom has 3 apples. How many are left?', '2')\n"
        "prove_answer('Compute 3 + 4', '7')\n"
        "assert 'sympy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_the_roots_of_a_generated_equation_are_proved_and_no_others(first: int, second: int, factor: int) -> None:
    linear, constant = -factor * (first + second), factor * first * second
    problem = f"Solve {factor}x^2 + ({linear})x + ({constant}) = 0"
    answer = f"x = {first}" if first == second else f"x = {first} or x = {second}"

    assert prove_answer(problem, answer).outcome == "proved"
    assert prove_answer(problem, f"x = {first} or x = {second + 41}").outcome == "refuted"
    assert prove_answer(problem, f"x = {first}").outcome == ("proved" if first == second else "refuted")


@given(st.fractions(-9, 9, max_denominator=12), st.fractions(-9, 9, max_denominator=12), st.sampled_from("+-*"))
@settings(max_examples=100)
def test_a_generated_value_is_proved_and_another_refuted(first: Fraction, second: Fraction, sign: str) -> None:
    value = {"+": first + second, "-": first - second, "*": first * second}[sign]
    problem = f"计算：({first}) {sign} ({second})"

    assert prove_answer(problem, str(value)).outcome == "proved"
    assert prove_answer(problem, str(value + 1)).outcome == "refuted"


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_generated_common_divisor_is_proved(first: int, second: int) -> None:
    problem = f"Find the gcd of {first} and {second}"
    assert prove_answer(problem, str(gcd(first, second))).outcome == "proved"
    assert prove_answer(problem, str(gcd(first, second) + 1)).outcome == "refuted"


@given(st.text(max_size=60), st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_problem_and_answer_are_answered(problem: str, answer: str) -> None:
    assert prove_answer(problem, answer).outcome in ("proved", "refuted", "unknown")
