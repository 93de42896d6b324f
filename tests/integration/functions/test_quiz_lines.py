"""Quizzes that are made and checked by a file of thousands of lines."""

import json
from datetime import datetime
from typing import Any

import pytest

from functions import sweep
from functions.batch import lines
from functions.composition import stores
from tests.support.api import Api
from tests.support.batches import chunks, results_of
from tests.support.clocks import later
from tests.support.course_quizzes import CURRICULUM, evaluated, made, quiz
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.events import TENANT, event
from tests.support.providers import ProviderServer, error
from touchstone.clock import system_clock
from touchstone.operations.batches.chunks import LineChunk, request_of
from touchstone.operations.batches.job_lines import QuizLine
from touchstone.operations.batches.lines import parse_line
from touchstone.operations.quizzes import making
from touchstone.operations.quizzes.making import generate
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.run import call_begun

COURSE = {"curriculum": "our-course", "chapter": "2"}
SHORT = Context(remaining_ms=90_000)
"""Less than a quiz may take is left."""


@pytest.fixture
def course(judged: Deployment, judges: ProviderServer) -> Api:
    """A member of the tenant whose course is there; who writes writes well, and who judges finds nothing."""
    judges.reply(made(), schema="QuizReply")
    judges.reply(evaluated(), schema="QuizVerdictsReply")
    api = Api(token=judged.token(TENANT))
    body = json.dumps(CURRICULUM.model_dump(mode="json", exclude={"id"}))
    assert api.call("PUT", "/v1/curricula/our-course", body).status == 200
    return api


def _line(**fields: Any) -> dict[str, Any]:
    return {"kind": "quiz", "id": "one", "questions": 2, **COURSE} | fields


def _check(*changed: Any, **fields: Any) -> dict[str, Any]:
    body = quiz(*changed).model_dump(mode="json")
    return {"kind": "quiz_check", "id": "check", "quiz": body, "ui_language": "en", **COURSE} | fields


def test_quizzes_are_made_and_checked_and_a_result_is_what_the_api_shows(judged: Deployment, course: Api) -> None:
    results = results_of(judged, [_line(), _check({}, {}), _check({"answers": []}, {})])
    assert [(one["id"], one["error"], one["measurement"]) for one in results] == [
        ("one", None, None),
        ("check", None, None),
        ("check", None, None),
    ]
    assert [one["quiz"]["state"] for one in results] == ["clean", "clean", "violations"]
    for one in results:
        assert course.get(f"/v1/quizzes/{one['quiz']['id']}").json == one["quiz"]


def test_a_chunk_that_is_repeated_meets_its_quizzes(judged: Deployment, course: Api, judges: ProviderServer) -> None:
    (chunk,) = chunks(judged, [_line(use_cache=False)])
    lines(chunk, Context(remaining_ms=900_000))
    judged.s3.delete_object(Bucket=BUCKET, Key=f"scratch/{LineChunk.model_validate(chunk).part_key}")
    lines(chunk, Context(remaining_ms=900_000))
    assert len(judges.calls) == 2
    assert len(stores.quizzes().page(tenant=TENANT).items) == 1


def test_without_time_left_nothing_is_begun_and_the_next_round_does_it(
    judged: Deployment, course: Api, judges: ProviderServer
) -> None:
    (chunk,) = chunks(judged, [_line()])
    late = _round(judged, chunk, context=SHORT)
    assert (late["open"], "not begun" in late["detail"], judges.calls) == (True, True, [])
    assert _round(judged, chunk)["quiz"]["state"] == "clean"


def test_without_time_left_in_the_last_round_the_machine_does_it(judged: Deployment, course: Api) -> None:
    (chunk,) = chunks(judged, [_line()])
    result = _round(judged, chunk, last=True, context=SHORT)
    assert result["quiz"]["state"] == "generating"
    judged.machines.work()
    assert course.get(f"/v1/quizzes/{result['quiz']['id']}").json["state"] == "clean"


def test_what_is_refused_is_a_failed_line_and_the_others_are_done(judged: Deployment, course: Api) -> None:
    rows = [
        _line(curriculum="nowhere"),
        _line(chapter="99"),
        _line(learner="nobody"),
        _line(questions=0),
        _check(quiz={"questions": []}),
        _line(),
    ]
    *failed, done = results_of(judged, rows)
    assert [one["error"]["where"] for one in failed] == [None, "chapter", None, "questions", "quiz.questions"]
    assert [one["error"]["reason"] for one in failed[:3]] == ["not_found", "invalid_input", "not_found"]
    assert done["quiz"]["state"] == "clean"


def test_a_checked_quiz_whose_structure_is_broken_is_told_all_that_a_program_decides(judged: Deployment) -> None:
    broken = _check({"question_text": "What does 「学习」 mean?"}, {"answers": ["None of them"]})
    (result,) = results_of(judged, [broken | {"curriculum": None, "chapter": None}])
    assert (result["quiz"]["state"], result["quiz"]["unchecked"]) == ("violations", None)
    assert {one["rule"] for one in result["quiz"]["violations"]} == {"structure", "traditional_chinese"}
    assert "pinyin_diacritics" in result["quiz"]["checks_run"]


def test_an_unexpected_fault_leaves_the_line_to_its_machine(
    judged: Deployment, course: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a secret of the quiz")

    with monkeypatch.context() as patch:
        patch.setattr(making, "validate", broken)
        (result,) = results_of(judged, [_line()])
    assert (result["error"], result["quiz"]["state"]) == (None, "generating")
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text
    judged.machines.work()
    assert course.get(f"/v1/quizzes/{result['quiz']['id']}").json["state"] == "clean"


def test_a_quiz_that_somebody_else_is_at_waits_for_them(judged: Deployment, course: Api) -> None:
    (chunk,) = chunks(judged, [_line()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "generate", _lost)
        busy = _round(judged, chunk)
    [one] = stores.quizzes().page(tenant=TENANT).items
    assert (busy["open"], one.state) == (True, "generating")
    later(60)
    assert _round(judged, chunk)["quiz"]["state"] == "clean"


async def _lost(context: Any, quiz_id: str, **named: Any) -> Any:
    """A step that begins a call and, as the next one sees it, never comes back."""
    context.quizzes.change(context.ref("quiz", quiz_id), lambda run: call_begun(run, "generate", now=context.clock()))
    return await generate(context, quiz_id, **named)


def test_a_line_carries_its_request_and_no_more() -> None:
    line = parse_line(json.dumps(_line()).encode())
    assert isinstance(line, QuizLine)
    assert request_of(line) == QuizRequest(questions=2, **COURSE)


def _round(
    judged: Deployment, chunk: dict[str, Any], *, last: bool = False, context: Context | None = None
) -> dict[str, Any]:
    """What a chunk of one line comes to in a round of its batch."""
    lines(chunk | {"last": last}, context or Context(remaining_ms=900_000))
    part = judged.s3.get_object(Bucket=BUCKET, Key=f"scratch/{LineChunk.model_validate(chunk).part_key}")["Body"].read()
    return dict(json.loads(part))


@pytest.mark.parametrize("title", ["QuizReply", "QuizVerdictsReply"])
@pytest.mark.parametrize("comes_back", [True, False])
def test_a_quiz_that_met_an_outage_waits_and_is_made_when_it_is_over(
    judged: Deployment, course: Api, judges: ProviderServer, title: str, comes_back: bool
) -> None:
    judges.rule(error("overloaded"), schema=title)
    (chunk,) = chunks(judged, [_line()])
    for _ in range(4):
        left = _round(judged, chunk)
        assert (left["open"], left["reason"]) == (True, "overloaded")
        calls = len(judges.calls)
        assert _round(judged, chunk) == left, "nobody is asked before it is time"
        assert len(judges.calls) == calls
        (listed,) = course.get("/v1/quizzes").json["items"]
        seen = course.get(f"/v1/quizzes/{listed['id']}").json
        assert (seen["state"], seen["waiting_for"]) == ("generating", "overloaded")
        later((datetime.fromisoformat(left["until"]) - system_clock()).total_seconds() + 3600)
        assert sweep.handler(event("schedule_sweep"), Context())["restarted"] == 0
    if comes_back:
        judges.reply(made() if title == "QuizReply" else evaluated(), schema=title)
    result = _round(judged, chunk, last=not comes_back)
    ended = "clean" if comes_back else "failed" if title == "QuizReply" else "unchecked"
    assert (result["quiz"]["state"], result["quiz"]["waiting_for"]) == (ended, None)
    assert sum(call.title == "QuizReply" and call.status == 200 for call in judges.calls) == (ended != "failed")


def test_a_quiz_whose_judge_refuses_is_not_waited_for(judged: Deployment, course: Api, judges: ProviderServer) -> None:
    judges.rule(error("refused"), schema="QuizVerdictsReply")
    (chunk,) = chunks(judged, [_line()])
    assert _round(judged, chunk)["quiz"]["state"] == "unchecked"


def test_a_quiz_whose_functions_die_is_begun_as_often_as_it_takes(
    judged: Deployment, course: Api, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    async def killed(*_: Any, **__: Any) -> Any:
        raise Killed

    (chunk,) = chunks(judged, [_line()])
    for _ in range(4):
        with monkeypatch.context() as dying:
            dying.setattr("touchstone.quizzes.generation.generate_quiz", killed)
            dying.setattr("touchstone.quizzes.run.call_broken", lambda one, *_, **__: one)
            with pytest.raises(Killed):
                lines(chunk, Context(remaining_ms=900_000))
        later(3600)
        assert sweep.handler(event("schedule_sweep"), Context())["restarted"] == 0
    assert _round(judged, chunk)["quiz"]["state"] == "clean"
    assert len(judges.calls) == 2
