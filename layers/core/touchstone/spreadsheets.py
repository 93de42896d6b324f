r"""Tables as CSV (RFC 4180) in which no spreadsheet runs a formula, whatever character it splits lines at.

A spreadsheet takes a cell that begins with a sign such as `=` for a formula. An apostrophe in front makes the cell a
text (OWASP, "CSV injection"; ASVS 5.0, 1.2.10). To guard the beginning of each cell is not enough: many spreadsheets
split lines where the locale says so, at semicolons in most of Europe, or at tabs, and some split at several characters
at once.

- Every text is quoted, not only a text that holds a comma. A spreadsheet that splits at commas and at another
  character then keeps each text in its cell.
- Quotes count only at the beginning of a field. A spreadsheet that splits at semicolons and not at commas finds such
  a quote only at the beginning of a line: it splits `1,"a;=1+1"` into the two cells `1,"a` and `=1+1"`. So an
  apostrophe stands at every place where such a cell could begin a formula: behind a separator or a line break, and in
  front of blanks and quotes.

No other character of a text changes. A program that needs the exact texts can read the same table as JSON.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

type Cell = str | int | float | bool | None
"""The value of a cell; None is an empty cell."""

AS_TEXT = "'"
"""In front of a text, it tells a spreadsheet that the cell is a text."""
STARTS = "=+-@|%\uff1d\uff0b\uff0d\uff20"
"""Characters that a spreadsheet takes for the beginning of a formula or of a program to run, also as full-width
signs."""
SEPARATORS = ";\u061b\t\r\n"
"""Characters other than commas at which spreadsheets split: list separators of Windows' locales, tabs, line breaks."""
_BEGINS = re.compile(rf'(?:^|(?<=[{SEPARATORS}]))(?=(?:[^\S\t\r\n]|["\0])*[{re.escape(STARTS)}])')
_BLANK = ("\t", "\r", "\n", "\0")
"""Characters that must not begin a text, whatever follows them: some spreadsheets drop them."""


def delimiter_of(text: str) -> str:
    """The character between the cells of a table: tab, comma or semicolon, whichever its first line has most of.

    A Mac's spreadsheets end lines with carriage returns alone.
    """
    first = re.split(r"[\r\n]", text.lstrip("\ufeff\r\n"), maxsplit=1)[0]
    return max("\t,;", key=first.count)


def as_csv(names: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table as CSV, with the headings `names` in its first row."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(names)
    csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_STRINGS).writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def as_text(text: str) -> str:
    """The text with apostrophes wherever a spreadsheet could begin a formula."""
    guarded = _BEGINS.sub(AS_TEXT, text)
    return AS_TEXT + guarded if guarded.startswith(_BLANK) else guarded


def _cell(value: Cell) -> Cell:
    match value:
        case None:
            return ""
        case str():
            return as_text(value)
        case _:
            return value
