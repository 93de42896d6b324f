"""From an answer to what its judge was asked, in a real browser: for admins, and none where none is kept."""

import re

import pytest
from playwright.sync_api import expect

from functions.environment import environment
from tests.support.api import Api
from tests.support.browser import Browsing
from tests.support.deployment import Deployment
from tests.support.providers import ProviderServer, success

HOSTILE = '<img src=x onerror="document.title = 1"> Name the capital of Australia.'
STRANGE = {"is_correct": "rather"}


def answered(buyer: Api) -> str:
    """The id of an answer that a judge was asked about."""
    made = buyer.post("/v1/verifications", {"problem": HOSTILE, "answer": "Canberra"})
    assert made.status == 201
    return str(made.json["id"])


def test_an_admin_reads_prompt_schema_reply_and_why_it_was_asked_again(
    judged: Deployment, buyer: Api, judges: ProviderServer, browsers: Browsing
) -> None:
    judges.script(success(STRANGE))
    answer_id, token = answered(buyer), judged.token("acme", "admin")
    with browsers() as opened:
        page = opened(width=390).sign_in(token, f"app/answers/{answer_id}")
        page.get_by_role("link", name="What judges were asked, and what they said").click()
        expect(page.get_by_role("heading", name="Trace", level=1)).to_be_visible()
        expect(page.locator("p.prompt mark", has_text=HOSTILE)).to_be_visible()
        schema = page.locator("details", has=page.locator("summary", has_text="Schema of the reply"))
        expect(schema.get_by_text("VerifyReply")).to_be_hidden()
        schema.locator("summary").click()
        expect(schema.get_by_text("VerifyReply")).to_be_visible()
        expect(page.get_by_role("heading", name=re.compile(r"^Try \d, "))).to_have_count(2)
        expect(page.get_by_text("Asked again after")).to_be_visible()
        assert '"rather"' in page.locator("p.reply").first.inner_text().replace("\\", "")
        assert page.title() == f"{answer_id} · Trace · Touchstone"
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        row = page.get_by_role("row", name=re.compile("verify"))
        expect(row).to_contain_text(re.compile(r"\$0\.0\d+"))


def test_a_member_is_led_to_no_trace_and_shown_none(judged: Deployment, buyer: Api, browsers: Browsing) -> None:
    answer_id, token = answered(buyer), judged.token("acme", "member")
    with browsers() as opened:
        seen = opened()
        page = seen.sign_in(token, f"app/answers/{answer_id}")
        expect(page.get_by_text("Canberra").first).to_be_visible()
        expect(page.get_by_role("link", name=re.compile("^What judges were asked"))).to_have_count(0)
        seen.open(f"app/traces/{answer_id}")
        expect(page.get_by_role("alert")).to_contain_text("needs the role admin")
        assert "403" in seen.complaints.pop()


def test_where_nothing_is_kept_the_page_says_why(
    judged: Deployment, buyer: Api, browsers: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_KEEP_PROMPTS", "off")
    environment.cache_clear()
    answer_id, token = answered(buyer), judged.token("acme", "admin")
    with browsers() as opened:
        seen = opened()
        page = seen.sign_in(token, f"app/answers/{answer_id}")
        expect(page.get_by_text("Canberra").first).to_be_visible()
        seen.open(f"app/traces/{answer_id}")
        expect(page.get_by_role("alert")).to_contain_text("TOUCHSTONE_KEEP_PROMPTS")
        assert "404" in seen.complaints.pop()
