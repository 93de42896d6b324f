"""The gate of a submission as long as any may be: it ends, and the event loop is not held while its text is scanned."""

import asyncio
import time
from collections.abc import Callable

import pytest

from tests.support import replies
from tests.support.briefs import brief
from tests.support.hostile import text_of
from tests.support.judges import Script
from touchstone.clock import Deadline
from touchstone.oracle.gate import GateResult, check_gate
from touchstone.oracle.model import MAX_SUBMISSION_CHARS

MAX_HELD_SECONDS = 3.0
"""Longest that the loop may be held at once, of this process's own time, so that other work beside it does not count:
a tenth of it is usual, and hours where a search takes longer than in proportion to its text."""
MAX_SECONDS = 20.0
"""Of processor time; two are usual."""


async def _longest_hold(done: Callable[[], bool]) -> float:
    longest = 0.0
    while not done():
        began = time.process_time()
        await asyncio.sleep(0.01)
        longest = max(longest, time.process_time() - began)
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
    began = time.process_time()
    gate = asyncio.create_task(check_gate(brief(), text, judge=judge, deadline=Deadline.after(250.0)))
    held = await _longest_hold(gate.done)
    assert isinstance(await gate, GateResult)
    assert held <= MAX_HELD_SECONDS
    assert time.process_time() - began <= MAX_SECONDS
