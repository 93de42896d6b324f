"""Killed before and after every write and every call to a provider: each line is stored once, paid once, and right."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import replies
from tests.support.balance import balance_local
from tests.support.batching import KEYS, PROVIDER_CALLS
from tests.support.deaths import Fate, KilledError
from tests.support.providers import ProviderServer
from tests.support.wire_batches import Plan
from touchstone.cli.batches import local_batch
from touchstone.cli.batches.batch_journal import BatchJournal
from touchstone.cli.files.batch_files import ResultsFile, read_requests
from touchstone.cli.terminal import waiting
from touchstone.clock import OFFSET_VARIABLE

COUNT = 3
LINES = [{"kind": "verify", "problem": f"Name island-{number}.", "answer": "x"} for number in range(COUNT)]
STEPS: list[tuple[Any, str]] = [
    (BatchJournal, "add"),
    (ResultsFile, "append"),
    (local_batch, "replace"),
    *PROVIDER_CALLS,
]
SEVERAL = 2


@pytest.fixture
def fate(monkeypatch: pytest.MonkeyPatch) -> Fate:
    found = Fate()
    found.meet(monkeypatch, STEPS)

    rested = [0.0]

    async def rest(seconds: float) -> None:
        """Time is made up."""
        rested.append(seconds)
        monkeypatch.setenv(OFFSET_VARIABLE, str(sum(rested)))

    monkeypatch.setattr(waiting, "rest", rest)
    return found


@pytest.fixture(params=KEYS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer() as started:
        everything = started.environment()
        for name, value in everything.items():
            if name == KEYS[request.param] or not name.endswith("KEY"):
                monkeypatch.setenv(name, value)
        yield started


def _run(path: Path, fate: Fate, *, kill_at: int | None) -> bool:
    """Whether a run came to its end; it is killed at this moment of it."""
    fate.alive()
    fate.seen, fate.at = 0, () if kill_at is None else (kill_at,)
    try:
        local_batch.run(
            read_requests(path), results=path.with_suffix(".results"), side_by_side=1, again=False, cheap=True
        )
    except KilledError:
        return False
    return True


def _arrange(server: ProviderServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh day: a provider that mixes things up, an empty cache, and a file that nobody has begun."""
    server.reset()
    for number in range(COUNT):
        server.reply(replies.verify(independent_answer="x", confidence=number / 10), prompt=f"island-{number}")
    server.batches.plan(Plan(looks=1, twice=(0,), order=(1, 0, 2)))
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def _check(server: ProviderServer, path: Path) -> None:
    """Each line stands in the results once, with its own verdict, and with one call that was paid for."""
    found = [json.loads(line) for line in path.with_suffix(".results").read_text().splitlines()]
    assert [one["line"] for one in found] == list(range(1, COUNT + 1))
    answers = [one["answer"] for one in found]
    assert [answer["verify_confidence"] for answer in answers] == [number / 10 for number in range(COUNT)]
    assert [[spend["cached"] for spend in answer["spends"]] for answer in answers] == [[False]] * COUNT
    assert len({answer["spends"][0]["line_id"] for answer in answers}) == COUNT
    assert len({answer["cost_usd"] for answer in answers}) == 1
    balance_local(server, path, path.with_suffix(".results"))
    assert len(server.calls) == COUNT, "no batch is paid twice: an orphan is found again"
    assert all(call.by_batch for call in server.calls)
    assert [each.name for each in path.parent.glob("*.batches")] == []


def test_a_crash_at_any_moment_loses_nothing_and_pays_nothing_twice(
    server: ProviderServer, fate: Fate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment, ended = 0, False
    while not ended:
        moment += 1
        path = _arrange(server, tmp_path / f"killed-{moment}", monkeypatch)
        ended = _run(path, fate, kill_at=moment)
        assert _run(path, fate, kill_at=None), "the next run comes to its end"
        _check(server, path)
    at_least = 2 * (COUNT + len(("intent", "created", "ended", "submit", "look", "look", "collect")))
    assert moment > at_least, "the moments are those of all steps"


def test_a_crash_in_every_run_loses_nothing_either(
    server: ProviderServer, fate: Fate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run comes a little further than the one before."""
    path = _arrange(server, tmp_path / "killed", monkeypatch)
    runs = 0
    while not _run(path, fate, kill_at=4 + runs):
        runs += 1
    assert runs > SEVERAL
    _run(path, fate, kill_at=None)
    _check(server, path)
