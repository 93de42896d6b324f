"""Waiting between two looks: short at first, then seldom."""

from itertools import islice

import pytest

from touchstone.cli.terminal import waiting


def test_looks_grow_apart_up_to_a_bound() -> None:
    found = list(islice(waiting.intervals(), 12))
    assert found[:3] == [0.5, 0.75, 1.125]
    assert found == sorted(found)
    assert found[-1] == waiting.LONGEST_SECONDS


def test_a_pause_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the others do without it
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    waiting.pause(3.0)
    assert slept == [3.0]
