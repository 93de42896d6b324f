"""Lists in which records are looked for: the form with its filters, the filters that are set, and the page of results.

A figure on a page leads to the records that it counts: its address has the same filters (`found_at`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlencode

from functions.pages.tables import Column, PageTable, Row, fact
from functions.pages.visit import Page, PageView, Visit
from functions.pages.words import PageTexts
from touchstone.errors import InputError
from touchstone.records.list_query import ListQuery, query_of

if TYPE_CHECKING:
    from touchstone.records.looking import FoundPage

type InputKind = Literal["search", "text", "date", "number"]

ROWS = 50
EXPORTED = 1_000
"""The most rows of an export: about 2 MB at most. A function's reply may have 6 MB."""
OFTEN = ("search", "status", "from", "to")
"""The fields that are always shown; the others stand behind "more filters"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterField:
    """One field of the form. `name` is its name in addresses, `label` the key of the text over it.

    `options` are the values to choose from, and `words` is where their texts are looked up. A field without options is
    filled in, with a value of its `kind`. `seldom`: the field stands behind "more filters".
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

    `row` makes the row of a record's summary. `words` says where the texts of a filter's options are looked up, by the
    filter's name; a filter that is not in it looks them up under its own name.
    """

    name: str
    query: type[ListQuery]
    columns: Sequence[Column]
    row: Callable[[Visit, S], Row]
    words: Mapping[str, str] = field(default_factory=dict)

    def fields(self) -> tuple[FilterField, ...]:
        """The fields of the form in their order: `OFTEN` first, then the others in the query's order, `sort` last."""
        schema = _schema(self.query)
        found = {name: self._field(name, _choice(schema, one)) for name, one in schema["properties"].items()}
        order = [*OFTEN, *(name for name in found if name not in {*OFTEN, "sort"}), "sort"]
        return tuple(found[name] for name in order if name in found)

    def _field(self, name: str, schema: Mapping[str, Any]) -> FilterField:
        kind: InputKind = "search" if name == "search" else "text"
        kind = "date" if schema.get("format") == "date" else "number" if schema.get("type") == "number" else kind
        return FilterField(
            name=name,
            label=f"filter.search.{self.name}" if name == "search" else f"filter.{name}",
            kind=kind,
            options=tuple(schema.get("enum", ())),
            words=self.words.get(name, name),
            most=schema.get("maxLength", 0),
            seldom=name not in OFTEN,
        )


class FoundStore[S](Protocol):
    """A store whose records can be looked for."""

    def page(self, *, tenant: str, limit: int, cursor: str | None, query: Any, most: int) -> "FoundPage[S]":
        """A page of the records that the query means: `limit` rows at most. `most` is the largest limit allowed."""


def show_found[S](this_visit: Visit, listing: Listing[S], store: FoundStore[S]) -> Page:
    """The page of the tenant's records that the request's filters mean; an export has up to `EXPORTED` rows.

    The newest records come first unless the request sorts otherwise.
    """
    html = this_visit.format == "html"
    cursor = this_visit.query.get("cursor") or None
    try:
        query = query_of(listing.query, this_visit.query)
        limit = ROWS if html else EXPORTED
        page = store.page(tenant=this_visit.tenant, limit=limit, cursor=cursor, query=query, most=EXPORTED)
    except InputError as error:
        if not html:
            raise
        return _refused(this_visit, listing, str(error))
    found = {"found": len(page.items), "looked_at": page.looked_at, "looked_to": page.looked_to}
    table = PageTable(
        name=listing.name,
        columns=listing.columns,
        rows=[listing.row(this_visit, each) for each in page.items],
        next=page.cursor,
        sorted_by="time" if query.sort == "newest" else "name",
    )
    fields = listing.fields()
    given = {
        **found,
        "refused": None,
        "fields": fields,
        "chosen": {name: _value_text(value) for name, value in query.given.items()},
        "set": _set(this_visit.words, fields, query),
        "filtered": query.filters,
    }
    facts = (fact("found", found),)
    return this_visit.show(
        PageView(title=f"{listing.name}.title", template="found.html", tables=(table,), facts=facts, given=given)
    )


def _refused[S](this_visit: Visit, listing: Listing[S], sentence: str) -> Page:
    """The form as it was sent, with the sentence that says why nothing was looked for."""
    given = {"fields": listing.fields(), "chosen": this_visit.query, "refused": sentence, "set": (), "filtered": False}
    view = PageView(title=f"{listing.name}.title", template="found.html", given=given)
    return this_visit.page(view, status=HTTPStatus.BAD_REQUEST)


def found_at(address: str, query: Mapping[str, object]) -> str:
    """The address of a list with these filters; filters that are None are left out."""
    return f"{address}?{urlencode({name: value for name, value in query.items() if value is not None})}"


@cache
def _schema(query: type[ListQuery]) -> Mapping[str, Any]:
    return query.model_json_schema()


def _set(words: PageTexts, fields: Sequence[FilterField], query: ListQuery) -> list[tuple[str, str]]:
    """The fields of the form that are set: the name of each, and the text that people read."""
    given = query.given
    shown = []
    for one in fields:
        if one.name in given:
            value = _value_text(given[one.name])
            value_text = words.known(one.words, value) if one.options else value
            shown.append((one.name, words("filter.chosen", filter=words(one.label), value=value_text)))
    return shown


def _value_text(value: object) -> str:
    """A value as people write it. A number has up to nine decimals, never an exponent."""
    return f"{value:.9f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _choice(schema: Mapping[str, Any], value_schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a field's schema that describes its values, without null and with references resolved."""
    while True:
        if "$ref" in value_schema:
            value_schema = schema["$defs"][value_schema["$ref"].rpartition("/")[2]]
        elif "anyOf" in value_schema:
            value_schema = next(one for one in value_schema["anyOf"] if one.get("type") != "null")
        elif "const" in value_schema:
            return {"enum": [value_schema["const"]]}
        else:
            return value_schema
