"""Models end: what is said, when, and to whom."""

import json
import logging
from datetime import date

import pytest

from touchstone.judges import Registry, RetirementWarning, check, load_registry
from touchstone.judges.registry import OVERRIDES_VARIABLE
from touchstone.judges.retirement import notice, warn

TODAY = date(2026, 11, 21)


def registry_with_verify(model: str) -> Registry:
    return load_registry({OVERRIDES_VARIABLE: json.dumps({"gemini": {"tiers": {"verify": model}}})})


def test_the_shipped_defaults_live_and_go_on_living_for_a_month() -> None:
    assert check(load_registry({}), on=TODAY) == []


def test_a_default_that_ends_soon_is_named_with_its_tier_and_successor() -> None:
    (found,) = check(registry_with_verify("gemini-2.5-flash"), on=TODAY)
    assert (found.provider, found.tier, found.days_left, found.ended) == ("gemini", "verify", 10, False)
    assert str(found) == (
        "gemini's model gemini-2.5-flash, tier verify, ends on 2026-12-01, in 10 days; "
        "its successor is gemini-3.5-flash-lite."
    )


DAYS = [
    (date(2026, 10, 31), 30, None),
    (date(2026, 11, 1), 30, 30),
    (date(2026, 11, 1), 29, None),
    (date(2026, 11, 30), 30, 1),
    (date(2026, 12, 1), 30, 0),
    (date(2026, 12, 25), 30, -24),
    (date(2026, 12, 25), 0, -24),
]


@pytest.mark.parametrize(("on", "within_days", "days_left"), DAYS)
def test_a_notice_begins_with_the_window_and_never_stops(on: date, within_days: int, days_left: int | None) -> None:
    said = notice(load_registry({}).find("gemini", "gemini-2.5-flash"), on=on, within_days=within_days)
    assert (None if said is None else said.days_left) == days_left
    if said is not None:
        assert said.ended == (on >= date(2026, 12, 1))


def test_a_model_without_an_announced_end_is_never_noticed() -> None:
    assert notice(load_registry({}).model("gemini", "verify"), on=date(2099, 1, 1)) is None


def test_notices_come_soonest_first() -> None:
    overrides = {
        "claude": {"tiers": {"strong": "claude-sonnet-4-20250514"}},
        "openai": {"tiers": {"strong": "gpt-4o", "fast": "gpt-4o-mini"}},
        "gemini": {"tiers": {"verify": "gemini-2.5-flash"}},
    }
    registry = load_registry({OVERRIDES_VARIABLE: json.dumps(overrides)})
    assert [each.model for each in check(registry, on=TODAY, within_days=60)] == [
        "claude-sonnet-4-20250514",
        "gemini-2.5-flash",
        "gpt-4o",
        "gpt-4o-mini",
    ]


def test_an_ended_model_warns_aloud_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    model = load_registry({}).find("claude", "claude-sonnet-4-20250514")
    with (
        caplog.at_level(logging.WARNING),
        pytest.warns(RetirementWarning, match="ended on 2026-06-15; its successor is"),
    ):
        warn(model, on=TODAY)
    assert "ended on 2026-06-15" in caplog.text


def test_an_end_without_a_listed_successor_says_so() -> None:
    model = load_registry({}).find("gemini", "gemini-2.5-flash").model_copy(update={"successor": None})
    assert "no successor is listed" in str(notice(model, on=TODAY))


def test_a_model_that_lives_says_nothing(recwarn: pytest.WarningsRecorder) -> None:
    warn(load_registry({}).model("gemini", "verify"), on=TODAY)
    assert len(recwarn) == 0
