"""Searches in a deployment's lists: how options become filters, and how the records that are found are shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from touchstone.cli.deployment.api import fetch
from touchstone.cli.terminal.screen import Row, ScreenColumn, moment, print_page, say

NAMES = {"since": "from", "until": "to"}
"""The names of filters in an address, for the parameters of commands that have other names."""
BEGUN_BY = {
    "answers": "touchstone verify",
    "audits": "touchstone audit start",
    "batches": "touchstone batch run",
    "experiments": "POST /v1/experiments",
    "measurements": "POST /v1/measurements",
    "quizzes": "touchstone quiz generate",
    "tasks": "touchstone tasks create",
}
"""What makes the first of a kind; of two only the API does."""


def show_found(
    path: str,
    asked: Mapping[str, Any],
    columns: Sequence[ScreenColumn],
    *,
    shown: Callable[[Row], Row] = lambda row: row,
    empty: str = "",
    **always: str,
) -> None:
    """Print a page of a deployment's records. `path` is the path of their list after /v1.

    `asked` are the parameters of the command: `limit`, `cursor` and `as_json`; all others are filters. A filter that is
    None, and `sort`, leave out no record. `shown` turns a record into a row. `empty` is said if there is no record and
    nothing was filtered. `always` are parameters that are sent in addition to the filters.
    """
    filters = {NAMES.get(name, name): None if value is None else str(value) for name, value in asked.items()}
    as_json = asked["as_json"]
    for name in ("limit", "cursor", "as_json"):
        del filters[name]
    if filters.get("sort") == "newest":  # the order of the API if `sort` is not sent
        filters["sort"] = None
    filtered = any(value is not None for name, value in filters.items() if name != "sort")
    page = fetch(*path.split("/"), limit=asked["limit"], cursor=asked["cursor"], **always, **filters)
    what = path.rpartition("/")[2]
    first = empty or f"There are no {what} yet. The first comes by: {BEGUN_BY[what]}"
    none = f"There are no such {what} here." if filtered else first
    rows = page if as_json else {**page, "items": [shown(one) for one in page.get("items", ())]}
    print_page(rows, columns, empty=none, as_json=as_json)
    if filtered and page.get("looked_to") and not as_json:
        say(f"Looked at {page['looked_at']:,} {what}, as far as {moment(page['looked_to'])} (UTC).")
