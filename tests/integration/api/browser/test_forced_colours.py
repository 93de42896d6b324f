"""Where the system gives the colours, or no script runs, a page still says all that it says."""

import json

from playwright.sync_api import expect

from tests.support.api import Api
from tests.support.browser import Browsing
from tests.support.deployment import Deployment
from tests.support.pages import verified
from tests.support.quizzes import experiment

ADJUSTED = "button => getComputedStyle(button).forcedColorAdjust"
GROUND = "button => getComputedStyle(button).backgroundColor"
HIGHLIGHT = """() => {
  const probe = document.body.appendChild(document.createElement("p"));
  probe.style.cssText = "background: Highlight; forced-color-adjust: none";
  return getComputedStyle(probe).backgroundColor;
}"""
TONES = "Object.values(Chart.instances).flatMap(chart => chart.data.datasets.map(each => each.backgroundColor))"


def test_a_label_that_was_given_and_parts_of_a_bar_are_told_apart_in_the_systems_colours(
    judged: Deployment, buyer: Api, browsers: Browsing
) -> None:
    answer, token = verified(buyer, "Compute 2 + 2.", "4"), judged.token("acme")
    path = f"/v1/labels/quick_verify/{answer}/1"
    assert buyer.call("PUT", path, json.dumps({"label": "right"})).status == 200
    with browsers() as opened:
        seen = opened()
        page = seen.page
        page.emulate_media(forced_colors="active")
        seen.sign_in(token, f"app/answers/{answer}")
        given = page.get_by_role("button", name="Right", exact=True)
        expect(given).to_have_attribute("aria-pressed", "true")
        assert (given.evaluate(ADJUSTED), given.evaluate(GROUND)) == ("none", page.evaluate(HIGHLIGHT))
        assert page.get_by_role("button", name="Wrong", exact=True).evaluate(ADJUSTED) != "none"
        seen.open("app/quotas")
        expect(page.locator("canvas").first).to_be_visible()
        page.wait_for_function("Object.keys(Chart.instances).length > 0")
        tones = page.evaluate(TONES)
        assert len(tones) > 1
        assert page.evaluate("Chart.defaults.color") not in tones, "the one colour that the system has for texts"


def test_a_chart_that_no_script_can_draw_leaves_no_empty_box(
    judged: Deployment, buyer: Api, browsers: Browsing
) -> None:
    made = buyer.post("/v1/experiments", {"experiment": experiment(6, ambiguous=1, metrics=["quiz_clarity"])})
    address, token = "app/experiments/" + made.location.rpartition("/")[2], judged.token("acme")
    with browsers() as opened:
        seen = opened(script=False)
        page = seen.sign_in(token, address)
        expect(page.get_by_role("table").first).to_be_visible()
        expect(page.locator("figure.chart")).to_be_hidden()
