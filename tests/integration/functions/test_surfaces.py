"""The steps of measurements and experiments as they are deployed: what they take and say, nothing doubled or lost."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions import sweep
from functions.api import app
from functions.composition import contexts, stores, work
from functions.surfaces import conclude, measure, pair, plan
from tests.support.api import Api
from tests.support.clocks import later
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.events import event
from tests.support.providers import ProviderServer, error
from tests.support.quizzes import experiment, measurement
from touchstone.attempts import LEASE, RETRY_PERIOD
from touchstone.clock import system_clock
from touchstone.errors import NotFoundError, RefusedError, StoreError
from touchstone.operations.jobs import sweep as sweeping
from touchstone.operations.surfaces import experimenting
from touchstone.references import Reference
from touchstone.surfaces.experiments.pair_work import PairSums, pair_over, pair_put_back
from touchstone.surfaces.measurement import Unmeasured, begun
from touchstone.workflows import Workflows

EXPERIMENT = experiment(2, metrics=["quiz_clarity"])
HALF_A_DAY = 12 * 3600.0
STALLED = LEASE.total_seconds() + 11 * 60
"""Seconds after which nobody can be at work any more."""


@pytest.fixture
def demo(judged: Deployment) -> Api:
    """A member of the tenant that the sample events name."""
    return Api(token=judged.token("demo"))


def _lost(demo: Api, judged: Deployment, **changes: Any) -> str:
    """The address of a measurement whose steps never came back."""
    judged.machines.lost = frozenset({"measure"})
    path = demo.post("/v1/measurements", measurement(**changes)).location
    judged.machines.lost = frozenset()
    return path


def test_the_sample_of_a_step_holds_references_and_names_what_is_not_there(deployment: Deployment) -> None:
    with pytest.raises(NotFoundError, match="There is no"):
        measure(event("step_measure"), Context())


def test_the_sample_request_is_taken(deployment: Deployment) -> None:
    assert app.handler(event("api_measurement"), Context())["statusCode"] == 202


def test_a_step_that_is_repeated_asks_nobody_twice(demo: Api, judged: Deployment, judges: ProviderServer) -> None:
    judged.machines.repeats = 2
    path = demo.post("/v1/measurements", measurement(metrics=["quiz_answer_correctness", "quiz_clarity"])).location
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


def test_tries_that_never_came_back_end_after_days(demo: Api, judged: Deployment) -> None:
    path = _lost(demo, judged, metrics=["quiz_clarity"])
    for _ in range(round(RETRY_PERIOD.total_seconds() / HALF_A_DAY)):
        which = Reference("demo", "measurement", path.rpartition("/")[2])
        stores.measurements().begin(which, lambda one: begun(one, "quiz_clarity", now=system_clock()))
        later(HALF_A_DAY)
    sweep.handler({}, Context())
    view = demo.get(path).json
    assert (view["state"], view["metrics"][0]["because"]) == ("failed", "timed_out")


def test_a_measurement_that_cannot_be_started_again_is_told_of(
    demo: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lost(demo, judged)
    later(STALLED)

    def refuse(*_: Any, **__: Any) -> None:
        raise StoreError("The work could not be started; repeat the request.")

    monkeypatch.setattr(Workflows, "start", refuse)
    assert sweep.handler({}, Context())["stuck"] == 1


def test_a_measurement_that_cannot_be_read_holds_up_no_other(
    demo: Api, judged: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    garbled, other = (_lost(demo, judged) for _ in range(2))
    judged.table.update_item(
        Key={"pk": f"T#demo#MEASUREMENT#{garbled.rpartition('/')[2]}", "sk": "RECORD"},
        UpdateExpression="SET body = :body",
        ConditionExpression="attribute_exists(body)",
        ExpressionAttributeValues={":body": '{"state": "canary"}'},
    )
    later(STALLED)
    swept = sweep.handler({}, Context())
    assert (swept["restarted"], swept["stuck"]) == (1, 1)
    assert demo.get(other).json["state"] == "done"
    assert garbled.rpartition("/")[2] in caplog.text
    assert "canary" not in caplog.text


def test_the_samples_of_an_experiments_steps_name_what_is_not_there(deployment: Deployment) -> None:
    for name, handler in (("plan", plan), ("pair", pair), ("conclude", conclude)):
        with pytest.raises(NotFoundError, match="There is no"):
            handler(event(f"step_{name}"), Context())
    assert app.handler(event("api_experiment"), Context())["statusCode"] == 202


def test_an_experiments_steps_that_are_repeated_ask_nobody_twice_and_count_each_pair_once(
    demo: Api, judged: Deployment, judges: ProviderServer
) -> None:
    judged.machines.repeats = 2
    view = demo.get(demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location).json
    assert (view["state"], view["done"], view["pairs"]) == ("done", 2, 2)
    asked = [call.prompt for call in judges.calls]
    assert len(asked) == len(set(asked))
    assert view["cost_usd"] == pytest.approx(view["conclusion"]["outlay"]["cost_usd"])


@pytest.mark.parametrize("lost", ["plan", "pair", "conclude"])
def test_an_experiment_that_was_lost_is_taken_up_where_it_was_and_pays_nothing_twice(
    demo: Api, judged: Deployment, judges: ProviderServer, lost: str
) -> None:
    judged.machines.lost = frozenset({lost})
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    judged.machines.lost = frozenset()
    assert demo.get(path).json["state"] in {"waiting", "measuring"}
    assert sweep.handler({}, Context())["restarted"] == 0
    later(STALLED)
    assert sweep.handler({}, Context())["restarted"] == 1
    assert demo.get(path).json["state"] == "done"
    asked = [call.prompt for call in judges.calls]
    assert len(asked) == len(set(asked))
    later(STALLED)
    assert sweep.handler({}, Context())["restarted"] == 0


def test_an_experiment_whose_pairs_wait_for_tomorrow_is_left_alone(
    demo: Api, judged: Deployment, judges: ProviderServer
) -> None:
    judges.rule(error("day_quota"), schema="ClarityReply")
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    view = demo.get(path).json
    assert (view["state"], view["done"]) == ("measuring", 0)
    assert view["because"] in {"day_quota", "quota"}, "the provider's word, or our own count that remembers it"
    later(STALLED)
    assert sweep.handler({}, Context())["restarted"] == 0


def test_pairs_whose_tries_never_came_back_are_over_at_last(demo: Api, judged: Deployment) -> None:
    judged.machines.lost = frozenset({"pair"})
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    judged.machines.lost = frozenset()
    for _ in range(round(RETRY_PERIOD.total_seconds() / HALF_A_DAY)):
        for number in (1, 2):
            stores.pairs().begin(Reference("demo", "experiment", path.rpartition("/")[2]), number)
        later(HALF_A_DAY)
    sweep.handler({}, Context())
    view = demo.get(path).json
    assert (view["state"], view["done"]) == ("failed", 2)


def test_an_experiment_that_cannot_be_started_again_is_told_of(
    demo: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged.machines.lost = frozenset({"plan"})
    demo.post("/v1/experiments", {"experiment": EXPERIMENT})
    later(STALLED)

    def refuse(*_: Any, **__: Any) -> None:
        raise StoreError("The work could not be started; repeat the request.")

    monkeypatch.setattr(Workflows, "start", refuse)
    assert sweep.handler({}, Context())["stuck"] == 1


def test_pairs_that_are_not_over_keep_an_experiment_from_its_conclusion(demo: Api, judged: Deployment) -> None:
    judged.machines.lost = frozenset({"pair"})
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    references = {"tenant": "demo", "experiment_id": path.rpartition("/")[2]}
    assert conclude(references, Context())["state"] == "incomplete"
    judged.machines.lost = frozenset()
    for number in (1, 2):
        assert pair({**references, "number": number}, Context())["state"] == "over"
    assert conclude(references, Context())["state"] == "done"
    assert conclude(references, Context())["state"] == "done"
    assert pair({**references, "number": 1}, Context())["state"] == "over"
    assert plan({**references, "run": "again"}, Context())["state"] == "done"


def _lost_upload(demo: Api, judged: Deployment) -> tuple[str, str]:
    """The address of an experiment that was uploaded and that nobody planned, and its file's key in the bucket."""
    key = demo.post("/v1/experiment-files").json["experiment_key"]
    judged.s3.put_object(Bucket=BUCKET, Key=f"artifacts/{key}", Body=json.dumps(EXPERIMENT).encode())
    judged.machines.lost = frozenset({"plan"})
    path = demo.post("/v1/experiments", {"experiment_key": key}).location
    judged.machines.lost = frozenset()
    later(STALLED)
    return path, f"artifacts/{key}"


def test_r19_a_file_that_was_replaced_after_it_was_handed_in_is_not_run_in_its_place(
    demo: Api, judged: Deployment, judges: ProviderServer
) -> None:
    path, key = _lost_upload(demo, judged)
    judged.s3.put_object(Bucket=BUCKET, Key=key, Body=json.dumps(EXPERIMENT | {"name": "other"}).encode())
    sweep.handler({}, Context())
    view = demo.get(path).json
    assert (view["state"], view["name"]) == ("failed", None)
    assert "replaced" in view["failure"]
    assert judges.calls == []


def test_an_experiment_whose_file_is_gone_fails_and_does_not_wait_for_ever(demo: Api, judged: Deployment) -> None:
    path, key = _lost_upload(demo, judged)
    judged.s3.delete_object(Bucket=BUCKET, Key=key)
    sweep.handler({}, Context())
    view = demo.get(path).json
    assert (view["state"], "gone" in view["failure"]) == ("failed", True)


def test_an_uploaded_experiment_that_was_lost_is_run_as_it_was_handed_in(demo: Api, judged: Deployment) -> None:
    path, _ = _lost_upload(demo, judged)
    sweep.handler({}, Context())
    assert demo.get(path).json["state"] == "done"


def test_an_experiment_of_which_one_pair_waits_for_hours_is_left_alone_though_the_others_are_over(
    demo: Api, judged: Deployment
) -> None:
    judged.machines.lost = frozenset({"pair"})
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    judged.machines.lost = frozenset()
    pairs, which = stores.pairs(), Reference("demo", "experiment", path.rpartition("/")[2])
    (one, _), (two, _) = (pairs.begin(which, number) for number in (1, 2))
    now, why = system_clock(), Unmeasured(reason="day_quota")
    tomorrow = now + timedelta(hours=10)
    pairs.change(one, lambda it: pair_put_back(it, why, PairSums(), until=tomorrow, ended="limited", now=now))
    pairs.change(two, lambda it: pair_over(it, None, PairSums(), now=now))
    for _ in range(3):
        later(3600)
        assert sweep.handler({}, Context())["restarted"] == 0
    later(8 * 3600)
    assert sweep.handler({}, Context())["restarted"] == 1
    assert demo.get(path).json["state"] == "done"


def test_experiments_that_are_carried_do_not_keep_the_sweep_from_those_behind_them(
    demo: Api, judged: Deployment, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "MOST", 1)
    judges.rule(error("day_quota"), schema="ClarityReply")
    demo.post("/v1/experiments", {"experiment": EXPERIMENT})
    judged.machines.lost = frozenset({"plan"})
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    judged.machines.lost = frozenset()
    later(STALLED)
    assert sweep.handler({}, Context())["restarted"] == 1
    assert demo.get(path).json["state"] == "measuring"


def test_r13_a_refusal_beside_questions_that_ran_out_of_time_does_not_end_a_pair(
    demo: Api, judged: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing:
        provider, model = "claude", "claude-sonnet-5-5"
        asked = 0

        async def ask(self, *_: Any, **__: Any) -> Any:
            self.asked += 1
            if self.asked == 1:
                raise RefusedError("It says no.")
            await asyncio.sleep(60)

    judged.machines.lost = frozenset({"pair"})
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    monkeypatch.setattr(experimenting, "PAIR_SECONDS", 0.05)
    context = replace(contexts.of_experiments("demo"), judge=lambda _: Refusing())
    assert work.run(experimenting.compare(context, path.rpartition("/")[2], 1)).state == "waiting"


def test_an_experiment_that_breaks_off_each_time_is_told_of_and_given_up_after_two_weeks(
    demo: Api, judged: Deployment
) -> None:
    judged.machines.lost = frozenset({"plan"})
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    later(14 * 24 * 3600 - 60)
    assert sweep.handler({}, Context())["restarted"] == 1
    later(3600)
    swept = sweep.handler({}, Context())
    assert (swept["restarted"], swept["stuck"]) == (0, 1)
    view = demo.get(path).json
    assert (view["state"], "broke off" in view["failure"]) == ("failed", True)
    later(3600)
    swept = sweep.handler({}, Context())
    assert (swept["restarted"], swept["stuck"]) == (0, 0)
