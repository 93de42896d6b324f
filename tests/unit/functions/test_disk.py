"""The disk of a function: what one leaves that was killed is not in the way of the next one there."""

import subprocess
import sys
from pathlib import Path

import pytest

INSTALLS = """
import os
from pathlib import Path
from types import SimpleNamespace
from touchstone.operations.audits import planning

def build(folder):
    (folder / "large").write_text("bundle")
    print(*os.listdir(folder.parent), flush=True)
    os._exit(1)

record = SimpleNamespace(finished_at=None, place=None, terms=SimpleNamespace(target=None, anew=True))
planning.install(SimpleNamespace(record=lambda _: record), "an audit", builder=build)
"""
UNPACKS = """
import os
from functions.composition import contexts

folder = contexts._unpacked().folder
(folder / "bundle").write_text("large")
print(*os.listdir(folder.parent), flush=True)
os._exit(1)
"""


@pytest.mark.parametrize("function", [INSTALLS, UNPACKS], ids=["installs", "unpacks"])
def test_a_bundle_of_a_function_that_was_killed_leaves_the_room_to_the_next(function: str, tmp_path: Path) -> None:
    for _ in range(3):
        killed = subprocess.run(
            [sys.executable, "-c", function],
            env={"TMPDIR": str(tmp_path)},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=False,
        )
        assert killed.returncode == 1, killed.stderr
        assert len(killed.stdout.split()) == 1
