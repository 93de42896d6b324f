"""What a library does while it is imported: it is no more to be trusted than a script."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from touchstone.audits.sandbox import running
from touchstone.audits.sandbox.bubblewrap import Filtered, Sandbox
from touchstone.audits.sandbox.prove import prove

pytestmark = pytest.mark.usefixtures("nothing_left")

DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        time.sleep(3600)
    os._exit(0)
"""
SOCKETS = """
import socket
found = []
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_VSOCK):
    try:
        found.append(socket.socket(family, socket.SOCK_STREAM))
    except OSError:
        pass
"""
FORKS = """
import os, time
for _ in range({count}):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""


@dataclass(frozen=True, slots=True)
class Hostile:
    """A library of one module, as it is installed."""

    site: Path
    requirement: str = "hostile==1.0"
    modules: tuple[str, ...] = ("hostile",)


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path / "site")


def written(library: Hostile, text: str) -> Hostile:
    library.site.mkdir(mode=0o755)
    library.site.parent.chmod(0o755)
    (library.site / "hostile.py").write_text(text)
    return library


def test_it_opens_no_socket_where_there_is_a_network(hostile: Hostile) -> None:
    library = written(hostile, SOCKETS)
    result = prove("import hostile\nassert hostile.found == []", library, sandbox=Filtered())
    assert (result.outcome, result.stderr) == ("holds", "")


@pytest.mark.parametrize("kind", ["filtered", "bubblewrap"])
def test_it_leaves_no_process_behind(hostile: Hostile, sandbox: Sandbox, kind: str) -> None:
    library = written(hostile, DAEMON)
    inside = Filtered() if kind == "filtered" else sandbox
    assert prove("import hostile\nhostile.time", library, sandbox=inside).outcome == "holds"


def test_it_starts_no_more_processes_than_any_library_needs(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "IMPORT_PROCESSES", 20)
    result = prove("import hostile", written(hostile, FORKS.format(count=40)), sandbox=Filtered())
    assert (result.outcome, "end of its import" in result.reason) == ("error", True)
