"""Run awaitables side by side, each to its own end: a judge's reply is paid for, also if another awaitable fails.

`asyncio.gather` abandons the other awaitables when one fails, and a task group cancels them. In both cases a reply that
is paid for is lost, and is paid for again.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import cast


async def gather_all[T](works: Iterable[Awaitable[T]], *, concurrency: int | None = None) -> list[T]:
    """The results of all `works`, in their order.

    `concurrency` is how many works run at a time, None: all at once. With a number, each work is taken from `works`
    when it begins, and no work begins after one has failed. If a work fails, the first failure is raised after all
    works that have begun have ended. An exception that is no `Exception`, such as the end of the process, is raised at
    once.
    """
    if concurrency is not None:
        return await _few_at_once(works, concurrency)
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return await asyncio.gather(*tasks)  # noqa: TID251 - the works that it leaves are waited for
    except Exception:
        await asyncio.gather(*tasks, return_exceptions=True)  # noqa: TID251
        raise


async def _few_at_once[T](works: Iterable[Awaitable[T]], seats: int) -> list[T]:
    waiting = enumerate(works)
    done: dict[int, T] = {}
    failed = False

    async def seat() -> None:
        nonlocal failed
        try:
            while not failed and (following := next(waiting, None)) is not None:
                place, work = following
                done[place] = await work
        except Exception:
            failed = True
            raise

    await gather_all(seat() for _ in range(seats))
    return [done[place] for place in range(len(done))]


async def gather_two[A, B](one: Awaitable[A], other: Awaitable[B]) -> tuple[A, B]:
    """The results of two works of different types; see `gather_all`."""
    found = await gather_all(cast("list[Awaitable[object]]", [one, other]))
    return cast("tuple[A, B]", tuple(found))
