"""The deployment that the settings name. Its client, which loads a library for HTTP, is loaded when it is first asked.

So commands can name these functions at the top of their modules, and the command still starts quickly.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.cli.deployment.client import ApiClient, Document


def open_api(*, or_local: bool = False) -> "ApiClient":
    """The API that the settings name; `or_local`: the command can do without. Raises `SettingsError`, `InputError`."""
    from touchstone.cli.deployment.client import ApiClient
    from touchstone.cli.deployment.connection import connection

    return ApiClient(connection(or_local=or_local))


def fetch(*path: str, **query: str | int | None) -> "Document":
    """Read one object of the API that the settings name. Raises as `open_api` and `ApiClient`."""
    with open_api() as api:
        return api.get(*path, **query)


def fetch_whole(*path: str, lists: Sequence[str]) -> "Document":
    """Read one object whose `lists` come in pages, and put the pages together. Raises as `fetch`."""
    with open_api() as api:
        found = api.get(*path)
        while cursor := found.get("cursor"):
            more = api.get(*path, cursor=str(cursor))
            found = {**more, **{name: [*found[name], *more[name]] for name in lists}}
    return found
