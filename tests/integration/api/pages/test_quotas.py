"""The page of quotas: what may still be asked today, what was spent against the ceiling, and the deferred backlog."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.composition import stores
from functions.pages.routes.overview import by_quota
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.overrides import clock_at, registry
from tests.support.pages import Page, Visitor, signed_in
from tests.support.providers import ProviderServer, error
from touchstone.clock import system_clock
from touchstone.judges import load_registry
from touchstone.operations.reports.budgets import BudgetReport

MODEL = load_registry(environ={}).model("gemini", "verify").name
EVALUATOR = load_registry(environ={}).model("gemini", "evaluate").name
PER_DAY = 1000


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that stay as they are when the registry's change."""
    models = {name: {"per_day": PER_DAY, "per_minute": 60} for name in (MODEL, EVALUATOR)}
    for name, value in registry(gemini={"models": models}).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def noon(judged: Deployment, monkeypatch: pytest.MonkeyPatch) -> datetime:
    """Noon where Gemini's day is counted: far from any midnight, and from the hours in which no share holds."""
    at = system_clock().replace(hour=20, minute=0, second=0, microsecond=0)
    _set_clock(monkeypatch, at)
    return at


@pytest.fixture
def neighbour(judged: Deployment) -> Api:
    """A member of another tenant; that there is one is looked up only now and then, so it must be there first."""
    return Api(token=judged.token("rival"))


@pytest.fixture
def reader(judged: Deployment, noon: datetime) -> Visitor:
    """A reader of the tenant acme, signed in."""
    return signed_in(judged, role="reader")


def _set_clock(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    for name, value in clock_at(at).items():
        monkeypatch.setenv(name, value)


def _verify(api: Api, *, count: int = 1, of: str = "country") -> None:
    """So many verifications that a judge must be asked for."""
    for number in range(count):
        body = {"problem": f"Name the capital of {of} {number}.", "answer": "Canberra"}
        assert api.post("/v1/verifications", body).json["verification_status"] == "verified"


def _charts(page: Page) -> dict[str, Any]:
    found = [json.loads(given["data-chart"]) for tag, given in page.elements if tag == "canvas"]
    return {chart["kind"]: {series["name"]: series["values"] for series in chart["series"]} for chart in found}


def test_quotas_are_shown_with_the_tenants_share(neighbour: Api, buyer: Api, reader: Visitor, noon: datetime) -> None:
    _verify(buyer, count=2)
    _verify(neighbour, of="province")
    rows = reader.open("/app/quotas", format="json").response.json["quotas"]["rows"]
    (row,) = [row for row in rows if row["tier"] == "verify"]
    assert (row["model"], row["used"], row["limit"], row["left"]) == (MODEL, 3, PER_DAY, PER_DAY - 3)
    assert (row["share_used"], row["share_limit"], row["share_per_minute"]) == (2, PER_DAY / 2, 30)
    assert row["blocked_until"] is None
    page = reader.open("/app/quotas")
    resets = datetime.fromisoformat(row["resets_at"])
    assert noon < resets <= noon + timedelta(hours=13)
    assert f"The quotas of gemini are whole again at {resets:%Y-%m-%d %H:%M}." in page.text
    used = _charts(page)["stacked"]
    assert [used[name][0] for name in ("Used by you", "Used by others", "Left")] == [2, 1, PER_DAY - 3]


def test_a_model_that_serves_two_tiers_has_its_quota_shown_once(buyer: Api, noon: datetime) -> None:
    budget = BudgetReport.model_validate(buyer.get("/v1/budget").json)
    verify, evaluate = budget.quotas
    assert by_quota(budget) == [(["verify"], verify), (["evaluate"], evaluate)]
    of_one = budget.model_copy(update={"quotas": (verify, verify.model_copy(update={"tier": "evaluate"}))})
    assert by_quota(of_one) == [(["verify", "evaluate"], verify)]


def test_a_judge_that_is_held_back_says_why_and_until_when(
    buyer: Api, reader: Visitor, judges: ProviderServer, noon: datetime
) -> None:
    judges.script(error("unauthorized"))
    body = {"problem": "Name the capital of Australia.", "answer": "Canberra"}
    refused = buyer.post("/v1/verifications", body).json
    held = buyer.post("/v1/verifications", {**body, "problem": "Name the capital again."}).json
    errors = [answer["attempts"][0]["verification"]["error"] for answer in (refused, held)]
    said = [error.removeprefix("Not verified: ") for error in errors]
    assert "refuses the API key" in said[0]
    assert said[1].startswith(f"{said[0]} Nothing was sent; the next call may be made at {noon:%Y-%m-%d} 20:00:")
    (quota,) = [each for each in buyer.get("/v1/budget").json["quotas"] if each["tier"] == "verify"]
    assert quota["blocked_why"] == said[0]
    until = datetime.fromisoformat(quota["blocked_until"])
    assert noon < until <= noon + timedelta(seconds=30)
    assert f"{MODEL}: nothing is sent before {until:%Y-%m-%d %H:%M}. {said[0]}" in reader.open("/app/quotas").text


def test_one_tenant_alone_has_no_share(buyer: Api, reader: Visitor) -> None:
    _verify(buyer)
    page = reader.open("/app/quotas")
    assert set(_charts(page)["stacked"]) == {"Used", "Left"}
    (row,) = [
        row
        for row in reader.open("/app/quotas", format="json").response.json["quotas"]["rows"]
        if row["tier"] == "verify"
    ]
    assert (row["used"], row["share_used"], row["share_limit"]) == (1, None, None)


def test_spending_is_shown_day_by_day_against_the_ceiling(
    buyer: Api, reader: Visitor, noon: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores.spending().set_ceiling("acme", 0.5)
    _set_clock(monkeypatch, noon - timedelta(days=3))
    _verify(buyer, count=2, of="state")
    _set_clock(monkeypatch, noon)
    _verify(buyer)
    today, earlier = reader.open("/app/quotas", format="json").response.json["spending"]["rows"]
    assert (today["day"], earlier["day"]) == (f"{noon:%Y-%m-%d}", f"{noon - timedelta(days=3):%Y-%m-%d}")
    assert (today["calls"], earlier["calls"]) == (1, 2)
    assert today["of_ceiling"] == pytest.approx(today["spent_usd"] / 0.5)
    page = reader.open("/app/quotas")
    assert "Ceiling a day $0.5000" in page.text
    drawn = _charts(page)["lines"]
    assert drawn["Spent (US dollars)"] == [earlier["spent_usd"], 0.0, 0.0, today["spent_usd"]]
    assert "Ceiling a day" not in drawn, "far above all days it would make them one flat line"
    stores.spending().set_ceiling("acme", ceiling := 2 * today["spent_usd"])
    assert _charts(reader.open("/app/quotas"))["lines"]["Ceiling a day"] == [ceiling] * 4
    (meter,) = [given for tag, given in page.elements if tag == "meter" and given.get("aria-label") == "Spent today"]
    assert float(meter["value"]) == pytest.approx(today["spent_usd"])
    assert "#table-spending" in page.links
    assert "app/quotas#table-spending" in reader.open("/").links
    for day, count in ((today, 1), (earlier, 2)):
        of_day = [link for link in page.links if f"from={day['day']}&to={day['day']}" in link]
        assert [link.partition("?")[0] for link in of_day] == day["arrived"].split(", ")
        listed = reader.open(f"/app/{of_day[0]}", format="json").response.json["answers"]["rows"]
        assert len(listed) == count
        assert sum(row["cost_usd"] for row in listed) == pytest.approx(day["spent_usd"])
        assert all(reader.open(f"/app/{link}").response.status == 200 for link in of_day)
    assert "Cost from (US dollars): 0.000001" in reader.open(f"/app/{of_day[0]}").text


def test_the_backlog_says_when_it_will_be_empty(
    judged: Deployment, buyer: Api, judges: ProviderServer, reader: Visitor, noon: datetime
) -> None:
    judges.rule(error("day_quota"), schema="EvaluateReply")
    view = buyer.post("/v1/verifications", {"problem": "Compute 1 + 1.", "answer": "2", "deep_evaluation": True}).json
    assert buyer.get(f"/v1/answers/{view['id']}").json["evaluation"]["state"] == "deferred"
    found = reader.open("/app/quotas", format="json").response.json
    assert {row["state"]: row["evaluations"] for row in found["backlog"]["rows"]} == {
        "waiting": 0,
        "submitted": 0,
        "deferred": 1,
        "running": 0,
        "done": 0,
        "failed": 0,
    }
    (row,) = [row for row in found["quotas"]["rows"] if row["tier"] == "evaluate"]
    (today,) = found["today"]["rows"]
    assert today["deferred"] == 1
    assert row["left"] == 0
    done_by = datetime.fromisoformat(buyer.get("/v1/backlog").json["done_by"])
    assert datetime.fromisoformat(today["done_by"]) == done_by > noon
    text = reader.open("/app/quotas").text
    assert f"The backlog is expected to be empty by {done_by:%Y-%m-%d %H:%M}" in text
    assert "Your deferred deep evaluations 1 Deferred in the whole deployment 1" in text
    rival = Visitor()
    rival.sign_in(judged.token("rival"))
    assert "Your deferred deep evaluations 0 Deferred in the whole deployment 1" in rival.open("/app/quotas").text


def test_without_a_judge_there_is_no_quota_and_no_end_of_the_backlog(visitor: Visitor, acme: Api) -> None:
    page = visitor.open("/app/quotas")
    assert "No judge has a key, so there is no quota to keep." in page.text
    assert "Nothing is deferred" in page.text
    assert "canvas" not in {tag for tag, _ in page.elements}
    acme.post("/v1/verifications", {"problem": "Compute 1 + 1.", "answer": "2", "deep_evaluation": True})
    assert "It cannot be said when the backlog will be empty" in visitor.open("/app/quotas").text


def test_it_speaks_chinese(visitor: Visitor) -> None:
    text = visitor.open("/app/quotas", lang="zh").text
    assert "没有推迟的任务" in text
    assert "今日配额" in text


@pytest.mark.parametrize(
    ("table", "heading"),
    [("quotas", "tier,model,provider,used"), ("spending", "day,spent_usd"), ("backlog", "state,evaluations")],
)
def test_each_table_can_be_had_as_csv(visitor: Visitor, table: str, heading: str) -> None:
    answer = visitor.open("/app/quotas", format="csv", table=table).response
    assert answer.headers["content-disposition"] == f'attachment; filename="{table}.csv"'
    assert answer.body.startswith(heading)
