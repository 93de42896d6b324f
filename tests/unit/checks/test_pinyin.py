"""Pinyin is held against its spelling and against the characters that it is to be read for."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.timing import takes_at_most
from touchstone.checks import find_pinyin_errors

FAULTS = [
    ("xue2", "tone_number", "xué"),
    ("XUE2", "tone_number", "XUÉ"),
    ("guǐ3", "tone_number", "guǐ"),
    ("Xuán2", "tone_number", "Xuán"),
    ("nǐ3hǎo3", "tone_number", "nǐhǎo"),
    ("nǐ3 hǎo", "tone_number", "nǐ hǎo"),
    ("xue²", "tone_number", "xué"),
    ("ｘｕｅ２", "tone_number", "xué"),
    ("zho1ng", "tone_number", "zhōng"),
    ("Wo3 shi4 yi1ge4 Tai2wan1ren2.", "tone_number", "Wǒ shì yīgè Táiwānrén."),
    ("nü3", "tone_number", "nǚ"),
    ("nv3'er2", "tone_number", "nǚ'ér"),
    ("lu:4", "tone_number", "lǜ"),
    ("jü2", "tone_number", "jú"),
    ("hao3 ma5", "tone_number", "hǎo ma"),
    ("dian3r", "tone_number", "diǎnr"),
    ("nǚér", "missing_apostrophe", "nǚ'ér"),
    ("Xīān", "missing_apostrophe", "Xī'ān"),
    ("xúe", "misplaced_tone_mark", "xué"),
    ("lìu gùi", "misplaced_tone_mark", "liù guì"),
    ("hǎochīdùo", "misplaced_tone_mark", "hǎochīduò"),
    ("nuè", "umlaut", "nüè"),
    ("jǖ", "umlaut", "jū"),
    ("xĭ", "wrong_mark", "xǐ"),
    ("xue", "missing_tone_mark", "xue"),
    ("xuexi", "missing_tone_mark", "xuexi"),
    ("wǒ de shu", "missing_tone_mark", "wǒ de shu"),
    ("xuexí", "missing_tone_mark", "xuexí"),
    ("xuéx", "unknown_syllable", "xuéx"),
    ("hello", "unknown_syllable", "hello"),
    ("fēi siāo", "unknown_syllable", "fēi siāo"),
    ("zhuāñ", "unknown_syllable", "zhuāñ"),
    ("dōngxībiāndehēlloqùguòběijīng", "unknown_syllable", None),
]

RIGHT = [
    "",
    "學習",
    "xué",
    "Wǒ jiào Wáng Xiǎomíng, nǐ ne?",
    "nǚ'ér, Xī’ān, Tiān'ānmén, dà'ài",
    "fāngàn",
    "lǜ, lüè, nüè, yuè, jú, qù, xū",
    "1563 nián 10 yuè, dì 3 kè, dì3kè, 3kè",
    "2010nián1yuè10rì",
    "2020nián2yuè4rì, 8diǎn3kè, dì4, dì3, xué3",
    "wánr, yìdiǎnr, huār, zhèr",
    "wǒ de xuésheng, hǎo ma, zǒu ba, yí ge rén",
    "·zi",
    "bú shì, yì qǐ, ní hǎo",
    "KTV, A4 zhǐ, MP3, B. yī",
    "huǒchē-zhàn",
    "hǎo bu hǎo? Tā xǐ bu xǐhuan kàn yi kàn, qù bu qù",
    "xuéxí".replace("é", "e\u0301").replace("í", "i\u0301"),
    "ér, ńg, ê̄",
    "xiɑ̌o",
    "liúlì, duìyú, gǒu, shǒu, guāng, xiōng",
]

READ = [
    ("yínháng", "銀行"),
    ("xíngrén", "行人"),
    ("xīngqí", "星期"),
    ("xīngqī", "星期"),
    ("lèsè hàn lājī", "垃圾和垃圾"),
    ("bú shì", "不是"),
    ("yíge yìqǐ dì-yī", "一個一起第一"),
    ("ní hǎo", "你好"),
    ("péngyou", "朋友"),
    ("xǐhuan bu xǐhuan", "喜歡不喜歡"),
    ("shì yi shì", "試一試"),
    ("wánr", "玩兒"),
    ("wánr", "玩"),
    ("nǐ hǎo ma?", "你好嗎？"),
    ("1563 nián", "1563年"),
    ("yī wǔ liù sān nián", "1563年"),
    ("chàng KTV", "唱KTV"),
    ("fāng'àn", "方案"),
    ("chéngjì", "成績"),
    ("Běijīng", "北京"),
    ("Xuéxí Zhōngwén.", "学习中文。"),
]

MISREAD = [
    ("yínxín", "銀行", "wrong_reading", "xín", None),
    ("Gǒu", "三", "wrong_reading", "Gǒu", "Sān"),
    ("xue3", "習", "wrong_reading", "xue3", "xí"),
    ("xuéxí", "學", "extra_syllable", "xí", ""),
    ("xué", "學習", "missing_syllable", "", None),
    ("wǒ xuéxí zhōngwén", "我學中文", "extra_syllable", "xí", ""),
    ("wǒ xué zhōngwén", "我學習中文", "missing_syllable", "", None),
    ("1563 nián qù", "1563年", "extra_syllable", "qù", ""),
    ("fāngàn", "方案", "missing_apostrophe", "àn", "'àn"),
    ("píngān", "平安", "missing_apostrophe", "ān", "'ān"),
    ("xuexi", "學習", "missing_tone_mark", "xuexi", "xuéxí"),
    ("xue-xi", "學習", "missing_tone_mark", "xue-xi", "xué-xí"),
    ("wo xuéxí", "我學習", "missing_tone_mark", "wo", "wǒ"),
    ("Wǒ hen hǎo", "我很好", "missing_tone_mark", "hen", "hěn"),
    ("hǎo bu kàn", "好不看", "missing_tone_mark", "bu", None),
    ("yi kàn", "一看", "missing_tone_mark", "yi", None),
    ("jiǎng yi jiǎng", "讲义讲", "missing_tone_mark", "yi", "yì"),
    ("wǒ hǎo. Yi hǎo", "我好一好", "missing_tone_mark", "Yi", None),
    ("mǎi bu mài", "买不卖", "missing_tone_mark", "bu", None),
    ("nv", "女", "umlaut", "nv", None),
]


@pytest.fixture(autouse=True, scope="module")
def _tables() -> None:
    """The tables are read once, on first use, which is no part of any test's time."""
    find_pinyin_errors("xué", "學")


@pytest.mark.parametrize(("text", "rule", "right"), FAULTS)
def test_each_fault_is_named_and_corrected_where_it_can_be(text: str, rule: str, right: str | None) -> None:
    findings = find_pinyin_errors(text)
    assert {finding.rule for finding in findings} == {rule}
    if right is not None:
        assert corrected(text) == right


@pytest.mark.parametrize("text", RIGHT)
def test_right_pinyin_is_left_alone(text: str) -> None:
    assert find_pinyin_errors(text) == []


@pytest.mark.parametrize(("pinyin", "hanzi"), READ)
def test_all_readings_of_the_characters_are_allowed(pinyin: str, hanzi: str) -> None:
    assert find_pinyin_errors(pinyin, hanzi) == []


@pytest.mark.parametrize(("pinyin", "hanzi", "rule", "place", "suggestion"), MISREAD)
def test_what_the_characters_do_not_say_is_found(
    pinyin: str, hanzi: str, rule: str, place: str, suggestion: str | None
) -> None:
    (finding,) = find_pinyin_errors(pinyin, hanzi)
    start, end = finding.span
    assert (finding.rule, pinyin[start:end], finding.suggestion) == (rule, place, suggestion)


def test_a_reading_that_does_not_fit_is_told_with_those_that_do() -> None:
    (finding,) = find_pinyin_errors("yínxín", "銀行")
    assert "háng" in finding.detail
    assert "xíng" in finding.detail


def test_a_foreign_word_in_a_sentence_without_spaces_is_named_by_itself() -> None:
    text = "dōngxībiāndehēwxyzqùguòběijīng"
    (finding,) = find_pinyin_errors(text)
    assert text[slice(*finding.span)] == "wxyz"


def test_places_are_those_of_the_text_as_it_was_given() -> None:
    text = unicodedata.normalize("NFD", "xuéxí de xue2")
    (finding,) = find_pinyin_errors(text)
    assert text[slice(*finding.span)] == "xue2"


def test_pinyin_far_longer_than_its_characters_is_compared_in_order() -> None:
    findings = find_pinyin_errors("xué xí " * 400, "學習" * 390 + "三")
    assert [finding.rule for finding in findings] == ["wrong_reading"] + ["extra_syllable"] * 19
    findings = find_pinyin_errors("xué xí " * 400, "學習" * 410)
    assert {finding.rule for finding in findings} == {"missing_syllable"}


SYLLABLES = [
    "xué",
    "xí",
    "ān",
    "ér",
    "nǚ",
    "lüè",
    "zhuāng",
    "guì",
    "liú",
    "hǎo",
    "ài",
    "ōu",
    "yuán",
    "běi",
    "wǔ",
    "shì",
]
MARKS = {"\u0304": "1", "\u0301": "2", "\u030c": "3", "\u0300": "4"}
WORDS = st.lists(
    st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=4).map("'".join), min_size=1, max_size=6
).map(" ".join)


def numbered(text: str) -> str:
    """Pinyin with its tone marks as numbers behind each syllable."""
    words = []
    for word in text.replace("'", " '").split(" "):
        tone = "".join(MARKS.get(mark, "") for mark in unicodedata.normalize("NFD", word))
        plain = "".join(mark for mark in unicodedata.normalize("NFD", word) if mark not in MARKS)
        words.append(unicodedata.normalize("NFC", plain) + tone)
    return " ".join(words).replace(" '", "'")


@given(WORDS)
def test_tone_marks_survive_the_way_through_numbers(text: str) -> None:
    assert find_pinyin_errors(text) == []
    assert corrected(numbered(text)) == text


@given(st.text("xueéíǚniaāo'r23v: ·g-", max_size=30))
def test_a_text_with_all_suggestions_applied_has_no_fault_that_could_be_corrected(text: str) -> None:
    for _ in range(len(text)):
        text = corrected(text)
    assert corrected(text) == text


@given(st.text(max_size=60), st.none() | st.text("學習一不銀行123兒", max_size=12))
def test_any_text_is_answered_in_order(text: str, hanzi: str | None) -> None:
    findings = find_pinyin_errors(text, hanzi)
    assert [finding.span for finding in findings] == sorted(finding.span for finding in findings)
    assert all(0 <= finding.span[0] <= finding.span[1] <= len(text) for finding in findings)


@pytest.mark.parametrize(
    ("pinyin", "hanzi"),
    [
        ("Wǒ xǐhuān hē chá. " * 5_500, "我喜歡喝茶。" * 5_500),
        ("wo3 xi3huan1 " * 7_500, None),
        ("xian" * 12_500, None),
        ("ü" * 100_000, None),
        ("'" * 100_000, "學" * 100_000),
        ("xi" * 20_000, "西" * 20_000),
        ("1" * 100_000, "1" * 100_000),
        ("xué " * 2_000, "三" * 3_000),
    ],
)
def test_long_and_hostile_texts_take_a_second(pinyin: str, hanzi: str | None) -> None:
    takes_at_most(1.0, lambda: find_pinyin_errors(pinyin, hanzi))


def corrected(text: str) -> str:
    """The text with every suggestion in place of what it is for."""
    for finding in reversed(find_pinyin_errors(text)):
        if finding.suggestion is not None:
            text = text[: finding.span[0]] + finding.suggestion + text[finding.span[1] :]
    return text


def test_no_syllable_is_suggested_that_does_not_exist() -> None:
    (finding,) = find_pinyin_errors("nǔer")
    assert (finding.rule, finding.suggestion) == ("umlaut", None)
