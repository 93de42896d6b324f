"""Traces are kept by threads of their own, so that a store that hangs holds up nothing else."""

import asyncio
import logging
from threading import Event

import pytest

from touchstone.operations.jobs import traced


async def test_traces_that_hang_leave_the_threads_of_the_event_loop_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    opened = Event()

    def hangs() -> None:
        opened.wait(60.0)

    most = traced.MOST_WAITING + traced.KEEPING_THREADS
    try:
        kept = [traced._kept_apart(hangs) for _ in range(most + 5)]
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "admitted"), 30.0) == "admitted"
        assert kept.count(None) >= 5, "no more wait than may, however late the threads take theirs"
        assert "could not be kept: Full" in caplog.text
    finally:
        opened.set()
    for each in kept:
        if each is not None:
            await asyncio.wait_for(asyncio.wrap_future(each), 30.0)
