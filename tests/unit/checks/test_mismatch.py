"""A text in another language than its reader's is found; what it quotes does not matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.timing import takes_at_most
from touchstone.checks import find_language_mismatch, knows_language

FOREIGN = [
    ("「學習」的意思是什麼？", "en", "的意思是什麼"),
    ("請選出正確的答案", "en", "請選出正確的答案"),
    ("請選出正確的答案 (choose one)", "en-GB", "請選出正確的答案"),
    ("A. 貓 B. 狗", "en", "貓 B. 狗"),
    ("「學習」", "en", "學習"),
    ("Xuéxí shì shénme yìsi?", "en", "Xuéxí shì shénme yìsi"),
    ("뭐예요?", "en", "뭐예요"),
    ("What does this word mean?", "zh-Hant", "What does this word mean"),
    ("Which one is right: 「蘋果」?", "zh_TW", "Which one is right"),
    ("這是什麼？", "ko", "這是什麼"),
    ("「學習」的意思是什麼？", "ja", "的意思是什麼"),
    ("hello there", "ru", "hello there"),
    ("ｈｅｌｌｏ ｔｈｅｒｅ", "zh", "ｈｅｌｌｏ ｔｈｅｒｅ"),
]

OWN = [
    ("", "en"),
    ("???", "zh"),
    ("3 + 4 = x", "zh"),
    ("What does 「學習」 mean?", "en"),
    ("What does 學習 mean?", "en"),
    ("What does xuéxí mean?", "en"),
    ("A naïve résumé of the café", "en"),
    ("Fill in the blank: 我每天___中文。", "en"),
    ("Which is right?\n這是什麼？", "en"),
    ("Which of these is a cat? (貓是哪一個？)", "en"),
    (r"Solve $\text{面積}=3$ for x.", "en"),
    ("「apple」的意思是什麼？", "zh-Hant"),
    ("DNA 是什麼？", "zh"),
    ("請翻譯：How are you doing today, my dear friend?", "zh-TW"),
    ("これは何ですか", "ja"),
    ("読解問題：「今天天氣很好。」", "ja"),
    ("和訳：我在圖書館學習中文。", "ja"),
    ("正しい漢字を選択", "ja"),
    ("¿Qué es esto?", "es"),
    ("Что это?", "ru"),
    ("這是什麼？", "tlh"),
]


@pytest.mark.parametrize(("text", "language", "place"), FOREIGN)
def test_a_text_in_another_language_is_found(text: str, language: str, place: str) -> None:
    (finding,) = find_language_mismatch(text, language)
    assert (finding.rule, finding.suggestion) == ("language_mismatch", None)
    assert text[slice(*finding.span)] == place
    assert language in finding.detail


@pytest.mark.parametrize(("text", "language"), OWN)
def test_a_text_in_the_readers_language_is_not(text: str, language: str) -> None:
    assert find_language_mismatch(text, language) == []


def test_a_question_may_be_asked_again_in_parentheses() -> None:
    assert find_language_mismatch("王明每天做什麼？ (What does Wang Ming do?)", "en") == []
    assert find_language_mismatch("王明每天做什麼？ (Wang Ming)", "en")
    assert find_language_mismatch("王明每天做什麼？（What does he do?）", "ja")


def test_the_language_that_was_found_is_named() -> None:
    assert "Chinese characters" in find_language_mismatch("這是什麼？", "en")[0].detail
    assert "pinyin" in find_language_mismatch("Zhè shì shénme?", "en")[0].detail
    assert "Cyrillic letters" in find_language_mismatch("Что это?", "en")[0].detail


@pytest.mark.parametrize(
    ("language", "known"), [("en", True), ("zh_TW", True), ("JA", True), ("xx", False), ("", False)]
)
def test_which_languages_are_known_is_told(language: str, known: bool) -> None:
    assert knows_language(language) is known


@given(st.text(max_size=80), st.sampled_from(["en", "zh-Hant", "ja", "xx", ""]))
def test_any_text_is_answered(text: str, language: str) -> None:
    for finding in find_language_mismatch(text, language):
        assert 0 <= finding.span[0] < finding.span[1] <= len(text)


@pytest.mark.parametrize("text", ["「" * 100_000, '"' * 100_000, "$<(" * 33_000, "中a" * 50_000, "word. 字 " * 12_500])
def test_a_hundred_thousand_characters_take_a_second(text: str) -> None:
    takes_at_most(1.0, lambda: find_language_mismatch(text, "en"))
