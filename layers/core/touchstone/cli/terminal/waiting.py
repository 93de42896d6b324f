"""Waiting, and the progress of long work: on a terminal a bar on standard error, elsewhere a line at each tenth.

All waiting is in this module, so that a test can replace it.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from touchstone.cli.terminal.screen import console, say

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 5.0
"""A batch of thousands of lines takes minutes: one request every five seconds shows enough."""
GROWTH = 1.5
TENTHS = 10

type Show = Callable[[int, int | None], None]
"""Takes the number of items that are done and the total (None: not known yet)."""
type ShowNoted = Callable[[int, int | None, str], None]
"""Takes what `Show` takes, and a note that is shown beside it, such as the cost so far."""


def pause(seconds: float) -> None:
    """Wait, and block this thread."""
    time.sleep(seconds)


async def rest(seconds: float) -> None:
    """Wait without blocking: other tasks of the event loop go on."""
    await asyncio.sleep(seconds)


def intervals() -> Iterator[float]:
    """The endless series of pauses between two looks, in seconds: short at first, never above `LONGEST_SECONDS`."""
    seconds = FIRST_SECONDS
    while True:
        yield seconds
        seconds = min(seconds * GROWTH, LONGEST_SECONDS)


def awaited[T](found: T, look: Callable[[], T], *, until: Callable[[T], bool], seconds: float, later: str) -> T:
    """Call `look` until its result satisfies `until`, or `seconds` are over. Return the last result.

    `found` is the result that is known already; `look` is not called if it satisfies `until`. `later` is the command
    that shows the work later, which is said after an interruption.
    """
    waited = 0.0
    steps = intervals()
    try:
        while not until(found) and waited < seconds:
            pause(step := next(steps))
            waited += step
            found = look()
    except KeyboardInterrupt:
        say(f"It goes on without you; see it with: {later}")
        raise
    return found


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
