"""One request through an SDK, within one deadline. Its outcome is a response or a failure of ours.

Failures are returned first and raised last, outside any `except`: an SDK's exception holds the raw body, which may
quote the key or the prompt, and must not become the context of our failure.

This module imports aiohttp and httpx2, so only `load()` imports it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

import aiohttp
import httpx2
from pydantic_core import to_json

from touchstone.errors import JudgeError, ResultsGoneError, TimedOutError
from touchstone.judges.adapters import connections, failures
from touchstone.judges.adapters.replies import Response

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
        address = _address(client.base_url, path)
        response = await client.post(address, cast_to=httpx2.Response, content=content, options=options)
    except sdk.APIStatusError as error:
        return to_response(error.response)
    except sdk.APIConnectionError as error:
        return connection_error(provider, error.__cause__)
    return to_response(response)


@lru_cache(maxsize=64)
def _address(base: httpx2.URL, path: str) -> str:
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
        case connections.CutOffError():
            return failures.cut_off(provider)
        case connections.TooLongError():
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
