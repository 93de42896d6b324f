"""Lists that are looked through: the form by which records are found, what of it is set, and the page that it leads to.

A figure leads to what it counts by an address that says the same filters (`found_at`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlencode

from aws_lambda_powertools.event_handler import Response

from functions.pages.tables import Column, PageTable, Row, fact
from functions.pages.visit import PageView, Visit
from functions.pages.words import PageTexts
from touchstone.records.list_query import ListQuery, query_of

if TYPE_CHECKING:
    from touchstone.records.looking import FoundPage

type InputKind = Literal["search", "text", "date", "number"]

ROWS = 50
EXPORTED = 1_000
"""Rows of an export: some 2 MB at most, of the 6 that a function may answer."""
OFTEN = ("search", "status", "from", "to")
"""The fields that stand in front; the others stand behind "more filters"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterField:
    """One field of the form, by its name in addresses. `label` is the key of the text that stands over it.

    `options` are what can be chosen, and `words` where their texts are looked up; without any it is filled in, as
    `kind` says. `seldom`: it stands behind "more filters".
    """

    name: str
    label: str
    kind: InputKind = "text"
    options: Sequence[str] = ()
    words: str = ""
    most: int = 0
    seldom: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing[S]:
    """A list of records. `name` is its address below /app, and the name of its table and its texts.

    `row` makes the row of a line, and `words` are where the texts of a filter's choices are looked up: the filter's
    name where nothing is said.
    """

    name: str
    query: type[ListQuery]
    columns: Sequence[Column]
    row: Callable[[Visit, S], Row]
    words: Mapping[str, str] = field(default_factory=dict)

    def fields(self) -> tuple[FilterField, ...]:
        """The fields of its form, in their order: those that are used often, the others as the query has them."""
        schema = _schema(self.query)
        found = {name: self._field(name, _choice(schema, one)) for name, one in schema["properties"].items()}
        order = [*OFTEN, *(name for name in found if name not in {*OFTEN, "sort"}), "sort"]
        return tuple(found[name] for name in order if name in found)

    def _field(self, name: str, said: Mapping[str, Any]) -> FilterField:
        kind: InputKind = "search" if name == "search" else "text"
        kind = "date" if said.get("format") == "date" else "number" if said.get("type") == "number" else kind
        return FilterField(
            name=name,
            label=f"filter.search.{self.name}" if name == "search" else f"filter.{name}",
            kind=kind,
            options=tuple(said.get("enum", ())),
            words=self.words.get(name, name),
            most=said.get("maxLength", 0),
            seldom=name not in OFTEN,
        )


class FoundStore[S](Protocol):
    """A store whose records can be looked for."""

    def page(self, *, tenant: str, limit: int, cursor: str | None, query: Any, most: int) -> "FoundPage[S]":
        """Those that a query means."""


def show_found[S](met: Visit, listing: Listing[S], store: FoundStore[S]) -> Response[str]:
    """The tenant's records that are looked for, newest first; an export goes on for as many rows as it may have."""
    query = query_of(listing.query, met.query)
    rows = ROWS if met.format == "html" else EXPORTED
    cursor = met.query.get("cursor") or None
    page = store.page(tenant=met.tenant, limit=rows, cursor=cursor, query=query, most=EXPORTED)
    found = {"found": len(page.items), "looked_at": page.looked_at, "looked_to": page.looked_to}
    table = PageTable(
        name=listing.name,
        columns=listing.columns,
        rows=[listing.row(met, each) for each in page.items],
        next=page.cursor,
        sorted_by="time" if query.sort == "newest" else "name",
    )
    fields = listing.fields()
    given = {
        **found,
        "fields": fields,
        "chosen": query.given,
        "set": _set(met.words, fields, query),
        "filtered": query.filters,
    }
    facts = (fact("found", found),)
    return met.show(
        PageView(title=f"{listing.name}.title", template="found.html", tables=(table,), facts=facts, given=given)
    )


def found_at(address: str, query: Mapping[str, object]) -> str:
    """The address of a list with filters; those that are None are left out."""
    return f"{address}?{urlencode({name: value for name, value in query.items() if value is not None})}"


@cache
def _schema(query: type[ListQuery]) -> Mapping[str, Any]:
    return query.model_json_schema()


def _set(words: PageTexts, fields: Sequence[FilterField], query: ListQuery) -> list[tuple[str, str]]:
    """What of the form is set: names, and what people read of it."""
    given = query.given
    shown = []
    for one in fields:
        if one.name in given:
            value = str(given[one.name])
            said = words.known(one.words, value) if one.options else value
            shown.append((one.name, f"{words(one.label)}: {said}"))
    return shown


def _choice(schema: Mapping[str, Any], said: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a field's schema says of its values, wherever it says it: without null, and without references."""
    while True:
        if "$ref" in said:
            said = schema["$defs"][said["$ref"].rpartition("/")[2]]
        elif "anyOf" in said:
            said = next(one for one in said["anyOf"] if one.get("type") != "null")
        elif "const" in said:
            return {"enum": [said["const"]]}
        else:
            return said
