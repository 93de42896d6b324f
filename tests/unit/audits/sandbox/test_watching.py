"""What a tree of processes takes, and its end."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from touchstone.audits.sandbox import watching
from touchstone.audits.sandbox.watching import end, tree, use

PARENT = (
    "import subprocess, sys\nwith subprocess.Popen([sys.executable, '-c', 'input()']):\n    print('on', flush=True)"
)


@pytest.mark.parametrize("told", [watching._TOLD, Path("/proc/self/nothing")])
def test_a_tree_is_seen_measured_and_ended(monkeypatch: pytest.MonkeyPatch, told: Path) -> None:
    monkeypatch.setattr(watching, "_TOLD", told)
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stdin=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"on\n"
        processes = tree(parent.pid)
        taken = use(processes)
        assert len(processes) == taken.processes == 2
        assert 0 < taken.cpu_seconds < 60
        assert 1_000_000 < taken.memory_bytes < 1_000_000_000
        assert end(processes, within_seconds=5)
        parent.wait()
    assert use(processes).processes == 0
    assert tree(processes[1]) == [processes[1]]


def test_time_grows_with_what_a_process_does() -> None:
    before = use([os.getpid()]).cpu_seconds
    started = time.process_time()
    while time.process_time() - started < 0.05:
        pass
    assert use([os.getpid()]).cpu_seconds - before >= 0.04


def test_what_has_ended_already_is_no_trouble() -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert end([done.pid], within_seconds=1)
    assert use([done.pid]).processes == 0
