"""Charts in a real browser: what a point says of itself is what the table beside it says."""

import re

from playwright.sync_api import expect

from tests.support.api import Api
from tests.support.browser import Browsing
from tests.support.deployment import Deployment
from tests.support.quizzes import experiment

SAID_OF_A_POINT = """() => {
  const chart = Object.values(Chart.instances)[0];
  chart.tooltip.setActiveElements([{ datasetIndex: 0, index: 0 }, { datasetIndex: 1, index: 0 }], { x: 0, y: 0 });
  chart.update();
  return chart.tooltip.body.flatMap((each) => each.lines);
}"""


def test_a_point_says_what_the_table_says(judged: Deployment, buyer: Api, browsers: Browsing) -> None:
    made = buyer.post("/v1/experiments", {"experiment": experiment(6, ambiguous=1, metrics=["quiz_clarity"])})
    address, token = "app/experiments/" + made.location.rpartition("/")[2], judged.token("acme")
    with browsers() as opened:
        seen = opened()
        page = seen.sign_in(token, address)
        expect(page.locator("canvas")).to_have_attribute("style", re.compile("width"))  # once it is drawn
        (said,) = page.evaluate(SAID_OF_A_POINT)
        assert said == "B less A: -25.00 [-25.00, -25.00]"
        assert page.get_by_role("cell", name="-25.00 [-25.00, -25.00]").count() == 1
        assert not seen.complaints
