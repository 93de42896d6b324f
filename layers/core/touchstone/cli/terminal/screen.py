"""The output of the command: tables and facts for people, JSON for pipes. Text that came from elsewhere is data.

No text is read as Rich's markup. A character that a terminal would obey is shown as an escape.
"""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import typer

from touchstone import figures, usage
from touchstone.cli.terminal.exits import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

OBEYED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that a terminal obeys or cannot show: controls, directions, surrogates, line separators."""
DELETE = 0x7F
"""The last character of ASCII, which is a control."""
WIDTH_WITHOUT_TERMINAL = 160
NOTHING = "–"
SHORT_CHARS = 60
BETWEEN_COLUMNS = 3
"""The number of characters that Rich leaves between two columns of a table."""
SHORT, LONG = 30, 24
"""A column whose cells have `SHORT` characters at most needs its whole width. A longer column needs `LONG` at least."""
GAP, INDENT = 2, 4
"""In a table that is narrower than its columns: the space between two cells, and before what goes below a row."""

type Row = Mapping[str, Any]
type View = Mapping[str, Any]
"""A record as the API shows it."""


def is_over(view: View) -> bool:
    """Whether a record's work has ended, done or failed."""
    return bool(view.get("finished_at"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenColumn:
    """One column of a table: its title, and `of`, which makes the cell from a row. `right`: align right."""

    title: str
    of: Callable[[Row], "object"]
    right: bool = False


def column(title: str, of: str | Callable[[Row], object] | None = None, *, right: bool = False) -> ScreenColumn:
    """A column. `of` makes the cell from a row, or is the name of the field to show; None: the title is that name."""
    return ScreenColumn(title=title, of=of if callable(of) else field(of or title), right=right)


def time_column(title: str, name: str) -> ScreenColumn:
    """A column with the moment in the field `name`."""
    return ScreenColumn(title=title, of=lambda row: moment(row.get(name)))


def visible(text: object) -> str:
    """The text with each character that a terminal would obey as an escape. Line ends stay; a tab becomes 4 spaces."""
    return str(text).translate(_SHOWN)


class _Shown(dict[int, str]):
    """The text that is shown for each character, by its code. An entry is made when the character first occurs."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _shown(chr(code))
        return shown


_SHOWN = _Shown()


def _shown(character: str) -> str:
    if character == "\n" or unicodedata.category(character) not in OBEYED:
        return character
    if character == "\t":
        return "    "
    code = ord(character)
    return f"\\x{code:02x}" if code <= DELETE else character.encode("ascii", "backslashreplace").decode()


def say(sentence: str) -> None:
    """Print one sentence on standard error."""
    print(visible(sentence), file=sys.stderr, flush=True)  # noqa: T201


class SayOnce:
    """As `say`, but a sentence that was said already is not said again."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, sentence: str) -> None:
        """Print one sentence on standard error, unless it was printed before."""
        if sentence not in self._said:
            self._said.add(sentence)
            say(sentence)


def is_interactive() -> bool:
    """Whether standard input is a terminal, so that the user can be asked."""
    return sys.stdin.isatty()


def confirm_spending() -> None:
    """Ask the user to agree to the estimate that was shown. Leave with the code `INTERRUPTED` if the user does not."""
    if not typer.confirm("Spend that?", err=True):
        raise typer.Exit(INTERRUPTED)


def print_json(document: object) -> None:
    """Print the document as JSON on standard output; a character that a terminal would obey is written as an escape."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    print("".join(_escaped(character) for character in text))  # noqa: T201


def _escaped(character: str) -> str:
    if character == "\n" or unicodedata.category(character) not in OBEYED:
        return character
    return json.dumps(character)[1:-1]


def console(*, stderr: bool = False) -> "Console":
    """The Rich console for tables and progress. It uses colour only on a terminal, and not if `NO_COLOR` is set."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


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
        if width <= SHORT and fits([width, *(widths[each] for each in beside)], max_width=max_width, gap=GAP):
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


def short(text: object) -> str | None:
    """The first `SHORT_CHARS` characters of a text, on one line; None stays None."""
    if text is None:
        return None
    line = " ".join(str(text).split())
    return line if len(line) <= SHORT_CHARS else line[: SHORT_CHARS - 1] + "…"


def percent(value: object) -> str | None:
    """A share (0–1) as a percentage; None stays None."""
    return figures.percent(value) if isinstance(value, int | float) else None


def dollars(value: object) -> str | None:
    """An amount of US dollars as people read it; None stays None."""
    return usage.dollars(value) if isinstance(value, int | float) else None


def cost_of(view: Mapping[str, Any], *, name: str = "cost_usd") -> str:
    """The cost of work as people read it. `view` has the cost in the field called `name`, and `unpriced_calls`."""
    return usage.dollars(view.get(name, 0.0), view.get("unpriced_calls") or 0)


def spent(view: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The facts about the cost of work. The view has `cost_usd`, `tokens` and, if there are any, its `spends`.

    If a provider reported an impossible usage, the report is shown with the usage that was counted in its place.
    """
    yield "cost", f"{cost_of(view)}, {view.get('tokens', 0):,} tokens"
    yield "saved by batches", dollars(view["saved_usd"]) if view.get("saved_usd") else None
    for spend in view.get("spends") or ():
        if spend.get("claimed"):
            counted = "more than one call can use, counted as its most" if spend["input_tokens"] else "no count"
            yield "usage", f"{spend['provider']} reported {spend['claimed']}: {counted}"


def moment(value: object) -> str | None:
    """A moment of the API (UTC) as people read it, in whole seconds; None stays None."""
    return None if value is None else str(value)[:19].replace("T", " ")
