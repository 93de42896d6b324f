"""Normal forms in bounded time: Unicode's own on whatever people write, and a bounded form of what nobody does."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.timing import takes_at_most
from touchstone.text import Form, normalised
from touchstone.text.normalising import JOINER, MAX_EXPANSION, MAX_MARKS, NON_STARTERS

FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
KEPT = "\ufdfa\ufdfb"


def _every_character() -> list[str]:
    return [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]


@given(st.text(st.characters(exclude_characters=KEPT)), st.sampled_from(FORMS))
def test_ordinary_text_has_unicodes_own_form(text: str, form: Form) -> None:
    assert normalised(text, form) == unicodedata.normalize(form, text)


def test_the_marks_written_down_are_those_of_unicodes_tables() -> None:
    written: set[int] = set()
    ranges = "".join(NON_STARTERS)
    at = 0
    while at < len(ranges):
        is_range = ranges[at + 1 : at + 2] == "-"
        last = ranges[at + 2] if is_range else ranges[at]
        written.update(range(ord(ranges[at]), ord(last) + 1))
        at += 3 if is_range else 1
    derived = {ord(one) for one in _every_character() if unicodedata.combining(unicodedata.normalize("NFKD", one)[0])}
    assert written == derived


def test_no_character_grows_beyond_the_bound() -> None:
    grown = [one for one in _every_character() if len(unicodedata.normalize("NFKD", one)) >= MAX_EXPANSION]
    assert {len(normalised(one, form)) for one in grown for form in FORMS} <= set(range(1, MAX_EXPANSION + 1))
    assert any(len(normalised(one, "NFKD")) == MAX_EXPANSION for one in grown)


def test_as_many_marks_as_the_bound_are_left_alone_and_more_are_cut() -> None:
    letter = "a" + "\u0323" * MAX_MARKS
    assert normalised(letter, "NFD") == letter
    assert normalised(letter + "\u0323", "NFD") == letter + JOINER + "\u0323"


def test_text_beyond_the_bound_is_normalised_only_once() -> None:
    text = "a" + "\u0301\u0323" * 500 + "ﷺ" * 3 + "각"
    for form in FORMS:
        once = normalised(text, form)
        assert normalised(once, form) == once


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unit", ["\u0301\u0323", "\ufdfa", "\u0f73\u0301", "\u0344\u0323", "\uff9e\u0301", "\u321d"])
def test_a_million_characters_take_about_a_second(unit: str, form: Form) -> None:
    text = unit * (1_000_000 // len(unit))
    assert len(takes_at_most(1.0, lambda: normalised(text, form))) <= MAX_EXPANSION * len(text)
