"""A backlog of deep evaluations, worked off hour by hour by the schedules of a deployment: at once, or by batches."""

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from botocore.client import BaseClient

from functions.composition import stores
from tests.support.aws import one_request_at_a_time
from tests.support.balance import balance, units_used
from tests.support.batching import PROVIDER_CALLS, TENANT, BatchingHouse
from tests.support.deaths import Fate
from tests.support.wire import Behaviour
from touchstone.answers.model import AnswerRecord
from touchstone.budgets import next_reset
from touchstone.budgets.days import day_of
from touchstone.clock import system_clock
from touchstone.judges import load_registry
from touchstone.judges.questions import cost_usd
from touchstone.judges.spends import Spend
from touchstone.usage import Usage

PROVIDER = "gemini"
"""Whose free tier admits 250 deep evaluations a day, as the registry has it."""
MOST_HOURS = 400
AFTER_MIDNIGHT = timedelta(minutes=30)


@dataclass(kw_only=True)
class WorkedOff:
    """What it took to work a backlog off.

    `days` are the calls made at once on each of the provider's days, `day` is the number of the one on which the last
    was done, and `hours` is how long that took. `used` are the units of the day's quota that batches used. `spent_usd`
    is what the tenant's days say that the calls cost, `full_usd` what the list says of the same ones at once, `calls`
    how many there were, with those of `batches` among them. `kills` counts the processes that died.
    """

    hours: int = 0
    day: int = 1
    days: Counter[int] = field(default_factory=Counter)
    calls: int = 0
    batches: int = 0
    used: int = 0
    spent_usd: float = 0.0
    full_usd: float = 0.0
    kills: int = 0


def line_up_a_day(house: BatchingHouse, count: int) -> list[AnswerRecord]:
    """A backlog that begins soon after the midnight by which the provider counts its days."""
    one_request_at_a_time(house.monkeypatch)
    now = system_clock()
    house.later(seconds=(next_reset(PROVIDER, now) - now + AFTER_MIDNIGHT).total_seconds())
    return house.enqueue(count)


def killed_at(house: BatchingHouse, at: Container[int]) -> Fate:
    """Whoever does the work dies at these moments, counted before and after each call to AWS and to a batch API."""
    fate = Fate()
    fate.awake = False
    fate.meet(house.monkeypatch, [(BaseClient, "_make_api_call"), *PROVIDER_CALLS])
    fate.at = at
    return fate


def work_off(house: BatchingHouse, records: list[AnswerRecord], fate: Fate | None = None) -> WorkedOff:
    """Let the schedules work until all is done, and check that each is there once and that all sums are equal."""
    found, fate = WorkedOff(), fate or Fate()
    begun = system_clock()
    first = day_of(PROVIDER, begun)
    while house.states(records) != {"done": len(records)} or any(not batch.over for batch in house.batches()):
        assert found.hours < MOST_HOURS, (house.states(records), house.batches())
        before = _at_once(house)
        fate.awake = True
        house.hour(fate)
        fate.awake = False
        now = system_clock()
        found.day = (day_of(PROVIDER, now) - first).days + 1
        found.days[found.day] += _at_once(house) - before
        found.hours = round((now - begun) / timedelta(hours=1))
    found.calls, found.batches, found.kills = len(house.server.calls), len(house.batches()), fate.kills
    found.used = units_used() - found.days[found.day]
    _add_up(house, records, found)
    return found


def _at_once(house: BatchingHouse) -> int:
    return sum(not call.by_batch for call in house.server.calls)


def _add_up(house: BatchingHouse, records: list[AnswerRecord], found: WorkedOff) -> None:
    """The records, the batches, the day's money, the statistics and the backlog say the same."""
    done = house.now(records)
    assert all(record.deep_evaluation is not None for record in done)
    spends = [spend for record in done for spend in record.spends]
    assert len(spends) == len(records), "each is stored once"
    found.spent_usd = sum(day.spent_usd for day in stores.spending().history(TENANT))
    found.full_usd = sum(_listed_usd(spend) for spend in spends)
    told = sum((spend.cost_usd or 0.0) + (spend.saved_usd or 0.0) for spend in spends)
    assert told == pytest.approx(found.full_usd), "what a batch is said to have saved is what the list says"
    balance(house)


def _listed_usd(spend: Spend) -> float:
    """What the provider asks for this call at once, by the tokens that it tells and the prices as they are listed."""
    told = Behaviour()
    usage = Usage(input_tokens=told.input_tokens, output_tokens=told.output_tokens)
    cost = cost_usd(load_registry({}).find(spend.provider, spend.model), usage, on=system_clock().date())
    assert cost is not None, f"no price is listed for {spend.model}"
    return cost
