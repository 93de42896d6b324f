"""Figures lead to what they count: costs and tokens of calls to the trace, scores to the submission that has them."""

import re

import pytest

from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.everything import own_one_of_everything
from tests.support.pages import Page, Visitor, signed_in
from tests.support.providers import ProviderServer

TRACE_LINK = 1
"""The link to the trace that stands on a page for itself."""
COST = 1
"""What a record cost, which stands at the top."""


@pytest.fixture
def everything(judged: Deployment, judges: ProviderServer) -> Api:
    return own_one_of_everything(judged, judges, "acme")


def to_trace(page: Page, record_id: str) -> int:
    return sum(link.endswith(f"app/traces/{record_id}") for link in page.links)


def test_what_calls_took_and_cost_leads_an_admin_to_the_trace(everything: Api, judged: Deployment) -> None:
    admin, member = Visitor(), signed_in(judged)
    admin.sign_in(str(everything.token))
    for kind in ("answers", "measurements", "quizzes", "experiments"):
        ids = [one["id"] for one in everything.get(f"/v1/{kind}").json["items"]]
        counted = {each: to_trace(admin.open(f"/app/{kind}/{each}"), each) for each in ids}
        best = max(counted, key=lambda each: counted[each])
        assert counted[best] > TRACE_LINK + COST, kind
        assert to_trace(member.open(f"/app/{kind}/{best}"), best) == 0, "who may not read it is not led there"


def test_scores_on_a_task_lead_to_the_submission_and_progress_to_the_pairs(everything: Api) -> None:
    admin = Visitor()
    admin.sign_in(str(everything.token))
    (task,) = everything.get("/v1/tasks").json["items"]
    page = admin.open(f"/app/tasks/{task['id']}")
    scores = page.response.body.partition('id="table-scores"')[2].partition("</table>")[0]
    led = re.findall(rf'href="{task["id"]}/submissions/[0-9A-Z]{{26}}">\s*\d+\.\d\d', scores)
    assert len(led) == scores.count('class="numeric"') - 1, "every score, and not the heading"
    (experiment,) = everything.get("/v1/experiments").json["items"]
    page = admin.open(f"/app/experiments/{experiment['id']}")
    assert page.links.count(f"{experiment['id']}/pairs") == 1 + 1, "the pairs measured, and the link to them"
