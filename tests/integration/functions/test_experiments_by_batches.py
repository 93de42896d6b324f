"""Experiments through the providers' batches, by functions and machines as deployed."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from functions import sweep
from functions.composition import judging, stores
from functions.environment import environment
from tests.support.api import Api
from tests.support.balance import balance, balance_at_the_end, units_used
from tests.support.batching import KEYS, PROVIDER_CALLS, TENANT, BatchingHouse, batching_house, call_the_dead_again
from tests.support.deaths import Fate
from tests.support.deployment import Context
from tests.support.providers import ProviderServer, success
from tests.support.quizzes import experiment, quiz
from tests.support.wire_batches import Plan, Refusal
from touchstone.budgets import Spending
from touchstone.judges.spends import Spend
from touchstone.judges.sureness import SureFrom
from touchstone.operations.provider_batches import beginning, files
from touchstone.operations.surfaces.experiment_files import ExperimentFiles
from touchstone.records import Artifacts
from touchstone.records.jobs import JobStore
from touchstone.records.parts import Parts
from touchstone.statistics.thresholds import wanted_agreement

LONG_MS = 900_000
PAIRS = 3
METRICS = ["quiz_clarity", "quiz_item_flaws"]
CALLS = 4 * PAIRS
"""The clarity of both variants of each pair, and which is preferred, in both orders."""


@pytest.fixture(params=KEYS)
def house(
    request: pytest.FixtureRequest, aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchingHouse]:
    """A deployment with the key of one provider, whose batches are on."""
    with batching_house(judges, monkeypatch, provider=request.param) as here:
        here.spends = spends
        yield here
        balance_at_the_end(here)


one_provider = pytest.mark.parametrize("house", ["openai"], indirect=True)
"""For what is the same with all of them."""


def ask(house: BatchingHouse, *, pairs: int = PAIRS, changes: Mapping[str, Any] | None = None, **fields: Any) -> str:
    """Ask the API for an experiment, and begin; its id."""
    body = {"experiment": experiment(pairs, metrics=METRICS) | dict(changes or {}), **fields}
    house.deployment.machines.context = Context(LONG_MS)
    sent = Api(token=house.deployment.token(TENANT)).post("/v1/experiments", body)
    assert sent.status == 202, sent.json
    house.deployment.machines.work()
    return str(sent.json["id"])


def shown(house: BatchingHouse, experiment_id: str) -> dict[str, Any]:
    found: dict[str, Any] = Api(token=house.deployment.token(TENANT)).get(f"/v1/experiments/{experiment_id}").json
    return found


def told(view: Mapping[str, Any]) -> list[Any]:
    """What an experiment says, without what it cost."""
    conclusion = view["conclusion"]
    return [view["verdict"], view["headline"], conclusion["metrics"], conclusion["preference"]]


def add_up(house: BatchingHouse, *views: Mapping[str, Any]) -> None:
    """What is shown of the experiments is what their pairs keep, and all that has to hold holds."""
    spent = sum(spend.cost_usd or 0.0 for spend in house.spends())
    assert sum(view["cost_usd"] for view in views) == pytest.approx(spent, abs=1e-9)
    assert sum(view["conclusion"]["outlay"]["cost_usd"] for view in views) == pytest.approx(spent, abs=1e-9)
    batched = sum(spend.line_id is not None for spend in house.spends())
    assert sum(view["conclusion"]["outlay"]["batched"] for view in views) == batched
    balance(house)


def spends() -> list[Spend]:
    """All calls that the tenant's experiments keep."""
    page = stores.experiments().page(tenant=TENANT, limit=100)
    pairs = [kept for one in page.items for kept in files_of(one.id).pairs(range(1, (one.pairs or 0) + 1))]
    return [spend for kept in pairs for spend in kept.paid]


def files_of(experiment_id: str) -> ExperimentFiles:
    return ExperimentFiles(artifacts=stores.artifacts(), scratch=stores.scratch(), tenant=TENANT, id=experiment_id)


def test_an_experiment_goes_by_one_batch_at_half_the_price_and_says_what_it_says_at_once(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=2, twice=(0,)))
    cheap = ask(house, when="cheap")
    waiting = shown(house, cheap)
    assert (waiting["state"], waiting["when"], waiting["because"]) == ("measuring", "cheap", "batched")
    house.carry_on()
    half = shown(house, cheap)
    assert [call.by_batch for call in house.server.calls] == [True] * CALLS
    [batch] = house.batches()
    assert (batch.of, batch.ended, batch.answered) == ("experiment", "completed", CALLS)
    assert units_used() == 0
    at_once = ask(house, use_cache=False)
    house.carry_on()
    whole = shown(house, at_once)
    assert [call.by_batch for call in house.server.calls[CALLS:]] == [False] * CALLS
    assert (half["state"], whole["state"], whole["when"], whole["batches"]) == ("done", "done", "now", None)
    assert told(half) == told(whole)
    assert half["cost_usd"] <= 0.55 * whole["cost_usd"]
    outlay = half["conclusion"]["outlay"]
    assert (outlay["calls"], outlay["cached"], outlay["batched"]) == (CALLS, 0, CALLS)
    assert outlay["saved_usd"] == pytest.approx(outlay["cost_usd"]) == half["batches"]["saved_usd"]
    assert whole["conclusion"]["outlay"]["saved_usd"] is None
    add_up(house, half, whole)


@one_provider
@pytest.mark.parametrize("least", [0.9, 0.95])
def test_what_a_batch_brought_is_held_to_the_labels_of_its_judge(house: BatchingHouse, least: float) -> None:
    free = ask(house, pairs=1, when="cheap")
    house.carry_on()
    [kept] = files_of(free).pairs([1])
    by = kept.result.a.results["quiz_clarity"].items[0].judge
    assert by is not None
    held = SureFrom(confidence=least, labels=120, wanted=0.95, card="c" * 16, version="v" * 8)
    thresholds = {(by.model, by.prompt_version): held}
    stores.thresholds().keep(TENANT, lambda: thresholds, wanted=wanted_agreement())
    judging._kept_thresholds.cache_clear()
    calls = len(house.server.calls)
    after = ask(house, pairs=1, when="cheap", use_cache=False)
    house.carry_on()
    view = shown(house, after)
    assert [call.by_batch for call in house.server.calls[calls:]] == [True] * 4, "no reply of the batch is paid twice"
    clarity = view["conclusion"]["metrics"][0]
    assert view["state"] == "done"
    if least < 0.95:
        [kept] = files_of(after).pairs([1])
        assert {item.sure_from for item in kept.result.a.results["quiz_clarity"].items} == {held}
        assert clarity["a"]["unscored_parts"] == 0
    else:
        # It says 0.9, and there is nobody else to ask.
        assert {one["reason"] for one in clarity["a"]["missing"]} == {"unsure"}
        assert (clarity["a"]["unscored_items"], clarity["a_mean"]) == (1, None)
    add_up(house, shown(house, free), view)


@one_provider
def test_while_it_waits_it_says_since_when_and_until_when(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=4))
    experiment_id = ask(house, when="cheap")
    gathered = shown(house, experiment_id)["batches"]
    assert (gathered["under_way"], gathered["questions"]) == (1, CALLS)
    house.wake()
    sent = shown(house, experiment_id)["batches"]
    [batch] = house.batches()
    assert sent["submitted_at"] is not None
    assert sent["ends_by"] is not None
    assert batch.submitted_at is not None
    assert (sent["cost_usd"], sent["saved_usd"]) == (0.0, 0.0)
    house.carry_on()
    assert shown(house, experiment_id)["batches"]["under_way"] == 0


@one_provider
def test_questions_that_rest_on_others_go_by_the_next_batch_and_a_shared_one_is_asked_once(
    house: BatchingHouse,
) -> None:
    said = "Canberra is the capital of Australia."
    house.server.rule(success({"topics": [{"topic": "Canberra", "quote": said}]}), schema="TopicsReply")
    sources = [{"id": f"s{number}", "markdown": said} for number in range(1, PAIRS + 1)]
    experiment_id = ask(house, when="cheap", changes={"metrics": ["quiz_coverage"], "sources": sources})
    house.carry_on()
    view = shown(house, experiment_id)
    assert view["state"] == "done"
    assert sorted(batch.count for batch in house.batches()) == [2 * PAIRS, 1 + 2 * PAIRS]
    assert [call.by_batch for call in house.server.calls] == [True] * (1 + 4 * PAIRS)
    assert not view["conclusion"]["failed"]
    add_up(house, view)


@one_provider
def test_what_variants_prompts_make_goes_by_batches_before_it_is_measured(house: BatchingHouse) -> None:
    makers = (
        {"prompt": "Ask one question about: {{ source }}", "model": "openai/gpt-6-luna"},
        {"prompt": "Ask anything about: {{ source }}"},
    )
    for prompt, flawed in (("Ask one question", 0), ("Ask anything", 1)):
        written = [{"explanation": None} | one for one in quiz(1, ambiguous=flawed)["questions"]]
        for one in written:
            del one["id"]
        house.server.reply({"questions": written}, prompt=prompt)
    variants = [{"name": name, "maker": maker} for name, maker in zip(("old", "new"), makers, strict=True)]
    experiment_id = ask(house, when="cheap", changes={"variants": variants})
    house.carry_on()
    view = shown(house, experiment_id)
    assert view["state"] == "done"
    assert all(call.by_batch for call in house.server.calls)
    assert ("gpt-6-luna", PAIRS) in {(batch.model, batch.count) for batch in house.batches()}
    a, b = view["conclusion"]["makers"]
    assert (a["made"], a["calls"], a["seconds"], b["made"], b["calls"]) == (PAIRS, PAIRS, None, PAIRS, PAIRS)
    assert view["conclusion"]["metrics"][0]["a_mean"] > view["conclusion"]["metrics"][0]["b_mean"]
    add_up(house, view)


@one_provider
@pytest.mark.parametrize("use_cache", [True, False])
def test_what_a_batch_did_not_bring_is_asked_at_once_and_nothing_else_again(
    house: BatchingHouse, use_cache: bool
) -> None:
    house.server.batches.plan(Plan(looks=1, missing=(1,)))
    experiment_id = ask(house, when="cheap", use_cache=use_cache)
    house.carry_on()
    view = shown(house, experiment_id)
    by_batch = [call.by_batch for call in house.server.calls]
    assert (view["state"], by_batch.count(False), len(house.server.batches.stored)) == ("done", 1, 1)
    add_up(house, view)


@one_provider
@pytest.mark.parametrize("why", ["off", "refused"])
def test_it_is_asked_at_once_where_no_batch_can_be_had(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "refused":
        house.server.batches.refuse(Refusal(status=400, body={"error": {"code": "no", "message": "No"}}))
    if why == "off":
        monkeypatch.setenv("TOUCHSTONE_BATCHES", "off")
        environment.cache_clear()
    experiment_id = ask(house, when="cheap")
    house.carry_on()
    view = shown(house, experiment_id)
    assert (view["state"], view["conclusion"]["outlay"]["saved_usd"]) == ("done", None)
    assert [call.by_batch for call in house.server.calls] == [False] * CALLS
    add_up(house, view)


@one_provider
def test_what_the_ceiling_does_not_admit_waits_for_money_and_is_asked_at_once_in_the_end(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "spending_left", lambda _: (1.0, 0.0))
    experiment_id = ask(house, when="cheap")
    for _ in range(5):
        house.wake()
    assert (shown(house, experiment_id)["state"], house.batches(), house.server.calls) == ("measuring", [], [])
    house.later(days=4)
    house.carry_on()
    view = shown(house, experiment_id)
    assert view["state"] == "done"
    assert [call.by_batch for call in house.server.calls] == [False] * CALLS
    add_up(house, view)


@one_provider
def test_questions_that_are_too_many_for_what_may_wait_go_by_smaller_batches(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(end="failed"), Plan(end="failed"))
    experiment_id = ask(house, when="cheap")
    house.carry_on()
    view = shown(house, experiment_id)
    sizes = [len(batch.line_ids) for batch in house.server.batches.stored.values()]
    assert (view["state"], sorted(sizes)) == ("done", [6, 6, 12, 12])
    assert [call.by_batch for call in house.server.calls] == [True] * CALLS
    add_up(house, view)


def now(house: BatchingHouse, experiment_id: str, **query: Any) -> Any:
    return Api(token=house.deployment.token(TENANT)).call("POST", f"/v1/experiments/{experiment_id}/now", query=query)


@one_provider
def test_now_please_pays_twice_for_what_is_in_a_batch_only_if_one_says_so(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=5))
    experiment_id = ask(house, when="cheap")
    house.wake()
    refused = now(house, experiment_id)
    assert refused.status == 409
    assert "paid for" in refused.json["detail"]
    assert shown(house, experiment_id)["when"] == "cheap"
    taken = now(house, experiment_id, pay_twice="true")
    assert (taken.status, taken.json["when"]) == (202, "now")
    house.deployment.machines.work()
    at_once = shown(house, experiment_id)
    assert at_once["state"] == "done"
    assert [call.by_batch for call in house.server.calls].count(False) == CALLS
    house.carry_on()
    after = shown(house, experiment_id)
    assert after["cost_usd"] == pytest.approx(1.5 * at_once["cost_usd"]), "what the batch brought too late is told"
    days = stores.spending().history(TENANT)
    assert sum(day.spent_usd for day in days) == pytest.approx(after["cost_usd"], abs=1e-5)
    assert after["conclusion"] == at_once["conclusion"]


@one_provider
def test_now_please_before_anything_was_sent_pays_once(house: BatchingHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning, "spending_left", lambda _: (1.0, 0.0))
    experiment_id = ask(house, when="cheap")
    assert now(house, experiment_id).status == 202
    house.deployment.machines.work()
    view = shown(house, experiment_id)
    assert (view["state"], house.batches()) == ("done", [])
    assert [call.by_batch for call in house.server.calls] == [False] * CALLS
    assert now(house, experiment_id).status == 202, "a repeat changes nothing"
    add_up(house, view)


@one_provider
def test_two_variants_with_the_same_items_are_asked_about_once(house: BatchingHouse) -> None:
    asked = experiment(1, metrics=METRICS)
    a, b = asked["variants"]
    same = {"variants": [a, {**b, "items": a["items"]}]}
    experiment_id = ask(house, pairs=1, changes=same, when="cheap")
    house.carry_on()
    view = shown(house, experiment_id)
    assert view["state"] == "done"
    prompts = [call.prompt for call in house.server.calls]
    assert len(prompts) == len(set(prompts))
    add_up(house, view)


@one_provider
def test_pairs_go_by_several_batches_side_by_side(house: BatchingHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_LINES", 5)
    house.server.batches.plan(Plan(looks=1), Plan(looks=6), Plan(looks=2))
    experiment_id = ask(house, when="cheap")
    house.carry_on()
    view = shown(house, experiment_id)
    assert sorted(batch.count for batch in house.batches()) == [2, 5, 5]
    assert [call.by_batch for call in house.server.calls] == [True] * CALLS
    add_up(house, view)


@one_provider
def test_nobody_takes_an_experiment_up_while_its_batch_is_under_way(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=1000))
    ask(house, when="cheap")
    house.later(minutes=1)
    house.wake()
    started = len(house.deployment.machines.started)
    for _ in range(8):
        house.wake()
        assert sweep.handler({}, Context())["restarted"] == 0
        house.deployment.machines.work()
    assert len(house.deployment.machines.started) == started
    assert [call for call in house.server.calls if not call.by_batch] == []


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
EVERY = 7
"""Moments between two deaths."""


@one_provider
def test_a_death_at_any_moment_loses_no_pair_and_pays_nothing_twice(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    fate = Fate()
    fate.meet(monkeypatch, STEPS)
    call_the_dead_again(house, fate, monkeypatch)
    moment, killed = 5, True
    views = []
    while killed:
        house.server.reset()
        house.server.batches.plan(Plan(looks=1, twice=(0,)))
        fate.seen, fate.kills, fate.at = 0, 0, (moment,)
        experiment_id = ask(house, pairs=1, when="cheap", use_cache=False)
        house.carry_on(swept=True)
        killed, fate.at = fate.kills > 0, ()
        views.append(shown(house, experiment_id))
        assert views[-1]["state"] == "done", moment
        assert [call.by_batch for call in house.server.calls] == [True] * 4, moment
        add_up(house, *views)
        moment += EVERY
    assert moment > 5 * EVERY
