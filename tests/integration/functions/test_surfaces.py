"""The steps of measurements as they are deployed: what they take and say, and that nothing is doubled or lost."""

from typing import Any

import pytest

from functions.answers import sweep
from functions.api import app
from functions.surfaces import measure
from tests.support.api import Api
from tests.support.deployment import Context, Deployment
from tests.support.events import event
from tests.support.providers import ProviderServer
from tests.support.quizzes import measurement
from tests.support.task_machines import later
from touchstone.attempts import LEASE, MAX_TRIES
from touchstone.errors import NotFoundError

STALLED = LEASE.total_seconds() + 11 * 60
"""Seconds after which nobody can be at work any more."""


@pytest.fixture
def demo(judged: Deployment) -> Api:
    """A member of the tenant that the sample events name."""
    return Api(token=judged.token("demo"))


def _lost(demo: Api, judged: Deployment, **changes: Any) -> str:
    """The address of a measurement whose steps never came back."""
    judged.machines.tasks.lost = frozenset({"measure"})
    path = demo.post("/v1/measurements", measurement(**changes)).location
    judged.machines.tasks.lost = frozenset()
    return path


def test_the_sample_of_a_step_holds_references_and_names_what_is_not_there(deployment: Deployment) -> None:
    with pytest.raises(NotFoundError, match="There is no"):
        measure.handler(event("step_measure"), Context())


def test_the_sample_request_is_taken(deployment: Deployment) -> None:
    assert app.handler(event("api_measurement"), Context())["statusCode"] == 202


def test_a_step_that_is_repeated_asks_nobody_twice(demo: Api, judged: Deployment, judges: ProviderServer) -> None:
    judged.machines.tasks.repeats = 2
    path = demo.post("/v1/measurements", measurement()).location
    assert demo.get(path).json["state"] == "done"
    asked = [call.prompt for call in judges.calls]
    assert len(asked) == len(set(asked))


def test_what_was_lost_is_taken_up_by_the_sweep_and_only_then(demo: Api, judged: Deployment) -> None:
    path = _lost(demo, judged)
    assert demo.get(path).json["state"] == "waiting"
    assert sweep.handler({}, Context())["restarted"] == 0
    later(STALLED)
    assert sweep.handler({}, Context())["restarted"] == 1
    assert demo.get(path).json["state"] == "done"
    later(STALLED)
    assert sweep.handler({}, Context())["restarted"] == 0


def test_tries_that_never_came_back_are_counted_and_the_last_one_ends_it(demo: Api, judged: Deployment) -> None:
    from functions.composition import stores

    path = _lost(demo, judged, metrics=["quiz_clarity"])
    for _ in range(MAX_TRIES):
        stores.measurements().begin(tenant="demo", measurement_id=path.rpartition("/")[2], metric="quiz_clarity")
        later(STALLED)
    sweep.handler({}, Context())
    view = demo.get(path).json
    assert (view["state"], view["metrics"][0]["because"]) == ("failed", "timed_out")


def test_a_measurement_that_cannot_be_started_again_is_told_of(
    demo: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    from touchstone.errors import StoreError
    from touchstone.workflows import Workflows

    _lost(demo, judged)
    later(STALLED)

    def refuse(*_: Any, **__: Any) -> None:
        raise StoreError("The work could not be started; repeat the request.")

    monkeypatch.setattr(Workflows, "measurement", refuse)
    assert sweep.handler({}, Context())["stuck"] == 1
