"""A check in front of the local cloud, in its process: only this user and the cloud's own pages are served.

Run by the cloud's interpreter (`python front.py`), which has none of our packages. Every local program, and every web
page in a browser on this machine, can send requests to a port on loopback. So each request is checked:

    Host     must name this machine, whatever another name may resolve to
    Origin   must be the address itself, if a browser sends it; pages of other sites get no answer
    signed   requests must be signed by this home's credentials or a function role's; the signature is recomputed
    else     only the API of the stack, which asks for its own token, and the health check are served
    size     is limited to that of an API request, of a file sent by a link, or of a deployment's upload
"""

import hashlib
import hmac
import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from http import HTTPStatus
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

type Message = MutableMapping[str, Any]
type Scope = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type App = Callable[[Scope, Receive, Send], Awaitable[None]]
type Signed = Callable[["Request"], bool]
"""A function that tells whether the signature of a request is right."""

KEY_VARIABLE, SECRET_VARIABLE, TOKEN_VARIABLE = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"
MEGABYTE = 1024 * 1024
MAX_API_BYTES = 10 * MEGABYTE
"""The largest request that API Gateway accepts for an HTTP API."""
MAX_LINKED_BYTES = 64 * MEGABYTE
"""The largest file that a link is made for, which is a file of a batch."""
MAX_SIGNED_BYTES = 512 * MEGABYTE
"""Larger than every zip that a deployment uploads."""
THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "[::1]"})
API_PATH = "/_aws/execute-api/"
API_HOST = re.compile(r"[a-z0-9]+\.execute-api\.localhost")
OWN_PATHS = ("/_ministack/", "/_localstack/")
"""The emulator's own paths, which need no credentials and can delete everything."""
HEALTH = "/_ministack/health"
FORM = "application/x-www-form-urlencoded"
ALGORITHM = "AWS4-HMAC-SHA256"
_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/")


@dataclass(frozen=True, slots=True)
class Request:
    """A whole request. Header names are in lower case; lines of the same name are joined as they are signed."""

    method: str
    path: str
    raw_path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def host(self) -> str:
        """The host that the request names, without the port."""
        return re.sub(r":\d*$", "", self.headers.get("host", "").lower())

    @property
    def linked(self) -> bool:
        """Whether the request is signed in its address, as a link is."""
        return any(name.lower().startswith("x-amz-") for name in self.query)

    @property
    def keys(self) -> frozenset[str]:
        """All access keys that the request names; "" stands for an authorization whose key cannot be read."""
        said = self.headers.get("authorization", "")
        found = {match[1] if (match := _CREDENTIAL.search(said)) else ""} if said.startswith("AWS") else set()
        for name, values in self.query.items():
            if name.lower() in {"x-amz-credential", "awsaccesskeyid"}:
                found |= {value.partition("/")[0] for value in values}
        return frozenset(found)


class Front:
    """An ASGI app in front of another.

    `signed` tells of a request with one access key whether it is signed by this key.
    """

    def __init__(self, app: App, *, signed: Signed) -> None:
        self._app = app
        self._signed = signed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # the stack opens no web sockets
        request = _request(scope)
        refusal = refused(request)
        if refusal is None:
            body = await _body(receive, at_most=max_body_bytes(request))
            if body is None:
                refusal = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "There is more than is taken here."
            elif request.keys and not self._signed(replace(request, body=body)):
                refusal = HTTPStatus.FORBIDDEN, "The signature is not that of credentials of this local cloud."
        if refusal is None:
            await self._app(scope, _again(body or b"", receive), _without_cross_origin(send))
        else:
            await _refuse(send, *refusal, xml=request.headers.get("content-type", "").startswith(FORM))


def refused(request: Request) -> tuple[HTTPStatus, str] | None:
    """The reason to refuse a request before its body is read; None if it is not refused."""
    if request.host not in THIS_MACHINE and not request.host.endswith(".localhost"):
        return HTTPStatus.FORBIDDEN, "This local cloud answers to the names of this machine only."
    if not _from_here(request.headers):
        return HTTPStatus.FORBIDDEN, "This local cloud answers no page of another site."
    if request.path.startswith(OWN_PATHS):
        known = request.method in {"GET", "HEAD"} and request.path == HEALTH
        return None if known and not request.keys else (HTTPStatus.FORBIDDEN, "There is nothing here for anybody.")
    if request.keys:
        return None if len(request.keys) == 1 else (HTTPStatus.FORBIDDEN, "Sign with one key.")
    if is_api(request) and "x-amz-target" not in request.headers:
        return None
    return HTTPStatus.FORBIDDEN, "Sign with the credentials that `touchstone-local env` prints."


def is_api(request: Request) -> bool:
    """Whether the request is for the API of the stack, which asks for its own token."""
    if request.path.startswith(API_PATH):
        return request.host in THIS_MACHINE
    return API_HOST.fullmatch(request.host) is not None


def max_body_bytes(request: Request) -> int:
    """The most bytes that the body of the request may have."""
    if not request.keys:
        return MAX_API_BYTES
    return MAX_LINKED_BYTES if request.linked else MAX_SIGNED_BYTES


def _from_here(headers: Mapping[str, str]) -> bool:
    """Whether the request comes from this cloud's own page, or not from a page at all.

    A link from another site may be followed to here.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None:
        ours = origin.lower() == f"http://{headers.get('host', '').lower()}"
        return ours or (origin == "null" and site == "same-origin")
    return site in {None, "same-origin", "none"} or headers.get("sec-fetch-mode") == "navigate"


def _request(scope: Scope) -> Request:
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("utf-8", "replace")
        headers[key] = f"{headers[key]},{text}" if key in headers else text
    raw_path = scope.get("raw_path") or scope["path"].encode()
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    return Request(scope["method"], scope["path"], raw_path.decode("latin-1"), query, headers)


async def _body(receive: Receive, *, at_most: int) -> bytes | None:
    """The whole body; None if it is longer than `at_most`."""
    parts: list[bytes] = []
    left = at_most
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None  # the connection was cut: the body is incomplete
        parts.append(message.get("body", b""))
        left -= len(parts[-1])
        if left < 0:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns a body that was read already once more, and then the following messages."""
    given = False

    async def read() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return read


def _without_cross_origin(send: Send) -> Send:
    """A `send` that removes the headers by which other sites' pages could read the response."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message["headers"] if not pair[0].lower().startswith(b"access-control-")]
            message = {**message, "headers": kept}
        await send(message)

    return told


async def _refuse(send: Send, status: HTTPStatus, why: str, *, xml: bool) -> None:
    """Send an error in the format of the request's protocol: XML for requests that send forms, else JSON."""
    code = status.phrase.replace(" ", "")
    content = json.dumps({"__type": code, "message": why}).encode()
    if xml:
        content = f"<ErrorResponse><Error><Code>{code}</Code><Message>{why}</Message></Error></ErrorResponse>".encode()
    headers = [(b"content-type", b"text/xml" if xml else b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def main() -> None:  # pragma: no cover - run in the cloud's process
    """Run the emulator behind this check."""
    runtime: Any = import_module("ministack.core.lambda_runtime")
    sts: Any = import_module("ministack.services.sts")
    secret = os.environ[SECRET_VARIABLE]
    salt_roles(runtime, sts, secret)
    fork_server: Any = import_module("fork_server")  # lies beside this file
    fork_server.starting(runtime)
    emulator: Any = import_module("ministack.app")
    emulator.app = Front(emulator.app, signed=_signatures(sts, {os.environ[KEY_VARIABLE]: secret}))
    emulator.main()


def salt_roles(runtime: Any, sts: Any, secret: str) -> None:
    """Give functions' roles credentials that cannot be computed from the functions' names, as the emulator's own can.

    The emulator registers the same session again for each process of a function, while other processes of the function
    send requests. So the single write of a session already holds the salted credentials: the guessable ones are never
    valid, not even for a moment.
    """
    made: Callable[[dict[str, Any]], dict[str, str]] = runtime.execution_credentials
    register: Callable[[str, dict[str, Any]], None] = sts.register_session
    of_function: ContextVar[bool] = ContextVar("of_function", default=False)

    def salted(name: str, key: str) -> str:
        return hmac.new(secret.encode(), f"{name}:{key}".encode(), hashlib.sha256).hexdigest()

    def register_session(key: str, session: dict[str, Any]) -> None:
        if of_function.get():
            secrets = {"SecretAccessKey": salted(SECRET_VARIABLE, key), "SessionToken": salted(TOKEN_VARIABLE, key)}
            session = {**session, **secrets}
        register(key, session)

    def execution_credentials(config: dict[str, Any]) -> dict[str, str]:
        token = of_function.set(True)
        try:
            found = made(config)
        finally:
            of_function.reset(token)
        return {**found, **{name: salted(name, found[KEY_VARIABLE]) for name in (SECRET_VARIABLE, TOKEN_VARIABLE)}}

    sts.register_session, runtime.execution_credentials = register_session, execution_credentials


def _signatures(sts: Any, own: Mapping[str, str]) -> Signed:  # pragma: no cover - as above
    sigv4 = import_module("ministack.core.sigv4")

    def signed(request: Request) -> bool:
        (key,) = request.keys
        secret = own.get(key) or sts._sessions.get(key, {}).get("SecretAccessKey")  # noqa: SLF001 - as above
        said = request.headers.get("authorization", "")
        if not secret or (said.startswith("AWS") and not said.startswith(f"{ALGORITHM} ")):
            return False
        in_header = said.startswith(ALGORITHM)
        found = (
            sigv4.parse_header_signature(request.headers) if in_header else sigv4.parse_query_signature(request.query)
        )
        if isinstance(found, tuple) or found.region_set is not None or (not in_header and found.service != "s3"):
            return False
        if in_header and sigv4.request_time_failure(found) is not None:
            return False
        return (
            sigv4.header_signature_failure(
                found, secret, request.method, request.raw_path, request.query, request.headers, request.body,
                presigned=not in_header
            )
            is None
        )  # fmt: skip

    return signed


if __name__ == "__main__":
    main()
