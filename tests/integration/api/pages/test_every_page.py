"""Every page that a tenant's admin can reach, found by its links: hostile text is text, exports run nothing, no link is
dead, and no secret stands anywhere."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

from functions.pages.visit import PLACES
from tests.support import replies
from tests.support.api import Api
from tests.support.api_tasks import ApiTask, task_body
from tests.support.deployment import Deployment
from tests.support.everything import own_one_of_everything
from tests.support.pages import Page, Visitor
from tests.support.providers import ProviderServer
from tests.support.quizzes import experiment, measurement, quiz

MARK = "hostile-mark"
HOSTILE = f'=HYPERLINK("x")</p><{MARK} onclick=alert(1)>"><img src=x> {{{{7*7}}}} javascript:alert(1)\n@SUM(1)\n;+1'
FORMULA = re.compile(r"(?:^|[;\t\r\n])[\s\0\"]*[=+@%|＝＋＠-]")
NO_PAGES = ("/app/static/", "/app/sign-in", "/swagger", "/openapi.json")
CHOICE = re.compile(r"[?&](?:lang|theme)=")
"""A link to the same page in another language or colour."""
MOST_COLUMNS = 6
MOST_OF_A_KIND = 2
"""Pages that are opened of one address with its ids, words and filters taken out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A page by the address that led to it, and where that link stood."""

    address: str
    led_from: str
    page: Page


@pytest.fixture
def everything(judged: Deployment, judges: ProviderServer) -> Api:
    """An admin of a tenant with one of everything, and a hostile text wherever somebody may write one."""
    api = own_one_of_everything(judged, judges, "acme")
    said = replies.verify(is_correct=False, error_description=HOSTILE, independent_answer=HOSTILE)
    judges.reply(said, schema="VerifyReply")
    answer = api.post(
        "/v1/verifications",
        {
            "problem": HOSTILE, "answer": HOSTILE, "steps": HOSTILE, "subject": HOSTILE[:40], "model": f"<{MARK}>",
        },
    )  # fmt: skip
    assert answer.status == 201, answer.body
    label = {"label": "wrong"}
    assert api.call("PUT", f"/v1/labels/quick_verify/{answer.json['id']}/1", json.dumps(label)).status == 200
    hostile = quiz(2)
    hostile["questions"][0] |= {
        "question_text": HOSTILE, "choices": ["a", HOSTILE, "all of the above"], "answers": ["a"],
        "explanation": HOSTILE,
    }  # fmt: skip
    metrics = ["quiz_clarity", "quiz_item_flaws"]
    assert api.post("/v1/measurements", measurement(material=hostile, metrics=metrics)).status == 202
    asked = experiment(2, metrics=metrics)
    asked |= {"name": f"<{MARK}>=1"}
    for variant, name in zip(asked["variants"], ("=A", f"<{MARK}>"), strict=True):
        variant["name"] = name
        variant["items"][0]["material"] = hostile
    made = api.post("/v1/experiments", {"experiment": asked})
    assert made.status == 202, made.body
    check = api.post("/v1/quiz-checks", {"quiz": hostile, "curriculum": "book-1", "chapter": "1", "ui_language": "en"})
    assert check.status == 202, check.body
    brief = {"description": HOSTILE, "acceptance_criteria": [HOSTILE]}
    made = api.post("/v1/tasks", task_body(brief=brief, owner=f"@<{MARK}>"))
    assert made.status == 202, made.body
    task = ApiTask(api=api, deployment=judged, id=made.json["id"])
    task.hand_in(f"=<{MARK}>", 70, about=HOSTILE)
    task.pass_time()
    return api


def reached(visitor: Visitor) -> Iterator[Opened]:
    """Every page and export that links lead to, a few of each kind."""
    waiting = [("/" + place, "") for place, _ in PLACES]
    seen: set[str] = set()
    kinds: dict[str, int] = {}
    while waiting:
        address, led_from = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        parts = urlsplit(address)
        table = re.search(r"table=\w+", parts.query)
        form = "format=json" if "format=json" in parts.query else table[0] if table else f"filtered={bool(parts.query)}"
        kind = f"{re.sub(r'[0-9A-Z]{26}[^/]*|[0-9a-f]{12,}', 'ID', parts.path)} {form}"
        kinds[kind] = kinds.get(kind, 0) + 1
        export = "format=" in parts.query
        if kinds[kind] > MOST_OF_A_KIND + 1 + 6 * (form == "filtered=True") or parts.path.startswith(NO_PAGES):
            continue
        visitor.at = "/"
        page = visitor.open(address)
        yield Opened(address=address, led_from=led_from, page=page)
        if not export:
            links = [each for each in page.links if not CHOICE.search(each) and not each.startswith("http")]
            waiting += [(urldefrag(urljoin(address, each)).url, address) for each in links]


def test_a7_a8_every_page_and_export_shows_hostile_text_as_text_and_no_secret(
    everything: Api, judged: Deployment, judges: ProviderServer
) -> None:
    visitor = Visitor()
    visitor.sign_in(str(everything.token))
    secrets = [str(everything.token), *visitor.cookies.values(), *judges.led_here()[0].values()]
    marked, faults = set[str](), list[str]()
    for one in reached(visitor):
        body, address = one.page.response.body, one.address
        if one.page.response.status != 200:
            faults.append(f"{address}: {one.page.response.status}, led to from {one.led_from}")
        if MARK in body:
            marked.add(re.sub(r"[0-9A-Z]{26}", "ID", urlsplit(address).path))
        if any(secret in body for secret in secrets):
            faults.append(f"{address} shows a secret")
        kind = one.page.response.headers["content-type"]
        if kind.startswith("text/csv"):
            cells = [cell for row in csv.reader(io.StringIO(body)) for cell in row if not _is_number(cell)]
            faults += [f"{address}: {cell!r} is a formula" for cell in cells if FORMULA.search(cell)]
        elif kind.startswith("text/html"):
            faults += [f"{address} has {tag} {given}" for tag, given in one.page.elements if _strange(tag, given)]
            faults += [f"{address} has a table of {columns} columns" for columns in _wide(one.page)]
    assert faults == []
    assert marked >= {
        "/app/answers", "/app/answers/ID", "/app/measurements", "/app/measurements/ID", "/app/quizzes/ID", "/app/rates",
        "/app/experiments", "/app/experiments/ID", "/app/experiments/ID/pairs", "/app/tasks", "/app/tasks/ID",
        "/app/tasks/ID/submissions", "/app/tasks/ID/submissions/ID", "/app/traces/ID",
    }  # fmt: skip


def _wide(page: Page) -> list[int]:
    """How many columns each table has that is wider than a reader takes in at a glance."""
    columns = list[int]()
    for tag, _ in page.elements:
        if tag == "table":
            columns.append(0)
        elif tag == "th":
            columns[-1] += 1
    return [each for each in columns if each > MOST_COLUMNS]


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell) is not None


def _strange(tag: str, given: dict[str, str]) -> bool:
    """Whether an element is none of ours: what a text made, or what would run it."""
    leads = (given.get(name, "") for name in ("href", "src", "action"))
    return (
        tag in {MARK, "img", "iframe"}
        or any(name.startswith("on") for name in given)
        or any(each.lower().startswith(("javascript:", "data:")) and each != "data:," for each in leads)
    )
