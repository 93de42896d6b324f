"""R3 R13: an audit's process dies at any call to a store, or its model fails in any way: it comes to the same."""

from contextlib import suppress
from typing import Any

import pytest

from functions import sweep
from tests.support.api import Api
from tests.support.clocks import later
from tests.support.deaths import DiedError, When, dying_at
from tests.support.deployed_audits import STALLED, Agent, request, settled
from tests.support.deployment import Context, Deployment
from tests.support.lambdas import Lambdas
from tests.support.wire import Kind

BENCHMARK = "{id: valid, question: What does a box of valid take?, options: {A: lid, B: hinge}, correct_answer: A}"
TURNS = 3
STRIDE = 13
"""Of so many calls one is tried, since each try is a whole audit; another number tries other calls."""
SWEEPS = 6
DAYS_2 = 2 * 24 * 3600


def asked(caller: Api, key: str) -> str:
    """The address of an audit of one case, whatever broke off; a request that did is repeated by its sender."""
    body = request(files=[{"name": "one.yaml", "text": BENCHMARK}])
    made = caller.post("/v1/audits", body, key=key)
    if made.status != 202:
        made = caller.post("/v1/audits", body, key=key)
    assert made.status == 202, made.body
    return made.location


def ended(caller: Api, path: str) -> dict[str, Any]:
    """An audit once it is over: what broke off is taken up by the sweep."""
    for _ in range(SWEEPS):
        settled()
        view: dict[str, Any] = caller.get(path).json
        if view.get("finished_at"):  # what reads it may be what died, too
            return view
        later(STALLED)
        with suppress(DiedError):
            sweep.handler({}, Context())
    raise AssertionError(view)


@pytest.mark.parametrize("when", ["before", "after"])
def test_r3_a_process_that_dies_at_any_call_to_a_store_changes_nothing_in_the_end(
    judged: Deployment, agent: Agent, lambdas: Lambdas, monkeypatch: pytest.MonkeyPatch, when: When
) -> None:
    caller = Api(token=judged.token("nowhere"))
    with dying_at(monkeypatch, 0, when) as nowhere:
        expected = ended(caller, asked(caller, "nowhere"))
    assert (expected["state"], expected["totals"]["Valid"], expected["turns"]) == ("done", 1, TURNS)
    assert nowhere.calls > STRIDE
    for number in range(len(when), nowhere.calls + 1, STRIDE):
        caller = Api(token=judged.token(f"tenant-{number}"))
        agent.asked.clear()
        with dying_at(monkeypatch, number, when):
            found = ended(caller, asked(caller, "one"))
        same = ("state", "totals", "turns", "done", "bundle", "version", "failure", "drifts")
        assert {name: found[name] for name in same} == {name: expected[name] for name in same}, number
        assert len(agent.asked) <= TURNS + 1, "one lost call a crash"
        assert len(caller.get("/v1/audits").json["items"]) == 1


@pytest.mark.parametrize(
    "kind",
    [
        "server_error",
        "overloaded",
        "minute_quota",
        "day_quota",
        "reset",
        "html",
        "truncated",
        "empty",
        "garbled",
        "hang",
        "drip",
    ],
)
def test_r13_a_model_that_fails_is_asked_again_and_a_case_comes_to_the_same(
    demo: Api, agent: Agent, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    agent.failing = kind
    with monkeypatch.context() as patient:
        if kind in {"hang", "drip"}:
            patient.setattr("touchstone.audits.agent.solving.TURN_SECONDS", 0.5)
        path = asked(demo, kind)
    view = demo.get(path).json
    assert (view["state"], view["done"], view["turns"]) == ("auditing", 0, 0)
    assert view["because"]
    assert len(agent.asked) <= 10, "tries are bounded"
    agent.failing = None
    later(DAYS_2)
    view = ended(demo, path)
    assert (view["state"], view["totals"]["Valid"], view["because"]) == ("done", 1, None)


@pytest.mark.parametrize("kind", ["max_tokens", "blocked", "refused", "unauthorized", "unknown_model", "bad_request"])
def test_r13_a_model_that_will_not_answer_leaves_a_case_unproven_and_says_why(
    demo: Api, agent: Agent, kind: Kind
) -> None:
    agent.failing = kind
    view = demo.get(asked(demo, kind)).json
    for _ in range(40):
        if view["finished_at"]:
            break
        later(DAYS_2 / 4)
        settled()
        sweep.handler({}, Context())
        view = demo.get(f"/v1/audits/{view['id']}").json
    assert (view["state"], view["totals"]["Unproven"]) == ("done", 1), view
    assert len(agent.asked) <= 40, "tries are bounded"
