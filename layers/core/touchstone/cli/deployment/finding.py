"""Lists of a deployment that are looked through: what is asked for by options, and how what was found is shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.cli.terminal.screen import Row, ScreenColumn

type Filters = Mapping[str, str | float | None]


def show_found(
    path: str,
    filters: Filters,
    columns: "Sequence[ScreenColumn]",
    *,
    limit: int,
    cursor: str | None,
    as_json: bool,
    shown: "Callable[[Row], Row]" = lambda row: row,
    empty: str = "",
    **always: str,
) -> None:
    """List a deployment's records at an address that `filters` mean; None and the order alone leave out nothing.

    `shown` makes the row of a record, `empty` is said where there is none, and `always` is asked whatever the filters.
    """
    from touchstone.cli.deployment.client import fetch
    from touchstone.cli.terminal.screen import moment, print_page, say

    asked = {name: None if value is None else str(value) for name, value in filters.items()}
    if asked.get("sort") == "newest":  # as it is where nothing is said
        asked["sort"] = None
    filtered = any(value is not None for name, value in asked.items() if name != "sort")
    page = fetch(*path.split("/"), limit=limit, cursor=cursor, **always, **asked)
    what = path.rpartition("/")[2]
    none = f"There are no such {what} here." if filtered else empty or f"There are no {what} yet."
    rows = page if as_json else {**page, "items": [shown(one) for one in page.get("items", ())]}
    print_page(rows, columns, empty=none, as_json=as_json)
    if filtered and page.get("looked_to") and not as_json:
        say(f"Looked at {page['looked_at']:,} {what}, as far as {moment(page['looked_to'])} (UTC).")
