"""Everything that a process logs: the lines of every logger, as verbose as Lambda has them, with all their fields."""

import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

type SaidAloud = Callable[[], str]
"""Returns what was said so far."""


@contextmanager
def listening() -> Iterator[SaidAloud]:
    """Listen to all loggers, those that do not propagate included."""
    heard = io.StringIO()
    ear = logging.StreamHandler(heard)
    ear.setFormatter(_Whole())
    root = logging.getLogger()
    named = [logging.getLogger(name) for name in root.manager.loggerDict]
    kept = [root, *(logger for logger in named if not logger.propagate)]
    levels = [logger.level for logger in kept]
    for logger in kept:
        logger.addHandler(ear)
        logger.setLevel(logging.INFO)
    try:
        yield heard.getvalue
    finally:
        for logger, level in zip(kept, levels, strict=True):
            logger.removeHandler(ear)
            logger.setLevel(level)


class _Whole(logging.Formatter):
    """A record with every field that was given to it."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{super().format(record)} {vars(record)}"
