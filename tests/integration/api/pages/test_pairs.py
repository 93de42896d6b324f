"""Both texts of each pair of an experiment side by side: what differs marked, some of them alone, in bounded reads."""

import csv
import io

import pytest

from functions.pages.routes.pairs import MOST_LOOKED_AT, SHOWN
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Page, Visitor, rows, signed_in
from tests.support.quizzes import experiment

FEW = ["quiz_item_flaws"]
HOSTILE = "<img src=x onerror=alert(1)> =1+1"


@pytest.fixture
def member(judged: Deployment) -> Visitor:
    """A member of the tenant acme, signed in where judges answer."""
    return signed_in(judged)


def run(api: Api, items: int = 3, *, metrics: list[str] | None = None, better: tuple[int, ...] = ()) -> str:
    """The address of the page of an experiment; in the items `better`, B loses nothing where A does."""
    asked = experiment(items, ambiguous=0, metrics=metrics or FEW)
    for number in better:
        question = asked["variants"][0]["items"][number - 1]["material"]["questions"][0]
        question["choices"] = [*question["choices"][:-1], "all of the above"]
    made = api.post("/v1/experiments", {"experiment": asked})
    assert made.status == 202, made.body
    return "/app/experiments/" + made.location.rpartition("/")[2]


def texts(page: Page) -> str:
    """What stands on a page, with what is marked as a part of its text."""
    return page.response.body.replace("<mark>", "").replace("</mark>", "")


def test_an_experiment_leads_to_its_texts_with_what_differs_marked(member: Visitor, buyer: Api) -> None:
    address = run(buyer, better=(2,))
    (link, *_) = [each for each in member.open(address).links if each.endswith("/pairs")]
    page = member.open(link)
    assert page.response.status == 200
    for number in (1, 2, 3):
        assert f"in book {number}, list" in texts(page)
    marked = [text.split("</mark>")[0] for text in page.response.body.split("<mark>")[1:]]
    assert "above" in " ".join(marked)
    assert "capital" not in " ".join(marked)
    assert "B wins" in page.text
    assert "逐项对照" in member.open(f"{address}/pairs", lang="zh").text


def test_wins_alone_are_an_address_and_a_file(member: Visitor, buyer: Api) -> None:
    address = run(buyer, 4, better=(2, 3))
    page = member.open(f"{address}/pairs", outcome="win")
    assert "in book 2, list" in texts(page)
    assert "in book 1, list" not in texts(page)
    shown = rows(member.open(f"{address}/pairs", outcome="win", format="json"), "pairs")
    assert [(row["number"], row["outcome"]) for row in shown] == [(2, "win"), (3, "win")]
    ties = csv.DictReader(io.StringIO(member.open(f"{address}/pairs", outcome="tie", format="csv").response.body))
    assert [row["number"] for row in ties] == ["1", "4"]
    assert "No pair came to that" in member.open(f"{address}/pairs", outcome="loss").text
    assert member.open(f"{address}/pairs", outcome="best").response.status == 400
    assert member.open(f"{address}/pairs", cursor="x").response.status == 400


def test_each_count_of_preferences_leads_to_the_pairs_that_it_counts(member: Visitor, buyer: Api) -> None:
    address = run(buyer, 2, metrics=["quiz_clarity"])
    (counted,) = rows(member.open(address, format="json"), "preference")
    page = member.open(address)
    for column, outcome in (("wins_a", "loss"), ("wins_b", "win"), ("flipped", "flip")):
        if counted[column]:
            assert f"{address.rpartition('/')[2]}/pairs?outcome={outcome}" in page.links
            found = rows(member.open(f"{address}/pairs", outcome=outcome, format="json"), "pairs")
            assert len(found) == counted[column]
    assert sum(counted[name] for name in ("wins_a", "wins_b", "ties")) == 2


def test_many_pairs_come_page_by_page_in_bounded_reads(visitor: Visitor, acme: Api, reads: list[str]) -> None:
    address = run(acme, SHOWN + 3, better=(SHOWN + 2,))
    first = visitor.open(f"{address}/pairs")
    assert first.response.body.count('<section class="card pair') == SHOWN
    (following,) = [given["href"] for tag, given in first.elements if given.get("rel") == "next"]
    rest = visitor.open(f"{address}/pairs{following}")
    assert rest.response.body.count('<section class="card pair') == 3
    reads.clear()
    found = rows(visitor.open(f"{address}/pairs", outcome="win", format="json"), "pairs")
    assert [row["number"] for row in found] == [SHOWN + 2]
    assert len(reads) <= MOST_LOOKED_AT + 10


def test_a1_another_tenant_finds_no_texts(member: Visitor, buyer: Api, judged: Deployment) -> None:
    address = run(buyer, 1)
    rival = Visitor()
    rival.sign_in(judged.token("rival"))
    assert rival.open(f"{address}/pairs").response.status == 404


def test_a7_texts_are_text_and_no_formulas(visitor: Visitor, acme: Api) -> None:
    asked = experiment(1, metrics=FEW)
    asked["variants"][1]["items"][0]["material"]["questions"][0]["question_text"] = HOSTILE
    made = acme.post("/v1/experiments", {"experiment": asked})
    address = "/app/experiments/" + made.location.rpartition("/")[2]
    body = texts(visitor.open(f"{address}/pairs"))
    assert "<img" not in body
    assert "onerror=alert(1)" in body
    table = visitor.open(f"{address}/pairs", format="csv").response.body
    for row in csv.reader(io.StringIO(table)):
        assert not any(cell.startswith(("=", "+", "@")) for cell in row)
