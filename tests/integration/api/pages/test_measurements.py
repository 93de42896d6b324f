"""The pages of measurements: what each metric says, item by item, and a label for each item that a judge labelled."""

import csv
import io
import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.api import Api
from tests.support.clocks import later
from tests.support.deployment import Deployment
from tests.support.pages import Form, Page, Visitor, rows, signed_in
from tests.support.providers import ProviderServer, success
from tests.support.quizzes import measurement, quiz

SCRIPT = "<script>alert(1)</script>"
UNKNOWN = "01JD7Z00000000000000000000"
CLARITY = ["quiz_clarity"]


@pytest.fixture
def member(judged: Deployment) -> Visitor:
    """A member of the tenant acme, signed in where judges answer."""
    return signed_in(judged)


def made(api: Api, **changes: Any) -> str:
    """The address of the page of a measurement."""
    said = api.post("/v1/measurements", measurement(**changes))
    assert said.status == 202, said.body
    return "/app/measurements/" + said.location.rpartition("/")[2]


def labelling(page: Page, item: str, kind: str = "quiz_clarity") -> Form:
    """The form that labels an item."""
    return next(form for form in page.forms if (form.fields.get("kind"), form.fields.get("item")) == (kind, item))


def shown_places(page: Page) -> list[int]:
    """The places of the items on a page."""
    return [int(found["id"].rpartition("-")[2]) for tag, found in page.elements if tag == "td" and "id" in found]


def pressed(page: Page) -> list[str]:
    """The labels that are given."""
    return [found["value"] for tag, found in page.elements if tag == "button" and found.get("aria-pressed") == "true"]


def test_the_list_and_the_page_say_what_each_metric_says_and_of_what(member: Visitor, buyer: Api) -> None:
    assert "No measurement yet." in member.open("/app/measurements").text
    address = made(buyer, material=quiz(4, ambiguous=1, absurd=2))
    said = buyer.get(address.replace("/app/", "/v1/")).json
    page = member.open("/app/measurements")
    assert "Quiz Done Quiz: answers are right 100.0; Quiz: distractors 75.0; " in page.text
    (row,) = rows(member.open("/app/measurements", format="json"), "measurements")
    assert row["cost_usd"] == pytest.approx(said["outlay"]["cost_usd"])
    assert row["scores"].startswith("quiz_answer_correctness 100.0; quiz_distractor_quality 75.0")
    page = member.open(next(link for link in page.links if link.startswith("measurements/")))
    assert member.at == address
    assert "Quiz · questions: 4" in page.text
    for shown in (
        "Quiz: clarity 75.00 Done 0 –",
        "What is Canberra the capital of, in list 1? (ambiguous) • Australia • Austria (wrong)",
        "Answer Australia",
        "Ambiguous",
        "It can be read in two ways.",
        "Suggestion Say which of the two is meant.",
        "Ottawa is the capital of Canada.",
    ):
        assert shown in page.text
    found = member.open(address, format="json")
    assert {one["metric"]: one["score"] for one in rows(found, "metrics")} == {
        one["metric"]: one["score"] for one in said["metrics"]
    }
    assert rows(found, "measurement")[0]["size"] == 4
    assert [one["model"] for one in rows(found, "quiz_clarity")] == ["claude-sonnet-5-5"] * 4
    assert [one["label"] for one in rows(found, "quiz_clarity")] == ["AMBIGUOUS", "CLEAR", "CLEAR", "CLEAR"]
    assert rows(found, "quiz_distractor_quality")[0]["text"].startswith("What is Canberra the capital of")


def test_items_are_labelled_one_after_the_other_and_the_judges_card_follows(member: Visitor, buyer: Api) -> None:
    address = made(buyer, metrics=CLARITY)
    page = member.open(address)
    card = next(link for link in page.links if "/judges/" in link)
    page = member.send(labelling(page, "q1"), label="CLEAR")
    assert (page.response.status, member.at, pressed(page)) == (200, address, ["CLEAR"])
    page = member.send(labelling(page, "q2"), label="CLEAR")
    assert pressed(page) == ["CLEAR", "CLEAR"]
    assert rows(member.open(address, format="json"), "quiz_clarity")[0]["label_given"] == "CLEAR"
    assert "Labels 2" in member.open(card).text
    listed = member.open("/app/judges")
    back = next(link for link in listed.links if link.startswith("measurements/"))
    page = member.open(back)
    assert page.text.count("See the card move") == 2
    page = member.send(labelling(page, "q1"), label="")
    assert pressed(page) == ["CLEAR"]
    assert "Labels 1" in member.open(next(link for link in page.links if "/judges/" in link)).text


def test_a_label_leads_back_to_its_item_where_it_was_given(member: Visitor, buyer: Api) -> None:
    address = made(buyer, metrics=CLARITY)
    locations = []
    for query in ({}, {"metric": "quiz_clarity"}, {"metric": "quiz_clarity", "cursor": "1"}):
        form = labelling(member.open(address, **query), "q3")
        assert form.fields["place"] == "2"
        locations.append(posted(member, address, form.fields | {"label": "CLEAR"}))
    here = f"../{address.rpartition('/')[2]}"
    assert locations == [
        f"{here}#quiz_clarity-2",
        f"{here}?metric=quiz_clarity#quiz_clarity-2",
        f"{here}?metric=quiz_clarity&cursor=1#quiz_clarity-2",
    ]
    ids = {found.get("id") for _, found in member.open(address).elements}
    assert "quiz_clarity-2" in ids
    hostile = form.fields | {"label": "CLEAR", "first": "1\r\nX: y&", "place": '"><x'}
    assert posted(member, address, hostile) == f"{here}?metric=quiz_clarity&cursor=1%0D%0AX%3A+y%26"


def posted(visitor: Visitor, address: str, fields: dict[str, str]) -> str:
    """Where a form leads to."""
    sent = {
        "cookie": "; ".join(f"{name}={value}" for name, value in visitor.cookies.items()),
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin",
        "x-forwarded-proto": "https",
    }
    said = Api().call("POST", f"{address}/label", urlencode(fields), headers=sent)
    assert said.status == 303
    return str(said.headers["location"])


def test_an_item_of_any_name_is_labelled(member: Visitor, buyer: Api) -> None:
    material = quiz(2)
    for question, name in zip(material["questions"], ('a/b?c=1&d#%2F "é\n', "第一题"), strict=True):
        question["id"] = name
    address = made(buyer, metrics=CLARITY, material=material)
    for place in range(2):
        page = member.open(address)
        form = next(form for form in page.forms if form.fields.get("place") == str(place))
        assert form.fields["item"].isascii()
        assert form.fields["item"].isprintable()
        assert len(pressed(member.send(form, label="CLEAR"))) == place + 1
    assert {row["label_given"] for row in rows(member.open(address, format="json"), "quiz_clarity")} == {"CLEAR"}


def test_only_members_label_and_only_by_a_form_of_ours_what_is_there(
    member: Visitor, buyer: Api, judged: Deployment
) -> None:
    address = made(buyer, metrics=[*CLARITY, "quiz_item_flaws"])
    page = member.open(address)
    assert {form.fields.get("kind") for form in page.forms if form.action.endswith("/label")} == {"quiz_clarity"}
    form = labelling(page, "q1")
    for wrong, status in (
        ({"label": "right"}, 400),
        ({"kind": "quiz_item_flaws"}, 400),
        ({"kind": "quick_verify", "label": ""}, 400),
        ({"item": "q9"}, 404),
        ({"item": "q9", "label": ""}, 404),
        ({"form_mark": ""}, 403),
    ):
        member.at = address
        assert member.send(form, **({"label": "CLEAR"} | wrong)).response.status == status, wrong
    reader = signed_in(judged, role="reader")
    shown = reader.open(address)
    assert not [form for form in shown.forms if form.action.endswith("/label")], "a reader is not asked"
    mark = next(form.fields["form_mark"] for form in shown.forms if "form_mark" in form.fields)
    assert reader.send(form, label="CLEAR", form_mark=mark).response.status == 403
    stranger = signed_in(judged, tenant="rival")
    assert stranger.open(address).response.status == 404
    form.action, form.fields["form_mark"] = f"{address}/label", stranger.open("/").forms[0].fields["form_mark"]
    assert stranger.send(form, label="CLEAR").response.status == 404
    assert "Nobody has labelled anything yet." in member.open("/app/judges").text


def test_what_nobody_could_judge_is_shown_as_that(member: Visitor, buyer: Api, judges: ProviderServer) -> None:
    judges.rule(success({"answers": []}), schema="AnswersReply", prompt="list 1\\?")
    metrics = ["quiz_answer_correctness", "quiz_coverage"]
    address = made(buyer, material=quiz(2), metrics=metrics, source=None)
    page = member.open(address)
    assert "Quiz: answers are right 100.00 Done, not every item 1 –" in page.text
    assert "Quiz: coverage – Left out: it needs a source – No passage to judge it by" in page.text
    assert page.text.count("No verdict: A reply against the rules") == 1
    judged, unscored = rows(member.open(address, format="json"), "quiz_answer_correctness")
    assert (judged["item"], unscored["item"]) == ("q2", "q1")
    assert (unscored["label"], unscored["value"], unscored["skipped"]) == (None, None, "invalid_reply")
    page = member.send(labelling(page, "q1", "quiz_answer_correctness"), label="CORRECT")
    assert pressed(page) == ["CORRECT"]


def test_a_metric_that_is_not_over_says_why_and_nothing_of_it_is_labelled(
    visitor: Visitor, acme: Api, deployment: Deployment
) -> None:
    address = made(acme, metrics=[*CLARITY, "quiz_item_flaws"])
    page = visitor.open(address)
    assert "Quiz: clarity – Being measured 0 No judge, or not set up" in page.text
    assert "ANTHROPIC_API_KEY" in page.text
    assert not [form for form in page.forms if form.action.endswith("/label")]
    later(3 * 24 * 3600)
    deployment.machines.wake()
    page = signed_in(deployment).open(address)
    assert "Quiz: clarity – No score: nobody could judge it 0 No judge, or not set up" in page.text
    assert "There is no item here." in signed_in(deployment).open(address, metric="quiz_clarity").text


def test_cards_and_summaries_show_what_they_are_of(member: Visitor, buyer: Api) -> None:
    cards = {"cards": [{"id": "c1", "front": "Capital of Australia?", "back": "Canberra"}]}
    page = member.open(
        made(buyer, surface="flashcards", material=cards, metrics=["flashcard_duplication"], source=None)
    )
    assert "Flashcards · cards: 1" in page.text
    assert "c1 Capital of Australia? Answer Canberra Unique" in page.text
    text = {"text": f"Canberra. {SCRIPT}"}
    page = member.open(made(buyer, surface="summary", material=text, metrics=["summary_coherence"], source=None))
    assert f"The summary Canberra. {SCRIPT}" in page.text


def test_many_items_come_in_parts_and_a_long_one_is_cut(
    visitor: Visitor, acme: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    material = quiz(205)
    material["questions"][0]["question_text"] = "W" * 5_000
    address = made(acme, material=material, metrics=["quiz_item_flaws"], source=None)
    page = visitor.open(address)
    assert shown_places(page) == list(range(200))
    assert f"{'W' * 2_000}…" in page.text
    assert "W" * 2_001 not in page.text
    page = visitor.open(next(link for link in page.links if "cursor=200" in link))
    assert shown_places(page) == list(range(200, 205))
    assert shown_places(visitor.open(next(link for link in page.links if link == "?metric=quiz_item_flaws")))[0] == 0
    assert visitor.open(address, format="json").response.json["quiz_item_flaws"]["cursor"] == "200"
    last = visitor.open(address, format="json", metric="quiz_item_flaws", cursor="200").response.json
    assert [row["item"] for row in last["quiz_item_flaws"]["rows"]] == [f"q{number}" for number in range(201, 206)]
    assert last["quiz_item_flaws"]["cursor"] is None
    monkeypatch.setattr("functions.pages.routes.measurements.MOST_CHARS", 1)
    found = visitor.open(address, format="json", metric="quiz_item_flaws", cursor="7").response.json
    assert [row["item"] for row in found["quiz_item_flaws"]["rows"]] == ["q8"], "one at least"
    for wrong in ({"cursor": "1"}, {"metric": "quiz_item_flaws", "cursor": "-1"}, {"metric": "x", "cursor": "0"}):
        assert visitor.open(address, **wrong).response.status in (400, 404)


def test_a7_what_was_sent_is_text_and_no_formula(visitor: Visitor, acme: Api) -> None:
    material = quiz(1)
    material["questions"][0] |= {"id": f'"{SCRIPT}', "question_text": f"=1+1 {SCRIPT}", "answers": [f"@{SCRIPT}"]}
    address = made(acme, material=material, metrics=["quiz_item_flaws"], source={"markdown": SCRIPT})
    page = visitor.open(address)
    assert page.text.count(SCRIPT) >= 4
    assert all("src" in found for tag, found in page.elements if tag == "script")
    response = visitor.open(address, format="csv", table="quiz_item_flaws").response
    (row,) = csv.DictReader(io.StringIO(response.body))
    assert row["text"].startswith("'=1+1 <script>")
    assert row["answer"].startswith("'@")
    assert visitor.open(address, format="csv").response.body.count("quiz_item_flaws") == 1


def test_it_can_be_read_in_chinese(member: Visitor, buyer: Api) -> None:
    address = made(buyer, metrics=CLARITY)
    page = member.open(address, lang="zh")
    for shown in ("测评", "4 道题", "有歧义", "测验：表述清晰"):
        assert shown in page.text
    assert "测验：表述清晰 75.0" in member.open("/app/measurements").text


def made_by(reads: list[str], visitor: Visitor, address: str) -> list[str]:
    """The reads that a page is made by, when the process keeps what it keeps."""
    visitor.open(address)
    reads.clear()
    assert visitor.open(address).response.status == 200
    return list(reads)


def test_a_page_costs_the_same_reads_however_many_items_and_labels(
    member: Visitor, buyer: Api, reads: list[str]
) -> None:
    few = made(buyer, metrics=CLARITY, material=quiz(2))
    listed = made_by(reads, member, "/app/measurements")
    many = made(buyer, metrics=CLARITY, material=quiz(40))
    assert made_by(reads, member, "/app/measurements") == listed
    for number in range(1, 41):
        label = f"{many.replace('/app/measurements', '/v1/labels/quiz_clarity')}/q{number}"
        assert buyer.call("PUT", label, json.dumps({"label": "CLEAR"})).status == 200
    found = [made_by(reads, member, address) for address in (few, many)]
    assert found[0] == found[1]
    assert len(found[0]) <= 5
    assert not {"Scan", "PutItem", "UpdateItem"} & set(found[0])
    assert len(rows(member.open(many, format="json"), "quiz_clarity")) == 40


def test_whatever_is_not_there_is_no_page(visitor: Visitor) -> None:
    assert visitor.open(f"/app/measurements/{UNKNOWN}").response.status == 404


def test_the_items_of_several_metrics_share_the_room_of_a_page(
    member: Visitor, buyer: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = made(buyer, metrics=["quiz_clarity", "quiz_answer_correctness"])
    alone = rows(member.open(address, metric="quiz_clarity", format="json"), "quiz_clarity")
    fields = ("item", "text", "answer", "label", "reason", "evidence", "suggestion", "model")
    room = sum(len(row[name] or "") for row in alone for name in fields)
    monkeypatch.setattr("functions.pages.routes.measurements.MOST_CHARS", room)
    assert rows(member.open(address, metric="quiz_clarity", format="json"), "quiz_clarity") == alone
    both = member.open(address, format="json")
    assert 1 <= len(rows(both, "quiz_clarity")) < len(alone)
    assert both.response.json["quiz_clarity"]["cursor"] == str(len(rows(both, "quiz_clarity")))
