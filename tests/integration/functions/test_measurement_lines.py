"""Quizzes, summaries and decks measured by a file of thousands of lines."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from functions.batch import lines
from functions.composition import stores
from tests.support.api import Api
from tests.support.batches import chunks, results_of
from tests.support.clocks import later
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.events import TENANT
from tests.support.providers import ProviderServer, error
from tests.support.quizzes import SOURCE, quiz
from touchstone.operations.batches.chunks import LineChunk, request_of
from touchstone.operations.batches.job_lines import MEASUREMENT_RESULT, MeasurementLine
from touchstone.operations.batches.lines import parse_line
from touchstone.operations.surfaces import measuring

CARDS = {"cards": [{"id": "1", "front": "Capital of Australia", "back": "Canberra"}]}
SHORT = Context(remaining_ms=150_000)
"""Less than a metric may take is left."""


def _line(
    material: dict[str, Any], *, kind: str = "quiz_evaluation", name: str = "one", **fields: Any
) -> dict[str, Any]:
    return {"kind": kind, "id": name, "material": material, **fields}


def _view(deployment: Deployment, result: dict[str, Any]) -> dict[str, Any]:
    """A measurement as it is read through the API."""
    path = f"/v1/measurements/{result['measurement']['id']}"
    found: dict[str, Any] = Api(token=deployment.token(TENANT)).get(path).json
    return found


def _states(results: Sequence[dict[str, Any]]) -> list[str]:
    return [one["measurement"]["state"] for one in results]


def test_material_of_every_surface_is_measured_and_its_result_is_what_the_api_shows(judged: Deployment) -> None:
    rows = [
        _line(quiz(4, ambiguous=2), source=SOURCE, name="quiz"),
        _line(CARDS, kind="flashcards_evaluation", metrics=["flashcard_duplication"], name="cards"),
        _line({"text": "Canberra is the capital."}, kind="summary_evaluation", name="summary",
              metrics=["summary_information_density"]),
    ]  # fmt: skip
    results = results_of(judged, rows)
    assert [(one["id"], one["error"], one["answer"], one["submission"]) for one in results] == [
        (name, None, None, None) for name in ("quiz", "cards", "summary")
    ]
    scores = {one["metric"]: one["score"] for one in results[0]["measurement"]["metrics"]}
    assert (results[0]["measurement"]["state"], scores["quiz_clarity"]) == ("done", 50.0)
    assert [one["measurement"] for one in results] == [_view(judged, one) for one in results]


def test_what_a_judge_failed_on_is_in_with_what_it_has_and_its_machine_goes_on(
    judged: Deployment, judges: ProviderServer
) -> None:
    judges.rule(error("overloaded"), schema="AnswersReply", prompt="list 1\\?")
    (result,) = results_of(judged, [_line(quiz(4), metrics=["quiz_answer_correctness"])])
    (one,) = result["measurement"]["metrics"]
    assert (result["error"], result["measurement"]["state"], len(one["items"])) == (None, "measuring", 3)
    judges.reset()
    later(60)
    judged.machines.work()
    judged.machines.wake()
    view = _view(judged, result)
    assert (view["state"], len(view["metrics"][0]["items"])) == ("done", 4)
    assert len(judges.calls) == 1


def test_without_time_left_nothing_is_begun_and_the_machine_does_it(judged: Deployment, judges: ProviderServer) -> None:
    rows = [_line(quiz(2), metrics=["quiz_clarity"])]
    (result,) = results_of(judged, rows, context=SHORT)
    assert (_states([result]), judges.calls) == (["waiting"], [])
    judged.machines.work()
    assert _view(judged, result)["state"] == "done"


def test_a_chunk_that_is_repeated_meets_its_measurements(judged: Deployment, judges: ProviderServer) -> None:
    (chunk,) = chunks(judged, [_line(quiz(3))])
    lines(chunk, Context(remaining_ms=900_000))
    asked = len(judges.calls)
    part = LineChunk.model_validate(chunk).part_key
    judged.s3.delete_object(Bucket=BUCKET, Key=f"scratch/{part}")
    lines(chunk, Context(remaining_ms=900_000))
    assert len(judges.calls) == asked
    assert len(stores.measurements().page(tenant=TENANT).items) == 1


def test_what_is_refused_is_a_failed_line_and_the_others_are_done(judged: Deployment) -> None:
    rows = [
        _line(quiz(1), metrics=["summary_coverage"]),
        _line(quiz(1), metrics=["quiz_coverage"]),
        _line(quiz(1), source={"markdown": " "}),
        _line(CARDS),
        _line(quiz(1), metrics=["quiz_item_flaws"]),
    ]
    *failed, done = results_of(judged, rows)
    assert [one["error"]["where"] for one in failed] == [None, "source", "source", "material.questions"]
    assert done["measurement"]["state"] == "done"


def test_an_unexpected_fault_leaves_the_line_to_its_machine(
    judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a secret of the quiz")

    with monkeypatch.context() as patch:
        patch.setattr(measuring, "_tried", broken)
        (result,) = results_of(judged, [_line(quiz(2), metrics=["quiz_clarity"])])
    assert (result["error"], result["measurement"]["state"]) == (None, "measuring")


def test_a_line_carries_the_requests_own_fields() -> None:
    line = parse_line(json.dumps(_line(quiz(1), language="zh", use_cache=False, source=SOURCE)).encode())
    assert isinstance(line, MeasurementLine)
    request = request_of(line)
    assert (line.result, request.surface, request.language, request.use_cache) == (
        MEASUREMENT_RESULT,
        "quiz",
        "zh",
        False,
    )
    assert request.source is not None
