"""Whatever a stranger writes, at the largest size that its door admits: a second and 200 MB at most, linear time."""

import json
import subprocess
import sys

import pytest

from tests.support.hostile import MOST_GROWTH
from tests.support.hostile_doors import DOORS

MAX_SECONDS = 1.0
MAX_MEGABYTES = 200.0
MIN_SECONDS = 0.1
"""What takes less is not compared: it is the clock's grain and the garbage collector that would be."""


@pytest.mark.parametrize("door", DOORS)
def test_no_text_keeps_a_function_busy(door: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.hostile", door], capture_output=True, text=True, check=True, timeout=120
    )
    cost = json.loads(done.stdout)
    assert cost["seconds"] <= MAX_SECONDS, cost
    assert cost["seconds"] <= MOST_GROWTH * max(cost["half_seconds"], MIN_SECONDS), cost
    assert cost["megabytes"] <= MAX_MEGABYTES, cost
