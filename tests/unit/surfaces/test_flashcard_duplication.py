"""Cards that ask what an earlier one asked, without a judge: same, near, and what only looks alike."""

import random
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.material import Deck, Flashcard
from touchstone.surfaces.likeness import NEAR, alike, pairs, reading
from touchstone.surfaces.metrics.flashcard_duplication import flashcard_duplication


def deck(*cards: tuple[str, str]) -> Deck:
    return Deck(
        cards=tuple(Flashcard(id=f"c{n}", front=front, back=back) for n, (front, back) in enumerate(cards, start=1))
    )


BASE = ("What is the capital of the French Republic today?", "Paris")
CASES: dict[str, tuple[tuple[str, str], tuple[str, str], str]] = {
    "the same": (BASE, BASE, "DUPLICATE"),
    "case, spaces, marks": (BASE, ("what is the capital of  the French republic today", "paris."), "DUPLICATE"),
    "all in capitals": (BASE, (BASE[0].upper(), "PARIS"), "DUPLICATE"),
    "markup": (BASE, ("What is the <b>capital</b> of the French Republic today?", "Paris"), "DUPLICATE"),
    "a number below the line": (("What is CO₂?", "H₂CO₃"), ("What is CO2?", "H2CO3"), "DUPLICATE"),
    "a power is no number below the line": (("What is x² here?", "4"), ("What is x2 here?", "4"), "UNIQUE"),
    "an article more": (("What is 捷運?", "metro"), ("What is the 捷運?", "metro"), "NEAR_DUPLICATE"),
    "an article more on either side": (("Define cell.", "A unit"), ("Define the cell.", "The unit"), "NEAR_DUPLICATE"),
    "a German article": (("Was bildet die Galle?", "Leber"), ("Was bildet Galle?", "die Leber"), "NEAR_DUPLICATE"),
    "two words told apart by their articles": (("der Leiter", "leader"), ("die Leiter", "ladder"), "UNIQUE"),
    "nothing but articles": (("the", "a"), ("an", "a"), "UNIQUE"),
    "a letter, no article": (("Define hepatitis A.", "X"), ("Define hepatitis B.", "X"), "UNIQUE"),
    "a word less": (BASE, ("What is the capital of the French Republic?", "Paris"), "NEAR_DUPLICATE"),
    "a slip of the pen": (BASE, ("What is the capitol of the French Republic today?", "Paris"), "NEAR_DUPLICATE"),
    "one answer longer": (BASE, (BASE[0], "Paris, of course"), "SAME_FRONT"),
    "near answers": (
        ("What does a cell wall do?", "It gives the cell of a plant its firm shape and keeps it."),
        ("What does a cell wall do?", "It gives the cell of the plant its firm shape and keeps it."),
        "NEAR_DUPLICATE",
    ),
    "another answer": (BASE, (BASE[0], "Lyon"), "SAME_FRONT"),
    "another country": (BASE, ("What is the capital of the Italian Republic today?", "Rome"), "UNIQUE"),
    "another word, one answer": (
        ("Which family of the periodic table does sodium belong to in chemistry?", "Alkali metals"),
        ("Which family of the periodic table does potassium belong to in chemistry?", "Alkali metals"),
        "UNIQUE",
    ),
    "another number": (("How many legs have 4 ants?", "24"), ("How many legs have 5 ants?", "24"), "UNIQUE"),
    "a negation": (
        ("Which of these animals is really a mammal?", "The whale"),
        ("Which of these animals is not really a mammal?", "The whale"),
        "UNIQUE",
    ),
    "another sign": (("What is x + 1 if x is 1?", "2"), ("What is x - 1 if x is 1?", "2"), "UNIQUE"),
    "case that counts": (("Is the type Aa dominant here?", "Yes"), ("Is the type aa dominant here?", "Yes"), "UNIQUE"),
    "turned round": (("Water", "水"), ("水", "Water"), "UNIQUE"),
    "nothing but marks": (("…?", "…"), ("…?", "…"), "DUPLICATE"),
    "other marks": (("…?", "…"), ("?!", "…"), "UNIQUE"),
    "Chinese, the same": (("光合作用在哪里进行？", "叶绿体"), ("光合作用在哪里进行", "叶绿体。"), "DUPLICATE"),
    "Chinese, near": (("光合作用在哪里进行？", "叶绿体"), ("光合作用是在哪里进行？", "叶绿体"), "NEAR_DUPLICATE"),
    "Chinese, another": (("植物的光合作用在哪里进行？", "细胞里"), ("植物的呼吸作用在哪里进行？", "细胞里"), "UNIQUE"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_card_beside_an_earlier_one(case: str) -> None:
    first, second, label = CASES[case]
    found = flashcard_duplication(deck(first, second))
    assert [one.label for one in found.items] == ["UNIQUE", label]
    assert found.score == (100.0 if label == "UNIQUE" else 50.0)


def test_each_later_card_names_the_first_that_it_repeats() -> None:
    found = flashcard_duplication(deck(BASE, ("Who?", "She"), BASE, BASE, ("水？", "是"), ("水？", "是")))
    assert found.score == 50.0
    assert [(one.item, one.reason) for one in found.items if one.value == 0] == [
        ("c3", "It is the same as card c1."),
        ("c4", "It is the same as card c1."),
        ("c6", "It is the same as card c5."),
    ]
    assert [one.suggestion for one in found.items][:3] == [None, None, "Leave it out."]
    assert (found.spends, found.unscored) == ((), ())


def test_all_reasons_are_in_one_language_that_of_the_deck_or_the_one_asked_for() -> None:
    cards = deck(("什么是水循环？", "水的循环"), ("什么是光合作用？", "制造养分"), ("What is it?", "It"))
    assert {one.reason for one in flashcard_duplication(cards).items} == {"前面没有与它相似的卡片。"}
    assert {one.reason for one in flashcard_duplication(cards, language="en").items} == {"No earlier card is like it."}


WORDS = st.lists(st.sampled_from(["water", "moves", "through", "cells", "the", "a", "7", "not", "wall"]), max_size=8)


@given(st.lists(WORDS.map(" ".join), max_size=12))
def test_no_pair_that_is_alike_is_missed_by_looking_at_rare_shingles_alone(texts: list[str]) -> None:
    readings = [reading(text) for text in texts]
    every = [
        (one, other) for other in range(len(texts)) for one in range(other) if alike(readings[one], readings[other])
    ]
    assert list(pairs(readings)) == every
    assert 0 < NEAR < 1


def test_the_largest_deck_of_cards_by_one_pattern_is_measured() -> None:
    cards = [(f"What does the organ number {n} of the body do for us?", f"It does thing {n}.") for n in range(1000)]
    assert flashcard_duplication(deck(*cards)).score == 100.0


def test_words_without_end_are_not_compared_letter_by_letter() -> None:
    drawn = random.Random(1)  # noqa: S311 - a text, no secret
    letters = [chr(0xAC00 + place) for place in range(110)]
    common = " ".join(f"word{letter}" for letter in "abcdefghijkl")
    fronts = [f"{common} {''.join(drawn.choices(letters, k=19_000))}" for _ in range(8)]
    started = time.process_time()
    found = flashcard_duplication(deck(*((front, "x") for front in fronts)))
    assert {one.label for one in found.items} == {"UNIQUE"}
    assert time.process_time() - started < 5


def test_a_text_with_many_slips_of_the_pen_is_another() -> None:
    words = [f"{start}{end}ing" for start in ("learn", "teach", "walk", "talk") for end in "abcdefghij"]
    kept = " ".join(map("".join, product("bcdfghjk", "aeiou", "klmnprt"))) + " "
    one = kept + " ".join(f"{word} on" for word in words)
    other = kept + " ".join(f"{word}s on" for word in words)
    assert not alike(reading(one), reading(other))
    assert alike(reading(one), reading(one.replace("learnaing", "learnaings")))
