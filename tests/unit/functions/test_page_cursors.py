"""The cursor of a list that is read whole."""

import pytest

from functions.pages.tables import place_of
from touchstone.errors import InputError


@pytest.mark.parametrize(("cursor", "place"), [(None, 0), ("", 0), ("0", 0), ("50", 50), ("999999", 999_999)])
def test_a_cursor_names_a_place(cursor: str | None, place: int) -> None:
    assert place_of(cursor) == place


@pytest.mark.parametrize("cursor", ["x", "-1", "1.0", " 1", "²", "٣", "1000000"])
def test_whatever_else_is_none(cursor: str) -> None:
    with pytest.raises(InputError, match="cursor"):
        place_of(cursor)
