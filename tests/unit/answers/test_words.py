"""Short answers in words: which visibly say something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.answers.words import SHORT_WORDS, differ_in_words

GEMS = "Which of these is green?\nA. Emerald  B. Ruby\n(C) Pearl"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Emerald", "Ruby"),
        ("翡翠", "红宝石"),
        ("The Treaty of Versailles", "Treaty of Trianon"),
        ("male", "female"),
        ("vitamin A", "Vitamin B"),
        ("possible", "not possible"),
        ("可能", "不可能"),
        ("emerald", "It isn't an emerald."),
        ("-5 apples", "5 apples"),
        ("H2O", "water"),
        ("红色", "蓝色。"),
        ("翡翠", "emerald"),
    ],
)
def test_short_answers_in_other_words_differ(one: str, other: str) -> None:
    assert differ_in_words(one, other)
    assert differ_in_words(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ruby", "ruby!"),
        ("\uff32\uff55\uff42\uff59", "Ruby"),
        ("the Ruby", "a ruby"),
        ("emerald", "Emeralds"),
        ("New York", "New York City"),
        ("Answer: Ruby", "ruby"),
        ("蓝色", "它是蓝色的。"),
        ("COVID-19", "covid 19"),
        ("No", "No, it is not prime"),
        ("Ruby", "Ruby, not emerald"),
        ("", "Ruby"),
        ("?", "Ruby"),
    ],
)
def test_one_that_contains_the_other_or_holds_no_word_does_not(one: str, other: str) -> None:
    assert not differ_in_words(one, other)
    assert not differ_in_words(other, one)


def test_prose_is_worded_differently_by_people_who_agree() -> None:
    short, long = " ".join("bcdefghi"[:SHORT_WORDS]), " ".join("bcdefghi"[: SHORT_WORDS + 1])
    assert differ_in_words("ruby", short)
    assert not differ_in_words("ruby", long)
    assert differ_in_words("红", "一二三四五六七八九十百千")
    assert not differ_in_words("红", "一二三四五六七八九十百千万")


@pytest.mark.parametrize(
    ("letter", "own", "differ"),
    [("A", "Emerald", False), ("(c)", "a pearl", False), ("选B", "Ruby", False), ("B", "Emerald", True)],
)
def test_a_letter_stands_for_what_the_problem_lists_under_it(letter: str, own: str, differ: bool) -> None:
    assert differ_in_words(letter, own, problem=GEMS) is differ
    assert differ_in_words(own, letter, problem=GEMS) is differ
    assert differ_in_words(letter, own)


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_it_is_symmetric_and_nothing_differs_from_itself(one: str, other: str, problem: str) -> None:
    assert differ_in_words(one, other, problem=problem) is differ_in_words(other, one, problem=problem)
    assert not differ_in_words(one, one, problem=problem)
