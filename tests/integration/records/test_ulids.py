"""Ids that sort by time."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.records.keys import part, text_of
from touchstone.records.ulids import derived_ulid, first_ulid, is_ulid, last_ulid, new_ulid, ulid_moment

moments = st.datetimes(datetime(1970, 1, 2), datetime(9999, 1, 1)).map(lambda each: each.replace(tzinfo=UTC))  # noqa: DTZ001 - a zone is set


@given(moments)
def test_an_id_says_when_it_was_made(moment: datetime) -> None:
    assert abs(ulid_moment(new_ulid(moment)) - moment) <= timedelta(milliseconds=1)
    assert is_ulid(new_ulid(moment))


@given(moments, moments)
def test_ids_sort_by_their_moments(one: datetime, other: datetime) -> None:
    if abs(one - other) > timedelta(milliseconds=1):
        assert (new_ulid(one) < new_ulid(other)) == (one < other)
    assert first_ulid(one) <= new_ulid(one) <= last_ulid(one)


def test_a_derived_id_is_the_same_for_the_same_parts_alone() -> None:
    moment = datetime(2026, 11, 21, tzinfo=UTC)
    assert derived_ulid(moment, "a", "bc") == derived_ulid(moment, "a", "bc")
    assert derived_ulid(moment, "a", "bc") != derived_ulid(moment, "ab", "c")
    assert is_ulid(derived_ulid(moment, "a"))


@pytest.mark.parametrize(
    "text", ["", "01m7ycr9j0yepnxk2f1f80qc0c", "8" + "0" * 25, "0" * 25, "0" * 26 + "\n", "I" * 26]
)
def test_other_texts_are_no_ids(text: str) -> None:
    assert not is_ulid(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=500))
def test_free_text_in_a_key_separates_nothing_and_stays_short(text: str) -> None:
    escaped = part(text)
    assert "#" not in escaped
    assert len(escaped.encode()) <= 400
    assert text_of(escaped) == text or "~" in escaped
