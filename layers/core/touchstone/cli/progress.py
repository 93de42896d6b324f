"""How far long work is: a bar on a terminal, a line at each tenth elsewhere; always on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from touchstone.cli.screen import console, say

TENTHS = 10

type Show = Callable[[int, int | None], None]
"""Takes how many are done, and of how many (None: not known yet)."""


@contextmanager
def progress(title: str) -> Iterator[Show]:
    """Shows work for the length of a `with`."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield _lines(title)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(title: str) -> Show:
    said: set[int] = set()

    def show(done: int, total: int | None) -> None:
        tenth = 0 if not total else done * TENTHS // total
        if tenth not in said:
            said.add(tenth)
            say(f"{title}: {'waiting for the file to be read' if total is None else f'{done} of {total}'}")

    return show
