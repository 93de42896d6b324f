"""One step of a batch through the OpenAI or the Anthropic SDK, which are made by one generator.

Imports httpx2, so it is imported by a step only.
"""

from collections.abc import Awaitable, Callable
from types import ModuleType

from touchstone.errors import JudgeError, ResultsGoneError
from touchstone.judges.adapters import sending
from touchstone.judges.adapters.replies import Response


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
            return failed(sending.plain(error.response))
        except sdk.APIConnectionError as error:
            return sending.lost(provider, error.__cause__)
        except ResultsGoneError as error:
            return error

    return await sending.delivered(provider, "batches", send, timeout=seconds)
