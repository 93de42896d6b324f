"""The registry at the command line, and pins through the API."""

import json
from typing import Any

import pytest

from tests.support.commands import Command
from tests.support.loopback import Loopback, Reply, problem
from touchstone.judges import load_registry

ENDING = json.dumps(
    {
        "ending": {
            "base_url": "http://localhost:1/v1",
            "models": {"old": {"retires": "2026-12-01", "successor": "new"}, "new": {}},
            "tiers": {"strong": "new", "fast": "old"},
        }
    }
)


def test_every_model_of_the_registry_is_listed(touchstone: Command) -> None:
    rows = json.loads(touchstone("models", "--json").stdout)
    assert [row["name"] for row in rows] == [model.name for model in load_registry({}).models()]
    shown = touchstone("models").stdout
    assert all(str(row["provider"]) in shown for row in rows)


@pytest.mark.parametrize(("day", "code"), [("2026-10-31", 0), ("2026-11-01", 1), ("2027-01-01", 1)])
def test_a_default_that_ends_within_a_month_is_named_with_its_successor(
    touchstone: Command, day: str, code: int
) -> None:
    env = {"TOUCHSTONE_REGISTRY_OVERRIDES": ENDING}
    result = touchstone("models", "--check", "--date", day, env=env)
    assert result.exit_code == code
    assert ("its successor is new" in result.stdout) == (code == 1)
    found = json.loads(touchstone("models", "--check", "--date", day, "--json", env=env).stdout)
    assert [notice["model"] for notice in found] == ["old"] * code


def test_today_is_the_day_where_none_is_given(touchstone: Command) -> None:
    assert touchstone("models", "--check").exit_code in {0, 1}


def test_a_day_that_is_none_is_refused(touchstone: Command) -> None:
    result = touchstone("models", "--date", "2026-11-30")
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: Only --check asks about a day; add it, or leave --date out.\n",
    )
    result = touchstone("models", "--check", "--date", "tomorrow")
    assert (result.exit_code, result.stderr) == (2, "Error: date: 'tomorrow' is no day; write it as 2026-11-30.\n")


def test_a_registry_that_is_wrong_is_named(touchstone: Command) -> None:
    result = touchstone("models", env={"TOUCHSTONE_REGISTRY_OVERRIDES": "{"})
    assert result.exit_code == 2
    assert "TOUCHSTONE_REGISTRY_OVERRIDES is not valid JSON" in result.stderr


def _solved(subject: str, provider: str, why: str, **fields: Any) -> dict[str, Any]:
    """A subject's routing as the API tells it."""
    evidence = {"decided": 1000, "correct": 900, "rate": 0.9, "lower": 0.88, "upper": 0.917, "counts": True}
    given: dict[str, Any] = {
        "since": "2026-11-20T08:30:00.123456Z",
        "before": None,
        "pinned": None,
        "pinned_by": None,
        "without_pin": {"provider": "gemini", "why": "default"},
        "evidence": [{"provider": "openai", "available": True, **evidence}],
        "candidate": {"provider": "claude", "decided": 420, "rate": 0.95, "lacks": 1080},
    }
    return {"subject": subject, "provider": provider, "why": why, **given, **fields}


ROUTING = {
    "default": "gemini",
    "min_samples": 500,
    "subjects": [
        _solved("algebra", "openai", "data"),
        _solved("music", "claude", "pinned", pinned="claude", pinned_by="tenant", evidence=[], candidate=None),
        _solved("optics", "claude", "pinned", pinned="claude", pinned_by="deployment", since=None),
        _solved("physics", "gemini", "default", pinned="claude", pinned_by="tenant", since=None),
    ],
    "cursor": None,
}


def test_the_routing_says_who_solves_what_and_why(online: Command, api: Loopback) -> None:
    api.script = [Reply(value=ROUTING), Reply(value=ROUTING), Reply(value=ROUTING | {"subjects": []})]
    listed = online("routing", "list")
    rows = [" ".join(line.split()) for line in listed.stdout.splitlines()]
    since, measured = "2026-11-20 08:30:00", "90.0% (88.0% to 91.7%) of 1,000"
    assert f"algebra openai data {since} {measured} claude (95.0% of 420), 1,080 more" in rows
    assert f"music claude pinned (else gemini: default) {since} – –" in rows
    assert any(row.startswith("optics claude pinned by the deployment (else gemini: default) –") for row in rows)
    assert any(row.startswith("physics gemini default (pinned to claude, which has no key) –") for row in rows)
    assert "All others are solved by gemini. The data decides on a subject from 500 verdicts on." in listed.stderr
    assert json.loads(online("routing", "list", "--json").stdout) == ROUTING
    assert "No subject has data or a pin." in online("routing", "list").stderr


def test_pins_are_made_and_removed(online: Command, api: Loopback) -> None:
    api.script = [Reply(value={"数学/1": "openai"}), Reply(value={"数学/1": "openai"}), Reply(status=204)]
    assert online("routing", "pin", "数学/1", "openai").stderr == "数学/1 is solved by openai.\n"
    assert json.loads(online("routing", "pin", "数学/1", "openai", "--json").stdout) == {"数学/1": "openai"}
    assert online("routing", "unpin", "数学/1").exit_code == 0
    path = "/v1/routing/%E6%95%B0%E5%AD%A6%2F1"
    assert [(a.method, a.path) for a in api.asked] == [("PUT", path), ("PUT", path), ("DELETE", path)]


def test_who_may_not_pin_is_told_so(online: Command, api: Loopback) -> None:
    api.script = [problem(403, "This needs a token with the role admin; yours has the role reader.")]
    result = online("routing", "pin", "math", "gemini")
    assert result.exit_code == 2
    assert "role admin" in result.stderr
