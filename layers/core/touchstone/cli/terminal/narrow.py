"""Tables on a terminal that is narrower than they are: short cells stay whole, long texts go below their row."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

SHORT, LONG = 30, 24
"""A column whose cells are all of `SHORT` characters or less stays whole; a longer one needs `LONG` to be read in."""
GAP, INDENT = 2, 4


def fits(widths: Sequence[int], *, room: int, gap: int) -> bool:
    """Whether columns of these widths (of their widest cells) can be read beside each other in so much room."""
    if not widths:
        return True
    return sum(width if width <= SHORT else LONG for width in widths) + gap * (len(widths) - 1) <= room


def print_narrow(
    titles: Sequence[str], cells: Sequence[Sequence["Text"]], *, right: Sequence[bool], at: "Console"
) -> None:
    """Each row as a line of as many short cells as fit, and below it the others, each by its title."""
    from rich.text import Text

    widths = [max([len_of(title), *(row[place].cell_len for row in cells)]) for place, title in enumerate(titles)]
    beside: list[int] = []
    for place, width in enumerate(widths):
        if width <= SHORT and fits([width, *(widths[each] for each in beside)], room=at.width, gap=GAP):
            beside.append(place)
    at.print(_line([Text(titles[place], style="bold") for place in beside], beside, widths, right))
    for row in cells:
        at.print(_line([row[place] for place in beside], beside, widths, right))
        for place, cell in enumerate(row):
            if place not in beside and cell.plain.strip():
                _print_below(titles[place], cell, at=at)


def len_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
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


def _print_below(title: str, cell: "Text", *, at: "Console") -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(f"{title}:", style="dim"), cell)
    at.print(Padding(grid, (0, 0, 0, INDENT), expand=False))
