"""Texts of any direction in a real browser: what is written from right to left begins at the right."""

import pytest

from tests.support.api import Api
from tests.support.browser import Browsing
from tests.support.deployment import Deployment

ARABIC = "ما هي عاصمة أستراليا؟"
ENDS = """(element) => {
  const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
  const at = (place) => {
    const range = document.createRange();
    range.setStart(text, place);
    range.setEnd(text, place + 1);
    return range.getBoundingClientRect().left;
  };
  return [at(0), at(text.length - 1)];
}"""
"""Where the first and the last character of an element's text stand, from the left."""


@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
def test_a_text_from_right_to_left_ends_at_the_left_and_any_other_at_the_right(
    judged: Deployment, buyer: Api, browsers: Browsing, language: str
) -> None:
    body = {"problem": f"{ARABIC} (Canberra).", "answer": "Canberra (1901)."}
    answer = buyer.post("/v1/verifications", body).json["id"]
    token = judged.token("acme")
    with browsers() as opened:
        page = opened(language=language).sign_in(token, f"app/answers/{answer}")
        first, last = page.locator("main .sent").first.evaluate(ENDS)
        assert last < first, "its full stop stands at its left end"
        first, last = page.locator("main .sent").nth(1).evaluate(ENDS)
        assert first < last
        page.goto(page.url.rpartition("/")[0])
        first, last = page.locator("td a", has_text="Canberra).").evaluate(ENDS)
        assert last < first
