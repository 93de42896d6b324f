"""The queue of what to label in a real browser, by keyboard alone, in both languages and on a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import Opened
from tests.support.callers import Caller
from tests.support.cloud import Cloud
from touchstone.statistics.sampling import pool_of

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(300)]
WANTED = 3
"""Verdicts of the random sample: one to call right, one to call wrong, one to skip."""


@pytest.fixture
def labeller(cloud: Cloud) -> Caller:
    """The admin of a tenant with so many verdicts of checks to label at random."""
    caller = cloud.tenant("labellers")
    found, number = 0, 0
    while found < WANTED:
        number += 1
        view = caller.verify(problem=f"Compute {number} + 2.", answer=str(number + 2))
        found += pool_of(f"{view['id']}#1") == "random"
    return caller


def test_the_queue_is_worked_off_by_keyboard_and_shows_the_verdict_afterwards(opened: Opened, labeller: Caller) -> None:
    seen = opened()
    page = seen.sign_in(str(labeller.token), "app/labelling")
    expect(page.get_by_role("heading", name="Problem")).to_be_visible()
    assert "said:" not in page.inner_text("main")
    seen.keep("labelling")
    problems = [page.locator("section p.sent").first.inner_text()]
    page.keyboard.press("s")
    expect(page.locator("section p.sent").first).not_to_have_text(problems[0])
    for key, said in (("r", "You agree."), ("w", "You disagree.")):
        problems.append(page.locator("section[aria-labelledby] p.sent").first.inner_text())
        page.keyboard.press(key)
        expect(page.get_by_role("status")).to_contain_text(said)
        expect(page.get_by_role("status").get_by_title("Confidence 1.00")).to_be_visible()
        seen.keep(f"labelling-{key}")
    assert len(set(problems)) == WANTED
    expect(page.get_by_text("What is left you have skipped.")).to_be_visible()
    page.get_by_role("link", name="Where people and judges disagree").click()
    expect(page.get_by_role("row", name=re.compile(re.escape(problems[-1])))).to_be_visible()
    seen.keep("disagreements")


def test_keys_can_be_turned_off_and_the_buttons_serve_by_tab_and_enter(opened: Opened, labeller: Caller) -> None:
    seen = opened(language="zh-CN", width=360)
    page = seen.sign_in(str(labeller.token), "app/labelling")
    expect(page.get_by_role("heading", name="标注", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    seen.keep("labelling-zh-phone")
    page.get_by_role("link", name="关闭快捷键").click()
    expect(page.get_by_role("link", name="打开快捷键")).to_be_visible()
    problem = page.locator("section[aria-labelledby] p.sent").first.inner_text()
    page.keyboard.press("r")
    expect(page.locator("section[aria-labelledby] p.sent").first).to_have_text(problem)
    page.get_by_role("button", name="正确").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("看法一致。")
