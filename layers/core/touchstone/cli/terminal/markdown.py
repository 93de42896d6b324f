"""Reports in Markdown: as they are for files and other programs, on a terminal as people read them."""

import re
import sys
from functools import cache
from typing import TYPE_CHECKING

from touchstone.cli.terminal.screen import SHORT, console, fits, narrow, visible, widths_of

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Markdown

GAP = 1
"""What Rich leaves between two columns of a table of Markdown, besides the space of a cell."""
FOLDED = re.compile(r"^<details><summary>(.*)</summary>$|^</details>$", re.MULTILINE)
"""What a reader of a page unfolds: a terminal shows it under its heading."""


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
            if not fits(widths, max_width=options.max_width, gap=GAP + 1):
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
