"""Commands that list a deployment's records: filters that are data, and the options that all lists have."""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from types import MappingProxyType
from typing import Annotated, Any, Literal

import typer

from touchstone.cli.deployment.api import fetch
from touchstone.cli.terminal import options
from touchstone.cli.terminal.screen import say
from touchstone.cli.terminal.tables import ScreenColumn, print_page
from touchstone.cli.terminal.words import moment

type Options = Mapping[str, Any]
"""The parameters of a command by name, each as Typer reads it: `Annotated[type, typer.Option(…)]`."""
type Columns = Sequence[ScreenColumn]

NONE: Options = MappingProxyType({})
DATED: Options = {"since": options.FromDay, "until": options.ToDay}
SEARCHED: Options = {"search": options.Search, **DATED}
SORTED: Options = {"cost_from": options.CostFrom, "cost_to": options.CostTo, "sort": options.Sort}
PAGED: Options = {"limit": options.Limit, "cursor": options.Cursor, "as_json": options.AsJson}
DEFAULTS: Mapping[str, object] = {"sort": "newest", "limit": 20, "as_json": False}
"""The values of options that were not given. All other options are None then, and leave out no record."""
NAMES = {"since": "from", "until": "to"}
"""The names of filters in an address, for parameters that have other names."""


def only(text: str, values: str = "", *, metavar: str | None = None) -> Any:
    """A filter whose help is `text`: an option that takes one of the `values`, written `a|b|c`, or else any text."""
    kind: Any = Literal.__getitem__(tuple(values.split("|"))) if values else str
    return Annotated[kind | None, typer.Option(metavar=metavar, help=text)]


def listing(
    *path: str,
    filters: Options = NONE,
    given: Options = NONE,
    begun_by: str = "",
    empty: str = "",
) -> Callable[[Callable[[], Columns]], Callable[..., None]]:
    """Turn a function into a command that prints a page of records. The function returns the columns, and has the help.

    `path` are the steps of the list's path after /v1. `filters` are the command's own options, before those of all
    lists; a list without filters cannot be sorted either. `given` are parameters that must be given: the value of one
    that is a step of `path` takes the place of the step, and the others are sent with the filters. If there is
    no record and nothing was filtered, `empty` is said, or that `begun_by` is the command that makes the first one.
    """
    of_all = {**(SORTED if filters else NONE), **PAGED}
    taken = {**given, **filters, **{name: option for name, option in of_all.items() if name not in filters}}
    what = path[-1]

    def command_of(columns: Callable[[], Columns]) -> Callable[..., None]:
        def command(**asked: Any) -> None:
            steps = [str(asked.pop(step)) if step in given else step for step in path]
            limit, cursor, as_json = (asked.pop(name) for name in PAGED)
            sent = {NAMES.get(name, name): str(value) for name, value in asked.items() if value is not None}
            if sent.get("sort") == "newest":  # the order of the API if `sort` is not sent
                del sent["sort"]
            filtered = bool(sent.keys() - {"sort", *given})
            page = fetch(*steps, limit=limit, cursor=cursor, **sent)
            first = empty or f"There are no {what} yet. The first comes by: {begun_by}"
            none = f"There are no such {what} here." if filtered else first
            print_page(page, columns(), empty=none, as_json=as_json)
            if filtered and page.get("looked_to") and not as_json:
                say(f"Looked at {page['looked_at']:,} {what}, as far as {moment(page['looked_to'])} (UTC).")

        command.__name__, command.__doc__ = columns.__name__, columns.__doc__
        command.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                Parameter(name, Parameter.KEYWORD_ONLY, annotation=option)
                if name in given
                else Parameter(name, Parameter.KEYWORD_ONLY, annotation=option, default=DEFAULTS.get(name))
                for name, option in taken.items()
            ]
        )
        return command

    return command_of
