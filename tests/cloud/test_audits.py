"""Whole audits on the deployed stack: an agent that claims the same of every case, and a library really installed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.auditing import CASES, auditing, over, request
from tests.support.callers import Caller, said
from tests.support.cloud import Cloud
from tests.support.overrides import clock_at
from tests.support.waiting import eventually
from tests.support.wheels import make_wheels

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def auditor(cloud: Cloud, wheels: Path) -> Iterator[Caller]:
    """The admin of a tenant, whose agent is scripted."""
    cloud.judge.arrange(reset=True)
    with auditing(cloud, wheels):
        yield cloud.tenant("auditor")
    cloud.judge.arrange(reset=True)


def ratings(caller: Caller, audit_id: str) -> dict[str, str]:
    report = caller.get(f"v1/audits/{audit_id}/report", params={"format": "json"})
    return {one["case"]["id"]: one["quality_rating"] for one in report["cases"]}


def test_ten_cases_are_rated_by_what_was_run_and_drift_with_the_library(cloud: Cloud, auditor: Caller) -> None:
    audit_id = said(auditor.send("POST", "v1/audits", json=request()), 202)["id"]
    view = over(auditor, audit_id)
    assert (view["state"], view["done"], view["version"]) == ("done", 10, "1.0"), view["failure"]
    assert ratings(auditor, audit_id) == {name: rating for name, (_, _, rating) in CASES.items()}
    asked = len(cloud.judge.calls())
    body = {"requirement": "tinylib==2.0"}
    recheck_id = said(auditor.send("POST", f"v1/audits/{audit_id}/recheck", json=body), 202)["id"]
    found = over(auditor, recheck_id)
    assert [drift["id"] for drift in found["drifts"]] == ["lid"]
    assert len(cloud.judge.calls()) == asked, "a recheck asks no model"


def test_a_weekly_audit_is_begun_again_by_its_schedule_a_week_later(cloud: Cloud, auditor: Caller) -> None:
    first = said(auditor.send("POST", "v1/audits", json={**request("lid", "girth"), "weekly": True}), 202)["id"]
    assert over(auditor, first)["state"] == "done"
    assert cloud.functions.run("AuditsWeekly", {"source": "schedule"})["begun"] == 0, "its week is not over"
    with cloud.functions.changed("AuditsWeekly", variables=clock_at(datetime.now(UTC) + timedelta(days=8))):
        cloud.fire("EachWeek")
        following = eventually(
            lambda: auditor.get(f"v1/audits/{first}")["followed_by"], what="the week's audit", seconds=120.0
        )
    view = over(auditor, following)
    assert (view["state"], view["done"], view["weekly"]) == ("done", 2, True), view["failure"]
    assert ratings(auditor, following) == {"lid": "Valid", "girth": "Incorrect"}
    listed = [one["id"] for one in auditor.get("v1/audits")["items"]]
    assert sorted(listed) == sorted([first, following]), "it was begun once"
    said(auditor.send("DELETE", f"v1/audits/{following}/weekly"), 200)


def test_the_sandbox_may_do_nothing(cloud: Cloud) -> None:
    variables = cloud.functions.environment("AuditsSandbox")
    assert variables == {"TOUCHSTONE_SANDBOX": "bubblewrap"}
    role = next(
        name
        for logical, (kind, name) in cloud.resources.items()
        if kind == "AWS::IAM::Role" and "AuditsSandbox" in logical
    )
    iam = cloud.client("iam")
    assert iam.list_role_policies(RoleName=role)["PolicyNames"] == []
    assert iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"] == []
