"""The cursor of a list that is read whole: the place from which on its page shows it."""

from touchstone.errors import InputError

MOST_DIGITS = 6
"""Of a place: no list that is read whole has a million rows."""


def place_of(cursor: str | None) -> int:
    """The place that a cursor names, counted from 0; 0 where there is none.

    Raises `InputError` for what is no place.
    """
    text = cursor or "0"
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise InputError("The cursor is none of this list.", where="cursor")
    return int(text)
