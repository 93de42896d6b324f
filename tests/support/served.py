"""The deployment in this process behind an address of this machine, for real browsers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.support.api import Api


@contextmanager
def served() -> Iterator[str]:
    """The deployment in this process behind an address of this machine."""
    server = _Server(("127.0.0.1", 0), _Door)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(HTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A browser that goes away in the middle of a reply is none of our faults."""


class _Door(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer("GET", None)

    def do_POST(self) -> None:
        self._answer("POST", self.rfile.read(int(self.headers.get("content-length", "0"))).decode())

    def _answer(self, method: str, body: str | None) -> None:
        asked = urlsplit(self.path)
        sent = {name.lower(): value for name, value in self.headers.items()} | {"x-forwarded-proto": "http"}
        response = Api().call(method, asked.path, body, query=dict(parse_qsl(asked.query)), headers=sent)
        data = response.body.encode()
        self.send_response(response.status)
        for name, value in response.headers.items():
            if name != "content-length":
                self.send_header(name, value)
        for cookie in response.cookies:
            self.send_header("set-cookie", cookie)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass
