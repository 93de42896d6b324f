"""Proofs on a machine that is itself the sandbox: no sockets, no other process, the same outcomes and bounds."""

import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.audits.bundles import Bundle
from touchstone.audits.sandbox import bubblewrap, watching
from touchstone.audits.sandbox.bubblewrap import Filtered, open_filtered
from touchstone.audits.sandbox.limits import Limits
from touchstone.audits.sandbox.prove import prove
from touchstone.audits.sandbox.watching import SpoiledError, adopt, end_adopted
from touchstone.errors import SettingsError

PR_GET_DUMPABLE = 3

pytestmark = pytest.mark.usefixtures("nothing_left")

IN_ANOTHER = """
import os, subprocess, sys, tinylib
tinylib.Box(1)
code = "import ctypes, sys; assert ctypes.CDLL(None).{call} == -1"
subprocess.run([sys.executable, "-I", "-S", "-c", code, str(os.getppid())], check=True)
"""


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("import tinylib\ntinylib.Box(1)", "holds"),
        ("import tinylib\ntinylib.Chest", "refuted"),
        ("import tinylib\nundefined", "error"),
        ("print(1)", "vacuous"),
        ("import tinylib\nwhile True: pass", "timeout"),
        ("import tinylib\nheld = bytearray(2 * 1024 ** 3)", "blocked"),
        ("import os, time, tinylib\ntinylib.Box(1)\nos.fork() or (os.setsid(), time.sleep(3600))", "holds"),
        (IN_ANOTHER.format(call="unshare(0x10000000)"), "holds"),
        (IN_ANOTHER.format(call="ptrace(16, int(sys.argv[1]), 0, 0)"), "holds"),
    ],
)
def test_a_proof_comes_to_the_same(bundle: Bundle, script: str, outcome: str) -> None:
    result = prove(script, bundle, sandbox=Filtered(), limits=Limits(cpu_seconds=1))
    assert (result.outcome, result.trusted) == (outcome, False)


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"])
def test_no_socket_is_opened(bundle: Bundle, family: str) -> None:
    with socket.create_server(("127.0.0.1", 0)):
        result = prove(f"import socket, tinylib\nsocket.socket(socket.{family})", bundle, sandbox=Filtered())
    assert (result.outcome, "no such socket" in result.reason) == ("blocked", True)


def test_many_processes_are_stopped_by_who_watches(bundle: Bundle) -> None:
    script = "import os, time, tinylib\nfor _ in range(60):\n    os.fork() or time.sleep(60)\ntime.sleep(60)"
    result = prove(script, bundle, sandbox=Filtered(), limits=Limits(processes=20))
    assert (result.outcome, result.reason) == ("blocked", "The script started more than 20 processes.")


LEFT = """
import os, time, tinylib
watching = os.getppid()
if os.fork() == 0:
    os.setsid()
    {then}
os.kill(watching, 9)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "then",
    [
        "time.sleep(3600)",
        # Each ends once it has a child, with a group of its own: no list of processes is in time.
        "while True: os.fork() and os._exit(0) or os.setsid()",
    ],
)
def test_what_outlives_whoever_watched_it_is_ended(bundle: Bundle, then: str) -> None:
    result = prove(LEFT.format(then=then), bundle, sandbox=Filtered(), limits=Limits(wall_seconds=30))
    assert (result.outcome, result.reason) == ("error", "The script ended the process that watched it.")


def test_what_cannot_be_ended_ends_the_use_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True) as left:
        with monkeypatch.context() as patched:
            patched.setattr(watching.os, "kill", lambda *_: None)  # type: ignore[attr-defined]
            patched.setattr(watching.os, "killpg", lambda *_: None)  # type: ignore[attr-defined]
            with pytest.raises(SpoiledError, match="may be run again elsewhere"):
                end_adopted(adopt() - {left.pid}, within_seconds=0.01)
        left.kill()


RUN = """
import sys
from pathlib import Path
from touchstone.audits.bundles import Bundle
from touchstone.audits.sandbox.bubblewrap import open_filtered
from touchstone.audits.sandbox.prove import prove
result = prove(sys.stdin.read(), Bundle(Path(sys.argv[1])), sandbox=open_filtered())
print(result.outcome, result.stdout)
"""
READ = """
import glob, tinylib
tinylib.Box(1)
for path in glob.glob("/proc/*/environ"):
    try:
        print(path, open(path, "rb").read())
    except OSError:
        pass
"""


@pytest.mark.skipif(os.getuid() == 0, reason="root can read every process")
def test_whoever_runs_proofs_cannot_be_read_by_them(bundle: Bundle) -> None:
    canary = secrets.token_hex(16)
    command = [sys.executable, "-c", RUN, str(bundle.folder)]
    done = subprocess.run(
        command, input=READ, env=os.environ | {"CANARY": canary}, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("holds")
    assert canary not in done.stdout


def test_whoever_runs_proofs_is_closed_to_others_of_its_user() -> None:
    code = "import ctypes; from touchstone.audits.sandbox.bubblewrap import open_filtered as opened; opened()"
    asked = f"{code}; print(ctypes.CDLL(None).prctl({PR_GET_DUMPABLE}, 0, 0, 0, 0))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_it_is_not_opened_where_calls_are_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bubblewrap.platform, "machine", lambda: "riscv64")  # type: ignore[attr-defined]
    with pytest.raises(SettingsError, match="no filter of system calls for a riscv64"):
        open_filtered()
