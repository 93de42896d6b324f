"""A text cut into sections: nothing is lost, none is too long, and each ends where the text pauses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.material.source import EARLIEST_SECTION_END, sections_of


@given(st.text(alphabet=st.sampled_from("ab 。.!\n\r\t苹果\u3000é\U0001f34e"), max_size=400), st.integers(2, 40))
def test_sections_make_up_the_text_again_and_none_is_too_long(text: str, most: int) -> None:
    sections = sections_of(text, most=most)
    assert "".join(sections) == text
    assert all(len(section) <= most for section in sections)
    assert len(sections) == 1 or all(sections[:-1])


@given(st.text(max_size=2000), st.integers(2, 50))
def test_there_are_few_sections(text: str, most: int) -> None:
    assert len(sections_of(text, most=most)) <= len(text) / max(1, int(most * EARLIEST_SECTION_END)) + 1


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("aaaa bbbb cc.\n\nd\neeeeeee", "aaaa bbbb cc.\n\n"),
        ("aaaa bbbb ccc\nd. eeeeeeee", "aaaa bbbb ccc\n"),
        ("aaaa bbbb cc. d eeeeeeee", "aaaa bbbb cc."),
        ("苹果苹果苹果苹果苹果苹果。梨梨梨梨梨", "苹果苹果苹果苹果苹果苹果。"),
        ("aaaa bbbb cccc eeeeeeee", "aaaa bbbb cccc "),
        ("a" * 30, "a" * 16),
    ],
)
def test_a_section_ends_where_the_text_pauses_longest(text: str, first: str) -> None:
    assert sections_of(text, most=16)[0] == first
