"""Tables of pages. Each is described once: people see it as HTML, programs get the same rows as CSV or JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import inf
from typing import Any, Literal

from touchstone import spreadsheets
from touchstone.errors import InputError
from touchstone.judges.spends import Spend

type Value = str | int | float | bool | date | datetime | None
type Row = Mapping[str, Value]
type Shown = Literal[
    "text",
    "word",
    "number",
    "decimal",
    "total",
    "share",
    "usd",
    "moment",
    "badge",
    "code",
    "sent",
    "p_value",
    "detectable",
    "mark",
    "words",
    "kept",
]
"""How a value is shown to people.

`share` is 0–1 and shown as a percentage. `decimal` is a number of the column's `scale`, `total` a submission's total.
`word` is one of a closed set of words of ours, shown in the reader's language. `words` are several of them, separated
by commas, each with the text after it; each word leads to the address in the row's field `found_<word>`. `badge` is a
status of an answer. `sent` keeps the line breaks of a text. `mark` is a confidence (0–1), shown as a mark that gives
its figure on request. `detectable` is a difference of scores (0–100), shown as "> 100" if it is larger than their
whole scale. `kept` is a sentence of ours as a record keeps it, shown in the reader's language.
"""


UNIT = (0.0, 1.0)
"""The scale of shares, confidences and factors."""
SCORES = (0.0, 100.0)
DIFFERENCES = (-100.0, 100.0)
"""The scale of one score less another."""
AGREEMENT = (-1.0, 1.0)
"""The scale of kappa and alpha."""
UNBOUNDED = (0.0, inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: `name` is the field of the rows, and the heading of CSV and JSON.

    `of` gives the value from a record (see `row_of`); None: it is the record's attribute of that name.
    `words` is the prefix under which the texts of a `word` column are looked up. `to` is the field with the address
    that a cell leads to; that field is no column itself. A `hidden` column is only in the exports. A `detail` column is
    shown in an extra row that opens below. `unpriced` is the field that counts the calls of unknown price, whose cost a
    `usd` column leaves out. `scale` is the least and the largest value that there can be; a `decimal` column must name
    it. `bounds` are the two fields of an interval around the value, drawn beside it on the scale.
    `out_of` is the field with the whole that the value is a part of; it is shown and drawn beside the value.
    """

    name: str
    of: Callable[[Any], Value] | None = None
    shown: Shown = "text"
    words: str = ""
    to: str = ""
    hidden: bool = False
    detail: bool = False
    unpriced: str = "unpriced_calls"
    bounds: tuple[str, str] | None = None
    scale: tuple[float, float] | None = None
    out_of: str = ""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a decimal without a scale: what it may be rounded to depends on it."""
        if self.shown == "decimal" and self.scale is None:
            raise ValueError(f"the column {self.name} names no scale")

    def at(self, value: float) -> float:
        """The position of a value between the ends of the scale, in hundredths of the scale."""
        start, end = self.scale or UNIT
        return round(100 * (value - start) / (end - start), 1)

    @property
    def numeric(self) -> bool:
        """Whether the column's values are right-aligned, so that their digits line up."""
        return self.shown in {"number", "decimal", "total", "share", "usd", "p_value", "detectable"}


COST = (Column(name="cost_usd", shown="usd", to="address"), Column(name="unpriced_calls", shown="number", hidden=True))
"""The columns of a row's cost. It is shown with the number of calls of unknown price, and leads to the row's page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """Rows under columns. `name` is the table's name in addresses and in texts (`table.<name>`, `table.<name>.none`).

    `next` is the cursor of the rows after these; None at the end, or if the table has only one page. `sorted_by` says
    what the next rows are: older ones, or those with later names.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    next: str | None = None
    sorted_by: Literal["time", "name"] = "time"

    def exported(self) -> list[dict[str, Value]]:
        """The rows, with only those fields that are columns."""
        return [{column.name: row.get(column.name) for column in self.columns} for row in self.rows]


def row_of(columns: Sequence[Column], record: object, /, **given: Value) -> Row:
    """The row of a record: the fields in `given`, such as addresses, and the values of all other columns."""
    own = (column for column in columns if column.name not in given)
    return {one.name: getattr(record, one.name) if one.of is None else one.of(record) for one in own} | given


def fact(name: str, row: Row) -> PageTable:
    """A table of one row, for values that a page does not show as a table."""
    return PageTable(name=name, columns=[Column(name=field) for field in row], rows=[row])


def cut(text: str, most: int, mark: str = "…") -> str:
    """The first `most` characters of a text, with a mark if there is more."""
    return text if len(text) <= most else f"{text[:most]}{mark}"


def as_csv(table: PageTable) -> str:
    """A table as CSV. No cell holds anything that a spreadsheet would run."""
    rows = ([_cell(value) for value in row.values()] for row in table.exported())
    return spreadsheets.as_csv([column.name for column in table.columns], rows)


def as_json(tables: Sequence[PageTable]) -> str:
    """Tables as JSON: by its name, each has its rows and the cursor of the next ones."""
    found = {table.name: {"rows": table.exported(), "cursor": table.next} for table in tables}
    return json.dumps(found, ensure_ascii=False, indent=2, default=_plain)


def _cell(value: Value) -> spreadsheets.Cell:
    match value:
        case bool():
            return str(value).lower()  # as in JSON
        case date():
            return _plain(value)
        case _:
            return value


def _plain(value: object) -> str:
    if isinstance(value, date):  # which a datetime is, too
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no value of a table")


def calls_of(spends: Sequence[Spend], trace: str | None) -> PageTable:
    """Each call with its purpose, tokens, latency and cost, the money that a batch saved, and why it failed.

    `trace` is the address of the record's trace, to which the figures lead; None if there is none for this visitor.
    """
    columns = (
        Column(name="purpose", shown="word", words="purpose"),
        Column(name="model", shown="code"),
        Column(name="prompt_version", shown="code", detail=True),
        Column(name="input_tokens", shown="number", detail=True, to="trace"),
        Column(name="output_tokens", shown="number", detail=True, to="trace"),
        Column(name="latency_ms", shown="number", to="trace"),
        Column(name="cost_usd", shown="usd", unpriced="unpriced", to="trace"),
        *(
            [Column(name="saved_usd", shown="usd", detail=True)]
            if any(spend.saved_usd is not None for spend in spends)
            else []
        ),
        Column(name="cached", shown="word", words="passed"),
        Column(name="failure", shown="word", words="skip"),
        *([Column(name="claimed", shown="code", detail=True)] if any(spend.claimed for spend in spends) else []),
    )
    rows = [{**spend.model_dump(), "unpriced": int(spend.cost_usd is None), "trace": trace} for spend in spends]
    return PageTable(name="calls", columns=columns, rows=rows)


MOST_DIGITS = 6
"""The most digits of a place: no list that is read whole has a million rows."""


def place_of(cursor: str | None) -> int:
    """The place that a cursor names, counted from 0; 0 if the cursor is None or empty.

    Raises `InputError` if the cursor is not a place.
    """
    text = cursor or "0"
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise InputError("The cursor is none of this list.", where="cursor")
    return int(text)
