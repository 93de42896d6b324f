"""An API on loopback that answers as a test says, and remembers what it was asked: a real server, for real clients."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from touchstone import __version__

TOKEN = "ts_" + "a" * 43


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is answered; `cut` breaks the connection off instead."""

    status: int = 200
    value: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    cut: bool = False


def problem(status: int, detail: str, *, reason: str = "error", **members: Any) -> Reply:
    """A problem document. `retry_after` becomes the header."""
    headers = {"Retry-After": str(members.pop("retry_after"))} if "retry_after" in members else {}
    value = {"type": f"urn:touchstone:problem:{reason}", "status": status, "detail": detail, **members}
    return Reply(status=status, value=value, headers={"Content-Type": "application/problem+json", **headers})


HEALTH = Reply(value={"status": "ok", "name": "touchstone", "version": __version__})


class Loopback:
    """The server, for the length of a `with`. `answer` decides a reply; `script` goes before it, one a request.

    Asked who it is, it says what `health` says, a Touchstone of this version unless told otherwise (None: it answers as
    to all else); these requests are `greeted`, all others `asked`.
    """

    def __init__(self, answer: Callable[[Asked], Reply] | None = None) -> None:
        self.asked: list[Asked] = []
        self.greeted: list[Asked] = []
        self.health: Reply | None = HEALTH
        self.script: list[Reply] = []
        self.answer = answer or (lambda _: problem(404, "There is no such address.", reason="not_found"))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.01), daemon=True)

    @property
    def url(self) -> str:
        """The address of the API."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def environment(self) -> dict[str, str]:
        """The variables that lead the command here."""
        return {"TOUCHSTONE_API_URL": self.url, "TOUCHSTONE_TOKEN": TOKEN}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        here = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def _serve(self) -> None:
                parts = urlsplit(self.path)
                asked = Asked(
                    method=self.command,
                    path=parts.path,
                    query={name: values[0] for name, values in parse_qs(parts.query).items()},
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=self.rfile.read(int(self.headers.get("Content-Length", 0))),
                )
                if parts.path == "/health" and here.health is not None:
                    here.greeted.append(asked)
                    reply = here.health
                else:
                    here.asked.append(asked)
                    reply = here.script.pop(0) if here.script else here.answer(asked)
                if reply.cut:
                    self.close_connection = True
                    return
                raw = reply.raw
                if raw is None:
                    raw = b"" if reply.value is None else json.dumps(reply.value).encode()
                self.send_response(reply.status)
                given = {name.title(): value for name, value in reply.headers.items()}
                for name, value in {"Content-Type": "application/json", **given}.items():
                    self.send_header(name, value)
                if reply.status != 204:
                    self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the names that http.server calls

        return Handler
