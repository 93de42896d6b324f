"""Works side by side: each comes to its own end, and a failure of one loses nothing of another."""

import asyncio
from collections.abc import Iterator

import pytest

from touchstone.together import gather_all, gather_two


class Works:
    """Works that wait for each other: the one that fails does so while the others are under way."""

    def __init__(self, failing: int, error: BaseException) -> None:
        self.failing, self.error = failing, error
        self.begun: list[int] = []
        self.ended: list[int] = []

    async def one(self, number: int) -> int:
        self.begun.append(number)
        await asyncio.sleep(0)
        if number == self.failing:
            raise self.error
        for _ in range(3):
            await asyncio.sleep(0)
        self.ended.append(number)
        return number

    def all(self, count: int) -> Iterator[asyncio.Future[int]]:
        return (asyncio.ensure_future(self.one(number)) for number in range(count))


async def test_each_comes_to_its_end_before_the_first_failure_is_raised() -> None:
    works = Works(1, ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        await gather_all(works.all(4))
    assert works.ended == [0, 2, 3]


async def test_of_few_at_once_none_begins_after_a_failure() -> None:
    works = Works(1, ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        await gather_all(map(works.one, range(20)), concurrency=3)
    assert works.begun == [0, 1, 2]
    assert works.ended == [0, 2]


async def test_results_are_in_order_however_many_run_at_once() -> None:
    async def late(number: int) -> int:
        for _ in range(7 - number):
            await asyncio.sleep(0)
        return number

    for at_once in (None, 1, 3, 50):
        assert await gather_all(map(late, range(7)), concurrency=at_once) == list(range(7))
    assert await gather_all(()) == []


async def test_only_so_many_are_under_way() -> None:
    under_way, most = 0, 0

    async def one(_: int) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    await gather_all(map(one, range(10)), concurrency=4)
    assert most == 4


class Ends(BaseException):
    """The process ends."""


async def test_the_end_of_the_process_waits_for_nobody() -> None:
    works = Works(1, Ends())
    with pytest.raises(Ends):
        await gather_all(works.all(4))
    assert works.ended == []


async def test_who_is_cancelled_cancels_all() -> None:
    begun: list[int] = []

    async def long(number: int) -> None:
        begun.append(number)
        try:
            await asyncio.sleep(3600)
        finally:
            begun.remove(number)

    for at_once in (None, 2):
        whole = asyncio.create_task(gather_all(map(long, range(3)), concurrency=at_once))
        await asyncio.sleep(0.01)
        assert begun == list(range(at_once or 3))
        whole.cancel()
        with pytest.raises(asyncio.CancelledError):
            await whole
        assert begun == []


async def test_what_is_cancelled_before_it_begins_is_closed() -> None:
    """A coroutine that is never awaited would be warned of."""
    works = Works(9, ValueError())
    for at_once in (None, 2):
        whole = asyncio.create_task(gather_all((works.one(number) for number in range(3)), concurrency=at_once))
        await asyncio.sleep(0)
        whole.cancel()
        with pytest.raises(asyncio.CancelledError):
            await whole
    assert works.ended == []


async def test_two_of_different_kinds() -> None:
    async def text() -> str:
        return "a"

    works = Works(9, ValueError())
    assert await gather_two(text(), works.one(3)) == ("a", 3)
