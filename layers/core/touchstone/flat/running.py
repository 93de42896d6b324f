"""Async functions for callers that do not await, and the judges that these functions ask."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import wraps
from typing import Any

from touchstone.judges import EnvironmentKeys, Judges, Registry, load_registry
from touchstone.kinds import require_kind


def blocking[**P, T](work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The blocking twin of an async function: it returns when all is done. Its name lacks the leading `a`.

    If an event loop runs already, as in a notebook, the work has a loop of its own in another thread, and the calling
    thread waits for it.
    """
    name = work.__name__.removeprefix("a")

    @wraps(work)
    def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            begun = work(*args, **kwargs)
        except TypeError as error:  # of arguments that do not fit: nothing has run yet
            raise TypeError(str(error).replace(work.__name__, name, 1)) from None

        def run() -> T:
            return asyncio.run(begun)

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return run()
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(copy_context().run, run).result()

    whole.__name__ = whole.__qualname__ = name
    return whole


@asynccontextmanager
async def opened(
    judges: Judges | None, *, registry: Registry | None = None, name: str = "judges"
) -> AsyncIterator[Judges]:
    """The given judges. If they are None, those whose keys are in the environment, which are closed at the end.

    `name` is the caller's for the judges. Raises `InputError` for what are none.
    """
    if judges is not None:
        otherwise = "; None means those with a key"
        require_kind(name, judges, Judges, "opened judges (touchstone.Judges)", remedy=otherwise)
        yield judges
        return
    registry = load_registry() if registry is None else registry
    own = Judges(registry, EnvironmentKeys(registry))
    try:
        yield own
    finally:
        await own.aclose()
