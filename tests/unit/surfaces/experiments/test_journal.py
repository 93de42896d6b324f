"""The journal: what was answered outlives the process, a torn last line does not spoil the rest, one run holds it."""

import asyncio
import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.errors import ConflictError, StoreError
from touchstone.judges import ReplyCache
from touchstone.judges.spends import Spend
from touchstone.surfaces.experiments.journal import ExperimentJournal

SPEND = Spend(purpose="quiz_clarity", provider="openai", model="m", prompt_version="v", input_tokens=3, cost_usd=0.25)


def opened(folder: Path) -> ExperimentJournal:
    return ExperimentJournal.open(folder / "run" / "replies.jsonl")


async def test_what_was_kept_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    journal: ExperimentJournal = opened(tmp_path)
    cache: ReplyCache = journal
    await cache.put("one", '{"value": "渗透"}')
    await journal.record(key="two", reply_json="2", spends=[SPEND])
    await journal.record(spends=[SPEND])
    await journal.record(untold=0.5)
    await journal.record()
    journal.close()
    journal.close()
    again = opened(tmp_path)
    assert [await again.get(key) for key in ("one", "two", "three")] == ['{"value": "渗透"}', "2", None]
    assert (len(again), again.spends, again.spent) == (2, (SPEND, SPEND), 1.0)
    await again.put("three", "3")
    assert await again.get("three") == "3"
    again.close()


@settings(deadline=None, max_examples=25)  # it waits for the disk
@given(cut=st.integers(min_value=1, max_value=400))
async def test_a_journal_cut_anywhere_keeps_every_whole_line_and_can_be_gone_on_with(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "replies.jsonl"
    journal = ExperimentJournal.open(path)
    for number in range(4):
        await journal.record(key=f"key{number}", reply_json=str(number), spends=[SPEND])
    journal.close()
    data = path.read_bytes()[:-cut]
    path.write_bytes(data)
    whole = data.count(b"\n")
    again = ExperimentJournal.open(path)
    assert (len(again), len(again.spends)) == (whole, whole)
    await again.put("new", "5")
    again.close()
    last = ExperimentJournal.open(path)
    assert len(last) == whole + 1
    assert await last.get("new") == "5"
    last.close()


async def test_a_line_that_cannot_be_read_is_as_if_it_had_never_been_asked(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    good = json.dumps({"key": "good", "reply": "1", "spends": []})
    path.write_text(f'garbage\n{{"key": "no spends", "reply": "1"}}\n[]\n"x"\n{good}\n')
    journal = ExperimentJournal.open(path)
    assert (len(journal), await journal.get("good"), await journal.get("no spends")) == (1, "1", None)
    journal.close()


async def test_many_replies_at_once_are_all_kept(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    await asyncio.gather(*(journal.put(f"key{number}", f'"{number}"') for number in range(200)))
    assert await journal.get("key117") == '"117"'
    journal.close()
    again = opened(tmp_path)
    assert len(again) == 200
    again.close()


@contextmanager
def room(path: Path, more: int) -> Iterator[None]:
    """A disk on which a file can grow by so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_leaves_every_question_its_own_reply(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    journal = ExperimentJournal.open(path)
    await journal.put("one", "1" * 100)
    with room(path, 50):
        with pytest.raises(StoreError, match="free some space"):
            await journal.put("two", "2" * 100)
        with pytest.raises(StoreError, match="free some space"):
            journal.note(untold=0.5)
        assert await journal.get("one") == "1" * 100
    await journal.put("three", "3" * 100)
    assert [await journal.get(key) for key in ("one", "two", "three")] == ["1" * 100, None, "3" * 100]
    journal.close()
    again = ExperimentJournal.open(path)
    assert (len(again), again.spent, path.read_bytes().count(b"\n")) == (2, 0.0, 2)
    again.close()


def test_one_run_holds_a_journal_until_it_is_closed(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    with pytest.raises(ConflictError, match="Another run is at work"):
        opened(tmp_path)
    journal.close()
    opened(tmp_path).close()


def test_a_place_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StoreError, match=r"replies\.jsonl cannot be used"):
        opened(tmp_path)
