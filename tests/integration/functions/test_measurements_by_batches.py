"""Measurements by lines of a dropped file through the providers' batches, by functions and machines as deployed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter

from functions import sweep
from functions.composition import judging, stores
from functions.environment import environment
from tests.support import replies
from tests.support.api import Api
from tests.support.balance import balance, balance_at_the_end, units_used
from tests.support.batches import LONG, BatchMachine, in_lines
from tests.support.batching import (
    KEYS,
    PROVIDER_CALLS,
    TENANT,
    BatchingHouse,
    batching_house,
    call_the_dead_again,
    finished_file,
    hastened,
)
from tests.support.deaths import Fate, KilledError
from tests.support.deployment import Context
from tests.support.faithfulness import said, taken_apart, verdict
from tests.support.machines import Handler
from tests.support.providers import ProviderServer, success
from tests.support.quizzes import SOURCE, quiz
from tests.support.starting_points import starting_point
from tests.support.wire_batches import Plan, Refusal
from touchstone.budgets import Spending
from touchstone.clock import system_clock
from touchstone.judges.sureness import SureFrom
from touchstone.operations.provider_batches import beginning, settling
from touchstone.operations.provider_batches.questions import ListedQuestion
from touchstone.records import Artifacts, new_ulid
from touchstone.records.jobs import JobStore
from touchstone.references import Reference
from touchstone.statistics.thresholds import wanted_agreement
from touchstone.surfaces.measurement import AnyMeasurementRequest, Measurement, MeasurementRequest, new_measurement

LONG_MS = 900_000
QUESTIONS = 3
METRICS = ["quiz_answer_correctness", "quiz_clarity", "quiz_item_flaws"]
SOON = timedelta(hours=6)
"""No round of a file that waits for days is needed."""
CALLS = 4
"""For such a quiz: the answers of each question, and the clarity of all of them."""


@pytest.fixture(params=KEYS)
def house(
    request: pytest.FixtureRequest, aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchingHouse]:
    """A deployment with the key of one provider, whose batches are on."""
    with batching_house(judges, monkeypatch, provider=request.param) as here:
        here.spends = lambda: [spend for one in stored() for spend in one.spends()]
        yield here
        balance_at_the_end(here)


one_provider = pytest.mark.parametrize("house", ["openai"], indirect=True)
"""For what is the same with all of them."""


def row(name: str = "one", **fields: Any) -> dict[str, Any]:
    """A quiz to be measured by what asks side by side."""
    return {
        "kind": "quiz_evaluation",
        "id": name,
        "material": quiz(QUESTIONS, ambiguous=1),
        "metrics": METRICS,
        **fields,
    }


def summary(**fields: Any) -> dict[str, Any]:
    """A summary that is taken apart before its claims are judged."""
    return {
        "kind": "summary_evaluation",
        "id": "summary",
        "material": {"text": "Canberra is the capital of Australia."},
        "source": SOURCE,
        "metrics": ["summary_faithfulness"],
        **fields,
    }


def takes_apart(server: ProviderServer) -> None:
    """The judge finds one claim in the summary, and the source supports it."""
    claim = "Canberra is the capital of Australia."
    server.rule(success(taken_apart([claim])), schema="ClaimsReply")
    server.rule(success(said(verdict(1, "SUPPORTED", claim))), schema="FaithfulnessReply")


def run(house: BatchingHouse, lines: Sequence[dict[str, Any]], *, name: str = "file") -> BatchMachine:
    """A file from its drop to its end, with the batches at providers beside it."""
    machine = BatchMachine(deployment=house.deployment, name=name, owner=f"run-{name}")
    house.deployment.machines.context = Context(LONG_MS)
    machine.drop(in_lines(lines))
    return finished_file(house, machine)


def told(result: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What a measurement says, without what it cost."""
    return [(one["metric"], one["over"], one["score"], one["items"], one["unscored"]) for one in metrics_of(result)]


def metrics_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    assert result["error"] is None, result
    found: list[dict[str, Any]] = result["measurement"]["metrics"]
    return found


def stored() -> list[Measurement]:
    """The measurements of the tenant."""
    page = stores.measurements().page(tenant=TENANT)
    return [stores.measurements().get(Reference(TENANT, "measurement", one.id)) for one in page.items]


def test_a_files_measurements_go_by_one_batch_at_half_the_price_and_say_what_they_say_at_once(
    house: BatchingHouse,
) -> None:
    house.server.batches.plan(Plan(looks=2, twice=(0,), order=(1, 3, 0, 2)))
    [cheap] = run(house, [row()]).results()
    assert [call.by_batch for call in house.server.calls] == [True] * CALLS
    [batch] = house.batches()
    assert (batch.of, batch.ended, batch.answered) == ("measurement", "completed", CALLS)
    assert units_used() == 0
    [at_once] = run(house, [row(when="now", use_cache=False)], name="now").results()
    assert [call.by_batch for call in house.server.calls[CALLS:]] == [False] * CALLS
    assert told(cheap) == told(at_once)
    assert cheap["measurement"]["state"] == "done"
    half, whole = (one["measurement"]["outlay"] for one in (cheap, at_once))
    assert half["cost_usd"] <= 0.55 * whole["cost_usd"]
    assert (half["saved_usd"], whole["saved_usd"]) == (pytest.approx(half["cost_usd"]), None)
    balance(house)


@one_provider
@pytest.mark.parametrize("least", [0.9, 0.95])
def test_what_a_batch_brought_is_held_to_the_labels_of_its_judge(house: BatchingHouse, least: float) -> None:
    [before] = run(house, [row(metrics=["quiz_clarity"])]).results()
    [one] = metrics_of(before)
    by = one["items"][0]["judge"]
    held = SureFrom(confidence=least, labels=120, wanted=0.95, card="c" * 16, version="v" * 8)
    kept = {(by["model"], by["prompt_version"]): held}
    stores.thresholds().keep(TENANT, lambda: kept, wanted=wanted_agreement())
    judging._kept_thresholds.cache_clear()
    calls = len(house.server.calls)
    [after] = run(house, [row("two", metrics=["quiz_clarity"], use_cache=False)], name="after").results()
    [one] = metrics_of(after)
    assert [call.by_batch for call in house.server.calls[calls:]] == [True], "the batch's reply is not paid twice"
    if least < 0.95:
        assert {item["sure_from"]["confidence"] for item in one["items"]} == {0.9}
        return
    # It says 0.9, and there is nobody else to ask.
    assert (one["over"], one["score"], one["because"], one["items"]) == (True, None, "unsure", [])
    assert {item["reason"] for item in one["unscored"]} == {"unsure"}


@one_provider
def test_questions_that_rest_on_others_go_by_the_next_batch(house: BatchingHouse) -> None:
    takes_apart(house.server)
    [result] = run(house, [summary()]).results()
    assert [call.by_batch for call in house.server.calls] == [True] * 2
    assert [batch.count for batch in house.batches()] == [1, 1]
    [one] = metrics_of(result)
    assert (result["measurement"]["state"], one["score"]) == ("done", 100.0)
    balance(house)


@one_provider
def test_a_reply_against_the_rules_is_an_end_for_its_own_measurement_and_asked_anew_by_the_next(
    house: BatchingHouse,
) -> None:
    house.server.rule(success({"questions": []}), schema="ClarityReply")
    calls = []
    for name in ("first", "second"):
        [broken] = metrics_of(run(house, [row(name, metrics=["quiz_clarity"])], name=name).results()[0])
        assert {one["reason"] for one in broken["unscored"]} == {"invalid_reply"}
        calls.append(len(house.server.calls))
    assert calls == [2, 3]
    clear = {"reason": "Only one is in the source.", "label": "CLEAR", "confidence": 0.9, "suggestion": None}
    said_of_all = {"questions": [{"number": number, **clear} for number in range(1, QUESTIONS + 1)]}
    house.server.rule(success(said_of_all), schema="ClarityReply")
    [whole] = metrics_of(run(house, [row("third", metrics=["quiz_clarity"])], name="third").results()[0])
    assert (whole["over"], whole["unscored"]) == (True, [])
    assert [call.by_batch for call in house.server.calls] == [True] * 4
    balance(house)


@one_provider
@pytest.mark.parametrize("use_cache", [True, False])
def test_what_a_batch_did_not_bring_is_asked_at_once_and_nothing_else_again(
    house: BatchingHouse, use_cache: bool
) -> None:
    house.server.batches.plan(Plan(looks=1, missing=(1,)))
    [result] = run(house, [row(use_cache=use_cache)]).results()
    assert result["measurement"]["state"] == "done"
    assert all(one["over"] and not one["unscored"] for one in metrics_of(result))
    by_batch = [call.by_batch for call in house.server.calls]
    assert by_batch.count(False) == 1
    assert len(house.server.batches.stored) == 1, "by no second batch"
    assert house.passed < SOON
    balance(house)


@one_provider
def test_a_provider_that_refuses_batches_has_measurements_asked_at_once(house: BatchingHouse) -> None:
    refused = {"error": {"code": "invalid", "message": "No batches for this account"}}
    house.server.batches.refuse(Refusal(status=400, body=refused))
    [result] = run(house, [row()]).results()
    assert (result["measurement"]["state"], result["measurement"]["outlay"]["saved_usd"]) == ("done", None)
    assert [call.by_batch for call in house.server.calls] == [False] * CALLS
    assert house.passed < SOON
    balance(house)


@one_provider
def test_what_no_judge_is_asked_for_and_what_is_wanted_now_are_in_no_batch(house: BatchingHouse) -> None:
    machine = run(house, [row("flaws", metrics=["quiz_item_flaws"]), row("now", when="now")])
    assert (machine.waits, house.batches()) == ([], [])
    assert [one["measurement"]["state"] for one in machine.results()] == ["done", "done"]


@one_provider
@pytest.mark.parametrize("variable", [("TOUCHSTONE_BATCHES", "off"), ("TOUCHSTONE_BATCH_DAYS", "0")])
def test_batches_that_are_off_leave_measurements_as_they_were(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, variable: tuple[str, str]
) -> None:
    monkeypatch.setenv(*variable)
    environment.cache_clear()
    machine = run(house, [row()])
    assert (machine.waits, house.batches()) == ([], [])
    assert [call.by_batch for call in house.server.calls] == [False] * CALLS


@one_provider
def test_equal_measurements_of_a_file_are_asked_once_and_lines_of_other_kinds_go_by_batches_of_their_own(
    house: BatchingHouse,
) -> None:
    house.server.reply(replies.verify(independent_answer="x"), prompt="island")
    other = {"kind": "verify", "id": "answer", "problem": "Name the island.", "answer": "x"}
    results = run(house, [row("first"), row("second"), other]).results()
    assert [one["measurement"]["state"] for one in results[:2]] == ["done"] * 2
    assert results[2]["answer"]["verification_status"] == "verified"
    assert told(results[0]) == told(results[1])
    assert sorted((str(batch.of), batch.count) for batch in house.batches()) == [
        ("measurement", CALLS),
        ("verification", 1),
    ]
    assert [call.by_batch for call in house.server.calls] == [True] * (CALLS + 1)


@one_provider
def test_nobody_takes_a_measurement_up_while_its_batch_is_under_way(house: BatchingHouse) -> None:
    machine = BatchMachine(deployment=house.deployment)
    house.deployment.machines.context = Context(LONG_MS)
    house.server.batches.plan(Plan(looks=1000))
    assert machine.drop(in_lines([row()])) == "waiting"
    house.later(hours=3)
    sweep.handler({}, Context())
    house.deployment.machines.work()
    assert [call for call in house.server.calls if not call.by_batch] == []
    assert len(house.batches()) == 1
    assert (machine.batch.waiting, machine.batch.waiting_for) == (1, "batched")


STEPS: list[tuple[Any, str]] = [
    (JobStore, "create"),
    (JobStore, "change"),
    (JobStore, "begin"),
    (Artifacts, "put_text"),
    (Spending, "reserve_for"),
    (Spending, "settle"),
    *PROVIDER_CALLS,
]
EVERY = 11
"""Moments between two deaths."""


@one_provider
def test_a_death_at_any_moment_loses_no_measurement_and_pays_nothing_twice(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    fate = Fate()
    fate.meet(monkeypatch, STEPS)

    def repeated(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A task whose function died is called again by its machine."""
        try:
            return call()
        except KilledError:
            fate.alive()
            house.later(minutes=20)  # its lease is over by then
            return call()

    def invoke(_module: str, handler: Handler, payload: Mapping[str, Any]) -> dict[str, Any]:
        return repeated(lambda: handler(payload, Context(LONG_MS)))

    monkeypatch.setattr(house.deployment.machines, "invoke", invoke)
    house.deployment.machines.context = Context(LONG_MS)
    moment, killed, begin = 1, True, starting_point(house)
    while killed:
        begin()
        house.server.reset()
        house.server.batches.plan(Plan(looks=1, twice=(0,)))
        fate.seen, fate.kills, fate.at = 0, 0, (moment,)
        machine = BatchMachine(
            deployment=house.deployment,
            name=f"file-{moment}",
            owner=f"run-{moment}",
            call=lambda handler, payload: repeated(lambda: handler(payload, LONG)),
        )
        machine.drop(in_lines([row(use_cache=False)]))
        [result] = finished_file(house, machine).results()
        killed, fate.at = fate.kills > 0, ()
        assert result["measurement"]["state"] == "done", moment
        assert [call.by_batch for call in house.server.calls] == [True] * CALLS, moment
        balance(house)
        moment += EVERY
    assert moment > 2 * len(("create", "reserve", "intended", "create", "created", "look", "collect", "settle"))


def ask(house: BatchingHouse, **fields: Any) -> str:
    """Ask the API for the measurement of a quiz, and begin; its id."""
    body = {"surface": "quiz", "material": quiz(QUESTIONS, ambiguous=1), "metrics": METRICS, **fields}
    sent = Api(token=house.deployment.token(TENANT)).post("/v1/measurements", body)
    assert sent.status == 202, sent.json
    house.deployment.machines.context = Context(LONG_MS)
    house.deployment.machines.work()
    return str(sent.json["id"])


def shown(house: BatchingHouse, measurement_id: str) -> dict[str, Any]:
    found: dict[str, Any] = Api(token=house.deployment.token(TENANT)).get(f"/v1/measurements/{measurement_id}").json
    return found


def test_the_api_measures_by_batches_where_it_is_asked_to_and_says_what_it_says_at_once(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=2))
    cheap = ask(house, when="cheap")
    waiting = shown(house, cheap)
    assert (waiting["when"], waiting["finished_at"]) == ("cheap", None)
    assert (waiting["batches"]["under_way"], waiting["batches"]["questions"]) == (2, CALLS)
    assert waiting["batches"]["submitted_at"] is not None
    assert waiting["batches"]["ends_by"] is not None
    house.carry_on()
    assert [call.by_batch for call in house.server.calls] == [True] * CALLS
    assert sorted((batch.of, batch.ended, batch.count) for batch in house.batches()) == [
        ("measurement", "completed", 1),
        ("measurement", "completed", QUESTIONS),
    ]
    assert units_used() == 0
    at_once = ask(house, use_cache=False)
    house.carry_on()
    assert [call.by_batch for call in house.server.calls[CALLS:]] == [False] * CALLS
    half, whole = shown(house, cheap), shown(house, at_once)
    assert (half["state"], whole["state"], whole["when"]) == ("done", "done", "now")
    assert told({"measurement": half, "error": None}) == told({"measurement": whole, "error": None})
    assert half["outlay"]["saved_usd"] == pytest.approx(half["outlay"]["cost_usd"])
    balance(house)


@one_provider
def test_questions_of_the_api_that_rest_on_others_go_by_the_next_batch(house: BatchingHouse) -> None:
    takes_apart(house.server)
    asked = {name: value for name, value in summary(surface="summary").items() if name not in {"kind", "id"}}
    measurement_id = ask(house, when="cheap", **asked)
    while len(house.batches()) < 2:
        house.wake()
    [halfway] = shown(house, measurement_id)["metrics"]
    assert (halfway["over"], halfway["unscored"], halfway["because"]) == (False, [], None), "what is awaited has no end"
    assert halfway["outlay"]["saved_usd"] is not None
    house.carry_on()
    assert [call.by_batch for call in house.server.calls] == [True] * 2
    assert (shown(house, measurement_id)["state"], [batch.count for batch in house.batches()]) == ("done", [1, 1])
    balance(house)


@one_provider
def test_what_a_batch_of_the_api_did_not_bring_is_asked_at_once_and_what_another_has_is_waited_for(
    house: BatchingHouse,
) -> None:
    house.server.batches.plan(Plan(looks=1, missing=(0,)), Plan(looks=40))
    measurement_id = ask(house, when="cheap")
    house.carry_on()
    found = shown(house, measurement_id)
    assert (found["state"], found["when"]) == ("done", "now")
    by_batch = [call.by_batch for call in house.server.calls]
    assert (by_batch.count(False), by_batch.count(True)) == (1, CALLS), "the provider had done what it did not bring"
    balance(house)


def now(house: BatchingHouse, measurement_id: str, **query: Any) -> Any:
    return Api(token=house.deployment.token(TENANT)).call("POST", f"/v1/measurements/{measurement_id}/now", query=query)


@one_provider
def test_now_please_pays_twice_for_what_is_in_a_batch_only_if_one_says_so(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=5), Plan(looks=5))
    measurement_id = ask(house, when="cheap")
    refused = now(house, measurement_id)
    assert (refused.status, shown(house, measurement_id)["when"]) == (409, "cheap")
    assert "paid for" in refused.json["detail"]
    taken = now(house, measurement_id, pay_twice="true")
    assert (taken.status, taken.json["when"]) == (202, "now")
    house.deployment.machines.work()
    found = shown(house, measurement_id)
    assert (found["state"], [call.by_batch for call in house.server.calls].count(False)) == ("done", CALLS)
    house.carry_on()
    after = shown(house, measurement_id)
    assert after["outlay"]["cost_usd"] == pytest.approx(1.5 * found["outlay"]["cost_usd"]), "what came late is told"
    assert now(house, measurement_id).status == 202, "a repeat changes nothing"
    balance(house)


@one_provider
def test_a_file_that_is_wanted_now_measures_at_once_what_a_batch_has_where_it_may_be_paid_for_twice(
    house: BatchingHouse,
) -> None:
    takes_apart(house.server)
    house.server.batches.plan(Plan(looks=1_000))
    machine = BatchMachine(deployment=house.deployment)
    house.deployment.machines.context = Context(LONG_MS)
    assert machine.drop(in_lines([summary()])) == "waiting"
    house.deployment.machines.wake()
    hastened(house, machine, pay_twice="true")
    while machine.state == "waiting":
        machine.wait()
    [metric] = metrics_of(machine.results()[0])
    assert (metric["over"], metric["score"]) == (True, 100.0)
    assert [call.by_batch for call in house.server.calls] == [True, False, False]


@one_provider
def test_a_file_may_say_by_its_name_that_it_is_asked_now_and_a_line_that_it_is_not(house: BatchingHouse) -> None:
    machine = run(house, [row("first"), row("second", when="cheap", use_cache=False)], name="file.now")
    assert [one["measurement"]["state"] for one in machine.results()] == ["done", "done"]
    assert [one["measurement"]["outlay"]["saved_usd"] is None for one in machine.results()] == [True, False]
    by_batch = [call.by_batch for call in house.server.calls]
    assert (by_batch.count(False), by_batch.count(True)) == (CALLS, CALLS)


@one_provider
@pytest.mark.parametrize("why", ["off", "refused", "no money"])
def test_the_api_asks_at_once_where_no_batch_can_be_had(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "refused":
        house.server.batches.refuse(*[Refusal(status=400, body={"error": {"code": "no", "message": "No"}})] * 2)
    if why == "no money":
        monkeypatch.setattr(beginning, "spending_left", lambda _: (1.0, 0.0))
    if why == "off":
        monkeypatch.setenv("TOUCHSTONE_BATCHES", "off")
        environment.cache_clear()
    measurement_id = ask(house, when="cheap")
    house.carry_on()
    found = shown(house, measurement_id)
    assert (found["state"], found["when"], found["outlay"]["saved_usd"]) == ("done", "now", None)
    assert [call.by_batch for call in house.server.calls] == [False] * CALLS
    balance(house)


@one_provider
def test_batches_that_are_turned_off_leave_a_measurement_of_the_api_to_the_quota(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    measurement = new_measurement(
        TypeAdapter[AnyMeasurementRequest](MeasurementRequest).validate_python(
            {"surface": "quiz", "material": quiz(QUESTIONS), "metrics": METRICS}
        ),
        tenant=TENANT,
        measurement_id="01M7YCR9J0YEPNXK2F1F80QC0C",
        now=system_clock(),
        when="cheap",
    )
    stores.measurements().create(measurement)
    monkeypatch.setenv("TOUCHSTONE_BATCHES", "off")
    environment.cache_clear()
    house.later(hours=1)
    house.deployment.machines.context = Context(LONG_MS)
    sweep.handler({}, Context())
    house.deployment.machines.work()
    house.carry_on()
    assert shown(house, measurement.id)["state"] == "done"
    assert [call.by_batch for call in house.server.calls] == [False] * CALLS


@one_provider
def test_a_death_at_any_moment_loses_no_measurement_of_the_api(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    fate = Fate()
    fate.meet(monkeypatch, STEPS)
    call_the_dead_again(house, fate, monkeypatch)
    machines = house.deployment.machines
    moment, killed, begin = 5, True, starting_point(house)
    while killed:
        begin()
        house.server.reset()
        house.server.batches.plan(Plan(looks=1, twice=(0,)))
        fate.seen, fate.kills, fate.at = 0, 0, ()
        measurement = new_measurement(
            TypeAdapter[AnyMeasurementRequest](MeasurementRequest).validate_python(
                {"surface": "quiz", "material": quiz(QUESTIONS), "metrics": METRICS[:1], "use_cache": False}
            ),
            tenant=TENANT,
            measurement_id=new_ulid(system_clock()),
            now=system_clock(),
            when="cheap",
        )
        stores.measurements().create(measurement)
        fate.seen, fate.at = 0, (moment,)
        machines.begin("measure", f"measure-{moment}", {**measurement.ref.fields, "metrics": list(measurement.open)})
        machines.context = Context(LONG_MS)
        house.carry_on(swept=True)
        killed, fate.at = fate.kills > 0, ()
        assert shown(house, measurement.id)["state"] == "done", moment
        assert [call.by_batch for call in house.server.calls] == [True] * QUESTIONS, moment
        balance(house)
        moment += EVERY
    assert moment > EVERY * 2


def test_what_one_record_asked_is_settled_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "CHUNK", 2)
    questions = [ListedQuestion(answer_id=name, address=str(number)) for number, name in enumerate("aabbbc")]
    ends = [settling.end_of_chunk(questions, start) for start in (0, 2, 5)]
    assert ends == [2, 5, 6]
