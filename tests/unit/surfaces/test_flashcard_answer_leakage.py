"""Fronts that give the back away, without a judge, in several languages; and those that only seem to."""

import pytest

from touchstone.material import Deck, Flashcard
from touchstone.surfaces.metrics.flashcard_answer_leakage import flashcard_answer_leakage

LEAKS: list[tuple[str, str, str]] = [
    ("What is the symbol for Californium?", "Californium", "Californium"),
    ("World War I (1914-1918) began in which year?", "1914", "1914"),
    ("Which treaty, the Treaty of Versailles, ended it?", "The treaty of Versailles", "Treaty of Versailles"),
    ("Which revolution, the French one, began in 1789?", "The French Revolution", "revolution, French"),
    ("What type of user must take care?", "Users", "user"),
    ("What do armies of ants build in boxes?", "Box", "boxes"),
    ("What is a berry?", "Berries", "berry"),
    ("Who found the Newtonian laws?", "Newton", "Newtonian"),
    ("By which process do photosynthetic plants feed?", "Photosynthesis", "photosynthetic"),
    ("The capital of France is Paris: ___", "paris.", "Paris"),
    ("What is <b>osmosis</b> called?", "Osmosis", "osmosis"),
    ("{{c1::Paris::the city of Paris}} is the capital.", "Paris", "Paris"),
    ("Is it the heart? Which organ pumps blood?", "The heart", "heart"),
    ("植物通过光合作用制造养分的过程叫什么？", "光合作用", "光合作用"),
    ("列奥纳多·达·芬奇是意大利人，蒙娜丽莎的作者是谁？", "列奥纳多·达·芬奇", "列奥纳多·达·芬奇"),
    ("1911年的辛亥革命发生在哪一年？", "1911年", "1911年"),
    ("Mozart hat sie komponiert. Wer komponierte die Zauberflöte?", "Mozart", "Mozart"),
    ("What o'clock is it in Lima, if Lima is meant?", "Lima", "Lima"),
    ("What does DNA, the carrier of genes, carry?", "genes", "genes"),
]
CLEAN: list[tuple[str, str]] = [
    ("What is the capital of France?", "Paris"),
    ("What is the capital of Mexico?", "Mexico City"),
    ("Is a whale a fish or a mammal?", "A mammal"),
    ("Which is larger, the Sun or the Moon?", "The Sun"),
    ("Of copper and iron, which conducts better?", "Copper"),
    ("Which is it? (A) a fish (B) a mammal", "a mammal"),
    ("Which one is a mammal: whale, shark, tuna?", "Whale"),
    ("鲸是鱼还是哺乳动物？", "哺乳动物"),
    ("Ist der Wal ein Fisch oder ein Säugetier?", "ein Säugetier"),
    ("Welches Metall von Blei und Eisen ist schwerer?", "Blei"),
    ("La baleine est-elle un poisson ou un mammifère ?", "un mammifère"),
    ("¿La ballena es un pez o un mamífero?", "un mamífero"),
    ("Was ist der Plural von „Fenster“?", "Fenster"),
    ("Quel est le pluriel de « croix » ?", "croix"),
    ("铜和铁哪一种导电更好？", "铜和铁都好"),
    ("铜丝、铁丝中哪一种导电更好？", "铜丝"),
    ("What is the plural of 'sheep'?", "Sheep"),
    ("「學習」的反義詞是什麼？", "學習的反面"),
    ("Is Mars a planet? Yes or no?", "Yes"),
    ("True or false: the sky is blue.", "True"),
    ("对还是错：天是蓝的。", "对"),
    ("What is 100 × 1?", "100"),
    ("How many legs have 4-legged animals?", "4"),
    ("Simplify a == b || !(a != b)", "a == b"),
    ("Which letter begins a word like cat?", "c"),
    ("哪个字表示水？", "水"),
    ("{{c1::Paris}} is the capital of France.", "Paris"),
    ("What do plants need?", "What it is"),
    ("What is it?", "It is that which it is"),
    ("What does a nation need?", "National pride and money"),
    ("What is a cart for?", "Car"),
    ("What is the past tense of go?", "went"),
    ("中国的首都在哪里？", "中国首都是北京"),
]


def deck(front: str, back: str) -> Deck:
    return Deck(cards=(Flashcard(id="c1", front=front, back=back),))


@pytest.mark.parametrize(("front", "back", "words"), LEAKS)
def test_a_front_that_gives_the_answer_away_leaks(front: str, back: str, words: str) -> None:
    (found,) = flashcard_answer_leakage(deck(front, back)).items
    assert (found.label, found.value) == ("LEAKS", 0.0)
    assert words in found.reason
    assert found.suggestion


@pytest.mark.parametrize(("front", "back"), CLEAN)
def test_a_front_that_only_seems_to_is_clean(front: str, back: str) -> None:
    (found,) = flashcard_answer_leakage(deck(front, back)).items
    assert (found.label, found.value, found.suggestion) == ("CLEAN", 1.0, None)


def test_the_score_is_the_share_of_clean_cards_and_no_judge_is_asked() -> None:
    cards = tuple(
        Flashcard(id=f"c{n}", front=front, back=back)
        for n, (front, back) in enumerate([LEAKS[0][:2], *CLEAN[:3]], start=1)
    )
    found = flashcard_answer_leakage(Deck(cards=cards))
    assert (found.score, found.spends, found.unscored) == (75.0, (), ())
    assert (
        flashcard_answer_leakage(deck("什么是水循环？答：水循环", "水循环")).items[0].reason
        == "答案出现在正面：水循环。"
    )


def test_all_reasons_are_in_one_language_that_of_the_deck_or_the_one_asked_for() -> None:
    cards = Deck(cards=tuple(Flashcard(id=front, front=front, back="b") for front in ("What is 捷運?", "What?")))
    assert {one.reason for one in flashcard_answer_leakage(cards).items} == {"The front does not hold the answer."}
    assert {one.reason for one in flashcard_answer_leakage(cards, language="zh").items} == {"正面没有透露答案。"}


@pytest.mark.parametrize("piece", ["{{c1::", "::", "'a ", "which and ", ": , ", "「", "a, "])
def test_the_longest_front_takes_no_more_than_a_moment(piece: str) -> None:
    assert flashcard_answer_leakage(deck(piece * (20_000 // len(piece)), "Osmosis")).score == 100.0
