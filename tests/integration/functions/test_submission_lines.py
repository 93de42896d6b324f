"""Work handed in to tasks by a file of thousands of lines."""

import json
from datetime import timedelta
from typing import Any

import pytest

from functions.batch import lines
from functions.composition import stores
from tests.support import grading, replies
from tests.support.api import Api
from tests.support.batches import LONG, BatchMachine, chunks, in_lines, results_of
from tests.support.clocks import later
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.events import TENANT
from tests.support.providers import ProviderServer, error
from touchstone.clock import system_clock
from touchstone.operations.batches.batching import WAITS_FOR
from touchstone.oracle.model import TaskPath
from touchstone.references import Reference

GOOD, WEAK = grading.submission(readings=85), grading.submission(readings=55)
UNSOURCED = grading.submission(readings=85, unsourced=True)


def _task(deployment: Deployment, path: TaskPath = "quality_first") -> str:
    """A task that is open."""
    body = {
        "brief": {"description": "Compare three databases.", "acceptance_criteria": ["Names its sources."]},
        "path": path,
        "owner": "buyer",
        "deadline": (system_clock() + timedelta(days=3)).isoformat(),
    }
    made = Api(token=deployment.token(TENANT)).post("/v1/tasks", body)
    assert made.status == 202
    task_id = str(made.json["id"])
    assert stores.tasks().get(Reference(TENANT, "task", task_id)).state == "open"
    return task_id


def _line(task_id: str, submitter: str, text: str | None = None, **fields: Any) -> dict[str, Any]:
    content = {} if text is None else {"text": text}
    return {"kind": "submission", "id": submitter, "task_id": task_id, "submitter": submitter, **content, **fields}


def _view(deployment: Deployment, result: dict[str, Any]) -> dict[str, Any]:
    """A submission as its author reads it through the API."""
    told = result["submission"]
    path = f"/v1/tasks/{told['task_id']}/submissions/{told['id']}"
    found: dict[str, Any] = Api(token=deployment.token(TENANT)).get(path, party=told["submitter"]).json
    return found


def test_the_first_that_passes_wins_and_every_author_reads_their_own(judged: Deployment) -> None:
    task_id = _task(judged, "fastest_first")
    results = results_of(judged, [_line(task_id, "ann", UNSOURCED), _line(task_id, "ben", WEAK)])
    results += results_of(judged, [_line(task_id, "cleo", GOOD)], name="more")
    assert [(one["line"], one["id"], one["error"], one["answer"]) for one in results] == [
        (1, "ann", None, None), (2, "ben", None, None), (1, "cleo", None, None)
    ]  # fmt: skip
    assert [one["submission"]["standing"] for one in results] == ["gate_failed", "scored", "scored"]
    views = [_view(judged, one) for one in results]
    assert [one["submission"] | {"gate": None} for one in results] == [view | {"gate": None} for view in views]
    assert all(view["gate"] for view in views), "the task is closed"
    (check,) = results[0]["submission"]["feedback"][0]["criteria_checks"]
    assert check["revision_hint"] == "Name a source for each figure."
    task = stores.tasks().get(Reference(TENANT, "task", task_id))
    assert (task.state, task.winner) == ("final", results[2]["submission"]["id"])
    assert sorted(event["kind"] for event in judged.told()) == ["payout.due", "result.final", "task.closed"]
    (late,) = results_of(judged, [_line(task_id, "dan", GOOD)], name="late")
    assert (late["submission"], late["error"]["reason"]) == (None, "conflict")
    assert late["error"]["detail"] == "The task takes no more submissions."


def test_no_result_shows_a_score_of_an_open_contest(judged: Deployment) -> None:
    task_id = _task(judged)
    results = results_of(judged, [_line(task_id, "ann", GOOD), _line(task_id, "ben", WEAK)])
    (ann,), (ben,) = (one["submission"]["feedback"] for one in results)
    assert ann == ben, "what an author reads is the same whatever the scores are"
    assert set(ann) == {"type", "revision_suggestions"}
    assert [one["submission"]["standing"] for one in results] == ["gate_passed"] * 2
    totals = [one.individual.penalized_total for one in stores.submissions().of_task(Reference(TENANT, "task", task_id))
              if one.individual]  # fmt: skip
    assert sorted(totals) == [pytest.approx(42.36, abs=0.01), 85.0]


def test_a_file_that_was_uploaded_is_handed_in(judged: Deployment) -> None:
    place = Api(token=judged.token(TENANT)).post("/v1/submission-files").json
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{place['text_key']}", Body=GOOD.encode())
    (result,) = results_of(judged, [_line(_task(judged), "ann", text_key=place["text_key"])])
    assert result["submission"]["standing"] == "gate_passed"


def test_what_is_refused_is_a_failed_line_and_the_others_are_done(judged: Deployment) -> None:
    task_id = _task(judged)
    rows = [
        _line("01M7YCR9J0YEPNXK2F1F80QC0C", "ann", GOOD),
        _line(task_id, "ann", " \n"),
        _line(task_id, "ann", "x" * 1_000_001),
        _line(task_id, "ann", text_key="rival/uploads/1"),
        _line(task_id, "ann"),
        _line(task_id, "ann", GOOD),
        _line(task_id, "ann", WEAK),
        {"kind": "verify", "id": "sum", "problem": "Compute 1 + 1.", "answer": "2"},
    ]
    results = results_of(judged, rows)
    reasons = [one["error"] and one["error"]["reason"] for one in results]
    assert reasons == ["not_found", "invalid_input", "too_large", "not_found", "invalid_input", None, "conflict", None]
    assert all(one["error"]["detail"].endswith(".") for one in results if one["error"])
    assert results[1]["error"]["where"] == "text"
    assert results[5]["submission"]["standing"] == "gate_passed"
    assert results[7]["answer"]["verification_status"] == "verified"
    assert len(list(stores.submissions().of_task(Reference(TENANT, "task", task_id)))) == 1


def test_what_waits_for_a_judge_is_carried_on_by_its_machine(judged: Deployment, judges: ProviderServer) -> None:
    task_id = _task(judged)
    judges.rule(error("overloaded"), schema="GateReply")
    judged.machines.started.clear()
    (result,) = results_of(judged, [_line(task_id, "ann", GOOD)])
    assert (result["error"], result["submission"]["standing"]) == (None, "received")
    assert judged.machines.started == [f"{result['submission']['id']}-1"]
    judges.reply(replies.gate(replies.criterion(1)), schema="GateReply")
    judged.machines.work()
    later(3600)
    judged.machines.wake(result["submission"]["id"])
    assert _view(judged, result)["feedback"][0]["type"] == "individual_scoring"


def test_a_chunk_that_is_repeated_finds_its_submissions_and_pays_nothing_twice(
    judged: Deployment, judges: ProviderServer
) -> None:
    task_id = _task(judged)
    (chunk,) = chunks(judged, [_line(task_id, "ann", GOOD), _line(task_id, "ben", UNSOURCED)])
    judged.machines.started.clear()
    parts: list[bytes] = []
    for _ in range(2):
        assert lines(chunk, LONG) == {"done": 2, "failed": 0}
        stored = judged.keys()
        (part,) = (key for key in stored if "/parts/" in key)
        parts.append(judged.s3.get_object(Bucket=BUCKET, Key=part)["Body"].read())
        judged.s3.delete_object(Bucket=BUCKET, Key=part)
        calls = len(judges.calls)
    first, again = ([json.loads(line)["submission"] for line in part.splitlines()] for part in parts)
    assert first == again
    assert calls == 1 + 2 + 1, "dimensions, two gates, one scoring"
    assert judged.machines.started == []


def test_all_work_is_handed_in_before_anything_is_judged(judged: Deployment, judges: ProviderServer) -> None:
    task_id = _task(judged)
    names = [f"writer-{number}" for number in range(12)]
    drafted = len(judges.calls)
    results_of(judged, [_line(task_id, name, GOOD) for name in names])
    found = list(stores.submissions().of_task(Reference(TENANT, "task", task_id)))
    by_arrival = sorted(found, key=lambda one: one.submitted_at)
    assert [one.submitter for one in by_arrival] == names
    assert by_arrival[-1].submitted_at.timestamp() <= judges.calls[drafted].at


@pytest.mark.parametrize(("remaining_ms", "answered"), [(1000, False), (150_000, True)])
def test_work_is_not_lost_where_no_time_is_left_to_judge_it(
    judged: Deployment, judges: ProviderServer, remaining_ms: int, answered: bool
) -> None:
    task_id = _task(judged)
    judged.machines.started.clear()
    calls = len(judges.calls)
    rows = [_line(task_id, "ann", GOOD), {"kind": "verify", "problem": "Compute 1 + 1.", "answer": "2"}]
    context = Context(remaining_ms=remaining_ms)
    # The first wait takes all days that a batch waits for: every hour between would leave no time either.
    machine = BatchMachine(
        deployment=judged,
        call=lambda handler, payload: handler(payload, context),
        pause=lambda seconds: later(seconds + WAITS_FOR.total_seconds()),
    )
    machine.run(in_lines(rows))
    work, answer = machine.results()
    assert (work["error"], work["submission"]["standing"]) == (None, "received")
    assert (answer["error"] is None, answer["answer"] is not None) == (answered, answered)
    assert len(judges.calls) == calls
    assert judged.machines.started == [f"{work['submission']['id']}-1"]


@pytest.mark.parametrize("stage", ["gate_panel.check_gate_by_judges", "scores_panel.score_by_judges"])
def test_an_unexpected_fault_leaves_the_work_handed_in_and_its_words_unsaid(
    judged: Deployment, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, stage: str
) -> None:
    task_id = _task(judged)
    judged.machines.started.clear()

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("It says: " + GOOD)

    monkeypatch.setattr(f"touchstone.oracle.{stage}", broken)
    (result,) = results_of(judged, [_line(task_id, "ann", GOOD)])
    assert (result["error"], result["submission"]["feedback"]) == (None, [])
    assert judged.machines.started == [f"{result['submission']['id']}-1"]
    assert "RuntimeError" in caplog.text
    assert "It says" not in caplog.text
