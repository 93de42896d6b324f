"""Which language a problem is in."""

import pytest

from touchstone.text.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("解方程 $x^2 - 5x + 6 = 0$", "zh"),
        ("Solve $x^2 - 5x + 6 = 0$ for x.", "en"),
        ("計算 \\frac{1}{2} + \\frac{1}{3}", "zh"),
        ("求 \\lim_{x \\to 0} \\frac{\\sin x}{x}", "zh"),
        ("12 + 30 = ?", "en"),
        ("", "en"),
        ("What does the word 苹果 mean in English?", "en"),
        ("“apple” 的复数形式是什么？请用 English 回答。", "zh"),
        ("一辆汽车以 60 km/h 的速度行驶 2 h，路程是多少 km？", "zh"),
        ("A car drives 60 km/h for 2 h. How far?", "en"),
        ("𠮷野家有几家店？", "zh"),
        ("What does 學習 mean?", "en"),
        ("What is 捷運?", "en"),
        ("學習 means to learn.", "en"),
        ("什麼 is what in English?", "en"),
        ("Who wrote 《紅樓夢》?", "en"),
        ("Explain “床前明月光，疑是地上霜”.", "en"),
        ("「學習」", "zh"),
        ("翻译成中文：What is your name?", "zh"),
        ("在 Rt△ABC 中, AB = AC, BC = 5, 求 AD", "zh"),
        ("If sin x = 1/2, 求 cos x 与 tan x", "zh"),
        ("ABC 的面积为 12 cm，求 AB 与 BC 的长", "zh"),
    ],
)
def test_the_language_is_recognised_from_the_script(text: str, language: str) -> None:
    assert language_of(text) == language
