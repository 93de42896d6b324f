"""The pairs of an experiment side by side in a real browser: what differs is marked, and losses are an address."""

import re

from playwright.sync_api import expect

from tests.support.api import Api
from tests.support.browser import Browsing
from tests.support.deployment import Deployment
from tests.support.quizzes import experiment


def test_texts_are_compared_pair_by_pair_and_those_that_b_lost_are_an_address(
    judged: Deployment, buyer: Api, browsers: Browsing
) -> None:
    made = buyer.post("/v1/experiments", {"experiment": experiment(3, ambiguous=1, metrics=["quiz_clarity"])})
    address, token = "app/experiments/" + made.location.rpartition("/")[2], judged.token("acme")
    with browsers() as opened:
        page = opened(width=390).sign_in(token, address)
        page.get_by_role("link", name="Both texts of each pair side by side").click()
        pairs = page.get_by_role("region", name=re.compile(r"^\d\. i\d"))
        expect(pairs).to_have_count(3)
        expect(pairs.first.locator("mark", has_text="ambiguous")).to_be_visible()
        expect(pairs.first.locator("mark", has_text="capital")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        for outcome, count in (("B wins", 0), ("A wins", 3)):
            page.get_by_label("Outcome").select_option(outcome)
            page.get_by_role("button", name="Show", exact=True).press("Enter")
            expect(page).to_have_url(re.compile("outcome="))
            expect(page.get_by_label("Outcome").locator("option:checked")).to_have_text(outcome)
            expect(pairs).to_have_count(count)
        again = page.context.new_page()
        again.goto(page.url)
        expect(again.get_by_role("region", name=re.compile("· A wins"))).to_have_count(3)
        again.get_by_role("link", name="chunking").click()
        wins = again.locator("section", has=again.get_by_role("heading", name=re.compile("prefer", re.IGNORECASE)))
        wins.get_by_role("link", name="3", exact=True).first.click()
        expect(again).to_have_url(re.compile(r"pairs\?outcome="))
        expect(again.get_by_role("region", name=re.compile(r"^\d\. i\d"))).to_have_count(3)
