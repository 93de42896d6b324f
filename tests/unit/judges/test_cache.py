"""The two caches: what goes in comes out, and what cannot be kept says so."""

import asyncio
from pathlib import Path

import pytest

from touchstone.errors import StoreError
from touchstone.judges import FileCache, MemoryCache, ReplyCache


@pytest.fixture(params=["memory", "file"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> ReplyCache:
    return MemoryCache() if request.param == "memory" else FileCache(tmp_path / "new folder" / "replies.sqlite")


async def test_what_goes_in_comes_out(cache: ReplyCache) -> None:
    assert await cache.get("k") is None
    await cache.put("k", '{"value": "解 ≠ \\u0000 🎓"}')
    await cache.put("l", "2")
    await cache.put("l", "3")
    assert await cache.get("k") == '{"value": "解 ≠ \\u0000 🎓"}'
    assert await cache.get("l") == "3"


async def test_many_at_once(cache: ReplyCache) -> None:
    await asyncio.gather(*(cache.put(str(n % 7), str(n % 7)) for n in range(40)))
    assert await asyncio.gather(*(cache.get(str(n)) for n in range(7))) == [str(n) for n in range(7)]


async def test_a_full_memory_forgets_what_was_not_used_for_longest() -> None:
    cache = MemoryCache(entries=2)
    await cache.put("a", "1")
    await cache.put("b", "2")
    await cache.get("a")
    await cache.put("c", "3")
    assert [await cache.get(key) for key in "abc"] == ["1", None, "3"]
    assert len(cache) == 2


async def test_a_file_is_shared_by_runs(tmp_path: Path) -> None:
    await FileCache(tmp_path / "replies.sqlite").put("k", "v")
    assert await FileCache(tmp_path / "replies.sqlite").get("k") == "v"


async def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreError, match=r"replies\.sqlite cannot be used"):
        await FileCache(path).get("k")
    with pytest.raises(StoreError, match="delete it or name another"):
        await FileCache(path).put("k", "v")


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        await FileCache(tmp_path / "file" / "replies.sqlite").get("k")
