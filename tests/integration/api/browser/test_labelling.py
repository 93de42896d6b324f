"""The queue of what to label, by keyboard, by two people in two browsers, whose labels are both kept."""

from playwright.sync_api import expect

from tests.support.api import Api
from tests.support.browser import Browsing
from tests.support.deployment import Deployment
from touchstone.statistics.sampling import pool_of


def drawn(api: Api, wanted: int) -> list[str]:
    """Problems with verdicts of the random sample, so many."""
    found, number = list[str](), 0
    while len(found) < wanted:
        number += 1
        problem = f"Compute {number} + 2."
        made = api.post("/v1/verifications", {"problem": problem, "answer": str(number + 2)}).json
        found += [problem] if pool_of(f"{made['id']}#1") == "random" else []
    return found


def test_two_people_label_by_keys_and_what_they_do_not_agree_on_is_listed(
    judged: Deployment, buyer: Api, browsers: Browsing
) -> None:
    problems = drawn(buyer, 2)
    ann, bob = judged.token("acme"), judged.token("acme")
    with browsers() as opened:
        first = opened().sign_in(ann, "app/labelling")
        shown = first.locator("section[aria-labelledby=label-problem] p.sent").first
        said = list[str]()
        for _ in problems:
            said.append(shown.inner_text())
            first.keyboard.press("r")
            expect(first.get_by_role("status")).to_contain_text("You agree.")
            expect(first.get_by_text(said[-1], exact=True)).to_have_count(0)
        assert sorted(said) == sorted(problems)
        second = opened(language="zh-CN", width=390).sign_in(bob, "app/labelling")
        expect(second.locator("section[aria-labelledby=label-problem]")).to_have_count(0)
        second.goto(f"{second.url}?second=1")
        shown = second.locator("section[aria-labelledby=label-problem] p.sent").first
        problem = shown.inner_text()
        expect(second.get_by_role("status")).to_have_count(0)
        second.keyboard.press("w")
        expect(second.get_by_role("status")).to_be_visible()
        expect(shown).not_to_have_text(problem)
        first.get_by_role("link", name="Where people and judges disagree").click()
        row = first.get_by_role("row").filter(has_text=problem)
        expect(row).to_have_count(1)
        row.get_by_role("link").first.click()
        expect(first.get_by_text(problem).first).to_be_visible()
        assert "/app/answers/" in first.url


def test_the_next_key_goes_to_what_was_said_and_the_next_answer(
    judged: Deployment, buyer: Api, browsers: Browsing
) -> None:
    drawn(buyer, 2)
    token = judged.token("acme")
    with browsers() as opened:
        page = opened().sign_in(token, "app/labelling")
        page.get_by_role("button", name="Right").press("Enter")
        expect(page.get_by_role("status")).to_contain_text("You agree.")
        page.keyboard.press("Tab")
        expect(page.get_by_role("status").get_by_role("link")).to_be_focused()
        page.get_by_role("button", name="Skip").press("Enter")
        expect(page.get_by_role("button", name="Skip")).to_have_count(0)
