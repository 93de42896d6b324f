"""Budget, backlog and statistics at the command line."""

import json
from typing import Any

import pytest

from tests.support.commands import Command
from tests.support.loopback import Loopback, Reply

QUOTA: dict[str, Any] = {
    "tier": "verify", "provider": "gemini", "model": "gemini-x", "limit": 1000, "used": 12, "left": 988,
    "per_minute": 15, "left_this_minute": 14, "learned_per_day": None, "learned_per_minute": None,
    "resets_at": "2026-11-22T08:00:00Z", "blocked_until": None, "blocked_why": None,
    "share": {"used": 7, "limit": 500, "per_minute": 8, "left_this_minute": 6},
}  # fmt: skip
SHARES = [{**QUOTA, "tier": "evaluate", "share": {**QUOTA["share"], "limit": None}}, {**QUOTA, "share": None}]
HELD = {**QUOTA, "tier": "evaluate", "blocked_until": "2026-11-21T20:00:10Z", "blocked_why": "It refuses the key."}
BUDGET = {"quotas": [QUOTA, *SHARES], "spent_usd": 0.25, "reserved_usd": 0.0, "unpriced_calls": 0, "ceiling_usd": 5.0}
BACKLOG = {
    "waiting": 1, "deferred": 2, "running": 3, "done": 4, "failed": 0, "deferred_before_you": 250,
    "oldest_requested_at": "2026-11-21T09:00:00Z", "done_by": "2026-11-24T08:00:00Z",
}  # fmt: skip
BATCH = {
    "id": "b", "of": "evaluation", "provider": "gemini", "model": "gemini-x", "state": "ready", "ended": None,
    "questions": 2, "answered": 0, "created_at": "2026-11-21T09:00:00Z", "submitted_at": "2026-11-21T09:00:30Z",
    "ends_by": "2026-11-22T09:00:30Z", "finished_at": None, "because": "Too many wait.", "cost_usd": 0.0,
    "saved_usd": 0.25,
}  # fmt: skip
RATE = {
    "name": "gemini", "of": "math", "decided": 10, "correct": 9, "skipped": 1, "rate": 0.9, "lower": 0.6, "upper": 0.98
}  # fmt: skip
RATES = {
    "min_samples": 500,
    "provider_subject": [RATE, {**RATE, "rate": None, "lower": None, "upper": None}],
    "model_subject": [],
    "model_difficulty": [],
    "cursor": None,
}
DAY = {"day": "2026-11-21", "statuses": {"verified": 3}, "skips": {"overloaded": 2}, "cost_usd": 0.5}
TREND = {"day": "2026-11-21", "evaluations": 4, "means": {"overall": 0.75, "clarity": 0.5}}

CASES: list[tuple[list[str], str, Any, list[str]]] = [
    (["budget"], "/v1/budget", BUDGET, ["gemini gemini-x", "988", "7 of 500", "7 of all", "$0.2500", "$5.00"]),
    (
        ["budget"],
        "/v1/budget",
        {**BUDGET, "quotas": [HELD]},
        ["evaluate: nothing is sent before 2026-11-21 20:00:10 UTC. It refuses the key."],
    ),
    (["backlog"], "/v1/backlog", BACKLOG, ["deferred", "250", "2026-11-24 08:00:00"]),
    (
        ["backlog"],
        "/v1/backlog",
        {**BACKLOG, "batches": [BATCH]},
        ["evaluations", "gemini gemini-x", "2026-11-22 09:00:30", "$0.2500", "Too many wait."],
    ),
    (["stats", "rates"], "/v1/statistics/rates", RATES, ["provider × subject", "90%", "60% to 98%"]),
    (["stats", "volume"], "/v1/statistics/volume", [DAY], ["2026-11-21", "3", "overloaded 2", "$0.5000"]),
    (["stats", "trends"], "/v1/statistics/trends", [TREND], ["75%", "50%", "–"]),
    (
        ["stats", "suggestions"],
        "/v1/statistics/suggestions",
        [{"text": "Show [b]steps[/b].", "count": 7}],
        ["[b]", "7"],
    ),
    (
        ["stats", "approaches"],
        "/v1/statistics/approaches",
        [{"answer_id": "01J", "text": "Factor."}],
        ["01J", "Factor."],
    ),
]


@pytest.mark.parametrize(("arguments", "path", "value", "words"), CASES, ids=lambda case: str(case)[:30])
def test_a_report_is_shown_to_people_and_passed_on_to_pipes(
    online: Command, api: Loopback, *, arguments: list[str], path: str, value: Any, words: list[str]
) -> None:
    api.answer = lambda _: Reply(value=value)
    shown = online(*arguments)
    assert shown.exit_code == 0
    assert [word for word in words if word not in shown.stdout] == []
    assert json.loads(online(*arguments, "--json").stdout) == value
    assert {asked.path for asked in api.asked} == {path}


def test_rates_that_come_in_parts_are_shown_whole(online: Command, api: Loopback) -> None:
    first = RATES | {"cursor": "on"}
    last = RATES | {"provider_subject": [], "model_subject": [RATE], "cursor": None}
    api.script = [Reply(value=first), Reply(value=last)]
    assert json.loads(online("stats", "rates", "--json").stdout) == RATES | {"model_subject": [RATE], "cursor": None}
    assert [asked.query for asked in api.asked] == [{}, {"cursor": "on"}]


def test_nothing_counted_yet_is_a_sentence(online: Command, api: Loopback) -> None:
    api.script = [Reply(value=[]), Reply(value=RATES | {"provider_subject": []}), Reply(value=BUDGET | {"quotas": []})]
    assert online("stats", "trends", "--days", "7").stderr == "Nothing has been counted yet.\n"
    assert api.asked[0].query == {"days": "7"}
    assert online("stats", "rates").stderr == "Nothing has been counted yet.\n"
    assert "No judge has a key" in online("budget").stderr


def test_a_model_that_serves_two_tiers_has_its_quota_told_once(online: Command, api: Loopback) -> None:
    api.script = [Reply(value=BUDGET | {"quotas": [QUOTA, {**QUOTA, "tier": "evaluate"}]})]
    shown = online("budget").stdout
    assert shown.count("gemini-x") == 1
    assert "verify, evaluate" in shown


def test_a_number_out_of_range_is_refused_before_anything_is_asked(online: Command, api: Loopback) -> None:
    assert online("stats", "volume", "--days", "91").exit_code == 2
    assert api.asked == []
