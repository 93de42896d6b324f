"""Measurements and experiments of a deployed stack: what judges fail on is visible, waited for, and not paid twice."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.callers import Caller, said
from tests.support.cloud import Cloud
from tests.support.quizzes import METRICS, experiment, measurement, quiz
from tests.support.waiting import eventually

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(600)]

LOOK_SECONDS = 0.5
"""Between two looks: each is work for the machine that the stack runs on."""
FEW = ["quiz_clarity", "quiz_item_flaws"]


@pytest.fixture
def caller(cloud: Cloud) -> Iterator[Caller]:
    """The admin of a tenant of this test, whose judge does as the material says."""
    cloud.judge.arrange(reset=True)
    yield cloud.tenant("surfaces")
    cloud.judge.arrange(reset=True)


def _seen(caller: Caller, path: str, *states: str, seconds: float = 240.0) -> dict[str, Any]:
    """What is read there once it is in one of these states."""

    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = caller.get(path)
        return found if found["state"] in states else None

    return eventually(look, what=f"{path} {' or '.join(states)}", seconds=seconds, pause=LOOK_SECONDS)


def _measured(caller: Caller, **changes: Any) -> str:
    """The address of a measurement that was asked for."""
    made = said(caller.send("POST", "v1/measurements", json=measurement(**changes)), 202)
    return f"v1/measurements/{made['id']}"


def test_a_quiz_is_measured_by_every_metric(caller: Caller) -> None:
    view = _seen(caller, _measured(caller), "done", "failed")
    scores = {one["metric"]: one["score"] for one in view["metrics"]}
    assert scores == dict(zip(METRICS, (100.0, 100.0, pytest.approx(100 / 3, abs=1e-5), 75.0, 100.0), strict=True))
    assert view["outlay"]["models"] == ["claude-sonnet-5-5"]
    assert view["outlay"]["cost_usd"] > 0


def test_what_a_judge_fails_on_is_unscored_and_asked_again_and_nothing_else_is(cloud: Cloud, caller: Caller) -> None:
    cloud.judge.rule({"kind": "overloaded"}, schema_title="AnswersReply", prompt="list [123]\\?")
    path = _measured(caller, material=quiz(10), metrics=["quiz_answer_correctness"])

    def look() -> dict[str, Any] | None:
        (one,) = caller.get(path)["metrics"]
        return one if one["because"] else None

    one = eventually(look, what="the first try", seconds=120.0, pause=LOOK_SECONDS)
    assert (one["because"], one["over"], one["score"]) == ("overloaded", False, 100.0)
    assert ([each["item"] for each in one["unscored"]], len(one["items"])) == (["q1", "q2", "q3"], 7)
    before = len(cloud.judge.calls(title="AnswersReply", text="in list 4?"))
    cloud.judge.arrange(reset=True)
    (one,) = _seen(caller, path, "done", "failed")["metrics"]
    assert (one["score"], one["unscored"], len(one["items"])) == (100.0, [], 10)
    assert before == 1
    assert len(cloud.judge.calls(title="AnswersReply")) == 3


def test_an_experiment_of_six_pairs_ends_with_a_report(cloud: Cloud, caller: Caller) -> None:
    body = {"experiment": experiment(6, metrics=FEW)}
    made = said(caller.send("POST", "v1/experiments", json=body), 202)
    path = f"v1/experiments/{made['id']}"
    view = _seen(caller, path, "done", "failed")
    assert (view["state"], view["done"], view["pairs"], view["failure"]) == ("done", 6, 6, None)
    assert view["conclusion"]["preference"]["wins_a"] == 6
    assert view["cost_usd"] == pytest.approx(view["conclusion"]["outlay"]["cost_usd"])
    clarity = next(one for one in view["conclusion"]["metrics"] if one["metric"] == "quiz_clarity")
    assert (clarity["a_mean"], clarity["b_mean"], clarity["compared"]) == (100.0, 50.0, 6)
    asked = [call["prompt"] for call in cloud.judge.calls()]
    assert len(asked) == len(set(asked)) == 24, "the clarity of twelve quizzes, and six preferences in both orders"
    for form, kind in (
        ("html", "text/html"),
        ("md", "text/markdown"),
        ("csv", "text/csv"),
        ("json", "application/json"),
    ):
        report = caller.send("GET", f"{path}/report", params={"format": form})
        assert (report.status_code, report.headers["content-type"].partition(";")[0]) == (200, kind)
        assert "default-src 'none'" in report.headers["content-security-policy"]
    assert httpx.get(view["items_url"], timeout=60.0).raise_for_status().text.count("quiz_clarity") == 6


def test_a_line_of_a_file_is_measured(caller: Caller) -> None:
    begun = said(caller.send("POST", "v1/batches"), 201)
    line = {"kind": "quiz_evaluation", "id": "one", "material": quiz(2, ambiguous=1), "metrics": FEW}
    content = json.dumps(line) + "\n"
    headers = {"content-type": "application/x-ndjson"}
    httpx.put(begun["upload_url"], content=content.encode(), headers=headers, timeout=60.0).raise_for_status()
    batch = caller.batch_ended()
    (result,) = [json.loads(text) for text in httpx.get(batch["results_url"]).raise_for_status().text.splitlines()]
    assert (result["id"], result["error"], result["measurement"]["state"]) == ("one", None, "done")
    assert result["measurement"]["metrics"][0]["score"] == 50.0
