"""The progress of long work on standard error: a bar on a terminal, elsewhere a line at each tenth."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from touchstone.cli.terminal.screen import console, say

TENTHS = 10

type Show = Callable[[int, int | None], None]
"""Takes the number of items that are done and the total (None: not known yet)."""
type ShowNoted = Callable[[int, int | None, str], None]
"""Takes what `Show` takes, and a note that is shown beside it, such as the cost so far."""


@contextmanager
def progress(title: str) -> Iterator[Show]:
    """Show the progress of work for the length of a `with`. Yields the function that updates it."""
    with noted_progress(title, unknown="waiting for the file to be read") as show:
        yield lambda done, total: show(done, total, "")


@contextmanager
def noted_progress(title: str, *, unknown: str | None = None) -> Iterator[ShowNoted]:
    """Show the progress of work, with a note, for the length of a `with`. Yields the function that updates it.

    `unknown` is said in place of the count if there is no terminal and the total is not known; None: nothing is said.
    """
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield _lines(title, unknown)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=screen) as bar:
        task = bar.add_task(title, total=None, note="")
        yield lambda done, total, note: bar.update(task, completed=done, total=total, note=note)


def _lines(title: str, unknown: str | None) -> ShowNoted:
    said: set[int] = set()

    def show(done: int, total: int | None, note: str) -> None:
        tenth = 0 if not total else done * TENTHS // total
        if tenth in said or (total is None and unknown is None):
            return
        said.add(tenth)
        beside = f", {note}" if note else ""
        say(f"{title}: {unknown if total is None else f'{done} of {total}'}{beside}")

    return show
