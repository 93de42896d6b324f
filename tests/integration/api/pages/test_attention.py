"""What the overview says calls for attention today: each with a link to it and what to do, or that all is well."""

from typing import Any

from functions.composition import stores
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Page, Visitor, rows, signed_in
from tests.support.providers import ProviderServer, error

CANBERRA = {"problem": "Name the capital of Australia.", "answer": "Canberra"}


def _concerns(visitor: Visitor) -> dict[str, dict[str, Any]]:
    return {row["concern"]: row for row in rows(visitor.open("/", format="json"), "attention")}


def _listed(page: Page) -> int:
    return sum("attention calls" in given.get("class", "") for tag, given in page.elements)


def test_what_failed_and_what_nobody_decided_is_said_and_leads_to_it(visitor: Visitor, acme: Api) -> None:
    for number in range(4):
        acme.post("/v1/verifications", {"problem": f"Compute {number} + 1.", "answer": str(number + 1)})
    acme.post("/v1/verifications", CANBERRA)
    acme.post("/v1/solutions", {"problem": "Name the capital of Peru.", "subject": "geography"})
    assert set(_concerns(visitor)) == {"no_judge", "failed"}, "one of six that is not verified is not much"
    acme.post("/v1/verifications", CANBERRA | {"answer": "Sydney"})
    found = _concerns(visitor)
    assert {name: (row["figure"], row["of"]) for name, row in found.items()} == {
        "no_judge": (0, None),
        "failed": (1, 7),
        "undecided": (2, 7),
    }
    page = visitor.open("/")
    for said in (
        "Answers of today that failed: 1 of 7.",
        "Answers of today that are not verified: 2 of 7.",
        "No judge has",
    ):
        assert said in page.text
    for row in found.values():
        assert row["address"] in page.links
        assert row["command"] in page.text
        visitor.at = "/"
        shown = visitor.open(row["address"], format="json")
        assert shown.response.status == 200
        if "found" in shown.response.json:
            assert rows(shown, "found")[0]["found"] == row["figure"]
    assert _listed(page) == 1


def test_where_all_is_well_one_sentence_says_so_in_both_languages(judged: Deployment, buyer: Api) -> None:
    reader = signed_in(judged, role="reader")
    buyer.post("/v1/verifications", {"problem": "Compute 1 + 1.", "answer": "2"})
    page = reader.open("/")
    assert "All is well: no answer failed today" in page.text
    assert _listed(page) == 0
    assert "一切正常" in reader.open("/", lang="zh").text


def test_the_line_the_money_and_a_judge_that_is_held_back_are_said(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    reader = signed_in(judged, role="reader")
    judges.rule(error("day_quota"), schema="EvaluateReply")
    body = {"problem": "Compute 1 + 1.", "answer": "2", "deep_evaluation": True}
    assert buyer.post("/v1/verifications", body).status == 201
    found = _concerns(reader)
    assert found["deferred"]["figure"] == 1
    assert found["deferred"]["moment"] is not None
    assert "used_up" not in found, "the model is said once"
    assert "spent for the day" in found["held"]["because"]
    assert "spent" not in found
    shown = reader.open(found["deferred"]["address"], format="json")
    assert rows(shown, "found")[0]["found"] == 1
    stores.spending().set_ceiling("acme", 0.0001)
    stores.spending().reserve("acme", 0.00009, 0.0001)
    spent = _concerns(reader)["spent"]
    assert (round(spent["figure"], 6), spent["of"]) == (0.00009, 0.0001)
    page = reader.open("/", lang="zh")
    assert "项深度评估正在等待配额" in page.text
    assert "touchstone tenant ceiling acme" in page.text
