"""Pages of a list, and the cursor that leads to the next one."""

import base64
import binascii
import hashlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from touchstone.errors import InputError

MAX_PAGE = 100
_TAG_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Page[T]:
    """Some items of a list, in its order. `cursor` leads to the next items; None at the end of the list."""

    items: tuple[T, ...]
    cursor: str | None


def page_size(limit: int, *, most: int = MAX_PAGE) -> int:
    """The limit unchanged. Raises `InputError` outside 1 to `most`."""
    if not 1 <= limit <= most:
        raise InputError(f"Ask for 1 to {most:,} items a page.", where="limit")
    return limit


def cursor_after(scope: str, position: str) -> str:
    """An opaque cursor that leads on behind `position` (a sort key); it is valid only in the list `scope`."""
    return base64.urlsafe_b64encode(f"{_tag(scope, position)}{position}".encode()).decode().rstrip("=")


def position_of(scope: str, cursor: str) -> str:
    """The position of a cursor. Raises `InputError` if it is garbled or comes from another list or tenant.

    The tag guards against mistakes, not against forgery: the position is only ever used inside the caller's own list.
    """
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise _refusal() from error
    tag, position = text[:_TAG_CHARACTERS], text[_TAG_CHARACTERS:]
    if not position or tag != _tag(scope, position):
        raise _refusal()
    return position


def is_cursor_of(scope: str, cursor: str) -> bool:
    """Whether a cursor belongs to the list `scope`."""
    try:
        position_of(scope, cursor)
    except InputError:
        return False
    return True


def page_of[T](items: Sequence[T], *, key: Callable[[T], str], scope: str, limit: int, cursor: str | None) -> Page[T]:
    """At most `limit` of `items`, which are sorted by `key`: the first items, or the items behind the cursor.

    Items that were added or removed meanwhile move none of the others. Raises `InputError` for a cursor of another
    list.
    """
    begin = 0 if cursor is None else bisect_right(items, position_of(scope, cursor), key=key)
    shown = tuple(items[begin : begin + limit])
    more = begin + limit < len(items)
    return Page(shown, cursor_after(scope, key(shown[-1])) if more else None)


def _tag(scope: str, position: str) -> str:
    return hashlib.sha256(f"{scope}\x1f{position}".encode()).hexdigest()[:_TAG_CHARACTERS]


def _refusal() -> InputError:
    return InputError("This cursor does not belong to this list; start again without one.", where="cursor")
