"""Texts in Markdown: shown as they are, whoever wrote them."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.timing import takes_at_most
from touchstone.markdown import as_markdown, block, code, prose, tidy


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n b\t\u202ec\x1b", "a b c"),
        ("<img src=x> & [a](b)", r"\<img src=x\> \& \[a\]\(b)".replace(r"\(", "(")),
        ("a|b * _c_ snake_case", r"a\|b \* \_c\_ snake_case"),
        ("https://example.org www.example.org", r"https\://example.org www\.example.org"),
        ("@tool fixes #12, not # or C#", "`@`tool fixes `#`12, not # or C#"),
        ("`code`", r"\`code\`"),
    ],
)
def test_nothing_is_markup_in_a_line(text: str, shown: str) -> None:
    assert as_markdown(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Which does `Box(width)` take?", "Which does `Box(width)` take?"),
        ("``a ` b`` and *c*", r"``a ` b`` and \*c\*"),
        ("`<b>` <b>", r"`<b>` \<b\>"),
        ("`int | None`", r"<code>int \| None</code>"),
        ("an ` alone", r"an \` alone"),
        ("`@tool`", "`@tool`"),
    ],
)
def test_code_stays_code(text: str, shown: str) -> None:
    assert prose(text) == shown


def test_code_is_closed_by_nothing_in_it() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`a") == "`` `a ``"
    assert code("\u200b") == ""


@given(st.text("`~\n a<"))
def test_a_block_is_closed_by_its_own_fence_alone(text: str) -> None:
    first, *lines, last = block(text, "python").split("\n")
    assert first == f"{last}python"
    assert set(last) == {"`"}
    assert all(last not in line for line in lines)


@given(st.text(max_size=80))
def test_a_line_stays_a_line(text: str) -> None:
    for show in (as_markdown, prose, code, tidy):
        assert len(show(text).splitlines()) <= 1


def test_a_text_of_nothing_but_backticks_is_shown_in_time() -> None:
    for text in ("`" * 20_000, "``` `` ` " * 3_000, "`a" * 10_000):
        takes_at_most(2.0, partial(prose, text))
