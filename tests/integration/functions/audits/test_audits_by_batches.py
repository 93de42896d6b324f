"""First turns of audits through the providers' batches, by functions and machines as deployed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from functions import sweep
from functions.composition import stores
from functions.composition.contexts import audit_files
from functions.environment import environment
from tests.support.api import Api
from tests.support.api_door import Door
from tests.support.balance import balance_at_the_end, units_used
from tests.support.batching import KEYS, PROVIDER_CALLS, TENANT, BatchingHouse, batching_house, call_the_dead_again
from tests.support.deaths import Fate
from tests.support.deployed_audits import BENCHMARK, ONE, RATINGS, TURNS, Agent, ratings, request
from tests.support.deployment import BUCKET, Context, Deployment
from tests.support.lambdas import Lambdas
from tests.support.loopback import Loopback
from tests.support.pages import Visitor
from tests.support.providers import ProviderServer, error
from tests.support.wire import Asked, Behaviour
from tests.support.wire_batches import Plan, Refusal
from touchstone.budgets import Spending
from touchstone.cli.app import app
from touchstone.judges.spends import Spend
from touchstone.operations.provider_batches import beginning
from touchstone.records import Artifacts
from touchstone.records.jobs import JobStore
from touchstone.records.parts import Parts

LONG_MS = 900_000
CASES = 4
ONE_CASE = {"files": [{"name": "one.json", "text": json.dumps(ONE)}]}


@pytest.fixture(params=KEYS)
def house(
    request: pytest.FixtureRequest, aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchingHouse]:
    """A deployment with the key of one provider, whose batches are on."""
    with batching_house(judges, monkeypatch, provider=request.param) as here:
        here.spends = spends
        yield here
        balance_at_the_end(here)


@pytest.fixture
def judged(house: BatchingHouse) -> Deployment:
    """The deployment in whose store the sandbox's links lead."""
    return house.deployment


one_provider = pytest.mark.parametrize("house", ["openai"], indirect=True)
"""For what is the same with all of them."""


def ask(house: BatchingHouse, demo: Api, **changes: Any) -> str:
    """Ask for an audit, and begin; its address."""
    house.deployment.machines.context = Context(LONG_MS)
    made = demo.post("/v1/audits", request(**changes))
    assert made.status == 202, made.body
    return made.location


def spends() -> list[Spend]:
    """All calls that the tenant's audits keep, and those of turns that batches brought and no case has taken so far."""
    found: list[Spend] = []
    for one in stores.audits().page(tenant=TENANT, limit=100).items:
        files = audit_files(TENANT, one.id)
        for number in range(1, (one.cases or 0) + 1):
            state, brought = files.state(number), files.brought(number)
            own = () if state is None else state.spends
            found += own
            if brought is not None and not any(spend.line_id is not None for spend in own):
                found += brought.spends
    return found


def add_up(demo: Api, *paths: str) -> None:
    """The audits, their batches and the day's money say the same, and nothing is held back any more."""
    days = stores.spending().history(TENANT)
    views = [demo.get(path).json for path in paths]
    assert sum(day.spent_usd for day in days) == pytest.approx(sum(view["cost_usd"] for view in views), abs=1e-5)
    assert sum(day.reserved_usd for day in days) < 1e-9


def test_first_turns_go_by_one_batch_at_half_the_price_and_come_to_what_they_do_at_once(
    house: BatchingHouse, demo: Api, agent: Agent
) -> None:
    house.server.batches.plan(Plan(looks=2, twice=(0,)))
    cheap = ask(house, demo, when="cheap")
    waiting = demo.get(cheap).json
    assert (waiting["state"], waiting["when"], waiting["because"], waiting["turns"]) == (
        "auditing",
        "cheap",
        "batched",
        0,
    )
    house.carry_on()
    half = demo.get(cheap).json
    assert [call.by_batch for call in house.server.calls] == [True] * CASES + [False] * (TURNS - CASES)
    [batch] = house.batches()
    assert (batch.of, batch.ended, batch.answered) == ("audit", "completed", CASES)
    assert units_used() == TURNS - CASES
    at_once = ask(house, demo)
    house.carry_on()
    whole = demo.get(at_once).json
    assert (half["state"], whole["state"], whole["when"], whole["batches"]) == ("done", "done", "now", None)
    assert ratings(demo, cheap) == ratings(demo, at_once) == RATINGS
    assert (half["totals"], half["turns"]) == (whole["totals"], whole["turns"])
    saved = half["batches"]["saved_usd"]
    assert saved == pytest.approx(half["batches"]["cost_usd"]) != 0
    assert half["cost_usd"] == pytest.approx(whole["cost_usd"] - saved)
    add_up(demo, cheap, at_once)


@one_provider
def test_while_it_waits_it_says_since_when_and_until_when_and_nobody_takes_it_up(
    house: BatchingHouse, demo: Api, agent: Agent
) -> None:
    house.server.batches.plan(Plan(looks=1000))
    path = ask(house, demo, when="cheap")
    gathered = demo.get(path).json["batches"]
    assert (gathered["under_way"], gathered["questions"], gathered["cost_usd"]) == (1, CASES, 0.0)
    house.later(minutes=1)
    house.wake()
    sent = demo.get(path).json["batches"]
    assert sent["submitted_at"] is not None
    assert sent["ends_by"] is not None
    started = len(house.deployment.machines.started)
    for _ in range(8):
        house.wake()
        assert sweep.handler({}, Context())["restarted"] == 0
        house.deployment.machines.work()
    assert len(house.deployment.machines.started) == started
    assert [call for call in house.server.calls if not call.by_batch] == []
    visitor = Visitor()
    visitor.sign_in(house.deployment.token(TENANT))
    page = visitor.open(path.replace("/v1/", "/app/")).text
    assert f"questions: {CASES}; batches at providers: 1 · sent" in page
    assert "Saved by batches $0" in page
    assert "First turns of audits" in visitor.open("/app/quotas").text


@one_provider
def test_what_a_batch_did_not_bring_under_its_own_id_is_asked_at_once_and_nothing_else_again(
    house: BatchingHouse, demo: Api, agent: Agent
) -> None:
    house.server.batches.plan(Plan(looks=1, swapped=((0, 2),), missing=(1,)))
    path = ask(house, demo, when="cheap")
    house.carry_on()
    view = demo.get(path).json
    assert (view["state"], view["turns"], ratings(demo, path)) == ("done", TURNS, RATINGS)
    first_turns = [call.prompt for call in house.server.calls if call.turn == 0 and not call.by_batch]
    assert len(first_turns) == 3, "two under each other's id and one that is missing"
    assert len(house.server.batches.stored) == 1
    add_up(demo, path)
    at_once = ask(house, demo)
    house.carry_on()
    one_turn = demo.get(at_once).json["cost_usd"] / TURNS
    # Three at half the price, of which two are of no use, and all but one of the turns at the whole.
    assert view["cost_usd"] == pytest.approx((TURNS - 1 + 3 / 2) * one_turn)


@one_provider
@pytest.mark.parametrize("why", ["off", "refused", "expired"])
def test_it_is_asked_at_once_where_no_batch_can_be_had(
    house: BatchingHouse, demo: Api, agent: Agent, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "refused":
        house.server.batches.refuse(Refusal(status=400, body={"error": {"code": "no", "message": "No"}}))
    if why == "expired":
        house.server.batches.plan(Plan(end="expired", late=tuple(range(CASES))))
    if why == "off":
        monkeypatch.setenv("TOUCHSTONE_BATCHES", "off")
        environment.cache_clear()
    path = ask(house, demo, when="cheap")
    house.carry_on()
    view = demo.get(path).json
    assert (view["state"], view["turns"], ratings(demo, path)) == ("done", TURNS, RATINGS)
    assert (view["when"], view["batches"] is None) == (("now", True) if why == "off" else ("cheap", False))
    assert [call.by_batch for call in house.server.calls] == [False] * TURNS
    add_up(demo, path)


@one_provider
def test_an_audit_after_an_audit_waits_only_for_what_drifted(house: BatchingHouse, demo: Api, agent: Agent) -> None:
    first = ask(house, demo)
    house.carry_on()
    before = len(house.server.calls)
    previous = first.rpartition("/")[2]
    after = ask(house, demo, target={"requirement": "tinylib==2.0"}, previous=previous, when="cheap")
    house.carry_on()
    assert ratings(demo, after) == {**RATINGS, "valid": "Ambiguous", "incorrect": "Ambiguous"}
    assert [call.by_batch for call in house.server.calls[before:]].count(True) == 2
    assert [batch.count for batch in house.batches()] == [2]
    add_up(demo, first, after)


@one_provider
def test_only_as_many_wait_for_a_batch_as_the_bound_of_cost_admits(
    house: BatchingHouse, demo: Api, agent: Agent
) -> None:
    path = ask(house, demo, when="cheap", max_cost_usd=1e-9)
    house.carry_on()
    assert (house.batches(), len(agent.asked)) == ([], 1), "no first turn costs so little at most"
    assert demo.get(path).json["state"] == "done"
    agent.asked.clear()
    rich = ask(house, demo, when="cheap", max_cost_usd=100.0)
    most = house.batches()[0].most_usd / CASES
    house.carry_on()
    some = ask(house, demo, when="cheap", max_cost_usd=2.5 * most)
    house.carry_on()
    assert [batch.count for batch in house.batches()] == [CASES, 2]
    assert ratings(demo, rich) == ratings(demo, some) == RATINGS
    add_up(demo, path, rich, some)


@one_provider
def test_what_the_ceiling_does_not_admit_waits_for_money_and_is_asked_at_once_in_the_end(
    house: BatchingHouse, demo: Api, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "spending_left", lambda _: (1.0, 0.0))
    path = ask(house, demo, when="cheap")
    for _ in range(5):
        house.wake()
    assert (demo.get(path).json["state"], house.batches(), house.server.calls) == ("auditing", [], [])
    house.later(days=4)
    house.carry_on()
    assert (demo.get(path).json["state"], ratings(demo, path)) == ("done", RATINGS)
    assert [call.by_batch for call in house.server.calls] == [False] * TURNS
    add_up(demo, path)


@one_provider
def test_first_turns_that_are_too_many_to_wait_go_by_smaller_batches(
    house: BatchingHouse, demo: Api, agent: Agent
) -> None:
    house.server.batches.plan(Plan(end="failed"), Plan(end="failed"))
    path = ask(house, demo, when="cheap")
    house.carry_on()
    sizes = [len(batch.line_ids) for batch in house.server.batches.stored.values()]
    assert (ratings(demo, path), sorted(sizes)) == (RATINGS, [2, 2, 4, 4])
    assert [call.by_batch for call in house.server.calls].count(True) == CASES
    add_up(demo, path)


@one_provider
def test_the_command_starts_one_that_waits_shows_what_is_under_way_and_has_it_asked_now(
    house: BatchingHouse, agent: Agent, lambdas: Lambdas, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    house.server.batches.plan(Plan(looks=5))
    house.deployment.machines.context = Context(LONG_MS)
    (tmp_path / "four.yaml").write_text(BENCHMARK)
    with Loopback() as server:
        Door(server=server, deployment=house.deployment)
        env = {"TOUCHSTONE_API_URL": server.url, "TOUCHSTONE_TOKEN": house.deployment.token(TENANT)}

        def touchstone(*arguments: str) -> Result:
            return CliRunner(env=env).invoke(app, ["audit", *arguments], prog_name="touchstone")

        started = touchstone("start", str(tmp_path / "four.yaml"), "--target", "tinylib==1.0", "--cheap", "--json")
        assert started.exit_code == 0, started.output
        audit_id = json.loads(started.stdout)["id"]
        house.deployment.machines.work()
        house.wake()
        shown = touchstone("show", audit_id).stdout
        assert "the first turns of 4 cases, answered by" in " ".join(shown.split())
        refused = touchstone("now", audit_id)
        assert refused.exit_code == 2
        assert "pay_twice" in refused.stderr
        assert touchstone("now", audit_id, "--pay-twice").exit_code == 0
        house.carry_on()
        assert "saved by batches" in touchstone("show", audit_id).stdout
    assert [call.by_batch for call in house.server.calls].count(False) == TURNS


def now(demo: Api, path: str, **query: str) -> Any:
    return demo.call("POST", f"{path}/now", query=query)


@one_provider
def test_now_please_pays_twice_for_what_is_in_a_batch_only_if_one_says_so(
    house: BatchingHouse, demo: Api, agent: Agent
) -> None:
    house.server.batches.plan(Plan(looks=5))
    path = ask(house, demo, when="cheap")
    house.wake()
    refused = now(demo, path)
    assert refused.status == 409
    assert "paid for" in refused.json["detail"]
    assert demo.get(path).json["when"] == "cheap"
    taken = now(demo, path, pay_twice="true")
    assert (taken.status, taken.json["when"]) == (202, "now")
    house.deployment.machines.work()
    at_once = demo.get(path).json
    assert (at_once["state"], at_once["turns"]) == ("done", TURNS)
    assert [call.by_batch for call in house.server.calls].count(False) == TURNS
    report = demo.get(f"{path}/report").body
    house.carry_on()
    after = demo.get(path).json
    assert after["cost_usd"] == pytest.approx(at_once["cost_usd"] + after["batches"]["cost_usd"])
    assert after["batches"]["cost_usd"] > 0, "what the batch brought too late is told"
    assert (demo.get(f"{path}/report").body, after["turns"]) == (report, TURNS)
    add_up(demo, path)


@one_provider
def test_what_a_batch_brings_between_two_turns_is_told_and_takes_none(
    house: BatchingHouse, demo: Api, agent: Agent
) -> None:
    house.server.batches.plan(Plan(looks=2))
    path = ask(house, demo, when="cheap")
    house.wake()
    house.server.script(lambda asked: error("day_quota") if asked.turn else agent.answer(asked))
    assert now(demo, path, pay_twice="true").status == 202
    house.deployment.machines.work()
    stopped = demo.get(path).json
    assert (stopped["state"], stopped["turns"], stopped["because"]) == ("auditing", 1, "day_quota")
    house.server.script(agent.answer)
    house.carry_on()
    view = demo.get(path).json
    assert (view["state"], view["turns"], ratings(demo, path)) == ("done", TURNS, RATINGS)
    by_batch = view["batches"]["cost_usd"]
    one_turn = by_batch / CASES * 2
    # The case that had its first turn at once is told what the batch brought for it; the others have it from there.
    assert view["cost_usd"] == pytest.approx(by_batch + (TURNS - (CASES - 1)) * one_turn)
    add_up(demo, path)


def settle_alone(house: BatchingHouse) -> None:
    """Let the one batch come to its end, before the audit looks at it."""
    [batch] = house.batches()
    machines = house.deployment.machines
    for _ in range(3):
        house.later(minutes=2)
        machines.wake(batch.id)
        machines.work()
    [batch] = house.batches()
    assert batch.over


@one_provider
def test_what_a_batch_brought_for_another_question_than_it_is_by_now_is_told_and_asked_anew(
    house: BatchingHouse, demo: Api, agent: Agent
) -> None:
    path = ask(house, demo, when="cheap")
    settle_alone(house)
    files = audit_files(TENANT, path.rpartition("/")[2])
    for number in range(1, CASES + 1):
        brought = files.brought(number)
        assert brought is not None
        files.put_brought(number, brought.model_copy(update={"address": "that of another model"}))
    house.carry_on()
    view = demo.get(path).json
    assert (view["state"], view["turns"], ratings(demo, path)) == ("done", TURNS, RATINGS)
    assert [call.by_batch for call in house.server.calls] == [True] * CASES + [False] * TURNS
    add_up(demo, path)


@one_provider
def test_what_was_brought_and_is_gone_is_asked_anew(house: BatchingHouse, demo: Api, agent: Agent) -> None:
    path = ask(house, demo, when="cheap", **ONE_CASE)
    settle_alone(house)
    stored = house.deployment.keys()
    [key] = [key for key in stored if key.endswith("/brought/1.json")]
    house.deployment.s3.delete_object(Bucket=BUCKET, Key=key)
    house.carry_on()
    view = demo.get(path).json
    assert (view["state"], view["turns"], view["totals"]["Valid"]) == ("done", 3, 1)
    assert [call.by_batch for call in house.server.calls] == [True, False, False, False]
    [batch] = house.batches()
    house.untold_usd = batch.cost_usd


@one_provider
def test_now_please_before_anything_was_sent_pays_once(
    house: BatchingHouse, demo: Api, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "spending_left", lambda _: (1.0, 0.0))
    path = ask(house, demo, when="cheap")
    assert now(demo, path).status == 202
    house.carry_on()
    assert (ratings(demo, path), house.batches()) == (RATINGS, [])
    assert [call.by_batch for call in house.server.calls] == [False] * TURNS
    assert now(demo, path).status == 202, "a repeat changes nothing"
    add_up(demo, path)


STEPS: list[tuple[Any, str]] = [
    (JobStore, "create"),
    (JobStore, "change"),
    (JobStore, "begin"),
    (Parts, "begin"),
    (Parts, "change"),
    (Artifacts, "put_text"),
    (Spending, "reserve_for"),
    (Spending, "settle"),
    *PROVIDER_CALLS,
]
EVERY = 11
"""Moments between two deaths; another number tries others."""


@one_provider
def test_a_death_at_any_moment_loses_no_first_turn_and_pays_none_twice(
    house: BatchingHouse, demo: Api, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    fate = Fate()
    fate.meet(monkeypatch, STEPS)
    call_the_dead_again(house, fate, monkeypatch)

    def answered(asked: Asked) -> Behaviour:
        fate.awake = asked.turn == 0  # what comes after is as in any audit
        return agent.answer(asked)

    moment, killed = 5, True  # past the API
    paths: list[str] = []
    while killed:
        house.asked_before += sum(not call.by_batch for call in house.server.calls)
        house.server.reset()
        house.server.script(answered)
        house.server.batches.plan(Plan(looks=1, twice=(0,)))
        fate.seen, fate.kills, fate.at, fate.awake = 0, 0, (moment,), True
        paths.append(ask(house, demo, when="cheap", **ONE_CASE))
        house.carry_on(swept=True)
        killed, fate.at = fate.kills > 0, ()
        view = demo.get(paths[-1]).json
        assert (view["state"], view["turns"], view["totals"]["Valid"]) == ("done", 3, 1), moment
        assert [call.by_batch for call in house.server.calls] == [True, False, False], moment
        add_up(demo, *paths)
        moment += EVERY
    assert moment > 4 * EVERY


@one_provider
def test_what_was_brought_too_late_is_told_once_though_whoever_tells_it_dies(
    house: BatchingHouse, demo: Api, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    fate = Fate()
    fate.meet(monkeypatch, STEPS)
    call_the_dead_again(house, fate, monkeypatch)
    moment, killed = 2, True
    paths: list[str] = []
    while killed:
        house.asked_before += sum(not call.by_batch for call in house.server.calls)
        house.server.reset()
        house.server.script(agent.answer)
        house.server.batches.plan(Plan(looks=2))
        paths.append(ask(house, demo, when="cheap", **ONE_CASE))
        house.wake()
        assert now(demo, paths[-1], pay_twice="true").status == 202
        house.deployment.machines.work()
        at_once = demo.get(paths[-1]).json
        fate.seen, fate.kills, fate.at = 0, 0, (moment,)
        house.carry_on(swept=True)
        killed, fate.at = fate.kills > 0, ()
        view = demo.get(paths[-1]).json
        assert view["cost_usd"] == pytest.approx(at_once["cost_usd"] + view["batches"]["cost_usd"]), moment
        assert [call.by_batch for call in house.server.calls].count(True) == 1, moment
        add_up(demo, *paths)
        moment += EVERY
    assert moment > 2 * EVERY
