"""Each kind of page held against axe-core, in both languages and colour schemes, wide and on a narrow phone."""

import json
import re
from collections.abc import Iterator
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

from functions.pages.visit import PLACES
from tests.support.accessibility import RULES, RULES_OF_A_VIEW, faults
from tests.support.api import Api
from tests.support.browser import Browsing
from tests.support.deployed_audits import ONE_FILE, Agent, begun
from tests.support.lambdas import Lambdas
from tests.support.pages import Visitor, verified
from tests.support.providers import ProviderServer
from tests.support.quizzes import measurement

LONG = "Rindfleischetikettierungsueberwachungsaufgaben"
"""A word that is wider than a narrow phone."""
WRONG = "ts_" + "x" * 43
VIEWS = (({"width": 1200}, RULES), ({"width": 320, "language": "zh-CN", "dark": True}, RULES_OF_A_VIEW))
"""In which views each page is held against which rules. 320 is also the width of 1280 at a zoom of 400 %."""
KINDS = frozenset({
    "", "answers", "answers/ID", "audits", "audits/ID", "disagreements", "experiments", "experiments/ID",
    "experiments/ID/pairs", "judges", "judges/ID", "labelling", "measurements", "measurements/ID", "quizzes",
    "quizzes/ID", "quotas", "rates", "tasks", "tasks/ID", "tasks/ID/submissions", "tasks/ID/submissions/ID",
    "traces/ID", "trends",
})  # fmt: skip
"""The kinds of pages that there are."""


@pytest.fixture
def full(owner: Api, judges: ProviderServer, lambdas: Lambdas) -> Api:
    """The same admin, whose records hold long words, labels and an audit that is done."""
    answer = verified(owner, f"Compute 2 + 2. {LONG}", "5")
    assert owner.call("PUT", f"/v1/labels/quick_verify/{answer}/1", json.dumps({"label": "right"})).status == 200
    made = owner.post("/v1/measurements", measurement(metrics=["quiz_clarity", "quiz_item_flaws"]))
    assert made.status == 202, made.body
    judges.reset()
    judges.script(Agent().answer)
    begun(owner, files=ONE_FILE)
    return owner


def each_kind(token: str) -> Iterator[str]:
    """The address of one page of each kind, of the newest record: found by links, as people find them."""
    visitor = Visitor()
    visitor.sign_in(token)
    waiting, seen = [f"/{place}" for place, _ in PLACES], set[str]()
    while waiting:
        address = waiting.pop(0)
        kind = re.sub(r"[0-9A-Z]{26}|[0-9a-f]{16}", "ID", address.removeprefix("/").removeprefix("app/"))
        if kind not in KINDS - seen:
            continue
        seen.add(kind)
        yield address
        visitor.at = "/"
        links = (urldefrag(urljoin(address, link)).url for link in visitor.open(address).links)
        waiting += [link for link in links if not urlsplit(link).query]
    assert seen == KINDS


def test_no_page_breaks_a_rule_of_the_checker_or_is_wider_than_a_narrow_phone(full: Api, browsers: Browsing) -> None:
    token = str(full.token)
    addresses = [address.removeprefix("/") for address in each_kind(token)]
    found = list[str]()
    with browsers() as opened:
        for view, rules in VIEWS:
            seen = opened(**view)
            seen.sign_in(WRONG)
            found += faults(seen.page, rules)
            seen.sign_in(token, "app/answers?search=nowhere")
            found += faults(seen.page, rules)
            for address in (*addresses, "app/answers/none"):
                seen.open(address)
                found += faults(seen.page, rules)
            assert all(re.search("401|404", said) for said in seen.complaints), seen.complaints
            seen.complaints.clear()
    assert found == []
