"""The page of trends: scores day by day, what is suggested again and again, and better approaches."""

import csv
import io
import json
from typing import Any

import pytest

from tests.support import replies
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Visitor, signed_in
from tests.support.providers import ProviderServer

MARKUP = "<script>alert('it')</script>\nLook at <b>a map</b>."
FORMULA = "=HYPERLINK(1)"


@pytest.fixture
def reader(judged: Deployment) -> Visitor:
    """A reader of the tenant acme, signed in."""
    return signed_in(judged, role="reader")


def _evaluated(api: Api, judges: ProviderServer, problem: str, **said: Any) -> str:
    """An answer whose deep evaluation came to this; its id."""
    judges.reply(replies.evaluate(**said), schema="EvaluateReply")
    made = api.post("/v1/solutions", {"problem": problem, "use_cache": False, "use_retrieved": False})
    view = api.get(made.location).json
    assert view["evaluation"]["state"] == "done"
    return str(view["id"])


def test_scores_suggestions_and_better_approaches_are_shown(
    reader: Visitor, buyer: Api, judges: ProviderServer
) -> None:
    _evaluated(buyer, judges, "Name the capital of Australia.", clarity=0.5, improvement_suggestions=["Show a map."])
    newest = _evaluated(
        buyer,
        judges,
        "Which city is the capital of Australia?",
        clarity=1.0,
        improvement_suggestions=["Show a map.", "Number the steps."],
        better_approach="Start from the atlas.",
    )
    page = reader.open("/app/trends")
    assert "Start from the atlas." in page.text
    assert f"answers/{newest}" in page.links
    answer = reader.open(f"answers/{newest}")
    for said in ("Clarity 1.00", "Number the steps.", "Name the capital of Canada.", "Is the largest city always"):
        assert said in answer.text
    tables = reader.open(f"/app/answers/{newest}", format="json").response.json
    (deep,), (given,) = tables["deep_evaluation"]["rows"], tables["answer"]["rows"]
    assert (deep["clarity"], deep["better_approach"]) == (1.0, "Start from the atlas.")
    assert deep["improvement_suggestions"].splitlines() == ["Show a map.", "Number the steps."]
    assert (given["hints"], given["related_exercise"]) == (
        "Is the largest city always the capital?",
        "Name the capital of Canada.",
    )
    found = reader.open("/app/trends", format="json").response.json
    (day,) = found["trends"]["rows"]
    assert (day["evaluations"], day["clarity"], day["correctness"], day["format"]) == (2, 0.75, 1.0, 0.3)
    assert day["overall"] == pytest.approx((1.0 + 0.8 + 0.75 + 0.5 + 0.3) / 5, abs=1e-6)
    assert found["suggestions"]["rows"] == [
        {"count": 2, "suggestion": "Show a map"},
        {"count": 1, "suggestion": "Number the steps"},
    ]


def test_the_chart_has_a_line_for_each_score(reader: Visitor, buyer: Api, judges: ProviderServer) -> None:
    _evaluated(buyer, judges, "Name the capital of Australia.")
    (canvas,) = [found for tag, found in reader.open("/app/trends").elements if tag == "canvas"]
    chart = json.loads(canvas["data-chart"])
    assert (chart["kind"], len(chart["labels"])) == ("lines", 1)
    lines = {series["name"]: series["values"] for series in chart["series"]}
    assert list(lines) == ["Correctness", "Completeness", "Clarity", "Pedagogy", "Format", "Overall"]
    assert lines["Completeness"] == [0.8]


def test_what_a_judge_said_is_text_on_the_page_and_no_formula_in_a_file(
    reader: Visitor, buyer: Api, judges: ProviderServer
) -> None:
    _evaluated(
        buyer,
        judges,
        "Name the capital of Australia.",
        improvement_suggestions=[FORMULA, "<img src=x onerror=alert(1)>"],
        better_approach=MARKUP,
    )
    page = reader.open("/app/trends")
    assert "<script>alert('it')</script> Look at <b>a map</b>." in page.text
    assert "<img src=x onerror=alert(1)>" in page.text
    assert not {tag for tag, _ in page.elements} & {"b", "img"}
    assert all(found.get("src") for tag, found in page.elements if tag == "script")
    sheet = reader.open("/app/trends", format="csv", table="suggestions").response.body
    assert f"'{FORMULA}" in [cell for row in csv.reader(io.StringIO(sheet)) for cell in row]
    sheet = reader.open("/app/trends", format="csv", table="approaches").response.body
    assert list(csv.reader(io.StringIO(sheet)))[1][0] == MARKUP


def test_without_evaluations_the_page_says_so_and_draws_nothing(visitor: Visitor) -> None:
    page = visitor.open("/app/trends")
    assert "No deep evaluation in these days." in page.text
    assert "canvas" not in {tag for tag, _ in page.elements}
    chinese = visitor.open("/app/trends", lang="zh")
    assert "这些天没有深度评估" in chinese.text
    assert "反复出现的改进建议" in chinese.text


def test_another_tenant_sees_nothing_of_it(judged: Deployment, buyer: Api, judges: ProviderServer) -> None:
    _evaluated(buyer, judges, "Name the capital of Australia.", better_approach="Start from the atlas.")
    rival = Visitor()
    rival.sign_in(judged.token("rival"))
    found = rival.open("/app/trends", format="json").response.json
    assert not any(table["rows"] for table in found.values())


@pytest.mark.parametrize(("days", "status"), [("7", 200), ("90", 200), ("8", 400), ("many", 400)])
def test_the_days_looked_back_on_are_chosen_from_three(visitor: Visitor, days: str, status: int) -> None:
    page = visitor.open("/app/trends", days=days)
    assert page.response.status == status
    if status == 200:
        assert {"value": days, "selected": ""} in [found for tag, found in page.elements if tag == "option"]
