"""Audits as they are deployed: a scripted agent, the real sandbox, a library that is really installed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from functions import sandbox, sweep
from functions.audits import conclude, install, prepare, turn, weekly
from tests.support.api import Api
from tests.support.clocks import later
from tests.support.deployed_audits import (
    BENCHMARK,
    ONE_FILE,
    RATINGS,
    SCRIPT,
    STALLED,
    TURNS,
    WEEK,
    Agent,
    begun,
    ratings,
    settled,
)
from tests.support.deployment import Context, Deployment
from tests.support.events import event
from tests.support.lambdas import DiedError, Lambdas
from touchstone.audits.bundles import Bundles
from touchstone.audits.report import read_report
from touchstone.audits.sandbox.bubblewrap import Filtered
from touchstone.audits.sandbox.room import ProofRunner
from touchstone.audits.sandbox.watching import SpoiledError
from touchstone.errors import NotFoundError

TWO = "\n".join(BENCHMARK.splitlines()[:4])
"""The first two of the cases."""
TURNS_OF_TWO = 6


def test_each_rating_comes_of_what_was_run_whatever_the_agent_claims(demo: Api, agent: Agent) -> None:
    path = begun(demo)
    view = demo.get(path).json
    assert (view["state"], view["cases"], view["done"], view["version"]) == ("done", 4, 4, "1.0")
    assert view["totals"] == {"Incorrect": 1, "Ambiguous": 1, "Unproven": 1, "Valid": 1}
    assert view["cost_usd"] > 0
    assert view["turns"] == TURNS
    assert view["estimate"]["cases"] == 4
    assert ratings(demo, path) == RATINGS
    page = demo.get(f"{path}/report", format="md")
    assert "Seen: valid." in page.body
    listed = demo.get("/v1/audits").json["items"]
    assert [(one["id"], one["incorrect"], one["ambiguous"]) for one in listed] == [(view["id"], 1, 1)]


def test_no_agent_and_no_sandbox_sees_a_key_or_an_id(demo: Api, agent: Agent, lambdas: Lambdas) -> None:
    text = BENCHMARK.replace("id: valid", "id: the-key-is-A")
    begun(demo, files=[{"name": "key-A.yaml", "text": text}])
    for said in (*agent.asked, json.dumps(lambdas.orders)):
        for secret in ("the-key-is-A", "key-A.yaml", "ground_truth", "correct_answer"):
            assert secret not in said
    assert {frozenset(order) for order in lambdas.orders} == {frozenset({"url", "sha256", "script", "limits"})}


def test_the_same_target_is_the_same_bundle_and_is_not_resolved_again(
    demo: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = demo.get(begun(demo)).json["bundle"]

    def refuse(_: Path) -> Bundles:
        raise AssertionError("it was built before")

    monkeypatch.setattr("touchstone.audits.bundles.Bundles", refuse)
    assert demo.get(begun(demo)).json["bundle"] == first
    keys = judged.keys()
    assert len([key for key in keys if key.startswith("bundles/demo/") and key.endswith(".tar.gz")]) == 1


def test_a_recheck_against_another_version_asks_no_model_and_lists_what_drifted(demo: Api, agent: Agent) -> None:
    path = begun(demo)
    asked = len(agent.asked)
    made = demo.post(f"{path}/recheck", {"requirement": "tinylib==2.0"})
    settled()
    view = demo.get(made.location).json
    assert (view["state"], view["kind"], view["version"]) == ("done", "recheck", "2.0")
    assert sorted(drift["id"] for drift in view["drifts"]) == ["incorrect", "valid"]
    assert view["totals"] == {"Incorrect": 0, "Ambiguous": 3, "Unproven": 1, "Valid": 0}
    assert len(agent.asked) == asked
    assert view["cost_usd"] == 0


def test_an_audit_after_an_audit_solves_only_what_drifted(demo: Api, agent: Agent) -> None:
    path = begun(demo)
    agent.asked.clear()
    previous = path.rpartition("/")[2]
    after = begun(demo, target={"requirement": "tinylib==2.0"}, previous=previous)
    view = demo.get(after).json
    assert view["state"] == "done"
    assert {prompt.partition("a box of ")[2].partition(" take?")[0] for prompt in agent.asked} == {"valid", "incorrect"}
    assert ratings(demo, after) == {**RATINGS, "valid": "Ambiguous", "incorrect": "Ambiguous"}


def test_the_weeks_audit_takes_over_and_runs_nothing_where_the_target_is_the_same(
    demo: Api, agent: Agent, lambdas: Lambdas
) -> None:
    path = begun(demo, weekly=True)
    asked, ran = len(agent.asked), len(lambdas.orders)
    assert weekly({}, Context()) == {"begun": 0, "stuck": 0}
    later(WEEK)
    assert weekly({}, Context()) == {"begun": 1, "stuck": 0}
    assert weekly({}, Context()) == {"begun": 0, "stuck": 0}
    after = demo.get(path).json["followed_by"]
    view = demo.get(f"/v1/audits/{after}").json
    assert (view["state"], view["weekly"], view["drifts"]) == ("done", True, [])
    assert ratings(demo, f"/v1/audits/{after}") == RATINGS
    assert len(agent.asked) == asked
    assert len(lambdas.orders) == ran + 1, "the import alone"
    assert demo.call("DELETE", f"{path}/weekly").json["weekly"] is False
    later(WEEK)
    assert weekly({}, Context()) == {"begun": 0, "stuck": 0}


def test_steps_that_are_repeated_do_no_turn_twice(demo: Api, judged: Deployment, agent: Agent) -> None:
    judged.machines.repeats = 2
    view = demo.get(begun(demo)).json
    assert (view["state"], view["done"], view["turns"]) == ("done", 4, TURNS)
    assert len(agent.asked) == TURNS


@pytest.mark.parametrize("lost", ["install", "prepare", "turn", "conclude"])
def test_what_was_lost_is_taken_up_by_the_sweep_where_it_was(
    demo: Api, judged: Deployment, agent: Agent, lost: str
) -> None:
    judged.machines.lost = frozenset({lost})
    path = begun(demo, files=[{"name": "two.yaml", "text": TWO}])
    judged.machines.lost = frozenset()
    assert demo.get(path).json["state"] in {"waiting", "auditing"}
    assert sweep.handler({}, Context())["restarted"] == 0
    later(STALLED)
    assert sweep.handler({}, Context())["restarted"] == 1
    settled()
    assert ratings(demo, path) == {name: RATINGS[name] for name in ("valid", "incorrect")}
    assert len(agent.asked) == TURNS_OF_TWO


def test_a_provider_that_fails_is_asked_again_later(demo: Api, judged: Deployment, agent: Agent) -> None:
    agent.failing = "day_quota"
    path = begun(demo)
    view = demo.get(path).json
    assert (view["state"], view["done"]) == ("auditing", 0)
    assert view["because"] in {"day_quota", "quota"}
    agent.failing = None
    later(2 * 24 * 3600)
    settled()
    assert ratings(demo, path) == RATINGS


def test_no_turn_is_begun_once_it_has_cost_so_much(demo: Api, agent: Agent) -> None:
    path = begun(demo, max_cost_usd=1e-9)
    view = demo.get(path).json
    assert (view["state"], view["done"]) == ("done", 4)
    assert len(agent.asked) == 1
    assert "The limit of cost was reached." in demo.get(f"{path}/report", format="md").body


@pytest.mark.parametrize(
    ("requirement", "sentence"),
    [("needylib==1.0", "cannot be resolved"), ("brokenlib==1.0", "cannot be imported")],
)
def test_a_target_that_is_no_good_fails_with_the_reason(demo: Api, requirement: str, sentence: str) -> None:
    path = begun(demo, target={"requirement": requirement})
    view = demo.get(path).json
    assert view["state"] == "failed"
    assert sentence in view["failure"]
    assert demo.get(f"{path}/report").status == 409


def test_a_script_that_ends_the_sandbox_was_blocked_and_others_go_on(demo: Api, lambdas: Lambdas) -> None:
    whole = lambdas.handler

    def dying(order: Mapping[str, Any], context: object) -> dict[str, Any]:
        if order["script"] == SCRIPT.format("hinge"):
            raise DiedError
        return whole(order, context)

    lambdas.handler = dying
    path = begun(demo, files=ONE_FILE)
    (case,) = read_report(demo.get(f"{path}/report", format="json").body.encode(), name="r").cases
    assert [proof.outcome for proof in case.proofs] == ["holds", "blocked"]
    assert case.quality_rating == "Unproven"


def test_a_machine_that_a_proof_left_something_on_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Unmovable(ProofRunner):
        def _empty(self) -> None:
            raise SpoiledError("What an earlier proof left could not be removed.")

    left: list[int] = []
    room = Unmovable(folder=tmp_path / "target", sandbox=Filtered(), shared=tmp_path)
    monkeypatch.setattr(sandbox, "_room", lambda: room)
    monkeypatch.setattr(sandbox, "leave", left.append)
    with pytest.raises(SpoiledError):
        sandbox.handler({"url": "https://x", "sha256": "0" * 64, "script": None}, Context())
    assert left == [sandbox.SPOILED]


@pytest.mark.parametrize(("times", "state"), [(1, "done"), (5, "waiting")])
def test_a_sandbox_that_could_not_fetch_its_bundle_says_nothing_of_the_script(
    demo: Api, lambdas: Lambdas, times: int, state: str
) -> None:
    lambdas.faults += [{"errorType": "StoreError"} for _ in range(times)]
    path = begun(demo, files=ONE_FILE)
    assert (demo.get(path).json["state"], lambdas.faults) == (state, [])
    later(STALLED)
    assert sweep.handler({}, Context())["restarted"] == (state != "done")
    settled()
    assert demo.get(path).json["state"] == "done"


def test_the_samples_of_the_steps_name_what_is_not_there(deployment: Deployment) -> None:
    handlers: dict[str, Callable[..., Any]] = {
        "install": install, "prepare": prepare, "turn": turn, "conclude": conclude,
    }  # fmt: skip
    for name, handler in handlers.items():
        with pytest.raises(NotFoundError, match="There is no"):
            handler(event(f"step_audit_{name}"), Context())
    assert weekly(event("schedule_weekly"), Context()) == {"begun": 0, "stuck": 0}


def test_an_admin_reads_what_the_agent_was_told_and_what_it_called_turn_by_turn(
    demo: Api, judged: Deployment, agent: Agent
) -> None:
    path = begun(demo, files=ONE_FILE)
    audit_id = path.rpartition("/")[2]
    admin = Api(token=judged.token("demo", "admin"))
    calls = admin.get(f"/v1/traces/{audit_id}-1").json["calls"]
    assert len(calls) == demo.get(path).json["turns"] > 1
    assert all(call["system"] and call["failure"] is None for call in calls)
    assert any(call["value"]["calls"] for call in calls), "it called a tool"
    assert calls[0]["user"] != calls[-1]["user"], "each tells what is new"
    assert admin.get(f"/v1/traces/{audit_id}").json["calls"] == calls
    assert demo.get(f"/v1/traces/{audit_id}-1").status == 403
