"""Before a contest's deadline nobody learns a score: not by a route, a list, an event, a step's word or a log line."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from functions import observability
from tests.support.api import Api
from tests.support.api_tasks import OWNER, ApiTask
from tests.support.deployment import Deployment
from tests.support.sinks import SaidAloud

TELLING = re.compile(r'"\w*(score|scores|band|total|penalty|flag|flags|evidence|rank|eliminated\w*)":')
"""A field by which a document would tell of scores; `ranking` is there, and null."""
HIGH, LOW = 97, 3
NAMES_AND_TIMES = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?")
"""What holds digits by chance: ids that the library makes, and moments."""
SECRETS = ("By ann.", "By bob.", "is plain to see", "Compare a fourth", "has no source", "Readings")
"""What submissions, and judges of them, say in these tests."""


def _routes(task: ApiTask) -> Iterator[tuple[str, Any]]:
    """What every route that reads says to every party, and to nobody in particular, by what was asked."""
    for party in (OWNER, "ann", "bob", "stranger"):
        for place in ("", "/submissions", "/challenges", *(f"/submissions/{each}" for each in task.ids.values())):
            yield f"{party} {place}", task.api.get(f"{task.path}{place}", party=party)
    yield "task", task.api.get(task.path)
    yield "tasks", task.api.get("/v1/tasks")
    for general in ("/v1/answers", "/v1/batches", "/v1/stats", "/v1/backlog"):
        yield general, task.api.get(general)


def _alike(task: ApiTask, said: Any) -> str:
    """A document without what two tasks differ in anyhow: ids and moments."""
    text = json.dumps(said)
    for number, known in enumerate((task.id, *task.ids.values())):
        text = text.replace(known, f"<{number}>")
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "<moment>", text)


def _told_of(tenant: str, judged: Deployment, reading: int) -> tuple[list[tuple[str, int, str]], str]:
    """Everything that is said of an open contest of a new tenant whose submissions are read so."""
    judged.machines.said.clear()
    task = ApiTask.created(Api(token=judged.token(tenant)), judged)
    task.hand_in("ann", reading)
    task.hand_in("bob", 80)
    routes = [(_alike(task, where), one.status, _alike(task, json.loads(one.body))) for where, one in _routes(task)]
    return routes, _alike(task, [judged.told(), judged.machines.said])


def test_whatever_the_scores_are_everything_that_is_said_of_an_open_contest_is_the_same(judged: Deployment) -> None:
    high, low = (_told_of(tenant, judged, reading) for tenant, reading in (("acme", HIGH), ("rival", LOW)))
    assert high[0] == low[0]
    pauses = re.compile(r'"wait_seconds": \d+')
    assert pauses.sub("", high[1]) == pauses.sub("", low[1])


def test_no_document_of_an_open_contest_has_a_place_for_a_score(buyer: Api, judged: Deployment) -> None:
    task = ApiTask.created(buyer, judged)
    task.hand_in("ann", HIGH)
    task.hand_in("bob", LOW)
    for where, said in _routes(task):
        assert where.startswith("/v1/") or not TELLING.search(said.body), where
    assert judged.told() == []
    task.pass_time()
    assert TELLING.search(task.read("ann").body), "they are there afterwards"


@pytest.mark.parametrize("path", ["quality_first", "fastest_first"])
def test_nothing_of_a_submission_or_of_what_was_said_of_it_is_in_a_log_a_step_or_an_event(
    buyer: Api, judged: Deployment, warnings_printed: SaidAloud, path: str
) -> None:
    task = ApiTask.created(buyer, judged, path)
    task.hand_in("ann", 59)
    task.hand_in("bob", 58, unsourced=True)
    task.hand_in("bob", 57)
    task.pass_time()
    if path == "quality_first":
        task.contest("bob", "ann", reason="A reason that only people read.")
        task.pass_time()
    assert task.seen()["state"] == "final"
    for secret in (*SECRETS, "A reason that only people read.", "Three databases"):
        assert secret not in warnings_printed()
    steps = judged.machines.said
    assert {key for _, said in steps for key in said} <= {"state", "wait_seconds", "dimensions", "deadline"}
    told = [{key: value for key, value in one.items() if key != "wait_seconds"} for _, one in steps]
    said = NAMES_AND_TIMES.sub("", json.dumps([judged.told(), told]))
    for number in ("59", "58", "57"):
        assert number not in said


def test_what_is_counted_of_steps_are_words_and_no_scores(
    buyer: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = ApiTask.created(buyer, judged)
    noted: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(observability, "note", lambda what, **fields: noted.append((what, fields)))
    task.hand_in("ann", HIGH)
    steps = [(fields["step"], fields["state"]) for what, fields in noted if what == "step"]
    assert steps == [("Gate", "gate_passed"), ("Score", "scored")]
    named = {name for _, fields in noted for name in fields}
    assert named <= {
        "step",
        "state",
        "reason",
        "provider",
        "model",
        "purpose",
        "latency_ms",
        "tokens",
        "cost_micro_usd",
    }
