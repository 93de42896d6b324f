"""Each kind of page held against axe-core, in both languages and colour schemes, wide and on a narrow phone."""

import json
import re
from collections.abc import Iterator

import pytest

from functions.pages.visit import PLACES
from tests.support.accessibility import RULES, RULES_OF_A_VIEW, Rules, faults
from tests.support.api import Api
from tests.support.browser import Browsing, Seen
from tests.support.deployed_audits import ONE_FILE, Agent, begun
from tests.support.lambdas import Lambdas
from tests.support.pages import verified
from tests.support.providers import ProviderServer
from tests.support.quizzes import measurement

LONG = "Rindfleischetikettierungsueberwachungsaufgaben"
"""A word that is wider than a narrow phone."""
WRONG = "ts_" + "x" * 43
LINKS = """(found) => found.map((each) => each.href.split("#")[0])"""
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
    made = owner.post("/v1/measurements", measurement(metrics=["quiz_answer_correctness", "quiz_clarity"]))
    assert made.status == 202, made.body
    judges.reset()
    judges.script(Agent().answer)
    begun(owner, files=ONE_FILE)
    return owner


def each_kind(seen: Seen) -> Iterator[str]:
    """Opens one page of each kind, that of the newest record, as links lead there, and gives its address."""
    waiting, kinds = [place for place, _ in PLACES], set[str]()
    while waiting:
        address = waiting.pop(0)
        kind = re.sub("[0-9A-Z]{26}|[0-9a-f]{16}", "ID", address.removeprefix("app/"))
        if kind not in KINDS - kinds:
            continue
        kinds.add(kind)
        links: list[str] = seen.open(address).eval_on_selector_all("a[href]", LINKS)
        waiting += [link.removeprefix(seen.root) for link in links]
        yield address
    assert kinds == KINDS


def faults_of_strangers(seen: Seen, token: str, rules: Rules) -> list[str]:
    """What the pages break around signing in: one that refuses a token, one where nothing is found, one of an error."""
    seen.sign_in(WRONG)
    found = faults(seen.page, rules)
    seen.sign_in(token, "app/answers?search=nowhere")
    found += faults(seen.page, rules)
    seen.open("app/answers/none")
    assert all(re.search("401|404", said) for said in seen.complaints), seen.complaints
    seen.complaints.clear()
    return found + faults(seen.page, rules)


def test_no_page_breaks_a_rule_of_the_checker_or_is_wider_than_a_narrow_phone(full: Api, browsers: Browsing) -> None:
    token, addresses = str(full.token), list[str]()
    with browsers() as opened:
        wide = opened(width=1200)
        found = faults_of_strangers(wide, token, RULES)
        for address in each_kind(wide):
            addresses.append(address)
            found += faults(wide.page, RULES)
        narrow = opened(width=320, language="zh-CN", dark=True)  # as wide as 1280 at a zoom of 400 % (WCAG 1.4.10)
        found += faults_of_strangers(narrow, token, RULES_OF_A_VIEW)
        for address in addresses:
            found += faults(narrow.open(address), RULES_OF_A_VIEW)
    assert found == []
