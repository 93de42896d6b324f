"""The registry at the command line, and pins through the API."""

import json

import pytest

from tests.unit.cli.conftest import Command
from tests.unit.cli.loopback import Loopback, Reply, problem
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
    result = touchstone("models", "--check", "--date", "tomorrow")
    assert (result.exit_code, result.stderr) == (2, "Error: date: 'tomorrow' is no day; write it as 2026-11-30.\n")


def test_a_registry_that_is_wrong_is_named(touchstone: Command) -> None:
    result = touchstone("models", env={"TOUCHSTONE_REGISTRY_OVERRIDES": "{"})
    assert result.exit_code == 2
    assert "TOUCHSTONE_REGISTRY_OVERRIDES is not valid JSON" in result.stderr


def test_pins_are_listed_made_and_removed(online: Command, api: Loopback) -> None:
    api.script = [Reply(value={"math": "gemini"}), Reply(value={"math": "gemini"}), Reply(value={})]
    assert "gemini" in online("routing", "list").stdout
    assert json.loads(online("routing", "list", "--json").stdout) == {"math": "gemini"}
    assert online("routing", "list").stderr == "No subject is pinned: the data decides.\n"
    api.script = [Reply(value={"数学/1": "openai"}), Reply(value={"数学/1": "openai"}), Reply(status=204)]
    assert online("routing", "pin", "数学/1", "openai").stderr == "数学/1 is solved by openai.\n"
    assert json.loads(online("routing", "pin", "数学/1", "openai", "--json").stdout) == {"数学/1": "openai"}
    assert online("routing", "unpin", "数学/1").exit_code == 0
    path = "/v1/routing/%E6%95%B0%E5%AD%A6%2F1"
    assert [(a.method, a.path) for a in api.asked[3:]] == [("PUT", path), ("PUT", path), ("DELETE", path)]


def test_who_may_not_pin_is_told_so(online: Command, api: Loopback) -> None:
    api.script = [problem(403, "This needs a token with the role admin; yours has the role reader.")]
    result = online("routing", "pin", "math", "gemini")
    assert result.exit_code == 2
    assert "role admin" in result.stderr
