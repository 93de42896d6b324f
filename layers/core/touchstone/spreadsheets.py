r"""Tables as CSV (RFC 4180) of which no spreadsheet runs anything, at whichever characters it splits a line.

A spreadsheet takes a cell that begins with a sign for a formula; an apostrophe in front makes it a text (OWASP, "CSV
injection"; ASVS 5.0, 1.2.10). That is not enough of the cell's beginning alone: many splits lines where the locale says
so, at semicolons in most of Europe, or at tabs, and some at several of them at once.

- Every text is quoted, not only those that hold a comma: what splits at commas as well as at others then keeps each
  text in its cell.
- Quotes count only at the beginning of a field. What splits at semicolons and not at commas finds one at the beginning
  of a line at most, and `1,"a;=1+1"` gives it the two cells `1,"a` and `=1+1"`. So an apostrophe stands wherever such a
  cell could begin a formula: behind a separator or a line break, and in front of blanks and quotes.

No other character of a text changes. Programs that want texts to the letter read the same table as JSON.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

type Cell = str | int | float | bool | None
"""None is an empty cell."""

AS_TEXT = "'"
"""Before a text, it tells a spreadsheet that it is one."""
STARTS = "=+-@|%\uff1d\uff0b\uff0d\uff20"
"""What a spreadsheet takes for the beginning of a formula or of a program to run, full-width signs among them."""
SEPARATORS = ";\u061b\t\r\n"
"""What a spreadsheet splits at by itself, other than commas: the list separators of Windows' locales, tabs, lines."""
_BEGINS = re.compile(rf'(?:^|(?<=[{SEPARATORS}]))(?=(?:[^\S\t\r\n]|["\0])*[{re.escape(STARTS)}])')
_BLANK = ("\t", "\r", "\n", "\0")
"""With what a text may not begin, whatever comes then: some spreadsheets leave it out."""


def as_csv(names: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table under the headings `names`."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(names)
    csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_STRINGS).writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def as_text(text: str) -> str:
    """A text of which no part is taken for a formula."""
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
