"""Waiting between two looks: short at first, then seldom."""

from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import pytest

from touchstone.cli.deployment.api import followed
from touchstone.cli.terminal import waiting

if TYPE_CHECKING:
    from touchstone.cli.deployment.client import ApiClient


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


@pytest.mark.parametrize(
    ("kind", "going_on", "said"),
    [
        ("audits", {"done": 1, "cases": 4, "cost_usd": 0.5}, "Cases: 1 of 4, $0.5000"),
        ("experiments", {"done": 3, "pairs": 6, "cost_usd": 0.5}, "Pairs: 3 of 6, $0.5000"),
        (
            "measurements",
            {"metrics": [{"over": True}, {"over": False}], "outlay": {"cost_usd": 0.5, "unpriced": 0}},
            "Metrics: 1 of 2, $0.5000",
        ),
    ],
)
@pytest.mark.usefixtures("pauses")
def test_long_work_shows_its_progress_while_it_is_waited_for(
    capsys: pytest.CaptureFixture[str], kind: str, going_on: dict[str, Any], said: str
) -> None:
    looks = iter(({**going_on, "id": "7"}, {**going_on, "id": "7", "finished_at": "now"}))
    asked: list[tuple[str, ...]] = []

    class Api:
        def get(self, *path: str) -> dict[str, Any]:
            asked.append(path)
            return next(looks)

    found = followed(cast("ApiClient", Api()), kind, {"id": "7"}, seconds=60)
    assert (found["finished_at"], asked) == ("now", [(kind, "7")] * 2)
    assert capsys.readouterr() == ("", f"{said}\n")
