"""Lists of a deployment that are looked through: what is asked for by options, and how what was found is shown."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.cli.screen import ScreenColumn

type Filters = Mapping[str, str | float | None]


def show_found(
    noun: str,
    filters: Filters,
    columns: "Sequence[ScreenColumn]",
    *,
    limit: int,
    cursor: str | None,
    as_json: bool,
    what: str = "",
) -> None:
    """List a deployment's records of a kind that `filters` mean; None and the order alone leave out nothing.

    `noun` is their name in addresses, and `what` in sentences, where that is another one.
    """
    from touchstone.cli.client import fetch
    from touchstone.cli.screen import moment, print_page, say

    asked = {name: None if value is None else str(value) for name, value in filters.items()}
    if asked.get("sort") == "newest":  # as it is where nothing is said
        asked["sort"] = None
    filtered = any(value is not None for name, value in asked.items() if name != "sort")
    page = fetch(noun, limit=limit, cursor=cursor, **asked)
    what = what or noun
    empty = f"There are no such {what} here." if filtered else f"There are no {what} yet."
    print_page(page, columns, empty=empty, as_json=as_json)
    if filtered and page.get("looked_to") and not as_json:
        say(f"Looked at {page['looked_at']:,} {what}, as far as {moment(page['looked_to'])} (UTC).")
