"""The deployment that the settings name, as commands ask it: one object or a whole list, and what it brings later.

The client, which loads a library for HTTP, is loaded when it is first asked. So commands can name these functions at
the top of their modules, and the command still starts quickly.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from touchstone.cli.terminal import waiting
from touchstone.cli.terminal.tables import Row
from touchstone.cli.terminal.waiting import noted_progress
from touchstone.cli.terminal.words import View, cost_of, is_over

if TYPE_CHECKING:
    from touchstone.cli.deployment.client import ApiClient


def open_api(*, or_local: bool = False) -> "ApiClient":
    """The API that the settings name; `or_local`: the command can do without. Raises `SettingsError`, `InputError`."""
    from touchstone.cli.deployment.client import ApiClient
    from touchstone.cli.deployment.connection import connection

    return ApiClient(connection(or_local=or_local))


def fetch(*path: str, **query: str | int | None) -> View:
    """Read one object of the API that the settings name. Raises as `open_api` and `ApiClient`."""
    with open_api() as api:
        return api.get(*path, **query)


def awaited(
    api: "ApiClient", kind: str, view: View, *, until: Callable[[View], bool], seconds: float, shown_by: str
) -> View:
    """Wait until a record satisfies `until`, for `seconds` at most. Return its last state. `view` is its first one.

    `kind` is the path of the list that has it, and `shown_by` the command that shows it later, without its id.
    """
    its_id = str(view.get("id"))
    later = f"{shown_by} {its_id}"
    return waiting.awaited(view, lambda: api.get(kind, its_id), until=until, seconds=seconds, later=later)


def followed(api: "ApiClient", kind: str, view: View, *, seconds: float) -> View:
    """Wait until an audit, an experiment or a measurement is over, as `awaited` does, and show its progress."""
    its_id = str(view.get("id"))
    parts, progress_of = PARTS[kind]
    with noted_progress(parts) as told:

        def look() -> View:
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


def uploaded(api: "ApiClient", kind: str, data: bytes, *, content_type: str) -> View:
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


def hastened(kind: str, its_id: str, *, pay_twice: bool) -> View:
    """Have the waiting questions of a record asked at once. `kind` is the path of the list that has it."""
    with open_api() as api:
        return api.post(kind, its_id, "now", query={"pay_twice": "true"} if pay_twice else {})


def fetch_whole(*path: str, lists: Sequence[str]) -> View:
    """Read one object whose `lists` come in pages, and put the pages together. Raises as `fetch`."""
    with open_api() as api:
        found = api.get(*path)
        while cursor := found.get("cursor"):
            more = api.get(*path, cursor=str(cursor))
            found = {**more, **{name: [*found[name], *more[name]] for name in lists}}
    return found
