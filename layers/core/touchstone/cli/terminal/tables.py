"""Tables, facts and reports in Markdown, as people read them. No text is read as Rich's markup.

A table that is wider than the terminal is shown row by row.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from touchstone.cli.terminal.screen import console, print_json, say, visible
from touchstone.cli.terminal.words import moment

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.markdown import Markdown
    from rich.text import Text

NOTHING = "–"
BETWEEN_COLUMNS = 3
"""The number of characters that Rich leaves between two columns of a table."""
SHORT, LONG = 30, 24
"""A column whose cells have `SHORT` characters at most needs its whole width. A longer column needs `LONG` at least."""
ROW_GAP, INDENT = 2, 4
"""In a table that is narrower than its columns: the space between two cells, and before what goes below a row."""
MARKDOWN_GAP = 1
"""What Rich leaves between two columns of a table of Markdown, besides the space of a cell."""
FOLDED = re.compile(r"^<details><summary>(.*)</summary>$|^</details>$", re.MULTILINE)
"""What a reader of a page unfolds: a terminal shows it under its heading."""

type Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenColumn:
    """One column of a table: its title, and `of`, which makes the cell from a row. `right`: align right."""

    title: str
    of: Callable[[Row], "object"]
    right: bool = False


def column(title: str, of: str | Callable[[Row], object] | None = None, *, right: bool = False) -> ScreenColumn:
    """A column. `of` makes the cell from a row, or is the name of the field to show; None: the title is that name."""
    return ScreenColumn(title=title, of=of if callable(of) else field(of or title), right=right)


def columns(*titles: str, right: bool = False) -> tuple[ScreenColumn, ...]:
    """Columns whose titles are the names of the fields to show."""
    return tuple(column(title, right=right) for title in titles)


def time_column(title: str, name: str) -> ScreenColumn:
    """A column with the moment in the field `name`."""
    return ScreenColumn(title=title, of=lambda row: moment(row.get(name)))


def styled(text: object, style: str = "") -> "Text":
    """A cell of a table in a style that Rich knows; None is shown as a dash."""
    from rich.text import Text

    return text if isinstance(text, Text) else Text(NOTHING if text is None else visible(text), style=style)


def print_table(columns: Sequence[ScreenColumn], rows: Iterable[Row], *, empty: str) -> None:
    """Print the rows as a table, or by `narrow` if the table is too wide. If there are no rows, say `empty`."""
    from rich.box import SIMPLE
    from rich.table import Table

    shown = list(rows)
    if not shown:
        say(empty)
        return
    cells = [[styled(column.of(row)) for column in columns] for row in shown]
    at = console()
    titles = [column.title for column in columns]
    widths = widths_of(titles, cells)
    if not fits(widths, max_width=at.width, gap=BETWEEN_COLUMNS):
        right = [column.right for column in columns]
        for part in narrow(titles, cells, widths, right=right, max_width=at.width):
            at.print(part)
        return
    table = Table(box=SIMPLE, pad_edge=False, show_edge=False)
    for place, column in enumerate(columns):
        justify: Literal["right", "left"] = "right" if column.right else "left"
        table.add_column(column.title, justify=justify, overflow="fold", no_wrap=widths[place] <= SHORT)
    for line in cells:
        table.add_row(*line)
    at.print(table)


def widths_of(titles: Sequence[str], cells: Sequence[Sequence["Text"]]) -> list[int]:
    """The number of characters that the widest cell of each column takes on a terminal, its title included."""
    from rich.cells import cell_len

    return [max([cell_len(title), *(row[place].cell_len for row in cells)]) for place, title in enumerate(titles)]


def fits(widths: Sequence[int], *, max_width: int, gap: int) -> bool:
    """Whether columns can be read side by side in `max_width` characters."""
    if not widths:
        return True
    return sum(width if width <= SHORT else LONG for width in widths) + gap * (len(widths) - 1) <= max_width


def narrow(
    titles: Sequence[str],
    cells: Sequence[Sequence["Text"]],
    widths: Sequence[int],
    *,
    right: Sequence[bool],
    max_width: int,
) -> Iterator["RenderableType"]:
    """Each row as a line of as many short cells as fit, and below it the others, each by its title, if it has one.

    `widths` are those of `widths_of`.
    """
    from rich.text import Text

    beside: list[int] = []
    for place, width in enumerate(widths):
        if width <= SHORT and fits([width, *(widths[each] for each in beside)], max_width=max_width, gap=ROW_GAP):
            beside.append(place)
    yield _line([Text(titles[place], style="bold") for place in beside], beside, widths, right)
    for row in cells:
        yield _line([row[place] for place in beside], beside, widths, right)
        for place, cell in enumerate(row):
            if place not in beside and cell.plain.strip():
                yield _below(titles[place], cell)


def _line(row: Sequence["Text"], places: Sequence[int], widths: Sequence[int], right: Sequence[bool]) -> "Text":
    from rich.text import Text

    line = Text()
    for place, cell in zip(places, row, strict=True):
        padding = " " * (widths[place] - cell.cell_len)
        if line:
            line.append(" " * ROW_GAP)
        line.append_text(Text(padding).append_text(cell) if right[place] else cell.copy().append(padding))
    line.rstrip()
    return line


def _below(title: str, cell: "Text") -> "RenderableType":
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    if title:
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(*([Text(f"{title}:", style="dim")] if title else []), cell)
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def print_rows(
    document: object, columns: Sequence[ScreenColumn], rows: Iterable[Row], *, empty: str, as_json: bool
) -> None:
    """Print the rows as a table; with `as_json` print the whole document from which the rows come."""
    if as_json:
        print_json(document)
    else:
        print_table(columns, rows, empty=empty)


def print_page(page: Row, columns: Sequence[ScreenColumn], *, empty: str, as_json: bool) -> None:
    """Print a page of a list by `print_rows`. Without `as_json`, say the option that asks for the next page."""
    print_rows(page, columns, page.get("items", ()), empty=empty, as_json=as_json)
    if page.get("cursor") and not as_json:
        say(f"There are more: --cursor {page['cursor']}")


def print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print pairs of a name and a value, one on each line; a pair whose value is None is left out."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        if value is not None:
            grid.add_row(name, styled(value))
    console().print(grid)


def field(name: str) -> Callable[[Row], object]:
    """A function that returns the value of a row under this name, None if the row has none."""
    return lambda row: row.get(name)


def print_markdown(text: str) -> None:
    """Print a report; on a terminal without its escapes, and its tables as `print_table` has them."""
    text = visible(text)
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    shown = FOLDED.sub(lambda found: f"**{found[1]}**" if found[1] else "", text)
    console().print(_markdown()(shown, hyperlinks=False))


@cache
def _markdown() -> "type[Markdown]":
    """Rich's Markdown with tables that can be read at any width."""
    from rich.box import SIMPLE
    from rich.markdown import Markdown, TableElement
    from rich.table import Table

    class NarrowTable(TableElement):
        def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
            head = [] if self.header is None or self.header.row is None else self.header.row.cells
            rows = [] if self.body is None else [[cell.content for cell in row.cells] for row in self.body.rows]
            titles, right = [one.content.plain for one in head], [one.justify == "right" for one in head]
            widths = widths_of(titles, rows)
            if not fits(widths, max_width=options.max_width, gap=MARKDOWN_GAP + 1):
                yield from narrow(titles, rows, widths, right=right, max_width=options.max_width)
                return
            table = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
            for one, width in zip(head, widths, strict=True):
                table.add_column(one.content, justify=one.justify, overflow="fold", no_wrap=width <= SHORT)
            for row in rows:
                table.add_row(*row)
            yield table

    class ReportMarkdown(Markdown):
        elements = {**Markdown.elements, "table_open": NarrowTable}  # noqa: RUF012 - as Rich has it

    return ReportMarkdown
