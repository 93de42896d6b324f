"""Material measured through the API: what its metrics say, what nobody could judge, and what is refused."""

from typing import Any

import pytest

from tests.support.api import Api, refusal
from tests.support.clocks import later
from tests.support.deployment import Deployment
from tests.support.providers import ProviderServer, error
from tests.support.quizzes import METRICS, measurement, quiz

CARDS = {"cards": [{"id": "1", "front": "Capital of Australia", "back": "Canberra"}]}
UNKNOWN = "01JD7Z00000000000000000000"
MANY_CHOICES = {
    "questions": [
        {"id": str(n), "kind": "single_choice", "question_text": "Which?", "choices": [str(c) for c in range(50)],
         "answers": ["1"]}
        for n in range(81)
    ]
}  # fmt: skip
"""More choices than a result that can be read in one reply has room for."""


def metric(view: dict[str, Any], name: str) -> dict[str, Any]:
    """One metric of a measurement."""
    return next(one for one in view["metrics"] if one["metric"] == name)


def test_a_quiz_is_measured_by_every_metric_with_reasons_and_what_it_cost(buyer: Api) -> None:
    made = buyer.post("/v1/measurements", measurement(material=quiz(4, ambiguous=1, absurd=2)))
    assert (made.status, made.json["state"]) == (202, "waiting")
    assert made.location == f"/v1/measurements/{made.json['id']}"
    view = buyer.get(made.location).json
    assert (view["state"], view["language"], view["left_out"]) == ("done", "en", {})
    assert {one["metric"]: one["score"] for one in view["metrics"]} == dict(
        zip(METRICS, (100.0, 75.0, pytest.approx(100 / 3, abs=1e-5), 75.0, 100.0), strict=True)
    )
    clarity = metric(view, "quiz_clarity")
    assert [one["label"] for one in clarity["items"]] == ["AMBIGUOUS", "CLEAR", "CLEAR", "CLEAR"]
    assert clarity["items"][0]["suggestion"] == "Say which of the two is meant."
    assert clarity["outlay"]["models"] == ["claude-sonnet-5-5"]
    assert [one["purpose"] for one in clarity["outlay"]["prompts"]] == ["quiz_clarity"]
    assert view["outlay"]["cost_usd"] == pytest.approx(sum(one["outlay"]["cost_usd"] for one in view["metrics"]))
    assert view["outlay"]["cost_usd"] > 0


def test_what_a_judge_failed_on_is_unscored_with_the_reason_and_asked_again_without_paying_for_the_rest(
    buyer: Api, judged: Deployment, judges: ProviderServer
) -> None:
    judges.rule(error("overloaded"), schema="AnswersReply", prompt="list [123]\\?")
    body = measurement(material=quiz(10), metrics=["quiz_answer_correctness"])
    path = buyer.post("/v1/measurements", body).location
    one = metric(buyer.get(path).json, "quiz_answer_correctness")
    assert (one["over"], one["score"], one["because"]) == (False, 100.0, "overloaded")
    assert [each["item"] for each in one["unscored"]] == ["q1", "q2", "q3"]
    assert len(one["items"]) == 7
    assert one["next_try_at"] is not None
    judges.reset()
    later(60)
    judged.machines.wake()
    view = buyer.get(path).json
    one = metric(view, "quiz_answer_correctness")
    assert (view["state"], one["score"], one["unscored"], one["because"]) == ("done", 100.0, [], None)
    assert len(one["items"]) == 10
    assert len(judges.calls) == 3, "only what nobody had answered is asked again"
    assert one["outlay"]["cached"] == 0


def test_what_stays_unscored_after_all_tries_lowers_the_denominator_and_is_no_zero(
    buyer: Api, judged: Deployment, judges: ProviderServer
) -> None:
    judges.rule(error("overloaded"), schema="AnswersReply", prompt="list [123]\\?")
    body = measurement(material=quiz(10), metrics=["quiz_answer_correctness", "quiz_item_flaws"])
    path = buyer.post("/v1/measurements", body).location
    for _ in range(32):
        later(6 * 3600)
        judged.machines.wake()
    view = buyer.get(path).json
    one = metric(view, "quiz_answer_correctness")
    assert (view["state"], one["over"], one["score"], len(one["items"])) == ("done", True, 100.0, 7)
    assert {each["reason"] for each in one["unscored"]} == {"overloaded"}
    assert judged.machines.asleep == {}


def test_without_any_judge_only_what_needs_none_is_measured_and_the_rest_says_what_to_set(
    acme: Api, deployment: Deployment
) -> None:
    path = acme.post("/v1/measurements", measurement()).location
    view = acme.get(path).json
    assert view["state"] == "measuring"
    assert metric(view, "quiz_item_flaws")["score"] == 100.0
    clarity = metric(view, "quiz_clarity")
    assert (clarity["score"], clarity["because"], clarity["over"]) == (None, "misconfigured", False)
    assert "ANTHROPIC_API_KEY" in clarity["details"][0]
    later(3 * 24 * 3600)
    deployment.machines.wake()
    view = acme.get(path).json
    assert (view["state"], metric(view, "quiz_clarity")["over"]) == ("done", True)
    assert metric(view, "quiz_clarity")["score"] is None


def test_where_nothing_could_be_measured_it_has_failed(acme: Api, deployment: Deployment) -> None:
    path = acme.post("/v1/measurements", measurement(metrics=["quiz_clarity"])).location
    later(3 * 24 * 3600)
    deployment.machines.wake()
    view = acme.get(path).json
    assert (view["state"], view["metrics"][0]["score"]) == ("failed", None)


def test_told_not_to_use_the_cache_it_asks_anew_and_yet_pays_no_try_twice(
    buyer: Api, judged: Deployment, judges: ProviderServer
) -> None:
    body = measurement(metrics=["quiz_answer_correctness"])
    buyer.post("/v1/measurements", body)
    asked = len(judges.calls)
    again = buyer.get(buyer.post("/v1/measurements", body).location).json
    assert (len(judges.calls), again["outlay"]["cached"]) == (asked, asked)
    judges.rule(error("overloaded"), schema="AnswersReply", prompt="list 1\\?")
    path = buyer.post("/v1/measurements", body | {"use_cache": False}).location
    judges.reset()
    later(60)
    judged.machines.wake()
    assert len(judges.calls) == 1
    view = buyer.get(path).json
    assert (view["state"], view["outlay"]["cached"], len(view["metrics"][0]["items"])) == ("done", 0, 4)


def test_a_long_quiz_lies_in_the_bucket_and_is_measured_as_well(buyer: Api, judged: Deployment) -> None:
    material = quiz(300)
    for one in material["questions"]:
        one["chunk"] = "Canberra is the capital of Australia. " * 40
    made = buyer.post("/v1/measurements", measurement(material=material, metrics=["quiz_item_flaws"]))
    assert len(buyer.get(made.location).json["metrics"][0]["items"]) == 300
    assert any(key.startswith("artifacts/acme/records/") for key in judged.keys())  # noqa: SIM118 - a method of its own


@pytest.mark.parametrize(
    ("changes", "where", "status"),
    [
        ({"metrics": ["summary_coverage"]}, "body", 422),
        ({"metrics": ["dance"]}, "body.metrics.0", 422),
        ({"metrics": []}, "body.metrics", 422),
        ({"source": {"markdown": " "}}, "body.source", 422),
        ({"material": {"questions": []}}, "body.material.questions", 422),
        ({"material": {"questions": quiz(1)["questions"] * 2}}, "body.material", 422),
        ({"material": quiz(501)}, "body.material.questions", 413),
        ({"material": MANY_CHOICES}, "body", 413),
        ({"surface": "summary"}, "body.material.text", 422),
        ({"surface": "dance"}, "body", 422),
        ({"colour": "red"}, "body.colour", 422),
    ],
)
def test_what_does_not_fit_is_refused_with_the_field_at_fault(
    acme: Api, changes: dict[str, Any], where: str, status: int
) -> None:
    document = refusal(acme.post("/v1/measurements", measurement(**changes)), status)
    assert document["errors"][0]["where"] == where
    assert acme.get("/v1/measurements").json["items"] == []


def test_a_metric_that_needs_a_source_is_left_out_without_one_unless_it_is_all_that_is_wanted(buyer: Api) -> None:
    view = buyer.post("/v1/measurements", measurement(source=None)).json
    assert view["left_out"] == {"quiz_coverage": "no_source"}
    body = measurement(source=None, metrics=["quiz_coverage"])
    assert refusal(buyer.post("/v1/measurements", body), 400)["where"] == "source"


def test_measurements_are_listed_newest_first_a_page_at_a_time_each_tenants_own(acme: Api, rival: Api) -> None:
    bodies = [measurement(metrics=["quiz_item_flaws"]), {"surface": "flashcards", "material": CARDS}] * 2
    made = [acme.post("/v1/measurements", body).json["id"] for body in bodies]
    first = acme.get("/v1/measurements", limit=3).json
    rest = acme.get("/v1/measurements", limit=3, cursor=first["cursor"]).json
    assert sorted(item["id"] for item in (*first["items"], *rest["items"])) == sorted(made)
    assert rest["cursor"] is None
    by_id = {item["id"]: item for item in first["items"]}
    assert {item["surface"] for item in by_id.values()} == {"quiz", "flashcards"}
    assert rival.get("/v1/measurements").json["items"] == []
    assert rival.get(f"/v1/measurements/{made[0]}").status == 404
    assert acme.get(f"/v1/measurements/{UNKNOWN}").status == 404


def test_a_repeat_with_its_key_meets_the_same_measurement(buyer: Api, judges: ProviderServer) -> None:
    first = buyer.post("/v1/measurements", measurement(), key="m-1")
    asked = len(judges.calls)
    assert buyer.post("/v1/measurements", measurement(), key="m-1").json == first.json
    assert len(judges.calls) == asked
    assert refusal(buyer.post("/v1/measurements", measurement(material=quiz(1)), key="m-1"), 422)


def test_a_reader_may_read_and_not_ask(judged: Deployment, buyer: Api) -> None:
    reader = Api(token=judged.token("acme", role="reader"))
    assert reader.post("/v1/measurements", measurement()).status == 403
    path = buyer.post("/v1/measurements", measurement(metrics=["quiz_item_flaws"])).location
    assert reader.get(path).json["state"] == "done"
