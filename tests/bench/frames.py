"""How much of the code one verification goes through, from the API's handler to the stored record.

    uv run python -m tests.bench.frames [--files]

A verification runs through the deployed handler over moto, with a judge on loopback. Counted are the project's files
and folders that a function was called in, and how many of its functions were on the stack of a thread at most. What a
process does once (imports, stores and connections that are made once) was done before by a first verification. The
check of the caller's token, which is a function of its own, is not in it. `--files` lists the files.
"""

import argparse
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from functions.api import verifying

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (f"{ROOT}/functions/", f"{ROOT}/layers/core/touchstone/")
MOST_FILES, MOST_FOLDERS, MOST_DEPTH = 70, 14, 16
"""What a newcomer may be asked to go through; the command fails beyond it."""


@dataclass(slots=True)
class Way:
    """The project's files that were entered, and the deepest stack of its functions."""

    files: set[str] = field(default_factory=set)
    deepest: tuple[str, ...] = ()

    @property
    def folders(self) -> set[str]:
        """The folders of the files."""
        return {file.rpartition("/")[0] for file in self.files}

    def enter(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call; what `sys.setprofile` takes."""
        if event != "call" or not _ours(frame):
            return
        self.files.add(frame.f_code.co_filename.removeprefix(f"{ROOT}/"))
        stack = [frame]
        while (outer := stack[-1].f_back) is not None:
            stack.append(outer)
        own = tuple(f"{_name(one)} {one.f_code.co_qualname}" for one in reversed(stack) if _ours(one))
        if len(own) > len(self.deepest):
            self.deepest = own


def _ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(ROOMS) and frame.f_code.co_name != "<module>"


def _name(frame: FrameType) -> str:
    return frame.f_code.co_filename.removeprefix(f"{ROOT}/").removeprefix("layers/core/")


@contextmanager
def _followed(way: Way) -> Iterator[None]:
    threading.setprofile_all_threads(way.enter)
    try:
        yield
    finally:
        threading.setprofile_all_threads(None)


def followed(handler: Callable[..., Any], way: Way) -> Callable[..., Any]:
    """A handler whose way is noted."""

    def run(*given: Any) -> Any:
        with _followed(way):
            return handler(*given)

    return run


def measured() -> Way:
    """The way of one verification that a judge decides."""
    from tests.bench.cost import scene

    way = Way()
    with scene() as one:
        handler = verifying.handler
        verifying.handler = followed(handler, way)
        try:
            one.verify(1)
        finally:
            verifying.handler = handler
    return way


def main() -> None:
    """Measure, and print a line."""
    parser = argparse.ArgumentParser(description="The files, folders and depth of one verification.")
    parser.add_argument("--files", action="store_true", help="list the files, and the deepest stack")
    options = parser.parse_args()
    way = measured()
    if options.files:
        print("\n".join(sorted(way.files)), *way.deepest, sep="\n  ")
    print(
        f"{len(way.files)} files (at most {MOST_FILES}) in {len(way.folders)} folders ({MOST_FOLDERS}), "
        f"{len(way.deepest)} functions deep ({MOST_DEPTH})"
    )
    if (len(way.files), len(way.folders), len(way.deepest)) > (MOST_FILES, MOST_FOLDERS, MOST_DEPTH):
        sys.exit(1)


if __name__ == "__main__":
    main()
