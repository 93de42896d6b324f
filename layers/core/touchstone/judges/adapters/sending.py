"""One request through an SDK, within one deadline: what comes of it is a response or a failure of ours.

Failures are returned first and raised last, outside any `except`: an SDK's exception holds the raw body, which may
quote the key or the prompt, and must not hang on ours as its context.

Imports httpx2, so it is imported by `load()` only.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

import httpx2

from touchstone.errors import JudgeError, ResultsGoneError, TimedOutError
from touchstone.judges.adapters import failures
from touchstone.judges.adapters.replies import Response

type Outcome = Response | JudgeError

_WRITTEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


async def delivered[R](
    provider: str,
    model: str,
    send: Callable[[], Awaitable[R | JudgeError]],
    *,
    timeout: float,  # noqa: ASYNC109 - bounds the whole call, body included
) -> R:
    """The response that `send` brings within `timeout` seconds in all. Raises the `JudgeError` it ends with."""
    if timeout <= 0:
        raise TimedOutError(f"No time was left to ask {provider} {model}.", sent=False)
    outcome: R | JudgeError
    try:
        async with asyncio.timeout(timeout):
            outcome = await send()
    except TimeoutError:
        outcome = failures.timed_out(provider, model, timeout)
    except httpx2.TransportError as error:
        outcome = lost(provider, error)
    except (ValueError, RecursionError):
        # The SDK could not decode an error's body.
        outcome = failures.unreadable(provider, model, "the response is garbled")
    if isinstance(outcome, JudgeError):
        raise outcome
    return outcome


async def posted(
    sdk: ModuleType, client: Any, path: str, body: Mapping[str, Any], *, provider: str, seconds: float
) -> Outcome:
    """A request through the lowest public entry of the OpenAI and Anthropic SDKs, which are made by one generator.

    It sends the body as it is and hands back the plain response: building the SDKs' typed ones costs 2 ms of CPU, and
    letting them copy and write the body a tenth of that. `seconds` is only told to the service; the deadline is kept by
    `delivered`.
    """
    options = {"max_retries": 0, "timeout": seconds}
    content = _WRITTEN.encode(body).encode()
    try:
        address = _address(client.base_url, path)
        response = await client.post(address, cast_to=httpx2.Response, content=content, options=options)
    except sdk.APIStatusError as error:
        return plain(error.response)
    except sdk.APIConnectionError as error:
        return lost(provider, error.__cause__)
    return plain(response)


@lru_cache(maxsize=64)
def _address(base: httpx2.URL, path: str) -> str:
    """The whole address of a path, put together as the SDKs do at every call: the longest part of making a request."""
    return str(base.copy_with(raw_path=base.raw_path + path.lstrip("/").encode()))


def plain(response: Any) -> Response:
    """An httpx2 response (some SDKs declare it as one of several kinds) as the adapters read it."""
    return Response(status=response.status_code, headers=response.headers, body=response.content)


def lost(provider: str, error: BaseException | None) -> JudgeError:
    """What a connection's failure means: whether the request may have left."""
    match error:
        case httpx2.UnsupportedProtocol():
            return failures.bad_base_url(provider)
        case httpx2.ConnectError():
            return failures.unreachable(provider, sent=False)
        case _:
            return failures.unreachable(provider, sent=True)


async def asked[C, R](
    sdk: ModuleType,
    client: C,
    do: Callable[[C], Awaitable[R]],
    *,
    provider: str,
    failed: Callable[[Response], JudgeError],
    seconds: float,
) -> R:
    """What a step brings within so many seconds. Raises a `JudgeError` for every failure, `failed` by a response."""

    async def send() -> R | JudgeError:
        try:
            return await do(client)
        except sdk.APIStatusError as error:
            return failed(plain(error.response))
        except sdk.APIConnectionError as error:
            return lost(provider, error.__cause__)
        except ResultsGoneError as error:
            return error

    return await delivered(provider, "batches", send, timeout=seconds)
