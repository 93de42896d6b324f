"""Tables as spreadsheets save them, read row by row, with every fault named by its line and column."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from touchstone.errors import InputError, TooLargeError
from touchstone.spreadsheets import delimiter_of
from touchstone.strict import fault_words, first_fault

MAX_CHARS = 5_000_000
"""The most characters of an upload: several courses of twelve volumes."""
SHOWN_CHARS = 40
"""How many characters of a cell an error repeats."""
OTHER_NAMES: Mapping[str, str] = {"hanzi": "item", "pattern": "item"}


@dataclass(frozen=True, slots=True)
class TextRow:
    """A row of a table: the line that it ends on, and its cells by column, without white space around them."""

    line: int
    cells: Mapping[str, str]

    def get(self, column: str) -> str | None:
        """A cell. None if it is blank or there is no such column."""
        return self.cells.get(column) or None

    def required(self, column: str) -> str:
        """A cell that must not be blank. Raises `InputError` if it is."""
        cell = self.get(column)
        if cell is None:
            raise self.error(column, "is blank")
        return cell

    def error(self, column: str, what: str) -> InputError:
        """The error for a cell."""
        return InputError(f"Line {self.line}, column {column} {what}.", where=f"line {self.line}, column {column}")

    def to_model[T: BaseModel](self, kind: type[T], values: Mapping[str, Any], columns: Mapping[str, str]) -> T:
        """The object that a row describes. `columns` names the columns that are called otherwise than their field.

        Raises `InputError`, naming line and column, if a value is refused.
        """
        try:
            return kind.model_validate(values)
        except ValidationError as error:
            first = first_fault(error)
            name = str(first["loc"][0]) if first["loc"] else ""
            raise self.error(columns.get(name, name), f"is refused: {fault_words(first)}") from None


@dataclass(frozen=True, slots=True)
class TextTable:
    """The rows of a table that are not blank. There is at least one."""

    rows: tuple[TextRow, ...]

    @classmethod
    def read(
        cls, text: str, *, columns: tuple[str, ...], needed: tuple[str, ...], open_columns: tuple[str, ...] = ()
    ) -> "TextTable":
        """The rows that are not blank.

        `open_columns` are beginnings: a column whose name begins so is allowed as well.
        """
        if len(text) > MAX_CHARS:
            raise TooLargeError(f"The table has {len(text):,} characters; at most {MAX_CHARS:,}.")
        reader = csv.reader(
            io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter_of(text), strict=True
        )
        try:
            names = _header(next(reader, []), columns=columns, needed=needed, open_columns=open_columns)
            rows = tuple(_rows(reader, names))
        except csv.Error as error:
            raise InputError(f"Line {reader.line_num} is no row of a table: {error}.") from None
        if not rows:
            raise InputError("The table has no row under its header.")
        return cls(rows)


def _header(
    cells: list[str], *, columns: tuple[str, ...], needed: tuple[str, ...], open_columns: tuple[str, ...]
) -> list[str]:
    """The columns' names. Raises `InputError` for a column that is not known, occurs twice, or is missing.

    Blank cells at the end are no columns: spreadsheets write them where a cell beyond the table was ever used.
    """
    while cells and not cells[-1].strip():
        cells.pop()
    names: dict[str, None] = {}
    listed = ", ".join((*columns, *(f"{begins}…" for begins in open_columns)))
    for cell in cells:
        name = _name(cell.strip(), open_columns)
        if name not in columns and not (open_columns and name.startswith(open_columns)):
            raise InputError(f"Line 1 has a column {name[:SHOWN_CHARS]!r}; the columns are {listed}.", where="line 1")
        if name in names:
            raise InputError(f"Line 1 has two columns for {name[:SHOWN_CHARS]}.", where="line 1")
        names[name] = None
    if missing := [name for name in needed if name not in names]:
        raise InputError(f"Line 1 lacks the column {missing[0]}; the columns are {listed}.", where="line 1")
    return list(names)


def _rows(reader: Any, names: list[str]) -> Iterator[TextRow]:
    for cells in reader:
        stripped = [cell.strip() for cell in cells]
        if not any(stripped):
            continue
        if any(stripped[len(names) :]):
            where = f"line {reader.line_num}"
            raise InputError(
                f"L{where[1:]} has {len(stripped)} cells for {len(names)} columns; quote a cell that holds a comma.",
                where=where,
            )
        yield TextRow(reader.line_num, dict(zip(names, stripped, strict=False)))


def _name(column: str, open_columns: tuple[str, ...]) -> str:
    """A column's name in small letters, except what it adds to an open column (`meaning_zh-TW`)."""
    begins = next((begins for begins in open_columns if column.lower().startswith(begins)), None)
    if begins is not None:
        return f"{begins}{column[len(begins) :]}"
    return OTHER_NAMES.get(column.lower(), column.lower())
