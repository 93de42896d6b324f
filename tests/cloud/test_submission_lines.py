"""Work handed in by the thousands: the lines of a file, taken and judged like any other, and as silent as any other."""

import json
from typing import Any

import httpx
import pytest

from tests.support.callers import said
from tests.support.cloud import Cloud
from tests.support.contests import Contest

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(600)]


def _results(contest: Contest, lines: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The batch of these lines once it has ended, and its results by line."""
    caller = contest.caller
    begun = said(caller.send("POST", "v1/batches"), 201)
    content = "".join(json.dumps({"kind": "submission", "task_id": contest.id, **line}) + "\n" for line in lines)
    httpx.put(
        begun["upload_url"], content=content.encode(), headers={"content-type": "application/x-ndjson"}, timeout=60.0
    ).raise_for_status()
    batch = caller.batch_ended()
    results = [json.loads(line) for line in httpx.get(batch["results_url"]).raise_for_status().text.splitlines()]
    return batch, sorted(results, key=lambda one: int(one["line"]))


def test_a_file_of_work_enters_a_contest_line_by_line(cloud: Cloud) -> None:
    cloud.judge.arrange(reset=True)
    contest = Contest.opened(cloud.tenant("lines"))
    readings = {f"writer-{number}": 60 + number for number in range(20)}
    lines: list[dict[str, Any]] = [
        {"id": name, "submitter": name, "text": contest.text(name, reading)} for name, reading in readings.items()
    ]
    lines += [
        {"id": "gate", "submitter": "gate", "text": contest.text("gate", 99, unsourced=True)},
        {"id": "blank", "submitter": "blank", "text": " "},
        {"id": "lost", "submitter": "lost", "text": "Work.", "task_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
    ]
    batch, results = _results(contest, lines)
    assert (batch["total"], batch["done"], batch["failed"]) == (23, 21, 2)
    assert [one["id"] for one in results] == [line["id"] for line in lines]
    assert [one["submission"]["standing"] for one in results[:21]] == [*["gate_passed"] * 20, "gate_failed"]
    assert [set(one["submission"]["feedback"][0]) for one in results[:20]] == [{"type", "revision_suggestions"}] * 20
    assert [one["error"]["reason"] for one in results[21:]] == ["invalid_input", "not_found"]
    contest.ids = {one["id"]: one["submission"]["id"] for one in results[:21]}
    contest.close()
    best = sorted(readings, key=lambda name: -readings[name])
    assert contest.ranking() == [(name, rank) for rank, name in enumerate(best, start=1)]
    assert contest.calls(cloud, "GateReply") == 21
