"""Each list is looked through by its form, field by field; the address is the view, and figures lead there."""

from playwright.sync_api import Locator, Page, expect

from tests.support.api import Api
from tests.support.browser import Browsing
from tests.support.deployment import Deployment
from tests.support.pages import verified

LISTS: dict[str, dict[str, str]] = {
    "app/answers": {"search": "capital australia", "status": "verified", "decided_by": "judge", "language": "en"},
    "app/measurements": {"search": "canberra", "status": "done", "metric": "quiz_clarity", "language": "en"},
    "app/quizzes": {"search": "新同學", "curriculum": "book-1", "cost_from": "0"},
    "app/experiments": {"search": "chunking", "status": "done", "variant": "docling_chunks"},
    "app/audits": {"search": "tinylib", "status": "waiting", "from": "2020-01-01"},
    "app/tasks": {"search": "databases", "owner": "buyer", "sort": "oldest"},
    "app/tasks/{task}/submissions": {"submitter": "ann", "sort": "oldest"},
}
"""Of each list the fields that are filled in, with what some of the tenant's records have."""
NOWHERE = "nowhere"


def rows(page: Page) -> list[str]:
    """What the rows of the list say."""
    return page.locator("section.table tbody tr:not(.details)").all_inner_texts()


def fill(field: Locator, value: str) -> None:
    """Fill a field in, or choose of it what is wanted, as people do; what stands behind "more filters" is opened."""
    behind = field.locator("xpath=ancestor::details")
    if behind.count() and not behind.evaluate("found => found.open"):
        behind.locator("summary").click()
    if field.evaluate("found => found.localName") == "select":
        field.select_option(value)
    else:
        field.fill(value)


def led(page: Page, to: Locator) -> None:
    """Go where a link or a button leads."""
    with page.expect_navigation():
        to.click()


def test_a_list_is_found_through_by_its_form_and_the_address_is_the_view(owner: Api, browsers: Browsing) -> None:
    task = owner.get("/v1/tasks").json["items"][0]["id"]
    with browsers() as opened:
        seen = opened()
        page = seen.sign_in(str(owner.token))
        again = page.context.new_page()
        for listed, wanted in LISTS.items():
            seen.open(listed.format(task=task))
            everything = rows(page)
            for name, value in wanted.items():
                fill(page.locator(f"form.finding [name={name}]"), value)
            led(page, page.get_by_role("button", name="Show", exact=True))
            found = rows(page)
            assert found, page.url
            assert set(found) <= set(everything), page.url
            again.goto(page.url)
            assert rows(again) == found, page.url
            for name, value in wanted.items():
                expect(again.locator(f"form.finding [name={name}]")).to_have_value(value)
            again.goto(f"{page.url}&{'submitter' if 'submissions' in listed else 'search'}={NOWHERE}")
            assert rows(again) == [], again.url
            led(again, again.locator("p.chosen a.plain"))
            assert rows(again) == everything, "without any filter"


def test_figures_of_the_overview_lead_to_so_many_answers(buyer: Api, judged: Deployment, browsers: Browsing) -> None:
    for number in range(3):
        verified(buyer, f"Compute {number} + 1.", str(number + 1))
    verified(buyer, "Compute 2 + 2.", "5")
    with browsers() as opened:
        seen = opened(width=390)
        page = seen.sign_in(judged.token("acme"))
        figures = page.locator(".multiples p.figure a")
        counts = [int(text) for text in figures.all_inner_texts()]
        assert sorted(counts) == [1, 3, 4]
        for place, count in enumerate(counts):
            seen.open()
            led(page, figures.nth(place))
            expect(page.get_by_role("heading", name="Answers", level=1, exact=True)).to_be_visible()
            assert len(rows(page)) == count


def test_a_second_page_goes_on_from_the_first_and_back(buyer: Api, judged: Deployment, browsers: Browsing) -> None:
    for number in range(53):
        verified(buyer, f"Compute {number} + 1.", str(number + 1))
    with browsers() as opened:
        seen = opened()
        page = seen.sign_in(judged.token("acme"), "app/answers")
        page.get_by_label("Status").select_option("Verified")
        led(page, page.get_by_role("button", name="Show", exact=True))
        first = rows(page)
        led(page, page.get_by_role("link", name="Older"))
        rest = rows(page)
        assert (len(first), len(rest)) == (50, 3)
        assert not set(first) & set(rest)
        led(page, page.get_by_role("link", name="Newest"))
        assert rows(page) == first


def test_a_word_of_any_length_leaves_every_column_in_sight(judged: Deployment, buyer: Api, browsers: Browsing) -> None:
    word = "x" * 600
    assert buyer.post("/v1/verifications", {"problem": word, "answer": word}).status == 201
    token = judged.token("acme")
    with browsers() as opened:
        page = opened(width=1280).sign_in(token, "app/answers")
        widths = page.locator(".scroll").evaluate("(table) => [table.scrollWidth, table.clientWidth]")
        assert widths[0] == widths[1]
