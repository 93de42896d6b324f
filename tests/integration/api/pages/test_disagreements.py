"""Where people and judges disagree: as a page, as CSV and JSON, and from the card of the judge."""

import csv
import io
import json

import pytest

from functions.composition import stores
from functions.composition.labels import labels
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Visitor, rows, verified
from tests.support.records import START, an_answer, an_attempt, finished
from touchstone.records import labels as stored
from touchstone.records.labels import Label
from touchstone.statistics.tallies import JudgedVote, JudgeKey

PAGE = "/app/disagreements"
JUDGE = JudgeKey(model="gemini-3.8-flash", tier="verify", prompt_version="0" * 16, kind="quick_verify")
OTHER = JudgeKey(model="gpt-5.5", tier="verify", prompt_version="0" * 16, kind="quick_verify")


def label(api: Api, record_id: str, said: str) -> None:
    reply = api.call("PUT", f"/v1/labels/quick_verify/{record_id}/1", json.dumps({"label": said}))
    assert reply.status == 200, reply.body


def kept(
    number: int,
    said: str,
    *,
    tenant: str = "acme",
    judge: JudgeKey = JUDGE,
    votes: tuple[JudgedVote, ...] = (),
    problem: str | None = None,
) -> Label:
    """A label of a verdict "right" on an answer that is there."""
    asked = an_answer(tenant=tenant, problem=problem or f"Problem {number}")
    record = finished(stores.answers(), asked, an_attempt())
    return labels().put(
        Label(
            tenant=tenant,
            kind="quick_verify",
            record_id=record.id,
            item="1",
            label=said,
            verdict="right",
            confidence=0.9,
            judge=judge,
            labelled_by="01JD7Z00000000000000000000",
            labelled_at=START.replace(minute=number % 60, second=number // 60),
            sample="random",
            votes=votes,
        )
    )


def test_a_disagreement_is_listed_with_what_both_said_and_leads_to_the_answer(visitor: Visitor, acme: Api) -> None:
    assert "No disagreement among the labels that were looked at." in visitor.open(PAGE).text
    agreed, disagreed = (verified(acme, f"Compute {number} + 2.", "4") for number in (2, 3))
    label(acme, agreed, "right")
    label(acme, disagreed, "right")
    page = visitor.open(PAGE)
    assert "Compute 3 + 2." in page.text
    assert "Compute 2 + 2." not in page.text
    assert "Labels looked at: 2." in page.text
    assert "next page" not in page.text, "there is none"
    (row,) = rows(visitor.open(PAGE, format="json"), "disagreements")
    assert (row["record_id"], row["label"], row["verdict"], row["model"]) == (disagreed, "right", "wrong", "checks")
    link = next(link for link in page.links if link.startswith("answers/"))
    answer = visitor.open(f"/app/{link}")
    assert "Compute 3 + 2." in answer.text
    assert ("../disagreements") in answer.links
    label(acme, disagreed, "wrong")
    assert rows(visitor.open(PAGE, format="json"), "disagreements") == []


def test_a_card_leads_to_the_disagreements_with_its_judge_alone(visitor: Visitor) -> None:
    first, second = kept(1, "wrong"), kept(2, "wrong", judge=OTHER)
    vote = JudgedVote(verdict="wrong", confidence=0.55, judge=OTHER)
    third = kept(3, "right", votes=(vote,))
    kept(4, "right")
    assert {row["record_id"] for row in rows(visitor.open(PAGE, format="json"), "disagreements")} == {
        first.record_id,
        second.record_id,
        third.record_id,
    }
    cards = visitor.open("/app/judges", format="json").response.json["cards"]["rows"]
    assert {row["model"] for row in cards} == {JUDGE.model, OTHER.model}
    for link in [link for link in visitor.open("/app/judges").links if link.startswith("judges/")]:
        page = visitor.open(f"/app/{link}")
        theirs = next(link for link in page.links if "disagreements" in link)
        found = rows(visitor.open(theirs, format="json"), "disagreements")
        expected = {first.record_id: "right"}
        if OTHER.model in page.text:
            expected = {second.record_id: "right", third.record_id: "wrong"}
        assert {row["record_id"]: row["verdict"] for row in found} == expected


def test_pages_of_disagreements_hold_each_once_and_reads_are_bounded(
    visitor: Visitor, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "MOST_LOOKED_AT", 20)
    monkeypatch.setattr(stored, "_LOOKED_AT_ONCE", 10)
    made = {kept(number, "wrong" if number in {3, 41} else "right").record_id: number for number in range(45)}
    found: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        reads.clear()
        page = visitor.open(PAGE, format="json", **cursor).response.json["disagreements"]
        assert len(reads) <= 6, "who asks, at most three pieces of the list, and the answers at once"
        found += [made[row["record_id"]] for row in page["rows"]]
        if page["cursor"] is None:
            break
        cursor = {"cursor": page["cursor"]}
    assert found == [41, 3]


def test_a7_an_export_holds_nothing_that_a_spreadsheet_would_run(visitor: Visitor) -> None:
    hostile = "=1+1 <script>alert(1)</script>"
    disagreed = kept(1, "wrong", problem=hostile).record_id
    page = visitor.open(PAGE)
    assert hostile in page.text
    assert "<script>alert" not in page.response.body
    (row,) = csv.DictReader(io.StringIO(visitor.open(PAGE, format="csv").response.body.lstrip("\ufeff")))
    assert row["record_id"] == disagreed
    assert not any(value.startswith("=") for value in row.values())


@pytest.mark.parametrize("form", ["html", "json", "csv"])
def test_a1_nothing_of_another_tenant_is_listed(
    visitor: Visitor, rival: Api, deployment: Deployment, form: str
) -> None:
    theirs = kept(1, "wrong", tenant="rival")
    (card,) = rival.get("/v1/judges").json
    for query in ({}, {"card": card["id"]}):
        body = visitor.open(PAGE, format=form, **query).response.body
        assert theirs.record_id not in body
        assert "Problem 1" not in body
    for number in range(60):
        kept(number, "wrong", tenant="rival")
    cursor = Visitor(headers={"authorization": f"Bearer {rival.token}"}).open(PAGE, format="json").response.json
    assert cursor["disagreements"]["cursor"] is None
    cursor = rival.get("/v1/labels", limit=1).json["cursor"]
    assert visitor.open(PAGE, cursor=cursor, format=form).response.status in (200, 400)
    assert theirs.record_id not in visitor.open(PAGE, cursor=cursor, format=form).response.body
