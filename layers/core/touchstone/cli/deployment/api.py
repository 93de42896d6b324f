"""The deployment that the settings name, as commands ask it: one object, a whole list, or a page of records found.

The client, which loads a library for HTTP, is loaded when it is first asked. So commands can name these functions at
the top of their modules, and the command still starts quickly.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touchstone.cli.terminal import waiting
from touchstone.cli.terminal.progress import noted_progress
from touchstone.cli.terminal.screen import Row, ScreenColumn, cost_of, is_over, moment, print_page, say

if TYPE_CHECKING:
    from touchstone.cli.deployment.client import ApiClient, Document

NAMES = {"since": "from", "until": "to"}
"""The names of filters in an address, for the parameters of commands that have other names."""
BEGUN_BY = {
    "answers": "touchstone verify",
    "audits": "touchstone audit start",
    "batches": "touchstone batch run",
    "experiments": "touchstone experiment start",
    "measurements": "touchstone measurement start",
    "quizzes": "touchstone quiz generate",
    "tasks": "touchstone tasks create",
}
"""The command that makes the first of a kind."""


def open_api(*, or_local: bool = False) -> "ApiClient":
    """The API that the settings name; `or_local`: the command can do without. Raises `SettingsError`, `InputError`."""
    from touchstone.cli.deployment.client import ApiClient
    from touchstone.cli.deployment.connection import connection

    return ApiClient(connection(or_local=or_local))


def fetch(*path: str, **query: str | int | None) -> "Document":
    """Read one object of the API that the settings name. Raises as `open_api` and `ApiClient`."""
    with open_api() as api:
        return api.get(*path, **query)


def awaited(
    api: "ApiClient", kind: str, view: "Document", *, until: Callable[["Document"], bool], seconds: float, shown_by: str
) -> "Document":
    """Wait until a record satisfies `until`, for `seconds` at most. Return its last state. `view` is its first one.

    `kind` is the path of the list that has it, and `shown_by` the command that shows it later, without its id.
    """
    its_id = str(view.get("id"))
    later = f"{shown_by} {its_id}"
    return waiting.awaited(view, lambda: api.get(kind, its_id), until=until, seconds=seconds, later=later)


def followed(api: "ApiClient", kind: str, view: "Document", *, seconds: float) -> "Document":
    """Wait until an audit, an experiment or a measurement is over, as `awaited` does, and show its progress."""
    its_id = str(view.get("id"))
    parts, progress_of = PARTS[kind]
    with noted_progress(parts) as told:

        def look() -> "Document":
            found = api.get(kind, its_id)
            told(*progress_of(found))
            return found

        later = f"touchstone {kind.removesuffix('s')} show {its_id}"
        return waiting.awaited(view, look, until=is_over, seconds=seconds, later=later)


def measurement_cost(view: Row) -> str:
    """The cost of a measurement as people read it."""
    return cost_of({"cost_usd": view["outlay"]["cost_usd"], "unpriced_calls": view["outlay"]["unpriced"]})


PARTS: Mapping[str, tuple[str, Callable[[Row], tuple[int, int | None, str]]]] = {
    "audits": ("Cases", lambda view: (view.get("done", 0), view.get("cases"), cost_of(view))),
    "experiments": ("Pairs", lambda view: (view.get("done", 0), view.get("pairs"), cost_of(view))),
    "measurements": (
        "Metrics",
        lambda view: (sum(one["over"] for one in view["metrics"]), len(view["metrics"]), measurement_cost(view)),
    ),
}
"""The parts of which each kind of long work consists, and how many are done of how many, with the cost so far."""


def uploaded(api: "ApiClient", kind: str, data: bytes, *, content_type: str) -> "Document":
    """Upload a file of this kind. Return the reply that names its place."""
    from touchstone.cli.deployment.client import upload

    place = api.post(kind)
    upload(str(place.get("upload_url")), data, content_type=content_type)
    return place


def fetch_file(url: object) -> bytes:
    """The file behind a presigned link of a reply. Raises `ServiceError`."""
    from tempfile import TemporaryDirectory

    from touchstone.cli.deployment.client import download

    with TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        download(str(url), file)
        return file.read_bytes()


def hastened(kind: str, its_id: str, *, pay_twice: bool) -> "Document":
    """Have the waiting questions of a record asked at once. `kind` is the path of the list that has it."""
    with open_api() as api:
        return api.post(kind, its_id, "now", query={"pay_twice": "true"} if pay_twice else {})


def fetch_whole(*path: str, lists: Sequence[str]) -> "Document":
    """Read one object whose `lists` come in pages, and put the pages together. Raises as `fetch`."""
    with open_api() as api:
        found = api.get(*path)
        while cursor := found.get("cursor"):
            more = api.get(*path, cursor=str(cursor))
            found = {**more, **{name: [*found[name], *more[name]] for name in lists}}
    return found


def show_found(
    *path: str,
    asked: Mapping[str, Any],
    columns: Sequence[ScreenColumn],
    shown: Callable[[Row], Row] = lambda row: row,
    empty: str = "",
    **always: str,
) -> None:
    """Print a page of a deployment's records. `path` are the parts of the path of their list after /v1.

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
    page = fetch(*path, limit=asked["limit"], cursor=asked["cursor"], **always, **filters)
    what = path[-1]
    first = empty or f"There are no {what} yet. The first comes by: {BEGUN_BY[what]}"
    none = f"There are no such {what} here." if filtered else first
    rows = page if as_json else {**page, "items": [shown(one) for one in page.get("items", ())]}
    print_page(rows, columns, empty=none, as_json=as_json)
    if filtered and page.get("looked_to") and not as_json:
        say(f"Looked at {page['looked_at']:,} {what}, as far as {moment(page['looked_to'])} (UTC).")
