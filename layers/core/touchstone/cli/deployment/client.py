"""A client of the API over HTTP: explicit time-outs, few retries and only safe ones, and the library's own errors."""

import json
import ssl
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import httpx

from touchstone.cli.deployment import replies
from touchstone.cli.deployment.connection import Connection, is_this_machine
from touchstone.cli.deployment.replies import STRANGE, error_of
from touchstone.cli.terminal import waiting
from touchstone.cli.terminal.exits import ServiceError
from touchstone.cli.terminal.places import replace
from touchstone.cli.terminal.words import View
from touchstone.version import __version__

TIMEOUT = httpx.Timeout(connect=5.0, read=35.0, write=35.0, pool=5.0)
"""API Gateway ends a request after 30 s, so the client waits for a reply a little longer."""
FILE_TIMEOUT = httpx.Timeout(connect=5.0, read=120.0, write=120.0, pool=5.0)
TRIES = 4
LONGEST_WAIT_SECONDS = 60.0
"""The longest Retry-After that the client waits. A longer one is left to the user: a day's quota ends at midnight."""
FIRST_WAIT_SECONDS = 0.5
REPEATED = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT})
IN_PROGRESS = "urn:touchstone:problem:in_progress"
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class ApiClient:
    """The API of a deployment, for one run of a command.

    Every write has its own idempotency key, so that it can be repeated: after a lost connection, after 429, 503 and
    504, and while its first try still runs. Before the first request, and before the token is sent, the client asks the
    address once whether it is a Touchstone of this version. Its methods raise the error that a refusal means. They
    raise `ServiceError` if the API cannot be reached or fails, if the address is no such API, and if the reply is not
    the one that belongs to the request.
    """

    def __init__(self, to: Connection) -> None:
        self.url = to.url
        self._http = httpx.Client(verify=_trust(), timeout=TIMEOUT, headers={"User-Agent": f"touchstone/{__version__}"})
        self._token = to.token
        self._known = False
        self._run = uuid4().hex
        self._writes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def get(self, *path: str, **query: str | int | None) -> View:
        """Read an object. `path` has the steps after /v1; a parameter of `query` that is None is left out."""
        return _object(self._read(path, query))

    def get_list(self, *path: str, **query: str | int | None) -> list[View]:
        """Read a list of objects."""
        found = self._read(path, query)
        if not isinstance(found, list):
            raise ServiceError(STRANGE)
        return [_object(each) for each in found]

    def get_text(self, *path: str, media: str, **query: str) -> str:
        """Read a text, for example a report. `media` is the media type that it must have."""
        return str(self._ask("GET", path, query=query, media=media))

    def post(
        self, *path: str, body: View | None = None, key: str | None = None, query: Mapping[str, str] | None = None
    ) -> View:
        """Write by POST. `key` is an idempotency key that outlives this run; None: a new one is made."""
        return _object(self._ask("POST", path, body=body, key=key, query=query))

    def put(self, *path: str, body: View, **query: str) -> View:
        """Set an object by PUT."""
        return _object(self._ask("PUT", path, body=body, query=query))

    def patch(self, *path: str, body: View) -> View:
        """Change parts of an object by PATCH."""
        return _object(self._ask("PATCH", path, body=body))

    def delete(self, *path: str, **query: str) -> View | None:
        """Remove an object by DELETE. Return the reply, None if it is empty."""
        reply = self._ask("DELETE", path, query=query)
        return None if reply is None else _object(reply)

    def _read(self, path: tuple[str, ...], query: Mapping[str, str | int | None]) -> Any:
        return self._ask("GET", path, query={name: value for name, value in query.items() if value is not None})

    def _ask(
        self,
        method: str,
        path: tuple[str, ...],
        *,
        query: Mapping[str, str | int] | None = None,
        body: View | None = None,
        key: str | None = None,
        media: str | None = None,
    ) -> Any:
        """The reply to a request: JSON of the shape that belongs to it, or a text, where `media` names its type."""
        shape = None if media is not None else replies.shape_of(method, path)
        self._recognise()
        headers = {"Authorization": f"Bearer {self._token}"}
        if method in WRITES:
            headers["Idempotency-Key"] = key or self._new_key()
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        request = self._http.build_request(
            method,
            "/".join((self.url, "v1", *(quote(step, safe="") for step in path))),
            params=query or None,
            headers=headers,
            content=content,
        )
        reply = _persistently(self._http, request)
        if not reply.is_success:
            raise error_of(reply.status_code, _document(reply))
        if media is not None:
            if reply.headers.get("content-type", "").partition(";")[0].strip() != media:
                raise ServiceError(STRANGE)
            return reply.text
        replies.check(shape, reply.content)
        return reply.json() if reply.content else None

    def _recognise(self) -> None:
        """Check once that the address is a Touchstone of this version. Raises `ServiceError` if it is not."""
        if self._known:
            return
        reply = _persistently(self._http, self._http.build_request("GET", f"{self.url}/{replies.HEALTH_PATH}"))
        if reply.is_server_error or reply.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            raise error_of(reply.status_code, _document(reply))
        replies.recognise(self.url, reply.status_code, reply.content)
        self._known = True

    def _new_key(self) -> str:
        self._writes += 1
        return f"{self._run}-{self._writes}"


def upload(url: str, data: bytes, *, content_type: str, anew: bool = False) -> None:
    """PUT bytes to a presigned link, unless an object is there already. Raises `ServiceError`.

    The token is not sent: the link is its own permission. A store with conditional writes refuses a second upload, so
    that an upload whose reply was lost does not start the work again. `anew`: an object that is there is replaced.
    """
    headers = {"Content-Type": content_type} | ({} if anew else {"If-None-Match": "*"})
    with httpx.Client(verify=_trust(), timeout=FILE_TIMEOUT) as http:
        reply = _persistently(http, http.build_request("PUT", url, content=data, headers=headers))
    if not reply.is_success and reply.status_code != HTTPStatus.PRECONDITION_FAILED:
        raise ServiceError(f"The file could not be uploaded (HTTP {reply.status_code}); run the command again.")


def download(url: str, path: Path) -> None:
    """GET a presigned link and write the reply to a file, whole or not at all. Raises `ServiceError`, `StoreError`."""
    try:
        with httpx.Client(verify=_trust(), timeout=FILE_TIMEOUT) as http, http.stream("GET", url) as reply:
            if not reply.is_success:
                raise ServiceError(
                    f"The results could not be fetched (HTTP {reply.status_code}); run the command again."
                )
            replace(path, reply.iter_bytes())
    except httpx.HTTPError as error:
        raise _unreachable(error) from None


@cache
def _trust() -> ssl.SSLContext:
    """The certificates that are trusted. They are loaded once, since that takes longer than a request."""
    return httpx.create_ssl_context()


def _persistently(http: httpx.Client, request: httpx.Request) -> httpx.Response:
    """Send a request until its reply is final, `TRIES` times at most. Raises `ServiceError` if there is no reply."""
    tries, usual = 1, FIRST_WAIT_SECONDS
    while True:
        wait = usual
        try:
            reply = http.send(request)
        except httpx.DecodingError:
            raise ServiceError(STRANGE) from None
        except httpx.TransportError as error:
            if tries == TRIES:
                raise _unreachable(error) from None
        else:
            advised = _advised_wait(reply, usual)
            if tries == TRIES or advised is None:
                return reply
            wait = advised
        waiting.pause(wait)
        tries, usual = tries + 1, usual * 2


def _advised_wait(reply: httpx.Response, otherwise: float) -> float | None:
    """The seconds to wait before the request is repeated; None if a repeat cannot help, or only much later.

    `otherwise` is returned if the reply does not say how long.
    """
    repeat = reply.status_code in REPEATED or (
        reply.status_code == HTTPStatus.CONFLICT and _document(reply).get("type") == IN_PROGRESS
    )
    if not repeat:
        return None
    try:
        seconds = float(reply.headers["Retry-After"])
    except (KeyError, ValueError):
        return otherwise
    return seconds if 0 <= seconds <= LONGEST_WAIT_SECONDS else None


def _object(value: Any) -> View:
    """The value as an object, which the shape of the reply promises. Raises `ServiceError` if it is none."""
    if not isinstance(value, dict):
        raise ServiceError(STRANGE)
    return value


def _document(reply: httpx.Response) -> dict[str, Any]:
    try:
        found = reply.json()
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _unreachable(error: httpx.HTTPError) -> ServiceError:
    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout():
            check = "start what the URL names" if is_this_machine(_host(error)) else "check the URL and the network"
            what = f"cannot be reached: {check}"
        case httpx.TimeoutException():
            what = "did not answer in time"
        case _:
            what = "broke off the connection"
    return ServiceError(f"{_host(error)} {what}; it is safe to repeat the command.")


def _host(error: httpx.HTTPError) -> str:
    return error.request.url.host
