"""Flashcards from a table of text: CSV of a spreadsheet, or what a flashcard program exports."""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from touchstone.errors import InputError, TooLargeError

NAMES = {
    "front": ("front", "question", "term", "正面", "問題"),
    "back": ("back", "answer", "definition", "背面", "答案"),
    "id": ("id",),
    "chunk": ("chunk", "passage", "原文"),
}
"""The columns of a card, and what people call them."""
COLUMNS = {name: column for column, names in NAMES.items() for name in names}
SEPARATORS = ("\t", ";", ",")
MAX_CHARS = 5_000_000
"""Of a table: a deck has 1,000 cards at most, and those of people some hundred characters each."""
DIRECTIVES = re.compile(r"(?:#[a-z ]++:[^\n]*+\n)*+")
"""The lines with which Anki's exports begin, as `#separator:tab`."""
NAMED_SEPARATOR = re.compile(r"#separator:([^\n]{0,100})\n", re.IGNORECASE)
SEPARATOR_NAMES = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
WITHOUT_NAMES = ("front", "back")
"""The columns of a table that does not name any."""


def cards_of(text: str, *, name: str) -> Iterator[dict[str, str]]:
    """The cards of a table, each as its fields that say something; blank lines are passed over.

    Columns are told by the first line where it names a front and a back (see `NAMES`), and other columns that it names
    are left out. Where it does not, there are two: front and back. Raises `InputError` with the line at fault, and
    `TooLargeError`.
    """
    if len(text) > MAX_CHARS:
        raise TooLargeError(
            f"{name}: the table has {len(text):,} characters, and at most {MAX_CHARS:,} are read; split it.", where=name
        )
    named = NAMED_SEPARATOR.search(text)
    directives = DIRECTIVES.match(text)
    begin = directives.end() if directives else 0
    table = text[begin:]
    separator = _separator(table, None if named is None else named[1].strip())
    columns: Sequence[str | None] | None = None
    for line, row in _rows(table, separator, lines_before=text.count("\n", 0, begin), name=name):
        if columns is None:
            columns = _columns(row)
            if columns is not None:
                continue
            columns = WITHOUT_NAMES
        yield _card(row, columns, line=line, name=name)


def _separator(table: str, named: str | None) -> str:
    """What stands between columns: what the table says, else what the first line has most of."""
    if named is not None:
        return SEPARATOR_NAMES.get(named.lower(), named[:1] or ",")
    first = table.lstrip().partition("\n")[0]
    return max(reversed(SEPARATORS), key=first.count)


def _rows(table: str, separator: str, *, lines_before: int, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that say something, each with the number of its last line in the file, from 1."""
    # Split at line feeds alone: a card may hold other characters that Python takes for the end of a line.
    reader = csv.reader(io.StringIO(table, newline="\n"), delimiter=separator, strict=True)
    try:
        for row in filter(None, reader):
            if any(cell.strip() for cell in row):
                yield lines_before + reader.line_num, row
    except csv.Error as error:
        line = lines_before + reader.line_num
        raise InputError(f"{name}: line {line} is no row of a table ({error}).", where=name) from None


def _columns(row: Sequence[str]) -> list[str | None] | None:
    """Which column of a card each cell of the first line names, None where it names none; None where it is a card."""
    meant = [COLUMNS.get(cell.strip().lower()) for cell in row]
    return meant if {"front", "back"} <= set(meant) else None


def _card(row: Sequence[str], columns: Sequence[str | None], *, line: int, name: str) -> dict[str, str]:
    if len(row) > len(columns):
        raise InputError(
            f"{name}: line {line} has {len(row)} columns, and the table {len(columns)}; put quotes around a text that "
            "holds the separator, or name the columns in the first line.",
            where=name,
        )
    card = {column: cell for column, cell in zip(columns, row, strict=False) if column is not None and cell.strip()}
    for needed in ("front", "back"):
        if needed not in card:
            raise InputError(f"{name}: line {line} has no {needed}.", where=name)
    return card
