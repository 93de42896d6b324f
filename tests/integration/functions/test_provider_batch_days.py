"""A backlog of four days beside a provider's quota: by batches it is done on the first, at half the price.

`python -m tests.bench.batches` does the same with a thousand, beside 250 a day.
"""

import pytest

from tests.support.backlogs import PROVIDER, line_up_a_day, work_off
from tests.support.batching import batching_house
from tests.support.overrides import registry
from tests.support.providers import ProviderServer

COUNT = 24
A_DAY = 6
MODEL = "gemini-3.8-flash"
BESIDE = {
    **registry(gemini={"models": {MODEL: {"per_day": A_DAY, "per_minute": None}}}),
    "TOUCHSTONE_TENANT_SHARE": "1",
}


def test_four_days_of_deferred_evaluations_are_done_on_the_first_at_half_the_price(
    aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with batching_house(judges, monkeypatch, provider=PROVIDER, **BESIDE) as house:
        records = line_up_a_day(house, COUNT)
        found = work_off(house, records)
    assert (found.day, found.used, found.calls) == (1, 0, COUNT)
    assert 0.4 * found.full_usd < found.spent_usd <= 0.51 * found.full_usd


def test_without_batches_it_takes_as_many_days_as_the_quota_makes_of_it(
    aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with batching_house(judges, monkeypatch, provider=PROVIDER, **BESIDE, TOUCHSTONE_BATCHES="off") as house:
        found = work_off(house, line_up_a_day(house, 2 * A_DAY))
    assert found.day == 2
    assert set(found.days.values()) == {A_DAY}
    assert found.spent_usd == pytest.approx(found.full_usd, rel=1e-3)
