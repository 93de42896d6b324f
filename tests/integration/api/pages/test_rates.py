"""The page of rates: how often answers were right, with intervals, and what routing chose because of that."""

import csv
import io
from functools import partial
from typing import Any

import pytest

from functions.pages.routes.rates import SHOWN
from tests.support import replies
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Form, Visitor, signed_in
from tests.support.providers import ProviderServer, success
from touchstone.operations.reports import routing
from touchstone.records.counters import COUNT_SHARDS

EASY = {"problem": "Compute 3/4 + 1/6.", "model": "model-a", "subject": "arithmetic", "difficulty": "easy"}
MARKUP = "<script>alert(1)</script>"
FORMULA = "=cmd|' /C calc'!A0"
THREE_OF_FOUR = (0.300642, 0.954413)
"""Wilson's 95 % interval, computed apart from the code."""


def _verify(api: Api, *, right: int = 0, wrong: int = 0, **changes: Any) -> None:
    """So many answers that computation decides."""
    for answer in ["11/12"] * right + ["10/12"] * wrong:
        assert api.post("/v1/verifications", EASY | {"answer": answer} | changes).status == 201


def _tables(visitor: Visitor) -> dict[str, list[dict[str, Any]]]:
    found = visitor.open("/app/rates", format="json").response.json
    return {name: table["rows"] for name, table in found.items()}


def _form(visitor: Visitor, action: str) -> Form:
    return next(form for form in visitor.open("/app/rates").forms if form.action == action)


def test_rates_are_shown_with_their_intervals(visitor: Visitor, acme: Api) -> None:
    _verify(acme, right=3, wrong=1)
    _verify(acme, right=1, model="model-b", difficulty="hard")
    tables = _tables(visitor)
    first, second = tables["model_subject"]
    assert (first["model"], first["subject"], first["decided"], first["correct"]) == ("model-a", "arithmetic", 4, 3)
    assert (first["rate"], first["lower"], first["upper"]) == pytest.approx((0.75, *THREE_OF_FOUR), abs=1e-6)
    assert (second["model"], second["rate"], second["upper"]) == ("model-b", 1.0, 1.0)
    assert [(row["model"], row["difficulty"], row["decided"]) for row in tables["model_difficulty"]] == [
        ("model-a", "easy", 4),
        ("model-b", "hard", 1),
    ]
    page = visitor.open("/app/rates")
    assert "model-a arithmetic 4 3 75.0 % [30.1, 95.4]" in page.text
    assert "model-b Hard 1 1 100.0 % [20.7, 100.0]" in page.text
    marks = [given for tag, given in page.elements if tag == "svg" and given.get("class") == "interval"]
    assert len(marks) == 2 + 2 + 1, "each rate has its mark, in each of the tables"
    assert "canvas" not in {tag for tag, _ in page.elements}, "no chart says the same again"


def test_what_nobody_decided_is_counted_and_has_no_mark(visitor: Visitor, acme: Api) -> None:
    _verify(acme, right=1, problem="Name the capital of Australia.")
    (row,) = _tables(visitor)["model_subject"]
    assert (row["decided"], row["skipped"], row["rate"], row["lower"]) == (0, 1, None, None)
    assert "svg" not in {tag for tag, _ in visitor.open("/app/rates").elements}


def test_what_was_sent_is_text_on_the_page_and_no_formula_in_a_file(visitor: Visitor, acme: Api) -> None:
    _verify(acme, right=1, model=FORMULA, subject=MARKUP)
    page = visitor.open("/app/rates")
    assert MARKUP in page.text
    assert all(given.get("src") for tag, given in page.elements if tag == "script")
    assert MARKUP not in page.response.body
    sheet = visitor.open("/app/rates", format="csv", table="model_subject").response.body
    assert list(csv.reader(io.StringIO(sheet)))[1][:2] == [f"'{FORMULA}", MARKUP]


@pytest.fixture
def two_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data decides from two verdicts on, so that a test can have as many."""
    monkeypatch.setattr(routing, "routing_report", partial(routing.routing_report, min_samples=2))


def _solved(api: Api, count: int) -> None:
    for number in range(count):
        problem = f"Name the capital of country {number}."
        made = api.post("/v1/solutions", {"problem": problem, "subject": "geography", "deep_evaluation": False})
        assert made.status == 202


@pytest.mark.usefixtures("two_suffice")
def test_routing_is_shown_pinned_and_left_to_the_data_again(
    judged: Deployment, buyer: Api, judges: ProviderServer
) -> None:
    judges.rule(success(replies.verify()), schema="VerifyReply")
    admin = signed_in(judged, role="admin")
    assert _tables(admin)["routing"] == []
    _solved(buyer, 1)
    (row,) = _tables(admin)["routing"]
    default = row["provider"]
    assert (row["subject"], row["why"], row["decided"], row["pinned"]) == ("geography", "default", 1, None)
    _solved(buyer, 2)
    (row,) = _tables(admin)["routing"]
    assert (row["provider"], row["why"], row["decided"], row["rate"]) == (default, "data", 2, 1.0)
    other = next(name for name in ("openai", "gemini", "claude") if name != default)
    page = admin.send(_form(admin, "rates/pin"), subject="geography", provider=other)
    assert (page.response.status, admin.at) == (200, "/app/rates")
    assert f"geography {other} Pinned" in page.text
    (row,) = _tables(admin)["routing"]
    assert (row["provider"], row["why"], row["pinned_by"], row["without_pin"]) == (other, "pinned", "tenant", default)
    assert row["since"]
    page = admin.send(_form(admin, "rates/unpin"), subject="geography")
    assert f"geography {default} Best by the data" in page.text
    assert "rates/unpin" not in [form.action for form in page.forms]


def test_only_an_admin_may_pin(judged: Deployment) -> None:
    admin, member = signed_in(judged, role="admin"), signed_in(judged, role="member")
    form = _form(admin, "rates/pin")
    assert "rates/pin" not in [each.action for each in member.open("/app/rates").forms]
    assert "the role admin can pin" in member.open("/app/rates").text
    mark = next(each.fields["form_mark"] for each in member.open("/app/rates").forms)
    assert member.send(form, subject="geography", provider="openai", form_mark=mark).response.status == 403
    admin.open("/app/rates")
    assert admin.send(form, subject="geography", provider="openai", form_mark="0").response.status == 403
    program = Visitor(headers={"authorization": f"Bearer {judged.token('acme', 'admin')}"}, at="/app/rates")
    assert program.send(form, subject="geography", provider="openai").response.status == 403
    assert _tables(admin)["routing"] == []


@pytest.mark.parametrize(
    "sent", [{"subject": "geography", "provider": "nobody"}, {"subject": " ", "provider": "openai"}]
)
def test_what_cannot_be_pinned_is_refused(judged: Deployment, sent: dict[str, str]) -> None:
    admin = signed_in(judged, role="admin")
    page = admin.send(_form(admin, "rates/pin"), **sent)
    assert page.response.status == 400
    assert _tables(admin)["routing"] == []


def test_a_form_that_is_refused_leads_back_to_its_page(judged: Deployment) -> None:
    admin = signed_in(judged, role="admin")
    page = admin.send(_form(admin, "rates/pin"), subject="  ", provider="openai")
    assert page.response.status == 400
    back = next(link for link in page.links if link.endswith("app/rates"))
    assert admin.open(back).response.status == 200
    form = _form(admin, "rates/pin")
    admin.cookies.clear()
    page = admin.send(form, subject="geography", provider="openai")
    assert page.response.status == 401
    admin.open(next(link for link in page.links if link.endswith("app/rates")))
    assert admin.at == "/app/sign-in"


def test_a_subject_full_of_markup_can_be_pinned_and_unpinned(judged: Deployment) -> None:
    admin = signed_in(judged, role="admin")
    subject = "\"><img src=x onerror=alert(1)>/…?&#'"
    page = admin.send(_form(admin, "rates/pin"), subject=subject, provider="openai")
    assert subject in page.text
    assert "img" not in {tag for tag, _ in page.elements}
    admin.send(_form(admin, "rates/unpin"), subject=subject)
    assert _tables(admin)["routing"] == []


def test_another_tenant_sees_nothing_of_it(judged: Deployment, buyer: Api) -> None:
    _verify(buyer, right=1)
    admin = signed_in(judged, role="admin")
    admin.send(_form(admin, "rates/pin"), subject="geography", provider="openai")
    assert not any(_tables(signed_in(judged, "rival", "admin")).values())


def test_without_verdicts_and_keys_the_page_says_so(visitor: Visitor) -> None:
    page = visitor.open("/app/rates")
    assert "No verdict counts yet" in page.text
    assert "No provider has a key, so that no problem can be solved." in page.text
    chinese = visitor.open("/app/rates", lang="zh").text
    assert "还没有可统计的判定" in chinese
    assert "如何选择服务商" in chinese


@pytest.fixture
def crowded(deployment: Deployment) -> None:
    """More subjects than a page shows at a time."""
    with deployment.table.batch_writer() as batch:
        for number in range(SHOWN + 1):
            subject = f"s{number:04}"
            for key in (f"PROVIDER#openai#{subject}", f"MODEL#m#SUBJECT#{subject}"):
                batch.put_item(Item={"pk": "T#acme#COUNTS#1", "sk": key, "n": 1 + number, "correct": 1, "skipped": 0})


@pytest.mark.usefixtures("crowded")
def test_very_many_subjects_come_a_part_at_a_time_table_by_table_in_as_many_reads(
    visitor: Visitor, reads: list[str]
) -> None:
    reads.clear()
    page = visitor.open("/app/rates")
    asked = reads.count("Query")
    assert asked < 3 * COUNT_SHARDS, "the counters are read once for rates and routing"
    assert page.text.count("More") == 3
    found = visitor.open("/app/rates", format="json").response.json
    assert {name: len(table["rows"]) for name, table in found.items()} == {
        "model_subject": SHOWN, "model_difficulty": 0, "provider_subject": SHOWN, "routing": SHOWN,
    }  # fmt: skip
    cursor = found["provider_subject"]["cursor"]
    behind = visitor.open("/app/rates", format="json", cursor=cursor).response.json
    assert [row["subject"] for row in behind["provider_subject"]["rows"]] == [f"s{SHOWN:04}"]
    assert (behind["provider_subject"]["cursor"], len(behind["model_subject"]["rows"])) == (None, SHOWN)
    sheet = visitor.open("/app/rates", format="csv", table="provider_subject", cursor=cursor).response.body
    assert len(list(csv.reader(io.StringIO(sheet)))) == 2
    assert "From the beginning" in visitor.open("/app/rates", cursor=cursor).text
    assert visitor.open("/app/rates", cursor="nonsense").response.status == 400
