"""What has no content is refused before any judge is asked (A4); what has any is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.timing import takes_at_most
from touchstone.checks import is_contentless

MASTER_KEYS = ["", ":", ".", "Thought process:", "Solution", "解", "かいせつ"]

EMPTY = [
    " ",
    "\n\t \u3000",
    ",",
    "...",
    "…",
    "!?",
    "。",
    "：",
    "——",
    "-",
    "\u200b",
    "\u200b\u200e\u2066\u2069\ufeff",
    "\u3164",
    "\u2800",
    "\u0301",
    "**",
    "```\n```",
    "# ",
    "$$",
    "\\(\\)",
    "\\[ \\]",
    "\\boxed{}",
    "$\\boxed{\\text{}}$",
    "{}",
    "[]",
    "()",
    "<br>",
    "<p></p>",
    "<answer></answer>",
    "<think>\n</think>",
    "&nbsp;",
    "|",
    "___",
]

ANNOUNCEMENTS = [
    "solution:",
    "**Solution**",
    "# Solution\n",
    "SOLUTION.",
    "Ｓｏｌｕｔｉｏｎ",
    "S\u200bolution",
    "Answer:",
    "The answer is:",
    "Final answer",
    "**Final Answer:** ",
    "Let's solve this step by step",
    "Let’s solve this problem step by step.",
    "Let us think step by step:",
    "Thought process: \n\n Solution:",
    "Sure! Here is the solution:",
    "Step 1:",
    "Step 1: ",
    "Explanation",
    "Reasoning:",
    "Reasoning:\nExplanation",
    "## 标准答案\n.",
    "N/A",
    "n/a",
    "TBD",
    "解：",
    "解:",
    "答：",
    "答案：",
    "答案是：",
    "【答案】",
    "【解析】【答案】",
    "解答过程：",
    "思考过程：",
    "所以",
    "让我们一步一步思考。",
    "第一步：",
    "解説：",
    "答え：",
    "정답:",
    "Respuesta",
    "Solución:",
    "Réponse :",
    "Lösung:",
    "Ответ:",
    "In short,",
    "First of all, in conclusion:",
    "As a teacher, let me explain:",
    "I need to solve this problem.",
    "第三步：",
    "步骤三：",
    "标准答案：",
    "## 标准答案",
    "The correct answer is",
    "```python\n```",
    "Solution " * 500,
]

CONTENT = [
    "0",
    "x",
    "是",
    "B",
    "√2",
    "√",
    "×",
    "✓",
    "✗",
    "○",
    ">",
    "<",
    "=",
    "+",
    "−",
    "∅",
    "π",
    "-1",
    "1.",
    "A.",
    "(B)",
    "{1}",
    "½",
    "二",
    "对",
    "错",
    "无解",
    "无穷多",
    "无",
    "無",
    "否",
    "yes",
    "No",
    "None",
    "none of the above",
    "I don't know",
    "不知道",
    "null",
    "undefined",
    "Solution: 4",
    "Answer: x",
    "答案：3",
    "答：略",
    "解：x=1",
    "解放战争",
    "答非所问",
    "Soluble",
    "solutions are real",
    "Step 12",
    "the answer is yes",
    "Let's solve this step by step: 5",
    "\\pi",
    "\\emptyset",
    "\\boxed{7}",
    "<b>3</b>",
    "∞",
    "水",
    "ア",
    "그",
    "Therefore x = 2",
    "resulting",
    "analysis of variance",
    "```42```",
    "```A```",
    "```True```",
    "The answer is ```42```",
    "第三步",
    "第2步",
    "步骤三",
    "答：第三步",
    "to find",
    "to answer",
    "Answer: to find",
    "in short",
    "first of all",
    "in conclusion",
    "In conclusion.",
    "As a teacher",
    "I understand it",
    "I understand the question",
    "We can solve it together",
    "我们理解",
    "标准答案",
    "根据已知条件",
    "short answer",
    "<img>",
]


@pytest.mark.parametrize("text", MASTER_KEYS + EMPTY + ANNOUNCEMENTS)
def test_an_answer_that_says_nothing_is_contentless(text: str) -> None:
    assert is_contentless(text)


@pytest.mark.parametrize("text", CONTENT)
def test_an_answer_that_says_anything_has_content(text: str) -> None:
    assert not is_contentless(text)


@given(st.lists(st.sampled_from(MASTER_KEYS + EMPTY + ANNOUNCEMENTS[:-1]), max_size=6))
def test_announcements_without_an_answer_add_up_to_nothing(parts: list[str]) -> None:
    assert is_contentless("\n".join(parts))


@given(st.sampled_from(MASTER_KEYS + EMPTY + ANNOUNCEMENTS[:-1]), st.integers())
def test_a_number_is_content_whatever_announces_it(lead_in: str, number: int) -> None:
    assert not is_contentless(f"{lead_in}\n= {number}")


@given(st.text(alphabet=st.characters(categories=["Cc", "Cf", "Zs", "Zl", "Zp", "Mn"]), max_size=50))
def test_invisible_text_is_contentless(text: str) -> None:
    assert is_contentless(text)


@pytest.mark.parametrize(
    "text", ["solution " * 100_000 + "4", "<" * 1_000_000, "step " * 200_000, "\u0301" * 1_000_000]
)
def test_large_text_takes_time_in_proportion_to_its_length(text: str) -> None:
    takes_at_most(3.0, lambda: is_contentless(text))
