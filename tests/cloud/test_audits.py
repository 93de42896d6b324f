"""Whole audits on the deployed stack: an agent that claims the same of every case, and a library really installed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import called, concluded, proved
from tests.support.callers import Caller, said
from tests.support.cloud import Cloud
from tests.support.overrides import registry
from tests.support.waiting import eventually
from tests.support.wheels import make_wheels
from tests.support.wire import Behaviour
from touchstone.judges import load_registry

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(900)]

ROOMY = {"per_day": 1_000_000, "per_minute": 1_000_000}
TAKES = "import tinylib\ntinylib.Box(1, {}=2)\n"
HAS = "import tinylib\ntinylib.{}\n"
LIES = "print('proved, on my word')\n"
ENDLESS = "import tinylib\nwhile True: pass\n"
BROKEN = "import tinylib\ntinylib.Box(undefined)\n"
CASES: dict[str, tuple[dict[str, str], str, str]] = {
    "lid": ({"A": TAKES.format("lid"), "B": TAKES.format("hinge")}, "A", "Valid"),
    "crate": ({"A": HAS.format("Crate"), "B": HAS.format("Chest")}, "A", "Valid"),
    "shape": ({"A": HAS.format("Shape.SQUARE"), "B": HAS.format("Shape.ROUND")}, "B", "Valid"),
    "girth": ({"A": TAKES.format("lid"), "B": TAKES.format("girth")}, "B", "Incorrect"),
    "chest": ({"A": HAS.format("Chest"), "B": HAS.format("Crate")}, "A", "Incorrect"),
    "both": ({"A": TAKES.format("lid"), "B": "import tinylib\ntinylib.Box(width=1)\n"}, "A", "Ambiguous"),
    "names": ({"A": HAS.format("Box"), "B": HAS.format("Crate")}, "B", "Ambiguous"),
    "word": ({"A": LIES, "B": TAKES.format("girth")}, "A", "Unproven"),
    "endless": ({"A": TAKES.format("lid"), "B": ENDLESS}, "A", "Unproven"),
    "broken": ({"A": BROKEN, "B": TAKES.format("girth")}, "A", "Unproven"),
}
"""By case: the script that the agent runs for each option, the benchmark's key, and the rating it must come to."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def auditor(cloud: Cloud, wheels: Path) -> Iterator[Caller]:
    """The admin of a tenant, whose agent is scripted and whose targets come from a folder."""
    strong = load_registry({}).model("gemini", "strong").name
    roomy = registry(gemini={"models": {strong: ROOMY}}) | {"TOUCHSTONE_TENANT_SHARE": "1"}
    empty = wheels.parent / "no-index"
    empty.mkdir(exist_ok=True)
    registries = {"UV_FIND_LINKS": str(wheels), "UV_DEFAULT_INDEX": empty.as_uri()}
    cloud.judge.arrange(reset=True)
    for name, (scripts, _, _) in CASES.items():
        turns = [called(*proved(label, script)) for label, script in scripts.items()]
        behaviour = Behaviour(by_turn=(*turns, concluded("A", summary="All options are proved as I say.")))
        cloud.judge.rule(behaviour.model_dump(mode="json"), prompt=f"Which is right of {name}\\?")
    with (
        cloud.functions.changed("AuditsInstall", variables=registries),
        cloud.functions.changed("AuditsPrepare", "AuditsTurn", variables=roomy),
    ):
        yield cloud.tenant("auditor")
    cloud.judge.arrange(reset=True)


def over(caller: Caller, audit_id: str, *, seconds: float = 600.0) -> dict[str, Any]:
    """An audit once it is over."""

    def look() -> dict[str, Any] | None:
        view: dict[str, Any] = caller.get(f"v1/audits/{audit_id}")
        return view if view["finished_at"] else None

    return eventually(look, what=f"the end of audit {audit_id}", seconds=seconds, pause=1.0)


def ratings(caller: Caller, audit_id: str) -> dict[str, str]:
    report = caller.get(f"v1/audits/{audit_id}/report", params={"format": "json"})
    return {one["case"]["id"]: one["quality_rating"] for one in report["cases"]}


def test_ten_cases_are_rated_by_what_was_run_and_drift_with_the_library(cloud: Cloud, auditor: Caller) -> None:
    lines = "\n".join(
        f'{{"id": "{name}", "question": "Which is right of {name}?", '
        f'"options": {{"A": "the first", "B": "the second"}}, "correct_answer": "{key}"}}'
        for name, (_, key, _) in CASES.items()
    )
    request = {"target": {"requirement": "tinylib==1.0"}, "files": [{"name": "ten.jsonl", "text": lines}]}
    audit_id = said(auditor.send("POST", "v1/audits", json=request), 202)["id"]
    view = over(auditor, audit_id)
    assert (view["state"], view["done"], view["version"]) == ("done", 10, "1.0"), view["failure"]
    assert ratings(auditor, audit_id) == {name: rating for name, (_, _, rating) in CASES.items()}
    asked = len(cloud.judge.calls())
    body = {"requirement": "tinylib==2.0"}
    recheck_id = said(auditor.send("POST", f"v1/audits/{audit_id}/recheck", json=body), 202)["id"]
    found = over(auditor, recheck_id)
    assert [drift["id"] for drift in found["drifts"]] == ["lid"]
    assert len(cloud.judge.calls()) == asked, "a recheck asks no model"


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
