"""Experiments through the API: which variant is better, how far it is, what it costs, and what is refused."""

import csv
import io
import json
from typing import Any

import pytest

from tests.support.api import Api, refusal
from tests.support.clocks import later
from tests.support.deployment import BUCKET, Deployment
from tests.support.providers import ProviderServer, error
from tests.support.quizzes import experiment, quiz

FEW = ["quiz_clarity", "quiz_item_flaws"]
"""One metric that asks a judge, and one that asks nobody."""
UNKNOWN = "01JD7Z00000000000000000000"


def _run(api: Api, **changes: Any) -> str:
    """The address of an experiment that was begun."""
    made = api.post("/v1/experiments", {"experiment": experiment(**({"metrics": FEW} | changes))})
    assert made.status == 202, made.body
    return made.location


def test_an_experiment_finds_which_variant_is_worse_in_what_and_what_it_cost(
    buyer: Api, judges: ProviderServer
) -> None:
    made = buyer.post("/v1/experiments", {"experiment": experiment(8, metrics=FEW)})
    assert (made.status, made.json["state"], made.json["pairs"]) == (202, "waiting", None)
    view = buyer.get(made.location).json
    assert (view["state"], view["name"], view["surface"]) == ("done", "chunking", "quiz")
    assert (view["pairs"], view["done"], view["a"], view["b"]) == (8, 8, "merged_chunks", "docling_chunks")
    verdicts = {one["metric"]: one["verdict"] for one in view["conclusion"]["metrics"]}
    assert verdicts["quiz_clarity"] == "a_better"
    assert verdicts["quiz_item_flaws"] != "b_better"
    assert view["conclusion"]["preference"]["wins_a"] == 8
    assert view["cost_usd"] == pytest.approx(view["conclusion"]["outlay"]["cost_usd"])
    calls = view["estimate"]["calls"]
    assert calls[0] <= len(judges.calls) <= calls[1]
    assert "merged_chunks" in view["headline"]
    listed = buyer.get("/v1/experiments").json["items"]
    assert [(one["id"], one["verdict"]) for one in listed] == [(view["id"], view["verdict"])]


@pytest.mark.parametrize(
    ("form", "kind", "holds"),
    [
        ("html", "text/html; charset=utf-8", "<html"),
        ("md", "text/markdown; charset=utf-8", "quiz_clarity"),
        ("csv", "text/csv; charset=utf-8", "quiz_clarity"),
        ("json", "application/json", "headline"),
        ("sides", "text/html; charset=utf-8", "<mark>"),
        ("sides_zh", "text/html; charset=utf-8", "逐项对照"),
    ],
)
def test_the_report_comes_in_the_form_that_is_asked_for_and_may_run_nothing(
    buyer: Api, form: str, kind: str, holds: str
) -> None:
    path = _run(buyer, items=2)
    report = buyer.get(f"{path}/report", format=form)
    assert (report.status, report.headers["content-type"]) == (200, kind)
    assert holds in report.body
    assert "default-src 'none'" in report.headers["content-security-policy"]
    assert report.headers["x-content-type-options"] == "nosniff"
    if form == "html":
        assert buyer.get(f"{path}/report").body == report.body


def test_the_scores_of_every_item_are_a_table_behind_a_link(buyer: Api, judged: Deployment) -> None:
    path = _run(buyer, items=2)
    assert "items.csv" in buyer.get(path).json["items_url"]
    key = f"artifacts/acme/experiments/{path.rpartition('/')[2]}/items.csv"
    text = judged.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read().decode("utf-8-sig")
    assert {row["item"] for row in csv.DictReader(io.StringIO(text))} == {"i1", "i2"}


def test_a_pair_that_a_judge_failed_on_is_asked_again_and_nothing_else_is_paid_twice(
    buyer: Api, judged: Deployment, judges: ProviderServer
) -> None:
    judges.rule(error("overloaded"), schema="ClarityReply", prompt="book 3, list 1")
    path = _run(buyer, items=3)
    view = buyer.get(path).json
    assert (view["state"], view["done"], view["because"], view["conclusion"]) == ("measuring", 2, "overloaded", None)
    assert refusal(buyer.get(f"{path}/report"), 409)["detail"].endswith("measuring.")
    judges.reset()
    later(60)
    judged.machines.wake()
    view = buyer.get(path).json
    assert (view["state"], view["done"], view["because"]) == ("done", 3, None)
    assert len(judges.calls) == 2, "the clarity of both variants of one pair"
    assert view["cost_usd"] == pytest.approx(view["conclusion"]["outlay"]["cost_usd"])


def test_what_nobody_judged_after_all_tries_stays_unscored_visibly(
    buyer: Api, judged: Deployment, judges: ProviderServer
) -> None:
    judges.rule(error("overloaded"), schema="ClarityReply", prompt="book 3, list 1")
    path = _run(buyer, items=3)
    for _ in range(32):
        later(6 * 3600)
        judged.machines.wake()
    view = buyer.get(path).json
    clarity = next(one for one in view["conclusion"]["metrics"] if one["metric"] == "quiz_clarity")
    assert (view["state"], clarity["compared"], clarity["a"]["unscored_items"]) == ("done", 2, 1)


def test_without_any_judge_it_waits_and_at_last_says_that_nothing_could_be_measured(
    acme: Api, deployment: Deployment
) -> None:
    path = _run(acme, items=2)
    view = acme.get(path).json
    assert (view["state"], view["because"], view["estimate"]["cost_usd"]) == ("measuring", "misconfigured", None)
    later(7 * 24 * 3600)
    deployment.machines.wake()
    view = acme.get(path).json
    assert view["state"] == "failed"
    assert "Nothing could be measured" in view["failure"]


def test_metrics_that_ask_nobody_need_no_judge(acme: Api) -> None:
    view = acme.get(_run(acme, metrics=["quiz_item_flaws"])).json
    assert (view["state"], view["cost_usd"], view["estimate"]["calls"]) == ("done", 0, [0, 0])
    assert view["conclusion"]["metrics"][0]["compared"] == view["pairs"]
    assert view["conclusion"]["preference"]["asked"] is False


def test_an_experiment_that_was_uploaded_is_run(buyer: Api, judged: Deployment) -> None:
    place = buyer.post("/v1/experiment-files").json
    data = json.dumps(experiment(2, metrics=FEW)).encode()
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{place['experiment_key']}", Body=data)
    made = buyer.post("/v1/experiments", {"experiment_key": place["experiment_key"]})
    assert buyer.get(made.location).json["state"] == "done"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "not JSON"),
        (b"[]", "no experiment"),
        (json.dumps(experiment(2) | {"surface": "summary"}).encode(), "is of quiz"),
        (json.dumps(experiment(2) | {"sources": []}).encode(), "sources"),
        (b" " * (32 * 1024 * 1024 + 1), "at most 33,554,432"),
    ],
)
def test_a_file_that_is_no_experiment_has_failed_with_the_reason(
    buyer: Api, judged: Deployment, data: bytes, says: str
) -> None:
    key = buyer.post("/v1/experiment-files").json["experiment_key"]
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{key}", Body=data)
    view = buyer.get(buyer.post("/v1/experiments", {"experiment_key": key}).location).json
    assert (view["state"], view["pairs"]) == ("failed", None)
    assert says in view["failure"]


def _unpaired() -> dict[str, Any]:
    body = experiment(3)
    body["variants"][1]["items"].pop()
    return body


def _twice_a() -> dict[str, Any]:
    body = experiment(2)
    body["variants"][1]["name"] = body["variants"][0]["name"]
    return body


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"experiment": _unpaired()}, "unpaired"),
        ({"experiment": _twice_a()}, "same name"),
        ({"experiment": experiment(1, metrics=["summary_coverage"])}, "no metric of quiz"),
        ({"experiment": experiment(1, sources=[{"id": "s1", "markdown": " "}])}, "neither"),
        ({}, "exactly one"),
        ({"experiment": experiment(1), "experiment_key": "acme/experiment-uploads/x"}, "exactly one"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(acme: Api, body: dict[str, Any], says: str) -> None:
    document = refusal(acme.post("/v1/experiments", body), 422)
    assert says in document["detail"]
    assert acme.get("/v1/experiments").json["items"] == []


def test_anothers_experiments_and_files_are_just_missing(buyer: Api, judged: Deployment) -> None:
    path = _run(buyer, items=1)
    rival = Api(token=judged.token("rival"))
    key = buyer.post("/v1/experiment-files").json["experiment_key"]
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{key}", Body=b"{}")
    for response in (
        rival.get(path),
        rival.get(f"{path}/report"),
        rival.post("/v1/experiments", {"experiment_key": key}),
        buyer.post("/v1/experiments", {"experiment_key": "acme/records/x.json"}),
        buyer.post("/v1/experiments", {"experiment_key": "acme/experiment-uploads/nothing"}),
        buyer.get(f"/v1/experiments/{UNKNOWN}"),
    ):
        refusal(response, 404)
    assert rival.get("/v1/experiments").json["items"] == []
    reader = Api(token=judged.token("acme", role="reader"))
    assert reader.get(path).json["state"] == "done"
    assert reader.post("/v1/experiments", {"experiment": experiment(1)}).status == 403
    assert reader.post("/v1/experiment-files").status == 403


def test_a_repeat_with_its_key_meets_the_same_experiment(buyer: Api, judges: ProviderServer) -> None:
    body = {"experiment": experiment(1, metrics=FEW)}
    first = buyer.post("/v1/experiments", body, key="e-1")
    asked = len(judges.calls)
    assert buyer.post("/v1/experiments", body, key="e-1").json == first.json
    assert len(judges.calls) == asked
    assert len(buyer.get("/v1/experiments").json["items"]) == 1


def test_told_not_to_use_the_cache_it_asks_anew(buyer: Api, judges: ProviderServer) -> None:
    _run(buyer, items=1)
    asked = len(judges.calls)
    _run(buyer, items=1)
    assert len(judges.calls) == asked
    buyer.post("/v1/experiments", {"experiment": experiment(1, metrics=FEW), "use_cache": False})
    assert len(judges.calls) == 2 * asked


def test_what_a_text_holds_is_no_markup_in_the_report(buyer: Api) -> None:
    body = experiment(1, metrics=FEW)
    body["variants"][0]["name"] = "<script>alert(1)</script>"
    body["variants"][1]["items"][0]["material"] = quiz(2, ambiguous=1)
    path = buyer.post("/v1/experiments", {"experiment": body}).location
    assert "<script" not in buyer.get(f"{path}/report").body


PROMPT = {"prompt": "Ask one question about: {{ source }}", "model": "openai/gpt-6-luna"}


def _made(*makers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An experiment whose variants these makers make."""
    variants = [{"name": name, "maker": maker} for name, maker in zip(("old", "new"), makers, strict=True)]
    return experiment(6, metrics=FEW, variants=variants, **changes)


def _is_writing(call: Any) -> bool:
    """Whether a call is for a model that makes a quiz."""
    return str(call.prompt).startswith("Ask ")


def test_two_prompts_are_compared_and_each_is_paid_for_once(
    buyer: Api, judges: ProviderServer, judged: Deployment
) -> None:
    new = {**PROMPT, "prompt": "Ask anything about: {{ source }}", "model": None}
    for prompt, flawed in (("Ask one question", 0), ("Ask anything", 1)):
        written = [{"explanation": None} | one for one in quiz(1, ambiguous=flawed)["questions"]]
        for one in written:
            del one["id"]
        judges.reply({"questions": written}, prompt=prompt)
    judged.machines.repeats = 2
    made = buyer.post("/v1/experiments", {"experiment": _made(PROMPT, new)})
    assert made.status == 202, made.body
    view = buyer.get(made.location).json
    assert view["state"] == "done", view
    a, b = view["conclusion"]["makers"]
    assert (a["made"], a["calls"], a["models"]) == (6, 6, ["openai/gpt-6-luna"])
    assert (b["made"], b["calls"]) == (6, 6)
    assert b["maker"]["prompt"] == new["prompt"]
    assert len([call for call in judges.calls if _is_writing(call)]) == 12
    assert view["estimate"]["making"]["calls"] == [12, 12]
    assert view["conclusion"]["metrics"][0]["a_mean"] == 100.0
    assert view["conclusion"]["metrics"][0]["b_mean"] == 0.0


def test_what_a_model_did_not_make_is_tried_again_and_then_said(
    buyer: Api, judges: ProviderServer, judged: Deployment
) -> None:
    judges.rule(error("overloaded"), prompt="Ask one question")
    asked = _made(PROMPT, PROMPT | {"prompt": "Ask one question, please: {{ source }}"})
    asked["sources"] = asked["sources"][:2]
    made = buyer.post("/v1/experiments", {"experiment": asked})
    view = buyer.get(made.location).json
    assert (view["state"], view["because"]) == ("measuring", "overloaded")
    later(7 * 24 * 3600)
    judged.machines.wake()
    view = buyer.get(made.location).json
    assert view["state"] == "done"
    assert [(one["variant"], one["reason"]) for one in view["conclusion"]["failed"]] == [
        (name, "overloaded") for _ in range(2) for name in ("old", "new")
    ]
    assert all(_is_writing(call) for call in judges.calls)


@pytest.mark.parametrize("maker", [{"command": ["touch", "ran"]}, {"endpoint": "http://169.254.169.254/"}])
def test_a_deployment_runs_no_commands_and_asks_no_endpoints(
    buyer: Api, judges: ProviderServer, judged: Deployment, maker: dict[str, Any]
) -> None:
    refused = buyer.post("/v1/experiments", {"experiment": _made(PROMPT, maker)})
    said = refusal(refused, 422)["detail"]
    assert "A deployment runs no commands and asks no endpoints; variant new is made by" in said
    upload = buyer.post("/v1/experiment-files").json
    judged.s3.put_object(
        Bucket=BUCKET, Key=f"artifacts/{upload['experiment_key']}", Body=json.dumps(_made(PROMPT, maker))
    )
    view = buyer.get(buyer.post("/v1/experiments", {"experiment_key": upload["experiment_key"]}).location).json
    assert (view["state"], "A deployment runs no commands" in view["failure"]) == ("failed", True)
    assert judges.calls == []


def test_a_model_that_is_not_listed_is_refused_before_anything_is_paid(buyer: Api, judges: ProviderServer) -> None:
    made = buyer.post("/v1/experiments", {"experiment": _made(PROMPT, PROMPT | {"model": "openai/gpt-1"})})
    view = buyer.get(made.location).json
    assert view["state"] == "failed"
    assert "Variant new cannot be made. There is no model gpt-1 of openai" in view["failure"]
    assert judges.calls == []
