"""The endpoint of the real model: who is answered, how long a reply may get, and that it outlives nobody."""

import os
import signal
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from infra.layers import ROOT
from infra.local import tiny_judge

pytestmark = pytest.mark.timeout(150)
HOLDER = """
import time
from infra.local.tiny_judge import serving
with serving() as variables:
    print(variables["TOUCHSTONE_COMPATIBLE_BASE_URL"], flush=True)
    time.sleep(600)
"""
END_SECONDS = 60.0


def asked(served: dict[str, str], *, key: str | None = None, tokens: int = 8) -> httpx.Response:
    return httpx.post(
        f"{served['TOUCHSTONE_COMPATIBLE_BASE_URL']}/chat/completions",
        headers={"Authorization": f"Bearer {key or served[tiny_judge.KEY_VARIABLE]}"},
        json={"messages": [{"role": "user", "content": "Count to one million."}], "max_tokens": tokens},
        timeout=100.0,
    )


def test_only_who_has_the_key_is_answered(served: dict[str, str]) -> None:
    assert asked(served, key="another").status_code == HTTPStatus.UNAUTHORIZED
    assert asked(served).status_code == HTTPStatus.OK


def test_it_listens_on_loopback_and_its_price_is_none(served: dict[str, str]) -> None:
    assert served["TOUCHSTONE_COMPATIBLE_BASE_URL"].startswith("http://127.0.0.1:")
    assert served["TOUCHSTONE_COMPATIBLE_PRICE_IN"] == served["TOUCHSTONE_COMPATIBLE_PRICE_OUT"] == "0"


def test_no_reply_is_longer_than_its_limit_whatever_is_asked_for(served: dict[str, str]) -> None:
    reply = asked(served, tokens=5000).json()

    assert reply["usage"]["completion_tokens"] <= tiny_judge.MOST_OUTPUT_TOKENS
    assert reply["model"] == tiny_judge.MODEL


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_it_once_whoever_started_it_has_ended(served: dict[str, str], how: signal.Signals) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline().startswith(b"http://127.0.0.1:")
        servers = children(holder.pid)
        assert servers
        os.kill(holder.pid, how)
        holder.wait(timeout=END_SECONDS)
        deadline = time.monotonic() + END_SECONDS
        while any(lives(pid) for pid in servers):
            assert time.monotonic() < deadline, f"{servers} outlive what started them."
            time.sleep(0.1)
    finally:
        holder.kill()
        holder.stdout.close()
        holder.wait()


def test_what_is_not_installed_is_named_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiny_judge, "SERVER", "no_such_server")

    with pytest.raises(
        tiny_judge.TinyJudgeError, match=r"no_such_server is not installed: `uv sync --group tiny-judge`"
    ):
        tiny_judge.serving().__enter__()


def test_a_server_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('made for another machine')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(tiny_judge.TinyJudgeError, match="could not be served: ImportError: made for another machine"):
        tiny_judge.serving().__enter__()


def children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)  # noqa: S607
    return [int(line) for line in listed.stdout.split()]


def lives(pid: int) -> bool:
    """Whether the process is there and is no corpse that nobody has taken yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
