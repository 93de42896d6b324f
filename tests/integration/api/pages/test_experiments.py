"""The pages of experiments: what they say of two variants, how sure it is, what stands behind it, what it cost."""

import csv
import io
import json
from typing import Any

import pytest

from tests.support.api import Api
from tests.support.deployment import BUCKET, Deployment
from tests.support.pages import Visitor, rows, signed_in
from tests.support.providers import ProviderServer
from tests.support.quizzes import experiment, quiz

FEW = ["quiz_clarity", "quiz_item_flaws"]
"""One metric that asks a judge, and one that asks nobody."""
UNJUDGED = ["quiz_item_flaws"]
ONE_PAGE = 50
SCRIPT = "<script>alert(1)</script>"
UNKNOWN = "01JD7Z00000000000000000000"


@pytest.fixture
def member(judged: Deployment) -> Visitor:
    """A member of the tenant acme, signed in where judges answer."""
    return signed_in(judged)


def run(api: Api, items: int = 6, **changes: Any) -> str:
    """The address of the page of an experiment that was run."""
    made = api.post("/v1/experiments", {"experiment": experiment(items, **({"metrics": FEW} | changes))})
    assert made.status == 202, made.body
    return "/app/experiments/" + made.location.rpartition("/")[2]


def test_the_list_says_what_each_experiment_came_to_and_leads_to_its_page(member: Visitor, buyer: Api) -> None:
    address = run(buyer)
    page = member.open("/app/experiments")
    assert "Done A is better 6" in page.text
    assert member.open(page.links[-5]).response.status == 200
    (row,) = rows(member.open("/app/experiments", format="json"), "experiments")
    assert (row["id"], row["declared"], row["pairs"]) == (address.rpartition("/")[2], "a_better", 6)


def test_both_variants_stand_side_by_side_with_interval_and_declaration(member: Visitor, buyer: Api) -> None:
    address = run(buyer)
    page = member.open(address)
    assert "“merged_chunks” is better than “docling_chunks”." in page.text
    shown = member.open(address, format="json")
    (said,) = rows(shown, "experiment")
    assert (said["a"], said["b"], said["state"], said["verdict"]) == (
        "merged_chunks",
        "docling_chunks",
        "done",
        "a_better",
    )
    assert "quiz clarity by 50.0 points" in said["headline"]
    assert "Quiz: clarity: “merged_chunks” is better by 50.0 points" in page.text
    assert "quiz_clarity by" not in page.text, "people read the names of metrics as words"
    found = {row["metric"]: row for row in rows(shown, "respects")}
    clarity, flaws = found["quiz_clarity"], found["quiz_item_flaws"]
    assert (clarity["a_mean"], clarity["b_mean"], clarity["difference"]) == (100, 50, -50)
    assert clarity["lower"] <= clarity["difference"] <= clarity["upper"] < 0
    assert (clarity["declared"], flaws["declared"]) == ("a_better", "no_difference_shown")
    assert clarity["adjusted_p_value"] < 0.05
    assert "Quiz: item flaws 100.00 100.00 0.00 [0.00, 0.00] 1.000 No difference shown" in page.text
    assert set(found) == {*FEW, "preference"}
    beyond = [name for name, row in found.items() if (row["detectable"] or 0) > 100]
    assert ("> 100" in page.text) is bool(beyond)


def test_the_chart_draws_each_difference_with_its_interval(member: Visitor, buyer: Api) -> None:
    address = run(buyer)
    page = member.open(address)
    (chart,) = (json.loads(given["data-chart"]) for tag, given in page.elements if tag == "canvas")
    shown = {row["metric"]: row for row in rows(member.open(address, format="json"), "respects")}
    assert chart["kind"] == "intervals"
    assert chart["labels"] == ["Quiz: clarity", "Quiz: item flaws", "The judge's preference"]
    (series,) = chart["series"]
    assert series["values"] == [row["difference"] for row in shown.values()]
    assert series["lower"] == [row["lower"] for row in shown.values()]
    assert series["upper"] == [row["upper"] for row in shown.values()]
    assert all(text in page.text for text in series["texts"]), "what a point says is what the table says"


def test_the_judges_preference_is_shown_with_how_often_the_order_decided(member: Visitor, buyer: Api) -> None:
    found = member.open(run(buyer), format="json")
    (preference,) = rows(found, "preference")
    assert (preference["wins_a"], preference["wins_b"], preference["flipped"]) == (6, 0, 0)
    assert preference["flip_lower"] == 0 < preference["flip_upper"] < 1
    assert {row["preferred"] for row in rows(found, "preferred")} == {"a"}


def test_the_items_behind_a_difference_say_what_was_lost_where_and_why(member: Visitor, buyer: Api) -> None:
    address = run(buyer)
    found = member.open(address, format="json")
    items = rows(found, "items_behind")
    assert len(items) == 5, "the largest differences alone"
    assert {(one["metric"], one["favours"], one["lost_a"], one["lost_b"]) for one in items} == {
        ("quiz_clarity", "a", None, "AMBIGUOUS × 2")
    }
    labels = rows(found, "labels")
    assert {(one["variant"], one["part"], one["label"]) for one in labels} == {
        ("docling_chunks", "q1", "AMBIGUOUS"),
        ("docling_chunks", "q2", "AMBIGUOUS"),
    }
    assert "It can be read in two ways." in member.open(address).text


def test_what_it_cost_is_what_the_api_says(member: Visitor, buyer: Api) -> None:
    address = run(buyer)
    said = buyer.get(address.replace("/app/", "/v1/")).json
    (outlay,) = rows(member.open(address, format="json"), "outlay")
    assert outlay["cost_usd"] == pytest.approx(said["cost_usd"])
    assert outlay["calls"] == said["conclusion"]["outlay"]["calls"] > 0
    assert "claude/" in outlay["models"]


def test_an_experiment_that_is_not_over_says_how_far_it_is_and_why_it_waits(visitor: Visitor, acme: Api) -> None:
    page = visitor.open(run(acme, 2))
    assert "Being measured · No judge, or not set up" in page.text
    assert "0 of 2 done" in page.text
    assert "There are no figures before all pairs are measured." in page.text
    assert not [tag for tag, _ in page.elements if tag == "canvas"]


def test_one_that_failed_says_why(member: Visitor, buyer: Api, judged: Deployment) -> None:
    key = buyer.post("/v1/experiment-files").json["experiment_key"]
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{key}", Body=b"{")
    made = buyer.post("/v1/experiments", {"experiment_key": key})
    page = member.open(made.location.replace("/v1/", "/app/"))
    assert "not JSON" in page.text
    assert "Failed" in page.text
    assert "There are no figures before" not in page.text, "there will be none"
    assert "这不是 JSON" in member.open(made.location.replace("/v1/", "/app/"), lang="zh").text


def test_without_a_judge_nothing_is_said_of_a_preference(visitor: Visitor, acme: Api) -> None:
    page = visitor.open(run(acme, metrics=UNJUDGED))
    assert "No judge was asked." in page.text
    assert "No item differs." in page.text


def test_too_few_sources_are_no_comparison_and_no_chart(visitor: Visitor, acme: Api) -> None:
    page = visitor.open(run(acme, 2, metrics=UNJUDGED))
    assert "“merged_chunks” and “docling_chunks” could not be compared." in page.text
    assert "An interval needs 5 sources; sources with scores of both: 2." in page.text
    assert not [tag for tag, _ in page.elements if tag == "canvas"]


def test_whoever_has_none_is_told_how_to_run_one(visitor: Visitor) -> None:
    assert "No experiment yet. Run one with the command or the API" in visitor.open("/app/experiments").text


def test_a7_markup_in_names_is_text_and_formulas_are_none(visitor: Visitor, acme: Api) -> None:
    body = experiment(5, metrics=UNJUDGED)
    body["name"] = SCRIPT
    body["variants"][0]["name"] = "=cmd()"
    body["variants"][1]["name"] = SCRIPT + "B"
    for item in body["variants"][1]["items"]:
        item["material"] = quiz(2)
        item["material"]["questions"][0] |= {"id": "=q", "choices": ["Australia", "All of the above", SCRIPT]}
    address = acme.post("/v1/experiments", {"experiment": body}).location.replace("/v1/", "/app/")
    for place in (address, "/app/experiments"):
        page = visitor.open(place)
        assert "alert(1)" in page.text
        assert all("alert" not in str(given.get("src")) for tag, given in page.elements if tag == "script")
        assert SCRIPT not in page.response.body
    (row,) = csv.DictReader(io.StringIO(visitor.open("/app/experiments", format="csv").response.body))
    assert row["a"] == "'=cmd()"
    labels = csv.DictReader(io.StringIO(visitor.open(address, format="csv", table="labels").response.body))
    assert {one["part"] for one in labels} == {"'=q"}


def test_it_can_be_read_in_chinese(member: Visitor, buyer: Api) -> None:
    member.headers["accept-language"] = "zh-CN"
    page = member.open(run(buyer))
    assert "“merged_chunks”优于“docling_chunks”。" in page.text
    assert "测验：表述清晰" in page.text
    assert "未显示差异" in page.text
    assert "测验：表述清晰：“merged_chunks”高 50.0 分（95 % 置信区间 50.0 至 50.0，校正后 p 值 = 0.036）" in page.text
    assert "is better" not in page.text
    assert "另有 1 个方面未显示差异。" in page.text
    listed = member.open("/app/experiments")
    assert "“merged_chunks”优于“docling_chunks”。" in listed.text


def test_what_must_be_known_beside_the_figures_is_said_in_chinese(
    member: Visitor, buyer: Api, judged: Deployment
) -> None:
    few = member.open(run(buyer, 2, metrics=UNJUDGED), lang="zh")
    assert "置信区间至少需要 5 个来源，而两个方案都有得分的来源只有 2 个。" in few.text
    alike = member.open(run(buyer, ambiguous=0, metrics=UNJUDGED, judges=2, replicates=2), lang="zh")
    for said in ("同样的问题问了 2 次，以平均值为准。", "无法说明多大的差异能够检出"):
        assert said in alike.text
    for page in (few, alike):
        assert not [given for tag, given in page.elements if given.get("lang") == "en" and tag in {"ul", "li", "p"}]


def test_anothers_experiment_is_no_page(member: Visitor, buyer: Api, judged: Deployment) -> None:
    address = run(buyer, 1)
    rival = Visitor()
    rival.sign_in(judged.token("rival"))
    assert rival.open(address).response.status == 404
    assert member.open(f"/app/experiments/{UNKNOWN}").response.status == 404
    assert "No experiment yet." in rival.open("/app/experiments").text


def test_a_page_costs_the_same_reads_however_many_pairs_there_are(
    visitor: Visitor, acme: Api, reads: list[str]
) -> None:
    taken = []
    for address in (run(acme, 5, metrics=UNJUDGED), run(acme, 30, metrics=UNJUDGED)):
        reads.clear()
        assert visitor.open(address).response.status == 200
        taken.append(list(reads))
    assert taken[0] == taken[1]
    assert len(taken[0]) <= 6


def test_the_list_costs_the_same_reads_however_many_there_are(
    visitor: Visitor, acme: Api, deployment: Deployment, reads: list[str]
) -> None:
    first = run(acme, 1, metrics=UNJUDGED)
    key = acme.post("/v1/experiment-files").json["experiment_key"]
    deployment.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{key}", Body=b"{")
    visitor.open("/app/experiments")
    reads.clear()
    visitor.open("/app/experiments")
    few = list(reads)
    for _ in range(ONE_PAGE):
        assert acme.post("/v1/experiments", {"experiment_key": key}).status == 202
    reads.clear()
    page = visitor.open("/app/experiments")
    assert list(reads) == few
    older = next(given["href"] for tag, given in page.elements if given.get("rel") == "next")
    assert first.rpartition("/")[2] not in page.response.body
    assert first.rpartition("/")[2] in visitor.open(older).response.body


def test_who_made_the_items_by_which_prompt_and_what_that_took_stands_on_the_page(
    member: Visitor, buyer: Api, judges: ProviderServer
) -> None:
    (question,) = quiz(1)["questions"]
    written = {name: value for name, value in question.items() if name != "id"} | {"explanation": None}
    judges.reply({"questions": [written]}, prompt="Ask one question")
    prompt = f"Ask one question {SCRIPT} about: {{{{ source }}}}"
    makers = [{"prompt": prompt, "model": "openai/gpt-6-luna"}, {"prompt": prompt}]
    variants = [{"name": name, "maker": maker} for name, maker in zip(("old", "new"), makers, strict=True)]
    address = run(buyer, 1, metrics=UNJUDGED, variants=variants)
    page = member.open(address)
    assert "Who made the items, and what that took" in page.text
    assert SCRIPT in page.text
    assert SCRIPT not in page.response.body
    old, new = rows(member.open(address, format="json"), "makers")
    assert (old["maker"], old["made"], old["calls"], old["prompt"]) == ("prompt: openai/gpt-6-luna", 1, 1, prompt)
    assert (new["maker"], new["not_made"]) == ("prompt: the judge's model", 0)
    page = member.open(f"{address}/pairs")
    assert "The prompts" in page.text
    assert page.text.count(SCRIPT) >= 2
    assert SCRIPT not in page.response.body
