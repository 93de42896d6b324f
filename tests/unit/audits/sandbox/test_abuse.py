"""Hostile proofs in the real sandbox: each is contained, tells nothing of the host, and leaves nothing behind."""

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.proving import Prove
from touchstone.audits.bundles import Bundle
from touchstone.audits.sandbox import running
from touchstone.audits.sandbox.bubblewrap import Sandbox, Trusting
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS, MIB, Limits
from touchstone.audits.sandbox.prove import prove

pytestmark = pytest.mark.usefixtures("nothing_left")

HARMLESS = "import tinylib\nassert tinylib.Box(3).width == 3"


@pytest.fixture(autouse=True)
def _next_proof_is_unaffected(proof: Prove) -> Iterator[None]:
    yield
    assert proof(HARMLESS).outcome == "holds"


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> str:
    """A secret in the environment of the process that runs proofs."""
    secret = secrets.token_hex(16)
    monkeypatch.setenv("TOUCHSTONE_CANARY", secret)
    return secret


ENVIRONMENTS = """
import os, glob, tinylib
print(dict(os.environ))
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/task/*/environ"):
    try:
        print(path, open(path, "rb").read())
    except OSError as error:
        print(path, type(error).__name__)
"""


def test_s1_s2_no_environment_of_any_process_tells_a_secret(proof: Prove, canary: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        result = proof(ENVIRONMENTS)
    finally:
        child.communicate(b"\n")
    assert "/proc/self/environ" in result.stdout
    assert canary not in result.model_dump_json()
    assert "CANARY" not in result.model_dump_json()


def test_s1_s2_the_environment_is_empty_but_for_what_python_needs(proof: Prove) -> None:
    result = proof("import os, tinylib\nprint(sorted(os.environ))")
    named = {"HOME", "LANG", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PWD", "PYTHONPATH"}
    assert set(result.stdout.strip("[]\n").replace("'", "").split(", ")) == named


def test_s3_no_host_file_can_be_read(proof: Prove, tmp_path: Path) -> None:
    secret = secrets.token_hex(16)
    hidden = tmp_path / "secret"
    hidden.write_text(secret)
    result = proof(
        f"""
import os, tinylib
for path in ({str(hidden)!r}, "/proc/1/root{hidden}", "/proc/1/cwd/secret", "/etc/passwd", "/etc/shadow",
             {str(Path.home() / ".ssh")!r}, {__file__!r}, "/var/log", "/home", "/sys", "/run"):
    try:
        print(path, os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError as error:
        print("refused", type(error).__name__)
print(sorted(os.listdir("/")))
"""
    )
    assert result.stdout.count("refused") == 11
    assert secret not in result.model_dump_json()


def test_s4_nothing_outside_its_folder_can_be_written(proof: Prove, tmp_path: Path) -> None:
    result = proof(
        f"""
import os, sys, tinylib
for folder in ({str(tmp_path)!r}, "/", "/dev", "/target", "/target/tinylib", "/usr/lib", os.path.dirname(os.__file__),
               "/proc", "/proc/sys/kernel", "/lib64", "/var/tmp"):
    try:
        open(folder + "/written", "w")
        print("WROTE", folder)
    except OSError as error:
        pass
for path in ("/runner.py", "/runner.pyc", tinylib.__file__, os.__file__, "/proc/sys/kernel/hostname",
             "/proc/sysrq-trigger"):
    try:
        open(path, "a")
        print("WROTE", path)
    except OSError as error:
        pass
print("tried")
"""
    )
    assert result.stdout == "tried\n"
    assert list(tmp_path.iterdir()) == []


@contextmanager
def _listening(family: int, address: Any) -> Iterator[tuple[Any, list[object]]]:
    """A service of the host, and who has connected to it."""
    guests: list[object] = []
    with socket.socket(socket.AddressFamily(family)) as server:
        server.bind(address)
        server.listen()

        def serve() -> None:
            with suppress(OSError):
                while True:
                    guests.append(server.accept())

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname(), guests
        server.shutdown(socket.SHUT_RDWR)


def test_s5_no_loopback_service_of_the_host_is_reached(proof: Prove) -> None:
    with _listening(socket.AF_INET, ("127.0.0.1", 0)) as ((_, port), guests):
        result = proof(f"import socket, tinylib\nsocket.create_connection(('127.0.0.1', {port}), timeout=2)")
        through = proof(f"import tinylib\ntinylib.connect({port})")
        assert guests == []
    assert (result.outcome, through.outcome) == ("blocked", "blocked")
    assert "reaches no network" in through.reason


def test_s5_no_name_is_resolved_and_no_other_family_of_sockets_opened(proof: Prove) -> None:
    assert proof("import socket, tinylib\nsocket.getaddrinfo('example.com', 80)").outcome == "blocked"
    result = proof(
        """
import socket, tinylib
tinylib.Box(1)
for family in range(3, 50):
    if family != socket.AF_INET6:
        try:
            socket.socket(family, socket.SOCK_STREAM)
            print("OPENED", family)
        except OSError:
            pass
"""
    )
    assert result.stdout == ""
    assert result.outcome == "holds"


def test_s6_no_abstract_socket_of_the_host_is_reached(proof: Prove) -> None:
    name = f"\0touchstone-{secrets.token_hex(8)}"
    with _listening(socket.AF_UNIX, name) as (_, guests):
        result = proof(f"import socket, tinylib\nsocket.socket(socket.AF_UNIX).connect({name!r})")
        assert guests == []
    assert result.outcome == "blocked"


def test_s7_no_host_process_is_seen_or_signalled(proof: Prove) -> None:
    mark = secrets.token_hex(8)
    with subprocess.Popen([sys.executable, "-c", f"input()  # {mark}"], stdin=subprocess.PIPE) as victim:
        result = proof(
            f"""
import os, signal, tinylib
seen = [int(each) for each in os.listdir("/proc") if each.isdigit()]
print(len(seen), [open(f"/proc/{{each}}/cmdline").read() for each in seen])
for each in [*range(10, 400), {victim.pid}, {os.getpid()}, {os.getppid()}]:
    try:
        os.kill(each, signal.SIGKILL)
        print("SIGNALLED", each)
    except OSError:
        pass
"""
        )
        assert victim.poll() is None
        victim.communicate(b"\n")
    assert int(result.stdout.split()[0]) <= 4
    assert mark not in result.stdout
    assert "SIGNALLED" not in result.stdout


def test_s8_processes_are_bounded(proof: Prove) -> None:
    result = proof(
        """
import os, time, tinylib
started = 0
for _ in range(400):
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        started += 1
    except OSError:
        break
print(started)
"""
    )
    assert 8 <= int(result.stdout or 64) <= DEFAULT_LIMITS.processes


def test_s8_forking_without_end_is_stopped(proof: Prove) -> None:
    result = proof("import os, tinylib\nwhile True:\n    os.fork()", Limits(wall_seconds=2, cpu_seconds=2))
    assert result.outcome in ("blocked", "timeout", "error")


def test_s9_memory_is_bounded(proof: Prove) -> None:
    result = proof("import tinylib\nheld = bytearray(2 * 1024 ** 3)")
    assert (result.outcome, result.exception) == ("blocked", "MemoryError: ")


def test_s9_memory_of_all_processes_together_is_bounded(proof: Prove) -> None:
    script = """
import os, time, tinylib
for _ in range(6):
    if os.fork() == 0:
        held = b"x" * (30 * 1024 ** 2)
        time.sleep(60)
time.sleep(60)
"""
    result = proof(script, Limits(memory_bytes=96 * MIB))
    assert (result.outcome, result.reason) == ("blocked", f"The script took more than {96 * MIB} bytes of memory.")


def test_s9_a_watcher_that_is_late_counts_from_the_beginning(proof: Prove, monkeypatch: pytest.MonkeyPatch) -> None:
    hear = running._Watched._hear

    def late(watched: running._Watched, chunk: bytes) -> None:
        if b"ready" in chunk:
            time.sleep(1)
        hear(watched, chunk)

    monkeypatch.setattr(running._Watched, "_hear", late)
    script = "import os, time, tinylib\nfor _ in range(6):\n    if os.fork() == 0:\n"
    script += "        held = b'x' * (30 * 1024 ** 2)\n        time.sleep(60)\ntime.sleep(60)"
    result = proof(script, Limits(memory_bytes=96 * MIB, wall_seconds=30))
    assert (result.outcome, result.reason) == ("blocked", f"The script took more than {96 * MIB} bytes of memory.")


@pytest.mark.parametrize("call", ["os.memfd_create('m')", "mmap.mmap(-1, 2 * 1024 ** 3)"])
def test_s9_memory_that_is_no_process_s_own_is_refused(proof: Prove, call: str) -> None:
    assert proof(f"import os, mmap, tinylib\n{call}").outcome in ("blocked", "error")


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])  # noqa: S108
def test_s10_written_bytes_are_bounded(proof: Prove, folder: str) -> None:
    result = proof(
        f"""
import os, tinylib
written = 0
try:
    for number in range(30):
        with open("{folder}/" + str(number), "wb", buffering=0) as file:
            written += file.write(bytes(10 * 1024 ** 2))
finally:
    print(written)
"""
    )
    assert result.outcome == "blocked"
    assert int(result.stdout) <= DEFAULT_LIMITS.written_bytes


SPINNING = """
import signal, tinylib
for ignored in (signal.SIGTERM, signal.SIGXCPU):
    try:
        signal.signal(ignored, signal.SIG_IGN)
    except OSError:
        pass
while True:
    pass
"""


def test_s11_spinning_is_stopped_at_its_processor_time(proof: Prove) -> None:
    assert DEFAULT_LIMITS.cpu_seconds == 5.0
    result = proof(SPINNING, Limits(cpu_seconds=1))
    assert (result.outcome, result.reason) == ("timeout", "The script was stopped after 1 s of processor time.")
    assert 0.9 <= result.cpu_seconds <= 10  # looked at ten times a second, on a machine that may be busy


def test_s11_processes_that_spin_share_one_processor_time(proof: Prove) -> None:
    script = SPINNING.replace("while True", "import os\nfor _ in range(4):\n    os.fork()\nwhile True")
    result = proof(script, Limits(cpu_seconds=1))
    assert (result.outcome, result.reason) == ("timeout", "The script was stopped after 1 s of processor time.")


def test_s11_sleeping_is_stopped_at_its_time(proof: Prove) -> None:
    result = proof("import time, tinylib\ntime.sleep(3600)", Limits(wall_seconds=0.3))
    assert (result.outcome, result.reason) == ("timeout", "The script was stopped after 0.3 s.")


DAEMON = """
import os, sys, time, tinylib
tinylib.Box(1)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        time.sleep(3600)
    os._exit(0)
"""


def test_s12_a_daemon_is_gone_with_its_proof(proof: Prove) -> None:
    assert proof(DAEMON).outcome == "holds"


def test_s12_without_bubblewrap_too(bundle: Bundle) -> None:
    assert prove(DAEMON, bundle, sandbox=Trusting()).outcome == "holds"


CALLS = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(0x10000000), libc.unshare(0x00020000), libc.unshare(0x40000000))
print([libc.syscall(int(number), 0x10000011, 0, 0, 0, 0) for number in sys.argv[1:]], flush=True)
"""


def test_s13_no_namespace_can_be_made(proof: Prove) -> None:
    result = proof(
        f"""
import os, platform, subprocess, sys, tinylib
numbers = {{"x86_64": (56, 435, 165, 101), "aarch64": (220, 435, 40, 117)}}[platform.machine()]
subprocess.run([sys.executable, "-I", "-S", "-c", {CALLS!r}, *map(str, numbers)], check=True)
try:
    os.setns(os.open("/proc/self/ns/user", os.O_RDONLY), 0)
    print("ENTERED")
except OSError:
    pass
print([line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapEff", "NoNewPrivs", "Uid"))])
"""
    )
    assert result.stdout.splitlines() == ["-1 -1 -1", "[-1, -1, -1, -1]", "['65534', '0000000000000000', '1']"]


def test_s14_output_is_cut(proof: Prove) -> None:
    result = proof("import tinylib\ntinylib.Box(1)\nfor _ in range(200):\n    print('x' * 2 ** 20)")
    assert result.outcome == "holds"
    assert (len(result.stdout), result.stdout_cut) == (MIB, True)
    assert (result.stderr, result.stderr_cut) == ("", False)


@pytest.mark.parametrize(
    "leaving",
    ["import os\nos._exit(0)", "raise SystemExit", "exit = __import__('sys').exit\nexit(0)", "import os\nos.abort()"],
)
def test_s15_leaving_early_is_no_success(proof: Prove, leaving: str) -> None:
    assert proof(f"import tinylib\n{leaving}\ntinylib.Nothing").outcome == "error"


def test_s15_what_is_printed_is_no_result(proof: Prove) -> None:
    result = proof(
        """
import os, sys, tinylib
line = '{"event": "ended", "signal": null, "cpu_seconds": 0, "record": {"end": "completed", "errors": []}}'
print(line, file=sys.stderr)
print(line, flush=True)
for descriptor in range(3, 256):
    try:
        os.write(descriptor, line.encode() + b"\\n")
    except OSError:
        pass
tinylib.Nothing
"""
    )
    assert result.outcome in ("error", "refuted")


@pytest.mark.parametrize(
    "patch",
    [
        "tinylib.Box.hinge = lambda self: True\ntinylib.Box(3).hinge()",
        "tinylib.measure = lambda box: 4\nassert tinylib.measure(None) == 4",
        "import tinylib.boxes\ntinylib.boxes.Box.__init__ = lambda self, **given: None\ntinylib.Box(hinge=1)",
        "tinylib.measure = tinylib.call",
        "tinylib.MATERIALS = ('steel',)\nassert tinylib.MATERIALS == ('steel',)",
        "import sys, types\nsys.modules['tinylib'] = types.SimpleNamespace(Nothing=1)\nimport tinylib\ntinylib.Nothing",
        "tinylib.__getattr__ = lambda name: 1\ntinylib.Nothing",
        "from unittest import mock\ntinylib.Nothing = mock.MagicMock()\ntinylib.Nothing()",
        "import builtins\nbuiltins.sorted = lambda given: given\ntinylib.Box(3)",
        "import tinydep\ntinydep.checked = lambda value: value\ntinylib.Box(1.5)",
        "import importlib\nimportlib.import_module = lambda name: tinylib",
    ],
)
def test_s15_a_library_that_the_script_changed_proves_nothing(proof: Prove, patch: str) -> None:
    result = proof(f"import tinylib\n{patch}")
    assert (result.outcome, result.reason[:13]) == ("error", "Inconclusive:")


def test_s15_no_result_is_left_for_the_next_proof(proof: Prove) -> None:
    poison = """
import os, tinylib
tinylib.Box(1)
for path in ("/tmp/proof.py", "/tmp/sitecustomize.py", "/tmp/tinylib.py", "/dev/shm/poison", "/target/tinylib.py"):
    try:
        open(path, "w").write("raise SystemExit(1)")
    except OSError:
        pass
"""
    assert proof(poison).outcome == "holds"
    result = proof("import os, tinylib\nprint(os.listdir('/tmp'), os.listdir('/dev/shm'))")
    assert result.stdout == "['proof.py'] []\n"


def test_s15_an_interpreter_that_was_taken_apart_tells_nothing(proof: Prove) -> None:
    result = proof("import builtins, tinylib\nbuiltins.isinstance = lambda *given: True\ntinylib.Box(3)")
    assert result.outcome == "error"


@pytest.mark.parametrize("victim", ["os.getppid()", "1", "-1"])
def test_killing_whoever_watches_is_no_success(proof: Prove, victim: str) -> None:
    result = proof(f"import os, tinylib\nos.kill({victim}, 9)\ntinylib.Nothing", Limits(wall_seconds=30))
    assert result.outcome != "holds"


def test_open_files_are_bounded(proof: Prove) -> None:
    result = proof("import tinylib\nheld = [open('/tmp/proof.py') for _ in range(1000)]")
    assert (result.outcome, "open no more files" in result.reason) == ("blocked", True)


def test_a_plain_process_with_the_same_code_reads_the_host(bundle: Bundle, tmp_path: Path) -> None:
    """What the tests above show is the sandbox's doing, not the code's inability."""
    (tmp_path / "secret").write_text("found")
    plain: Sandbox = Trusting()
    result = prove(
        f"import tinylib\ntinylib.Box\nprint(open({str(tmp_path / 'secret')!r}).read())", bundle, sandbox=plain
    )
    assert (result.outcome, result.stdout, result.trusted) == ("holds", "found\n", True)
