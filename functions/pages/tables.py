"""A table of a page, described once: people see it as HTML, programs get the same rows as CSV or JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

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
    "share",
    "usd",
    "moment",
    "badge",
    "code",
    "sent",
    "p_value",
    "mark",
    "words",
]
"""How a value is shown to people. `share` is 0–1 and shown as a percentage, `word` is one of a closed set of words of
ours and shown in the reader's language, `words` several of them between commas, each with what follows it. `badge` is
a status of an answer, `sent` keeps the line breaks of a text, `mark` is a confidence (0–1), shown as a mark that says
its figure to whoever asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: `name` is the field of the rows, and the heading of CSV and JSON.

    `words` is where the words of a `word` column are looked up. `to` is the field that holds the address a cell leads
    to; it is no column of its own. One that is `hidden` is in the exports alone, and
    one that is a `detail` in a row of its own that is opened below. `unpriced` is the field that counts
    the calls of unknown price, which are not in a `usd` column. `bounds` are the fields of an interval around the
    value, drawn beside it between the ends of `scale`; `out_of` is the field of what the value is a part of, shown
    and drawn beside it.
    """

    name: str
    shown: Shown = "text"
    words: str = ""
    to: str = ""
    hidden: bool = False
    detail: bool = False
    unpriced: str = "unpriced_calls"
    bounds: tuple[str, str] | None = None
    scale: tuple[float, float] = (0.0, 1.0)
    out_of: str = ""

    def at(self, value: float) -> float:
        """Where a value stands between the ends of the scale, in hundredths of it."""
        start, end = self.scale
        return round(100 * (value - start) / (end - start), 1)

    @property
    def numeric(self) -> bool:
        """Whether its values stand to the right, so that their digits line up."""
        return self.shown in {"number", "decimal", "share", "usd", "p_value"}


COST = (Column(name="cost_usd", shown="usd"), Column(name="unpriced_calls", shown="number", hidden=True))
"""What a row cost, which is shown with how many of its calls have no known price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """Rows under columns. `name` is its name in addresses and in the texts (`table.<name>`, `table.<name>.none`).

    `next` is the cursor of the rows after these, None at the end or where there is no more than one page. `sorted_by`
    says what comes after: what is older, or more names.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    next: str | None = None
    sorted_by: Literal["time", "name"] = "time"

    def exported(self) -> list[dict[str, Value]]:
        """The rows with the fields that are columns, and no others."""
        return [{column.name: row.get(column.name) for column in self.columns} for row in self.rows]


def fact(name: str, row: Row) -> PageTable:
    """A table of one row, for what a page shows in another form than a table."""
    return PageTable(name=name, columns=[Column(name=field) for field in row], rows=[row])


def as_csv(table: PageTable) -> str:
    """A table as CSV, without anything that a spreadsheet would run."""
    rows = ([_cell(value) for value in row.values()] for row in table.exported())
    return spreadsheets.as_csv([column.name for column in table.columns], rows)


def as_json(tables: Sequence[PageTable]) -> str:
    """Tables as JSON: by name, with their rows and the cursor of the next ones."""
    found = {table.name: {"rows": table.exported(), "cursor": table.next} for table in tables}
    return json.dumps(found, ensure_ascii=False, indent=2, default=_plain)


def _cell(value: Value) -> spreadsheets.Cell:
    match value:
        case bool():
            return str(value).lower()  # as JSON has it
        case date():
            return _plain(value)
        case _:
            return value


def _plain(value: object) -> str:
    if isinstance(value, date):  # which a datetime is, too
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no value of a table")


def calls_of(spends: Iterable[Spend]) -> PageTable:
    """Each call with its purpose, tokens, latency and cost; one that brought nothing says why."""
    columns = (
        Column(name="purpose", shown="word", words="purpose"),
        Column(name="model", shown="code"),
        Column(name="prompt_version", shown="code", detail=True),
        Column(name="input_tokens", shown="number", detail=True),
        Column(name="output_tokens", shown="number", detail=True),
        Column(name="latency_ms", shown="number"),
        Column(name="cost_usd", shown="usd", unpriced="unpriced"),
        Column(name="cached", shown="word", words="passed"),
        Column(name="failure", shown="word", words="skip"),
        *([Column(name="claimed", shown="code")] if any(spend.claimed for spend in spends) else []),
    )
    rows = [{**spend.model_dump(), "unpriced": int(spend.cost_usd is None)} for spend in spends]
    return PageTable(name="calls", columns=columns, rows=rows)


MOST_DIGITS = 6
"""Of a place: no list that is read whole has a million rows."""


def place_of(cursor: str | None) -> int:
    """The place that a cursor names, counted from 0; 0 where there is none.

    Raises `InputError` for what is no place.
    """
    text = cursor or "0"
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise InputError("The cursor is none of this list.", where="cursor")
    return int(text)
