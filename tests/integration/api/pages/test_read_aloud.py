"""Pages as a screen reader tells them: titles, roles of tables, names of links and forms, the language of texts."""

import re

import pytest

from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.everything import own_one_of_everything
from tests.support.pages import Page, Visitor, signed_in, verified
from tests.support.providers import ProviderServer

CHINESE = "计算 2 + 3。"


@pytest.fixture
def admin(judged: Deployment, judges: ProviderServer) -> Visitor:
    """An admin who is signed in, of a tenant with one of everything."""
    api, visitor = own_one_of_everything(judged, judges, "acme"), Visitor()
    verified(api, CHINESE, "5")
    visitor.sign_in(str(api.token))
    return visitor


def title(page: Page) -> str:
    return page.response.body.partition("<title>")[2].partition("</title>")[0]


def roles(page: Page, tag: str) -> set[str]:
    return {given.get("role", "") for name, given in page.elements if name == tag}


def test_the_title_of_a_page_names_its_record(admin: Visitor) -> None:
    titles = list[str]()
    for kind in ("answers", "measurements", "quizzes", "experiments", "tasks", "audits"):
        admin.at = "/"
        listed = admin.open(f"/app/{kind}")
        found = {link.partition("/")[2] for link in listed.links if re.fullmatch(rf"{kind}/[0-9A-Z]{{26}}", link)}
        titles += [title(admin.open(f"/app/{kind}/{each}")) for each in sorted(found)]
    assert f"{CHINESE} · Answer · Touchstone" in titles
    assert "认识" not in "".join(titles)
    assert "認識新同學 · Quiz · Touchstone" in titles
    assert len(set(titles)) == len(titles) >= 8, titles


def test_a_table_keeps_its_roles_where_a_phone_shows_its_rows_as_cards(admin: Visitor) -> None:
    page = admin.open("/app/answers")
    assert [roles(page, tag) for tag in ("table", "thead", "tbody", "tr", "th", "td")] == [
        {"table"}, {"rowgroup"}, {"rowgroup"}, {"row"}, {"columnheader"}, {"cell"},
    ]  # fmt: skip


@pytest.mark.parametrize("address", ["/app/rates", "/app/quotas", "/app/judges"])
def test_of_many_tables_each_is_one_landmark_and_each_link_says_which_table_it_loads(
    admin: Visitor, address: str
) -> None:
    page = admin.open(address)
    regions = [
        given["aria-labelledby"] for tag, given in page.elements if tag == "section" and "table" in given.values()
    ]
    assert len(set(regions)) == len(regions) > 1
    assert "region" not in roles(page, "div")
    named = [given["aria-label"] for tag, given in page.elements if tag == "a" and "download" in given]
    assert len(set(named)) == len(named) > 1
    assert all(each.startswith("CSV: ") and "_" not in each for each in named), named


def test_a_form_that_labels_is_named_by_what_it_labels(admin: Visitor) -> None:
    admin.at = "/"
    listed = admin.open("/app/answers")
    answer = next(link for link in listed.links if re.fullmatch(r"answers/[0-9A-Z]{26}", link))
    task = next(link for link in admin.open("/app/tasks").links if re.fullmatch(r"tasks/[0-9A-Z]{26}", link))
    submission = next(link for link in admin.open(f"/app/{task}").links if "/submissions/" in link)
    for address in (f"/app/{answer}", f"/app/tasks/{submission}"):
        page = admin.open(address)
        ids = {given["id"] for _, given in page.elements if "id" in given}
        names = [
            given.get("aria-labelledby", "").split()
            for tag, given in page.elements
            if tag == "form" and given.get("class") == "labelling"
        ]
        assert names, address
        assert all(each and set(each) <= ids for each in names), address


def test_a_text_in_another_language_than_the_page_says_so(admin: Visitor) -> None:
    listed = admin.open("/app/answers", search="计算")
    (answer,) = {link for link in listed.links if re.fullmatch(r"answers/[0-9A-Z]{26}", link)}
    assert f'<p class="sent" lang="zh">{CHINESE}</p>' in admin.open(f"/app/{answer}").response.body
    assert f'<p class="sent">{CHINESE}</p>' in admin.open(f"/app/{answer}", lang="zh").response.body


def test_a_table_for_a_spreadsheet_has_a_byte_order_mark_and_one_for_a_program_has_none(
    buyer: Api, judged: Deployment
) -> None:
    verified(buyer, CHINESE, "5")
    visitor = signed_in(judged)
    (led,) = (link for link in visitor.open("/app/answers").links if "format=csv" in link)
    sheet = visitor.open(f"/app/answers{led}").response.body
    assert sheet.startswith("\ufeffcreated_at,")
    assert sheet.removeprefix("\ufeff") == visitor.open("/app/answers", format="csv").response.body
