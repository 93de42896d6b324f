"""The account of a quota as the table has it: every field where a reader of an earlier or later release finds it."""

from dataclasses import fields
from datetime import UTC, date, datetime

from touchstone.budgets.account import DayTally, Learned, QuotaKey, QuotaState, Refusals
from touchstone.budgets.quotas import StoredState, current_item, stored_from

KEY = QuotaKey("gemini", "gemini-3.5-flash", "default")
STATE = QuotaState(
    day=date(2026, 11, 21),
    tally=DayTally(used=30, backlog_used=20, exhausted=True),
    seconds={1_795_291_200: 2, 1_795_291_201: 1},
    learned=Learned(
        per_day=250,
        per_day_on=date(2026, 11, 20),
        per_minute=15,
        per_minute_until=datetime(2026, 11, 22, 20, tzinfo=UTC),
    ),
    refusals=Refusals(
        at=(datetime(2026, 11, 21, 19, 58, tzinfo=UTC), datetime(2026, 11, 21, 19, 59, tzinfo=UTC)),
        in_a_row=2,
        until=datetime(2026, 11, 21, 20, 1, tzinfo=UTC),
        why="The provider refused it.",
        barred=True,
    ),
    watched={"r1": datetime(2026, 11, 21, 20, 0, 5, tzinfo=UTC)},
)
"""An account in which no two fields are alike, and none is as in a fresh one."""


def test_an_account_is_read_as_it_was_stored() -> None:
    assert all(getattr(STATE, field.name) != getattr(QuotaState(day=date.min), field.name) for field in fields(STATE))
    item = current_item(KEY, STATE, version=7, writer="w")
    assert stored_from(item) == StoredState(state=STATE, version=7, writer="w")


def test_the_limits_of_a_day_and_of_a_minute_have_their_own_attributes() -> None:
    item = current_item(KEY, STATE, version=7, writer="w")
    assert {name: item[name] for name in item if name.startswith("learned")} == {
        "learned_day": 250,
        "learned_day_on": "2026-11-20",
        "learned_minute": 15,
        "learned_minute_until": "2026-11-22T20:00:00+00:00",
    }
    assert (item["used"], item["backlog_used"], item["exhausted"]) == (30, 20, True)


def test_a_fresh_account_is_read_as_it_was_stored() -> None:
    fresh = QuotaState(day=date(2026, 11, 21))
    assert stored_from(current_item(KEY, fresh, version=1, writer="w")).state == fresh
