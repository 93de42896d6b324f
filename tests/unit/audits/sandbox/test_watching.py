"""What a tree of processes takes, and its end."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from touchstone.audits.sandbox import watching
from touchstone.audits.sandbox.watching import kill_all, process_tree, resource_use

PARENT = """
import subprocess, sys, time
while time.process_time() < 0.05:
    pass
with subprocess.Popen([sys.executable, '-c', 'input()']):
    print('on', flush=True)
"""


@pytest.mark.parametrize("told", [watching._CHILDREN_FILE, Path("/proc/self/nothing")])
def test_a_tree_is_seen_measured_and_ended(monkeypatch: pytest.MonkeyPatch, told: Path) -> None:
    monkeypatch.setattr(watching, "_CHILDREN_FILE", told)
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stdin=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"on\n"
        processes = process_tree(parent.pid)
        taken = resource_use(processes)
        assert len(processes) == taken.processes == 2
        assert 0 < taken.cpu_seconds < 60
        assert 1_000_000 < taken.memory_bytes < 1_000_000_000
        assert kill_all(processes, within_seconds=5)
        parent.wait()
    assert resource_use(processes).processes == 0
    assert process_tree(processes[1]) == [processes[1]]


def test_time_grows_with_what_a_process_does() -> None:
    before = resource_use([os.getpid()]).cpu_seconds
    started = time.process_time()
    while time.process_time() - started < 0.05:
        pass
    assert resource_use([os.getpid()]).cpu_seconds - before >= 0.04


def test_what_has_ended_already_is_no_trouble() -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert kill_all([done.pid], within_seconds=1)
    assert resource_use([done.pid]).processes == 0
