"""The pages in a real browser, with what came through the doors."""

import re

import pytest
from playwright.sync_api import expect

from functions.pages.visit import PLACES
from tests.support.browser import Opened, School
from tests.support.callers import Caller
from tests.support.cloud import Cloud

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(300)]

HOSTILE = '<script>document.title = "taken"</script><img src=x onerror="document.title = \'taken\'"> **bold** =1+1'


def test_signing_in_opens_what_was_asked_for_and_signing_out_closes_it(opened: Opened, teacher: Caller) -> None:
    seen = opened()
    page = seen.open("app/answers")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    seen.keep("sign-in")
    page = seen.sign_in(str(teacher.token), "app/answers")
    expect(page.get_by_role("heading", name="Answers", level=1, exact=True)).to_be_visible()
    assert page.context.cookies()[0]["httpOnly"] is True
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    seen.open("app/answers")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_wrong_token_is_refused_and_a_right_one_taken(opened: Opened, teacher: Caller) -> None:
    seen = opened()
    page = seen.sign_in("ts_" + "x" * 43)
    expect(page.get_by_role("alert")).to_contain_text("This token is not valid.")
    page.get_by_label("Token").fill(str(teacher.token))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def test_the_overview_shows_what_came_and_draws_it(opened: Opened, teacher: Caller) -> None:
    seen = opened()
    page = seen.sign_in(str(teacher.token))
    expect(page.get_by_role("img", name=re.compile(r"^Verified: 0 to \d+ a day$"))).to_be_visible()
    drawn = page.get_by_role("img", name=re.compile(r"^Check this: 0 to [1-9]\d* a day$"))
    heights = "(drawing) => [...drawing.querySelectorAll('g > rect:last-child')].map((bar) => bar.getBBox().height)"
    *before, today = drawn.evaluate(heights)
    assert len(before) == 29
    assert not any(before)
    assert 0 < today <= 32
    page.locator("summary", has_text="Day by day").click()
    expect(page.get_by_role("columnheader", name="Check this")).to_be_visible()
    seen.keep("overview")


def test_an_answer_is_found_by_its_badge_and_shows_its_proof(opened: Opened, teacher: Caller) -> None:
    seen = opened()
    page = seen.sign_in(str(teacher.token), "app/answers")
    seen.keep("answers")
    page.get_by_label("Status").select_option("Check this")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="Compute 2 + 2.").click()
    expect(page.get_by_text("Check this ⚠")).to_be_visible()
    expect(page.get_by_role("heading", name="Proof")).to_be_visible()
    seen.keep("answer")


def test_answers_are_found_by_keyboard_and_the_address_shows_them_again(opened: Opened, teacher: Caller) -> None:
    seen = opened(width=390)
    page = seen.sign_in(str(teacher.token), "app/answers")
    page.get_by_label("Words in the problem or the answer").focus()
    page.keyboard.type("compute 2.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Compute 2 + 2.")).to_be_visible()
    expect(page.get_by_role("link", name="Compute 3/4 + 1/6.")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    details = page.locator("tr.details summary").first
    details.focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr.details dl").first).to_be_visible()
    seen.keep("answers-found-phone")
    again = page.context.new_page()
    again.goto(page.url)
    expect(again.get_by_role("link", name="Compute 2 + 2.")).to_be_visible()
    again.get_by_role("link", name="Without Words in the problem or the answer: compute 2.").click()
    expect(again.get_by_role("link", name="Compute 3/4 + 1/6.")).to_be_visible()


def test_a_page_of_another_tenant_is_not_there(opened: Opened, teacher: Caller, cloud: Cloud) -> None:
    rival = cloud.tenant("rival")
    answer = rival.verify(problem="Compute 1 + 1.", answer="2")
    seen = opened()
    seen.sign_in(str(teacher.token))
    page = seen.open(f"app/answers/{answer['id']}")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_text("Compute 1 + 1.")).to_have_count(0)
    assert len(seen.complaints) == 1
    assert "404" in seen.complaints.pop()


def test_markup_and_script_in_a_problem_are_text(opened: Opened, teacher: Caller) -> None:
    answer = teacher.verify(problem=HOSTILE, answer=HOSTILE)
    seen = opened()
    page = seen.sign_in(str(teacher.token), "app/answers")
    expect(page.get_by_role("link", name=HOSTILE[:40])).to_be_visible()
    seen.open(f"app/answers/{answer['id']}")
    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    assert page.title() == f"{HOSTILE[:60]}… · Answer · Touchstone"


def test_chinese_stays_once_it_was_chosen_or_is_the_browser_s(opened: Opened, teacher: Caller) -> None:
    seen = opened()
    page = seen.sign_in(str(teacher.token))
    page.get_by_role("link", name="中文").click()
    expect(page.get_by_role("heading", name="概览")).to_be_visible()
    expect(page.get_by_text("已验证 ✓").first).to_be_visible()
    page.get_by_role("link", name="解答").click()
    expect(page.get_by_role("heading", name="解答", level=1, exact=True)).to_be_visible()
    seen.keep("answers-zh")
    expect(opened(language="zh-CN").sign_in(str(teacher.token)).get_by_role("heading", name="概览")).to_be_visible()


def test_dark_is_the_system_s_until_somebody_chooses(opened: Opened, teacher: Caller) -> None:
    seen = opened(dark=True)
    page = seen.sign_in(str(teacher.token))
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    seen.keep("overview-dark")
    page.get_by_role("link", name="Light", exact=True).click()
    assert page.evaluate(ground) != dark


def test_a_phone_shows_it_without_scrolling_sideways(opened: Opened, teacher: Caller) -> None:
    seen = opened(width=360)
    for address in ("", "app/answers"):
        page = seen.sign_in(str(teacher.token), address) if not address else seen.open(address)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    seen.keep("answers-phone")


def test_the_keyboard_is_enough(opened: Opened, teacher: Caller) -> None:
    seen = opened()
    page = seen.sign_in(str(teacher.token))
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Answers", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Answers", level=1, exact=True)).to_be_visible()


def test_what_is_shown_can_be_had_as_a_file(opened: Opened, teacher: Caller) -> None:
    page = opened().sign_in(str(teacher.token), "app/answers")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("\ufeffcreated_at,verification_status,status,problem,answer,")
    assert "解方程：2x + 7 = 15" in text


@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
def test_every_page_can_be_read_on_a_phone_in_the_dark_in_both_languages(
    opened: Opened, teacher: Caller, language: str
) -> None:
    """One visit to all of them; what a page breaks is said with its address."""
    seen = opened(language=language, width=360, dark=True)
    first, *others = (place for place, _ in PLACES)
    page = seen.sign_in(str(teacher.token), first)
    for address in (first, *others):
        if address != first:
            seen.open(address)
        expect(page.get_by_role("heading", level=1), address).to_be_visible()
        assert page.locator("nav a[aria-current=page]").count() == 1, address
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), address
        seen.keep(f"{address.rpartition('/')[2] or 'overview'}-phone-{language[:2]}")


def test_a_label_on_an_answer_moves_the_judge_s_card(opened: Opened, teacher: Caller) -> None:
    answer = teacher.verify(problem="Compute 6 * 7.", answer="42")
    seen = opened()
    page = seen.sign_in(str(teacher.token), "app/judges")
    line = page.get_by_role("row", name=re.compile("Quick verify The checks"))
    before = line.inner_text() if line.count() else ""
    seen.open(f"app/answers/{answer['id']}")
    page.get_by_role("button", name="Right", exact=True).click()
    expect(page.get_by_role("button", name="Right", exact=True)).to_have_attribute("aria-pressed", "true")
    seen.open("app/judges")
    assert line.inner_text() != before
    labelled = page.get_by_role("link", name="Compute 6 * 7.").first
    expect(labelled).to_have_attribute("href", re.compile(str(answer["id"])))
    seen.keep("judges")
    page.get_by_role("link", name="The checks").click()
    expect(page.get_by_text(re.compile(r"Not enough labels: \d+ of 30")).first).to_be_visible()
    seen.keep("judge")


def test_items_of_a_measurement_are_labelled_by_keyboard_one_after_the_other(opened: Opened, school: School) -> None:
    seen = opened()
    page = seen.sign_in(str(school.caller.token), "app/measurements")
    page.locator(f'a[href*="{school.measurement}"]').first.click()
    expect(page.get_by_role("heading", name="Quiz: clarity")).to_be_visible()
    seen.keep("measurement")
    page.get_by_role("form", name="Label q1").get_by_role("button", name="Clear", exact=True).focus()
    for item in ("q1", "q2"):
        page.keyboard.press("Enter")
        given = page.get_by_role("form", name=f"Label {item}").get_by_role("button", name="Clear", exact=True)
        expect(given).to_have_attribute("aria-pressed", "true")
        page.wait_for_load_state()
        page.keyboard.press("Tab")
    following = page.get_by_role("form", name="Label q3").get_by_role("button", name="Clear", exact=True)
    expect(following).to_be_focused()
    page.get_by_role("link", name="See the card move").first.click()
    expect(page.get_by_text(re.compile(r"Not enough labels: \d+ of 30")).first).to_be_visible()


def test_a_quiz_says_which_rule_is_broken_where(opened: Opened, school: School) -> None:
    seen = opened()
    page = seen.sign_in(str(school.caller.token), "app/quizzes")
    page.locator(f'a[href*="{school.quiz}"]').first.click()
    expect(page.get_by_text("Some rules are broken; see below which and where.")).to_be_visible()
    expect(page.get_by_text("What does 「学习」 mean?").first).to_be_visible()
    expect(page.get_by_text("Traditional characters").first).to_be_visible()
    seen.keep("quiz")


def test_rates_trends_and_quotas_show_what_accumulated(opened: Opened, teacher: Caller) -> None:
    seen = opened()
    page = seen.sign_in(str(teacher.token), "app/rates")
    expect(page.get_by_role("row", name=re.compile("gpt-5.5.*math")).first).to_be_visible()
    seen.keep("rates")
    seen.open("app/trends")
    expect(page.locator("canvas").first).to_be_visible()
    seen.keep("trends")
    seen.open("app/quotas")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    seen.keep("quotas")


def test_an_experiment_a_contest_and_an_audit_can_be_gone_through(opened: Opened, school: School) -> None:
    seen = opened()
    page = seen.sign_in(str(school.caller.token), "app/experiments")
    page.locator(f'a[href*="{school.experiment}"]').first.click()
    expect(page.get_by_text("quiz_clarity").or_(page.get_by_text("Clarity")).first).to_be_visible()
    seen.keep("experiment")
    seen.open("app/tasks")
    page.locator(f'a[href*="{school.contest}"]').first.click()
    expect(page.get_by_role("table").first).to_be_visible()
    seen.keep("task")
    page.locator('a[href*="/submissions/"]').first.click()
    expect(page.get_by_role("heading", name=re.compile("Criterion 1"))).to_be_visible()
    page.get_by_role("button", name="Pass", exact=True).click()
    expect(page.get_by_role("button", name="Pass", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("link", name="See the card move")).to_be_visible()
    seen.keep("submission")
    seen.open("app/audits")
    page.locator(f'a[href*="{school.audit}"]').first.click()
    for rating in ("Valid", "Incorrect", "Ambiguous", "Unproven"):
        expect(page.get_by_text(rating).first).to_be_visible()
    seen.keep("audit")
