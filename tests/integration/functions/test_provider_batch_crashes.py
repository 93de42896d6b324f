"""Killed before and after every write of the batches' own and every call to a provider, in turn.

Each result is stored once, the sums are equal, and nothing is paid twice: an orphan is found again.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.client import BaseClient

from functions import sweep
from functions.composition import stores
from functions.environment import environment
from tests.support import replies
from tests.support.balance import balance_at_the_end
from tests.support.batching import KEYS, PROVIDER_CALLS, TENANT, BatchingHouse, batching_house
from tests.support.deaths import Fate
from tests.support.deployment import Context
from tests.support.providers import ProviderServer
from tests.support.starting_points import starting_point
from tests.support.wire_batches import Plan
from touchstone.budgets import Spending
from touchstone.errors import StoreError
from touchstone.records import Artifacts, Statistics
from touchstone.records.jobs import JobStore

COUNT = 2
STEPS: list[tuple[Any, str]] = [
    (JobStore, "create"),
    (JobStore, "change"),
    (JobStore, "begin"),
    (Artifacts, "put_text"),
    (Spending, "reserve_for"),
    (Spending, "settle"),
    *PROVIDER_CALLS,
]
SHARES = 4
"""The moments of the first provider are shared among so many tests."""
FIRST = "openai"
"""The provider with all moments. With the others those around calls to the provider count: what lies between
two of them is writing to the store, which is the same with all."""
OTHERS = [name for name in KEYS if name != FIRST]
ROUNDS = 12
"""Looks of the schedules, an hour apart, within which everything has come to its end."""


@pytest.fixture(params=KEYS)
def house(
    request: pytest.FixtureRequest, aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchingHouse]:
    """A deployment with the key of one provider, whose batches are on."""
    with batching_house(judges, monkeypatch, provider=request.param) as here:
        yield here
        balance_at_the_end(here)


def _until_the_end(house: BatchingHouse, records: list[Any], fate: Fate) -> None:
    """Let the schedules do their work until all is over."""
    for _ in range(ROUNDS):
        house.hour(fate)
        if house.states(records) == {"done": COUNT} and all(batch.over for batch in house.batches()):
            return
    raise AssertionError(f"not over after {ROUNDS} hours: {house.states(records)}, {house.batches()}")


def _check(house: BatchingHouse, records: list[Any]) -> None:
    done = house.now(records)
    assert [record.deep_evaluation and record.deep_evaluation.clarity for record in done] == [0.0, 0.1]
    spends = [spend for record in done for spend in record.spends]
    assert len({spend.line_id for spend in spends}) == len(spends) == COUNT
    assert len(house.server.calls) == COUNT, "nothing is paid twice"
    total = sum(spend.cost_usd or 0.0 for spend in spends)
    assert sum(batch.cost_usd for batch in house.batches()) == pytest.approx(total)
    days = stores.spending().history(TENANT)
    assert sum(day.spent_usd for day in days) == pytest.approx(total, abs=2e-6)
    counted = Statistics(house.deployment.table, stores.artifacts()).evaluations(TENANT)
    assert {state: number for state, number in counted.items() if number} == {"done": COUNT}
    assert stores.evaluations().backlog().count == 0


@pytest.mark.parametrize("house", [FIRST], indirect=True)
@pytest.mark.parametrize("share", range(SHARES))
def test_a_crash_at_any_moment_loses_nothing_and_pays_nothing_twice(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    moments = _crash_at_each(house, monkeypatch, STEPS, first=1 + share, every=SHARES)
    assert moments > 2 * len(("create", "intended", "create", "created", "look", "collect", "settle")) + COUNT


@pytest.mark.parametrize("house", OTHERS, indirect=True)
def test_a_crash_around_any_call_to_a_provider_loses_nothing_and_pays_nothing_twice(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = _crash_at_each(house, monkeypatch, PROVIDER_CALLS, first=1, every=1)
    assert moments > 2 * len(("submit", "look", "look", "collect"))


def _crash_at_each(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, steps: list[tuple[Any, str]], *, first: int, every: int
) -> int:
    """Begin anew with a death at each moment around these steps, from the first one on; the number behind the last."""
    fate = Fate()
    fate.meet(monkeypatch, steps)
    moment, killed, begin = first, True, starting_point(house)
    while killed:
        begin()
        _mixed_up(house)
        records = house.enqueue(COUNT)
        fate.seen, fate.kills, fate.at = 0, 0, (moment,)
        _until_the_end(house, records, fate)
        killed, fate.at = fate.kills > 0, ()
        _check(house, records)
        moment += every
    return moment


def _mixed_up(house: BatchingHouse) -> None:
    """A provider that mixes things up."""
    house.server.reset()
    for number in range(COUNT):
        house.server.reply(replies.evaluate(clarity=number / 10), prompt=f"island-{number}-")
    house.server.batches.plan(Plan(looks=1, twice=(0,)))


@pytest.mark.parametrize("house", ["openai"], indirect=True)
def test_a_table_that_fails_once_at_any_moment_is_repeated_by_the_machine(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    _mixed_up(house)
    records = house.enqueue(COUNT)
    faults = iter([True, True])
    change = JobStore.change

    def failing(self: Any, *given: Any, **named: Any) -> Any:
        if self.how.kind == "provider_batch" and next(faults, False):
            raise StoreError("The table does not answer.")
        return change(self, *given, **named)

    monkeypatch.setattr(JobStore, "change", failing)
    for _ in range(3):
        house.later(hours=1)
        try:
            house.drain()
        except StoreError:
            continue
        house.carry_on()
    sweep.handler({}, Context())
    house.carry_on()
    assert house.states(records) == {"done": COUNT}
    _check(house, records)


MANY = 150
"""Questions of one batch; the bench does the same with a thousand and a death each 499 moments."""
SHORT_LIFE = 90
"""Moments from one death to the next: fewer than there are questions."""


@pytest.mark.parametrize("house", ["openai"], indirect=True)
def test_a_look_at_the_line_whose_function_dies_again_and_again_begins_its_batch_all_the_same(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_DAILY_CEILING_USD", "1000")
    environment.cache_clear()
    records = house.enqueue(MANY)
    fate = Fate()
    fate.meet(monkeypatch, [(BaseClient, "_make_api_call")])
    fate.at = range(SHORT_LIFE, 1_000_000, SHORT_LIFE)
    for _ in range(4 * ROUNDS):
        house.hour(fate)
        if house.server.batches.stored:
            break
    fate.at = ()
    assert [len(batch.line_ids) for batch in house.server.batches.stored.values()] == [MANY]
    assert [batch.count for batch in house.batches()] == [MANY], "what a look began that died is gone on with"
    house.hour(fate)
    house.hour(fate)
    assert house.states(records) == {"done": MANY}


@pytest.mark.parametrize("house", ["openai"], indirect=True)
def test_questions_are_read_a_hundred_at_once_as_they_are_gathered_sent_and_stored(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_DAILY_CEILING_USD", "1000")
    environment.cache_clear()
    records = house.enqueue(MANY)
    send, reads = BaseClient._make_api_call, Counter[str]()  # type: ignore[attr-defined]

    def counted(self: Any, operation: str, given: Any) -> Any:
        reads[operation] += 1
        return send(self, operation, given)

    monkeypatch.setattr(BaseClient, "_make_api_call", counted)
    house.drain()
    house.carry_on()
    monkeypatch.setattr(BaseClient, "_make_api_call", send)
    assert house.states(records) == {"done": MANY}
    assert reads["GetItem"] < MANY / 2, reads
    assert reads["BatchGetItem"] <= 6 * MANY / 50, reads
