"""Which problems are the same, and which are near-identical."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.answers.model import Solution
from touchstone.answers.retrieval import (
    BANDS,
    MAX_EXAMPLES,
    NEAR_IDENTICAL_FROM,
    EarlierSolution,
    near_keys,
    nearest,
    problem_key,
    retrieve,
    retrieved_attempt,
    similarity,
)

TRAIN = (
    "A train leaves the station at 9:00 and travels at 80 km/h for 3 hours, then at 60 km/h for 2 hours. "
    "How far does it travel in total?"
)
KEY = "45c2bf6c42cc01ddfb812f51dad3d57b388a6c4694213a1e1d65618180b85bc2"
NEAR = ("0#26623142440b440c", "1#bba6fa0ac9ec2bc4", "2#cf4e65ad17a6ad5f", "3#8c7b7a5b75dcbb6a")
BOOKS = "学校图书馆原有科技书120本，故事书的本数比科技书多35本，后来又买来故事书60本，现在两种书一共有多少本？"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Solve x^2 - 5x + 6 = 0.", "  Solve x^2 − 5x + 6 = 0  "),
        ("计算：25×4－36÷9", "计算: 25 * 4 - 36 / 9"),
        ("解方程 ２x + 7 ＝ 15。", "解方程2x+7=15"),
        ("What is 15% of 80?", "What is\n15%   of 80 ?"),
        ("求 “a” 的值", '求 "a" 的值'),
        ("Ans\u200bwer: 3+4", "Answer: 3+4"),
        ("    Name the capital\n    of Australia.", "Name the capital of Australia"),
        ("cafe\u0301 + 1", "café + 1"),
    ],
)
def test_layout_and_typography_do_not_make_another_problem(one: str, other: str) -> None:
    assert problem_key(one) == problem_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Compute 12 + 3.", "Compute 12 + 4."),
        ("Compute 2 3.", "Compute 23."),
        ("Compute x² for x = 3.", "Compute x2 for x = 3."),
        ("Compute 5!", "Compute 5"),
        ("Compute 1½.", "Compute 11/2."),
        ("Compute -3 + 5.", "Compute 3 + 5."),
        ("Compute 1.5 + 2.", "Compute 15 + 2."),
        ("① + ②", "1 + 2"),
        ("Is M larger than m?", "Is m larger than M?"),
        ("What prints?\nfor i in x:\n    a()\nb()", "What prints?\nfor i in x:\n    a()\n    b()"),
        ("求周长：长3cm", "求周长：长3m"),
    ],
)
def test_what_changes_a_problem_changes_its_key(one: str, other: str) -> None:
    assert problem_key(one) != problem_key(other)


def test_keys_are_the_same_on_every_machine_and_in_every_release() -> None:
    """They are stored: a change would lose every solution kept under the old ones."""
    assert problem_key("Solve x^2 - 5x + 6 = 0.") == KEY
    assert near_keys("Solve x^2 - 5x + 6 = 0.") == NEAR


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TRAIN, TRAIN.replace("80", "90")),
        (TRAIN, TRAIN.replace("station", "town")),
        (BOOKS, BOOKS.replace("120", "130")),
    ],
)
def test_near_identical_problems_meet(one: str, other: str) -> None:
    assert similarity(one, other) >= NEAR_IDENTICAL_FROM
    assert set(near_keys(one)) & set(near_keys(other))


def test_different_problems_are_not_alike() -> None:
    assert similarity(TRAIN, "A shop sells 3 kinds of apples. How many ways are there to choose 5?") < 0.2
    assert similarity(BOOKS, "一个长方形长8厘米，宽5厘米，求面积。") < 0.2


@given(st.text(max_size=200))
def test_every_text_is_identical_to_itself_and_has_its_keys(text: str) -> None:
    assert similarity(text, text) == 1.0
    assert len(near_keys(text)) == BANDS
    assert problem_key(text) == problem_key(text)


@given(st.text(max_size=100), st.text(max_size=100))
def test_similarity_is_symmetric_and_between_0_and_1(one: str, other: str) -> None:
    assert 0.0 <= similarity(one, other) == similarity(other, one) <= 1.0


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_numbers_always_matter(one: int, other: int) -> None:
    assert (problem_key(f"Compute {one} + 3.") == problem_key(f"Compute {other} + 3.")) == (one == other)


def _earlier(answer_id: str, problem: str) -> EarlierSolution:
    solution = Solution(answer="360 km", steps="Add both parts.", provider="gemini", model="m")
    return EarlierSolution(answer_id=answer_id, problem=problem, solution=solution, confidence=0.9)


class _Store:
    def __init__(self, *earlier: EarlierSolution) -> None:
        self._earlier = earlier

    async def exact(self, key: str) -> EarlierSolution | None:
        return next((each for each in self._earlier if problem_key(each.problem) == key), None)

    async def near(self, keys: Sequence[str]) -> Sequence[EarlierSolution]:
        return [each for each in self._earlier if set(near_keys(each.problem)) & set(keys)]


async def test_the_same_problem_is_found_exactly() -> None:
    found = await retrieve(TRAIN, _Store(_earlier("1", TRAIN.replace("80", "90")), _earlier("2", TRAIN + " ")))
    assert found.exact is not None
    assert found.exact.answer_id == "2"
    assert found.examples == ()


async def test_a_problem_with_another_number_is_an_example_and_never_the_answer() -> None:
    found = await retrieve(TRAIN, _Store(_earlier("1", TRAIN.replace("80", "90")), _earlier("2", BOOKS)))
    assert found.exact is None
    assert [example.answer_id for example in found.examples] == ["1"]


def test_the_most_alike_come_first_each_once_and_only_a_few() -> None:
    variants = [TRAIN.replace("80", "90"), TRAIN.replace("in total", "altogether"), TRAIN.replace("9:00", "8:15")]
    candidates = [_earlier(str(number), text) for number, text in enumerate([*variants, TRAIN, TRAIN, BOOKS])]
    found = nearest(TRAIN, [*candidates, *candidates])
    assert len(found) == MAX_EXAMPLES
    assert [each.answer_id for each in found[:2]] == ["3", "4"]


def test_a_retrieved_solution_keeps_its_verdict() -> None:
    attempt = retrieved_attempt(_earlier("7", TRAIN))
    assert attempt.number == 1
    assert attempt.verification is not None
    assert (attempt.verification.passed, attempt.verification.confidence) == (True, 0.9)
    assert attempt.verification.method == "retrieved"
