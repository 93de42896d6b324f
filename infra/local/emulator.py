"""Starts and stops the process that emulates AWS on this machine."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from infra import toolchain
from infra.layers import ROOT
from infra.local.home import REGION, Home, Running

REQUIREMENTS = Path(__file__).with_name("cloud-requirements.txt")
FRONT = Path(__file__).with_name("front.py")
"""The program that is run: the emulator behind a check of every request."""
START_SECONDS = 30.0
STOP_SECONDS = 20.0
"""The emulator writes its state before it ends, which takes seconds if there is much state."""
PAUSE_SECONDS = 0.1


OF_THIS_MACHINE = ("PATH", "HOME", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables of this machine that the functions need. The certificates are for networks that inspect connections."""


class CloudError(Exception):
    """The local cloud could not be started, reached or used; the message says what failed and where to look."""


def python() -> Path:
    """The interpreter of the cloud's own environment, made on first use and again when its pins change.

    The environment is separate for two reasons: it pins its own versions, and the functions run on its interpreter.
    Beside the standard library it has what a Lambda runtime has (boto3).
    """
    digest = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = ROOT / ".build" / f"cloud-{digest}"
    interpreter = folder / "bin" / "python"
    if not (folder / "complete").is_file():
        folder.parent.mkdir(exist_ok=True)
        with folder.with_suffix(".lock").open("wb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)  # another process may be making it
            if not (folder / "complete").is_file():
                _install(folder, interpreter)
    return interpreter


def _install(folder: Path, interpreter: Path) -> None:
    uv = toolchain.uv()
    for command in (
        [uv, "venv", "--quiet", "--clear", "--no-config", "--python", sys.executable, str(folder)],
        [
            uv, "pip", "install", "--quiet", "--no-config", "--compile-bytecode",
            "--require-hashes", "--python", str(interpreter), "--requirements", str(REQUIREMENTS),
        ],
    ):  # fmt: skip
        reply = subprocess.run(command, capture_output=True, text=True, check=False)
        if reply.returncode != 0:
            raise CloudError(f"The local cloud could not be installed: {reply.stderr.strip()}")
    (folder / "complete").touch()


def alive(running: Running) -> bool:
    """Whether the cloud answers, only to requests from its owner, and its process is the one that was started."""
    return _exists(running.pid) and _healthy(running) and _guarded(running)


def died(home: Home) -> bool:
    """Whether the cloud ended without being stopped. Its records are lost then: it writes them when told to end."""
    known = home.running()
    return known is not None and not alive(known)


def start(home: Home, *, wait_scale: str = "1", kept: bool = True) -> Running:
    """The cloud of `home`; it is started unless it runs. `wait_scale` multiplies the waits of state machines.

    `kept`: the cloud's content is written when it is stopped, and restored when it is started.

    Raises `CloudError` if it cannot be started.
    """
    known = home.running()
    if known and alive(known):
        return known
    if known:
        stop(home)
    port = _port(home)
    home.make()
    for folder in (home.state, home.scratch):
        folder.mkdir(parents=True, exist_ok=True)
    with home.log.open("ab") as log:
        process = subprocess.Popen(
            [str(python()), str(FRONT)],
            env=_environment(home, port, wait_scale, kept=kept),
            cwd=home.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running = Running(pid=process.pid, port=port)
    home.remember_running(running)
    deadline = time.monotonic() + START_SECONDS
    while not _healthy(running):
        if process.poll() is not None or time.monotonic() > deadline:
            stop(home)
            raise CloudError(f"The local cloud did not start; its last words are in {home.log}.")
        time.sleep(PAUSE_SECONDS)
    return running


def stop(home: Home) -> bool:
    """End the cloud of `home` with all functions it started. False if none ran; a crashed cloud is cleaned up."""
    running = home.running()
    if running is None:
        return False
    ran = _exists(running.pid)
    if ran:
        with contextlib.suppress(ProcessLookupError):
            os.kill(running.pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while _exists(running.pid) and time.monotonic() < deadline:
            time.sleep(PAUSE_SECONDS)
    if ran or not _number_is_taken(running.pid):
        # The cloud leads a session of its own, and its functions are in its process group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(running.pid, signal.SIGKILL)
    home.remember_running(None)
    shutil.rmtree(home.scratch, ignore_errors=True)
    return ran


def _environment(home: Home, port: int, wait_scale: str, *, kept: bool) -> dict[str, str]:
    """The variables that the cloud and its functions get: no judge's key, no AWS credential of this machine."""
    ours = {name: os.environ[name] for name in OF_THIS_MACHINE if name in os.environ}
    owner = home.owner()
    return {
        **ours,
        "AUTH": "true",  # a function may do here what its role allows, and nothing else
        "AWS_ACCESS_KEY_ID": owner.key,
        "AWS_SECRET_ACCESS_KEY": owner.secret,
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_REGION": REGION,
        "PERSIST_STATE": "1" if kept else "0",
        "STATE_DIR": str(home.state),
        "S3_PERSIST": "1" if kept else "0",
        "S3_DATA_DIR": str(home.state / "s3"),
        "SFTP_ENABLED": "0",
        "SFN_WAIT_SCALE": wait_scale,
        "LOG_LEVEL": "WARNING",
        "TMPDIR": str(home.scratch),
        "PYTHONUNBUFFERED": "1",
    }


def _port(home: Home) -> int:
    """The port of the last run if it is free, so that a bookmarked address stays valid; else any free port."""
    for wanted in (home.read("port"), 0):
        if not isinstance(wanted, int):
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            port = int(probe.getsockname()[1])
            home.write("port", port)
            return port
    raise CloudError("This machine has no free port on 127.0.0.1.")


def _healthy(running: Running) -> bool:
    try:
        with urlopen(f"{running.endpoint}/_ministack/health", timeout=2) as reply:  # noqa: S310 - our own loopback
            return bool(reply.status == 200)  # noqa: PLR2004
    except (URLError, OSError):
        return False


def _guarded(running: Running) -> bool:
    """Whether `front` checks the requests; a cloud that an earlier version started has no such check."""
    address = f"{running.endpoint}/_ministack/health"
    request = Request(address, headers={"Host": "elsewhere.invalid"})  # noqa: S310 - our own loopback
    try:
        with urlopen(request, timeout=2):  # noqa: S310 - our own loopback
            return False
    except HTTPError as error:
        return error.code == HTTPStatus.FORBIDDEN
    except (URLError, OSError):
        return False


def _exists(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # if it is our child and has ended, reap it, so that it does not count as alive
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _is_cloud(pid)


def _is_cloud(pid: int) -> bool:
    """Whether the process is a cloud, and not a later process with the same number."""
    command = Path(f"/proc/{pid}/cmdline")
    if not command.parent.parent.is_dir() or not Path("/proc/self").exists():
        return True  # no /proc on this system: the health check decides
    try:
        return any(mark in command.read_bytes() for mark in (str(FRONT).encode(), b"ministack"))
    except OSError:
        return False


def _number_is_taken(pid: int) -> bool:
    """Whether another process has the number now. While one of the cloud's functions lives, no process can get it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
