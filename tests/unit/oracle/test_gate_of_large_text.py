"""The gate of a submission as long as any may be: it ends, and the event loop is not held while its text is scanned."""

import asyncio
import time
from collections.abc import Callable

import pytest

from tests.support import replies
from tests.support.hostile import text_of
from tests.support.judges import Script
from tests.unit.oracle.samples import brief
from touchstone.clock import Deadline
from touchstone.oracle.gate import Gated, check_gate
from touchstone.oracle.model import MAX_SUBMISSION_CHARS

MAX_HELD_SECONDS = 1.5
"""Longest that the loop may be held at once: a scan of the longest text is under a second on a machine at rest."""
MAX_SECONDS = 20.0


async def _longest_hold(done: Callable[[], bool]) -> float:
    longest = 0.0
    while not done():
        began = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - began)
    return longest


@pytest.mark.parametrize(
    "name", ["marks of two classes", "corner brackets", "U+FDFA", "zero width in words", "apostrophes"]
)
async def test_the_gate_ends_in_time_and_holds_nobody(name: str) -> None:
    gates = [replies.gate(replies.criterion(1), replies.criterion(2))] * 4
    text = text_of(name, MAX_SUBMISSION_CHARS)
    noted = {"topic": "criterion_1", "quote": text[:60], "observation": "It says so."}
    script = Script({"gate": gates, "digest": [{"steering": [], "observations": [noted]}] * 80})
    judge = script.judges().get("claude", "strong")
    began = time.monotonic()
    gate = asyncio.create_task(check_gate(brief(), text, judge=judge, deadline=Deadline.after(MAX_SECONDS)))
    held = await _longest_hold(gate.done)
    assert isinstance(await gate, Gated)
    assert held <= MAX_HELD_SECONDS
    assert time.monotonic() - began <= MAX_SECONDS
