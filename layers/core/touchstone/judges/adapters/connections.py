"""The connections under the SDKs: aiohttp beneath httpx2's transport interface, and one request over them.

The SDKs' own clients spend 1.5–2 ms of CPU on each call, so a core is fully busy at a third of the rate that 200 calls
in flight could reach. This transport and the SDKs' lowest public entry together spend about half of that or less. The
transport reads the whole body at once, follows no redirects and repeats nothing: one request in, at most one request
out. The outcome of a request is a response or a failure of ours.

Failures are returned first and raised last, outside any `except`: an SDK's exception holds the raw body, which may
quote the key or the prompt, and must not become the context of our failure.

This module imports aiohttp and httpx2, so only `load()` imports it.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from http import HTTPStatus
from types import ModuleType
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
from pydantic_core import to_json

from touchstone.errors import JudgeError, ResultsGoneError, TimedOutError
from touchstone.judges.adapters import failures
from touchstone.judges.adapters.replies import Response

_SET_BY_TRANSPORT = frozenset({b"host", b"content-length", b"accept-encoding", b"connection"})
_OF_THE_ENCODED_BODY = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
LONGEST_REPLY_BYTES = 16 * 1024 * 1024
"""The most bytes of the response to a POST, decompressed. It holds one reply, or the state of a batch; the results of a
batch, which are longer, come by GET."""
_IDLE_SECONDS = 30.0
"""Seconds for which an idle connection is kept. Providers close theirs after 60 s or more."""


class CutOffError(httpx2.ReadError):
    """The connection was lost in the body of a response of status 200."""


class TooLongError(httpx2.ReadError):
    """The response is longer than `LONGEST_REPLY_BYTES`."""


@dataclass(frozen=True, slots=True)
class _Pool:
    """A session, and the generator that closes it."""

    session: aiohttp.ClientSession
    kept: AsyncGenerator[None]


async def _until_closed(session: aiohttp.ClientSession) -> AsyncGenerator[None]:
    """Close a session when this generator is closed.

    An event loop closes the generator at its own end, or once nobody refers to the generator.
    """
    try:
        yield
    finally:
        await session.close()


class Connections(httpx2.AsyncBaseTransport):
    """A transport with a pool of connections for each event loop, so that one client may serve several loops in turn.

    If nobody closes a pool, it is closed with its loop, or when this transport is gone.

    The number of connections has no limit: the caller decides how many calls are in flight. There is no time limit
    either: the caller bounds the whole call. Raises `httpx2.ConnectError` if no request has left, `httpx2.ReadError` if
    one may have left, `CutOffError` or `TooLongError` if a reply had begun.
    """

    def __init__(self) -> None:
        self._pools: dict[asyncio.AbstractEventLoop, _Pool] = {}
        self._proxies: dict[str, str | None] = {}
        self._certificates = certificates()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read its whole response."""
        if request.url.userinfo and "authorization" in request.headers:
            raise httpx2.UnsupportedProtocol("a user beside a key", request=request)
        session = await self._session()
        status: int | None = None
        headers = [
            (name.decode("ascii"), value.decode())
            for name, value in request.headers.raw
            if name.lower() not in _SET_BY_TRANSPORT
        ]
        try:
            async with session.request(
                request.method,
                str(request.url),
                data=await request.aread(),
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy(request.url),
            ) as response:
                status = response.status
                body = await (_bounded(response, request) if request.method == "POST" else response.read())
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
            raise httpx2.UnsupportedProtocol("not a URL", request=request) from error
        except aiohttp.ClientConnectorError as error:
            raise httpx2.ConnectError("no connection", request=request) from error
        except (aiohttp.ClientError, OSError) as error:
            lost = CutOffError if status == HTTPStatus.OK else httpx2.ReadError
            raise lost("connection lost", request=request) from error
        kept = [(name, value) for name, value in response.raw_headers if name.lower() not in _OF_THE_ENCODED_BODY]
        return httpx2.Response(response.status, headers=kept, content=body, request=request)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.kept.aclose()

    async def _session(self) -> aiohttp.ClientSession:
        """The session of the running loop, opened on first use; those of loops that have ended are forgotten."""
        loop = asyncio.get_running_loop()
        if (known := self._pools.get(loop)) is not None:
            return known.session
        self._pools = {each: pool for each, pool in self._pools.items() if not each.is_closed()}
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self._certificates, keepalive_timeout=_IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            headers={"accept-encoding": "identity"},
        )
        self._pools[loop] = _Pool(session, _until_closed(session))
        await anext(self._pools[loop].kept)
        return session

    def _proxy(self, url: httpx2.URL) -> str | None:
        """The proxy that the environment names for this host, looked up once. (aiohttp would look at every call.)"""
        if url.host not in self._proxies:
            self._proxies[url.host] = None if proxy_bypass(url.host) else getproxies().get(url.scheme)
        return self._proxies[url.host]


async def _bounded(response: aiohttp.ClientResponse, request: httpx2.Request) -> bytes:
    """The body of a response. Raises `TooLongError` for a reply that is too long; of an error the beginning is read."""
    chunks, length = [], 0
    async for chunk in response.content.iter_any():
        chunks.append(chunk)
        length += len(chunk)
        if length > LONGEST_REPLY_BYTES:
            if response.status == HTTPStatus.OK:
                raise TooLongError("too long", request=request)
            break
    return b"".join(chunks)


class Client(httpx2.AsyncClient):
    """An HTTP client that hands requests to its connections unchanged, for an SDK whose requests are complete.

    It ignores the environment's credentials files.

    The plain client merges URLs, headers, cookies and parameters into each request, and walks through authentication
    and redirects for each response. That takes a quarter of a millisecond, and an SDK's request needs none of it.
    """

    def __init__(self) -> None:
        self._connections = Connections()
        super().__init__(transport=self._connections, trust_env=False, timeout=None, follow_redirects=False)

    def build_request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Request:
        """The request as it was given, without defaults.

        If it is more than an absolute URL, headers and a body, the plain client builds it. No timeout is passed to the
        connections, since they keep none.
        """
        content, headers = options.get("content"), options.get("headers")
        address = _address(url) if isinstance(url, str) else url
        if any(options.get(name) is not None for name in _OF_THE_PLAIN_CLIENT) or not address.is_absolute_url:
            return super().build_request(method, url, **options)
        return httpx2.Request(method, address, headers=headers, content=content)

    async def send(self, request: httpx2.Request, **_said: Any) -> httpx2.Response:
        """Send a request, and read its whole response. A redirect is a response like any other."""
        if self.is_closed:
            return await super().send(request)
        return await self._connections.handle_async_request(request)

    async def request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Response:
        """Build a request and send it. Arguments about authentication and redirects are ignored, see `send`."""
        sent = {name: value for name, value in options.items() if name not in _OF_SENDING}
        return await self.send(self.build_request(method, url, **sent))


@lru_cache(maxsize=64)
def _address(url: str) -> httpx2.URL:
    """A parsed URL, kept for the next call: an SDK that gives its URLs as text has one for each model."""
    return httpx2.URL(url)


_OF_SENDING = ("auth", "follow_redirects")
_OF_THE_PLAIN_CLIENT = ("data", "files", "json", "params", "cookies", "extensions")


@cache
def certificates() -> ssl.SSLContext:
    """The trusted certificates, read once in each process: reading them takes longer than anything else here."""
    return httpx2.create_ssl_context()


def unused_client() -> httpx2.Client:
    """A synchronous client that cannot send. Without it, an SDK would load certificates for a client of its own."""
    return httpx2.Client(transport=httpx2.BaseTransport(), trust_env=False)


type Outcome = Response | JudgeError


async def within_timeout[R](
    provider: str,
    model: str,
    send: Callable[[], Awaitable[R | JudgeError]],
    *,
    timeout: float,  # noqa: ASYNC109 - bounds the whole call, body included
) -> R:
    """The response that `send` brings within `timeout` seconds in all. Raises a `JudgeError` if there is none."""
    if timeout <= 0:
        raise TimedOutError(f"No time was left to ask {provider} {model}.", sent=False)
    outcome: R | JudgeError
    try:
        async with asyncio.timeout(timeout):
            outcome = await send()
    except TimeoutError:
        outcome = failures.timed_out(provider, model, timeout)
    except httpx2.TransportError as error:
        outcome = connection_error(provider, error)
    except (ValueError, RecursionError):
        # The SDK could not decode an error's body.
        outcome = failures.unreadable(provider, model, "the response is garbled")
    if isinstance(outcome, JudgeError):
        raise outcome
    return outcome


async def post_json(
    sdk: ModuleType, client: Any, path: str, body: Mapping[str, Any], *, provider: str, seconds: float
) -> Outcome:
    """Send a request through the lowest public entry of the OpenAI and Anthropic SDKs, which one generator makes.

    The body is sent as it is, and the plain response is returned: building the SDKs' typed responses costs 2 ms of CPU,
    and letting them copy and write the body a tenth of that. `seconds` is only told to the service; `within_timeout`
    keeps the deadline.
    """
    options = {"max_retries": 0, "timeout": seconds}
    content = to_json(body)
    try:
        address = _address_of(client.base_url, path)
        response = await client.post(address, cast_to=httpx2.Response, content=content, options=options)
    except sdk.APIStatusError as error:
        return to_response(error.response)
    except sdk.APIConnectionError as error:
        return connection_error(provider, error.__cause__)
    return to_response(response)


@lru_cache(maxsize=64)
def _address_of(base: httpx2.URL, path: str) -> str:
    """The whole address of a path, kept for the next call.

    The SDKs put it together at every call, which is the longest part of making a request.
    """
    return str(base.copy_with(raw_path=base.raw_path + path.lstrip("/").encode()))


def to_response(response: Any) -> Response:
    """An httpx2 response (some SDKs declare it as one of several kinds) as the adapters read it."""
    return Response(status=response.status_code, headers=response.headers, body=response.content)


def connection_error(provider: str, error: BaseException | None) -> JudgeError:
    """The error that a connection's failure means. Its `sent` says whether the request may have left."""
    match error:
        case httpx2.UnsupportedProtocol():
            return failures.bad_base_url(provider)
        case httpx2.ConnectError() if isinstance(error.__cause__, aiohttp.ClientConnectorCertificateError):
            return failures.untrusted(provider)
        case CutOffError():
            return failures.cut_off(provider)
        case TooLongError():
            return failures.too_long(provider)
        case httpx2.ConnectError():
            return failures.unreachable(provider, sent=False)
        case _:
            return failures.unreachable(provider, sent=True)


async def call_sdk[C, R](
    sdk: ModuleType,
    client: C,
    do: Callable[[C], Awaitable[R]],
    *,
    provider: str,
    failed: Callable[[Response], JudgeError],
    seconds: float,
) -> R:
    """The result of `do` within `seconds`. Raises a `JudgeError` for every failure; `failed` makes it of a response."""

    async def send() -> R | JudgeError:
        try:
            return await do(client)
        except sdk.APIStatusError as error:
            return failed(to_response(error.response))
        except sdk.APIConnectionError as error:
            return connection_error(provider, error.__cause__)
        except ResultsGoneError as error:
            return error

    return await within_timeout(provider, "batches", send, timeout=seconds)
