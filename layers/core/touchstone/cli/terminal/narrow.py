"""Tables on a terminal that is narrower than they are: short cells stay whole, long texts go below their row."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

SHORT, LONG = 30, 24
"""A column whose cells have `SHORT` characters at most needs its whole width. A longer column needs `LONG` at least."""
GAP, INDENT = 2, 4


def fits(widths: Sequence[int], *, max_width: int, gap: int) -> bool:
    """Whether columns can be read side by side in `max_width` characters. `widths` holds the widest cell of each
    column."""
    if not widths:
        return True
    return sum(width if width <= SHORT else LONG for width in widths) + gap * (len(widths) - 1) <= max_width


def narrow(
    titles: Sequence[str], cells: Sequence[Sequence["Text"]], *, right: Sequence[bool], max_width: int
) -> Iterator["RenderableType"]:
    """Each row as a line of as many short cells as fit, and below it the others, each by its title, if it has one."""
    from rich.text import Text

    widths = [max([len_of(title), *(row[place].cell_len for row in cells)]) for place, title in enumerate(titles)]
    beside: list[int] = []
    for place, width in enumerate(widths):
        if width <= SHORT and fits([width, *(widths[each] for each in beside)], max_width=max_width, gap=GAP):
            beside.append(place)
    yield _line([Text(titles[place], style="bold") for place in beside], beside, widths, right)
    for row in cells:
        yield _line([row[place] for place in beside], beside, widths, right)
        for place, cell in enumerate(row):
            if place not in beside and cell.plain.strip():
                yield _below(titles[place], cell)


def len_of(text: str) -> int:
    """The number of columns of a terminal that a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def _line(row: Sequence["Text"], places: Sequence[int], widths: Sequence[int], right: Sequence[bool]) -> "Text":
    from rich.text import Text

    line = Text()
    for place, cell in zip(places, row, strict=True):
        padding = " " * (widths[place] - cell.cell_len)
        if line:
            line.append(" " * GAP)
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
