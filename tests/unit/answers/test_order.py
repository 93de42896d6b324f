"""Answers of several values: their order counts, unless the problem asks for what has none."""

import pytest

from touchstone.answers.answer_key import AnswerKey, meets
from touchstone.answers.order import may_have_any_order

ANY_ORDER = [
    "Solve x^2 - 5x + 6 = 0.",
    "x² = 5x − 6",
    "Find all divisors of 12.",
    "What are the roots of f(x) = x^2 - 1?",
    "Find two consecutive integers whose product is 56.",
    "Find all real numbers x such that |x - 2| = 3.",
    "In order to factor 30, name its prime factors.",
    "Find the values of x for which x² = 4.",
    "Two numbers add to 5. What are the possible numbers?",
    "解方程 x²-5x+6=0",
    "求12的所有因数",
    "Löse die Gleichung x² = 4.",
    "Résous l'équation x² = 4.",
    "Resuelve x² = 4.",
]
IN_ORDER = [
    "Arrange these numbers from smallest to largest: 3, 1, 2",
    "Put in ascending order: 3, 1, 2",
    "Find a and b if a + b = 3 and a - b = 1.",
    "Determine the values of a, b and c.",
    "Solve for x and y: x + y = 3, x - y = 1",
    "Find the mean, the median and the mode of 1, 2, 2, 3.",
    "Given f(x) = x², find f(1), f(2) and f(3).",
    "List the first three terms of the sequence.",
    "What are the length and the width of the rectangle?",
    "In which order are the steps done?",
    "将下列数从小到大排列：3，1，2",
    "求a、b的值",
    "Sortiere die Zahlen 3, 1, 2.",
]
KEY = AnswerKey(expected=("1, 2, 3",))


@pytest.mark.parametrize("problem", ANY_ORDER)
def test_what_has_no_order_meets_the_key_in_any(problem: str) -> None:
    assert may_have_any_order(problem)
    assert meets("3, 1, 2", KEY, problem) is True


@pytest.mark.parametrize("problem", IN_ORDER)
def test_another_order_is_open_where_the_problem_may_ask_for_one(problem: str) -> None:
    assert not may_have_any_order(problem)
    assert meets("3, 1, 2", KEY, problem) is None
    assert meets("1, 2, 3", KEY, problem) is True
    assert meets("1, 2, 4", KEY, problem) is False
    assert meets("{3, 1, 2}", AnswerKey(expected=("{1, 2, 3}",)), problem) is True, "braces say that it is a set"
