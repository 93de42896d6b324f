"""A file in this process against judges that are slow, fail, or have a day: every line gets its verdict, none twice."""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support import replies
from tests.support.commands import Command
from tests.support.overrides import REGISTRY_VARIABLE, registry
from tests.support.providers import ProviderServer, error, success
from tests.support.wire import Behaviour
from touchstone.cli.batches.local_rounds import TRIES
from touchstone.cli.terminal import waiting
from touchstone.clock import OFFSET_VARIABLE
from touchstone.judges import load_registry

VERDICT = replies.verify(independent_answer="x")
COUNT = 60
PROVIDERS = ("gemini", "openai", "claude", "compatible")
ENDPOINT_SECONDS = 0.02
DAY = 86_400.0
UNLIMITED = {"per_day": None, "per_minute": None}
GEMINI = [model.name for model in load_registry({}).provider("gemini").models.values()]
"""Whose minute of fifteen calls nobody is to wait for here."""


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as started:
        started.reply(VERDICT, schema="VerifyReply", seconds=ENDPOINT_SECONDS)
        yield started


@pytest.fixture(autouse=True)
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been waited for between rounds, in seconds; the system's clock has moved on by it.

    It is afternoon when a test begins, whatever the clock says: no provider's day ends in the next minutes.
    """
    waited: list[float] = []
    now = datetime.now(UTC)
    afternoon = now.replace(hour=15, minute=0) + timedelta(days=1)
    monkeypatch.setenv(OFFSET_VARIABLE, str((afternoon - now).total_seconds()))

    async def rest(seconds: float) -> None:
        waited.append(seconds)
        os.environ[OFFSET_VARIABLE] = str(float(os.environ[OFFSET_VARIABLE]) + seconds)

    monkeypatch.setattr(waiting, "rest", rest)
    return waited


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    return _file(tmp_path, COUNT)


def _file(folder: Path, count: int, **fields: Any) -> Path:
    path = folder / "answers.jsonl"
    lines = [
        {"kind": "verify", "id": f"n{n}", "problem": f"Name island-{n}.", "answer": "x", **fields} for n in range(count)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _led(server: ProviderServer, provider: str) -> dict[str, str]:
    """The environment that leads to one provider alone."""
    everything = server.environment()
    match provider:
        case "gemini":
            names: tuple[str, ...] = ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", REGISTRY_VARIABLE)
            everything |= registry(gemini={"models": dict.fromkeys(GEMINI, UNLIMITED)})
        case "openai":
            names = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
        case "claude":
            names = ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")
        case _:
            return {
                "TOUCHSTONE_COMPATIBLE_BASE_URL": server.compatible_url,
                "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3",
            }
    return {name: everything[name] for name in names}


def _results(requests: Path) -> list[dict[str, Any]]:
    path = requests.with_name("answers.results.jsonl")
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def _statuses(requests: Path) -> Counter[str]:
    return Counter(result["answer"]["verification_status"] for result in _results(requests))


def _line(prompt: str) -> str:
    return prompt.partition("island-")[2].partition(".")[0]


ONCE = dict.fromkeys(map(str, range(COUNT)), 1)
"""How often each line is scored where no call is beyond need."""


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_day_that_is_spent_is_gone_on_with_on_the_next(
    touchstone: Command, requests: Path, server: ProviderServer, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.limit(rpd=30)
    arguments = ("batch", "run", str(requests), "--local", "--parallel", "10")
    result = touchstone(*arguments, "--json", env=_led(server, provider))
    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert (found["lines"], found["verified"], found["unverified"], found["undecided"]) == (60, 30, 30, 30)
    assert "30 of 60 lines are decided; 30 wait:" in result.stderr
    assert "quota" in result.stderr
    assert "UTC" in result.stderr
    assert "This file is finished" not in result.stderr
    assert len(server.calls) <= 33, "three are refused in a minute"
    server.new_day()
    monkeypatch.setenv(OFFSET_VARIABLE, str(float(os.environ[OFFSET_VARIABLE]) + DAY))
    result = touchstone(*arguments, env=_led(server, provider))
    assert result.exit_code == 0, result.stderr
    assert "Lines left: 30 of 60; the others have their results." in result.stderr
    assert _statuses(requests) == {"verified": COUNT}
    assert Counter(_line(call.prompt) for call in server.calls if call.behaviour == "success") == ONCE
    assert "This file is finished" in touchstone(*arguments, env=_led(server, provider)).stderr


def test_a_line_whose_second_judge_is_out_of_quota_waits_and_the_first_is_paid_once(
    touchstone: Command, tmp_path: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = _file(tmp_path, 3, judges=2)
    server.rule(error("day_quota", limit=1), schema="VerifyReply", provider="anthropic")
    arguments = ("batch", "run", str(requests), "--local")
    result = touchstone(*arguments, env=server.environment())
    assert result.exit_code == 3
    assert _statuses(requests) == {"unverified": 3}
    assert "3 wait:" in result.stderr
    server.rule(success(VERDICT), schema="VerifyReply", provider="anthropic")
    monkeypatch.setenv(OFFSET_VARIABLE, str(float(os.environ[OFFSET_VARIABLE]) + DAY))
    result = touchstone(*arguments, env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert _statuses(requests) == {"verified": 3}
    answered = Counter((call.provider, _line(call.prompt)) for call in server.calls if call.behaviour == "success")
    assert answered == {(name, str(n)): 1 for name in ("gemini", "anthropic") for n in range(3)}


def test_wait_stays_until_the_quota_is_back_day_after_day(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.limit(rpd=25)
    rest = waiting.rest

    async def until_midnight(seconds: float) -> None:
        await rest(seconds)
        server.new_day()  # the server has no clock of its own; who asks too early is refused by our own count

    monkeypatch.setattr(waiting, "rest", until_midnight)
    monkeypatch.setattr("touchstone.cli.batches.local_rounds.LOOK_SECONDS", DAY)
    arguments = ("batch", "run", str(requests), "--local", "--parallel", "5", "--wait")
    result = touchstone(*arguments, env=_led(server, "gemini"))
    assert result.exit_code == 0, result.stderr
    assert _statuses(requests) == {"verified": COUNT}
    assert result.stderr.count(" lines wait until ") == 2
    assert DAY < sum(rests) < 2 * DAY + 3600


def test_wait_does_not_wait_for_a_key(touchstone: Command, tmp_path: Path, rests: list[float]) -> None:
    result = touchstone("batch", "run", str(_file(tmp_path, 2)), "--local", "--wait")
    assert result.exit_code == 3
    assert "  2 × misconfigured: " in result.stderr
    assert "GEMINI_API_KEY" in result.stderr
    assert rests == []


def test_a_key_that_cannot_be_one_is_told_for_the_lines_that_need_a_judge(
    touchstone: Command, tmp_path: Path, server: ProviderServer
) -> None:
    path = _file(tmp_path, 1)
    path.write_text(
        path.read_text() + json.dumps({"kind": "verify", "problem": "Compute 3/4 + 1/6.", "answer": "11/12"})
    )
    env = {**_led(server, "openai"), "OPENAI_API_KEY": "schlüssel\u2028"}
    result = touchstone("batch", "run", str(path), "--local", env=env)
    assert result.exit_code == 3
    assert "1 of 2 lines are decided; 1 wait:" in result.stderr
    assert "  1 × misconfigured: " in result.stderr
    assert server.calls == []


def test_an_endpoint_that_is_down_is_not_asked_round_after_round(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    server.script(lambda _: error("overloaded"))
    result = touchstone("batch", "run", str(requests), "--local", "--parallel", "20", env=_led(server, "openai"))
    assert result.exit_code == 3
    # Three calls a line in one round; one more where the slow start held a repeat up. A second round would make six.
    assert 3 * COUNT <= len(server.calls) <= 4 * COUNT


@pytest.mark.parametrize(
    ("behaviour", "reason"), [(error("refused"), "refused"), (success(replies.verify()), "other_answer")]
)
def test_what_another_try_would_not_change_is_an_end(
    touchstone: Command, tmp_path: Path, server: ProviderServer, behaviour: Behaviour, reason: str
) -> None:
    server.rule(behaviour)
    requests = _file(tmp_path, 1)
    arguments = ("batch", "run", str(requests), "--local")
    first = touchstone(*arguments, env=_led(server, "gemini"))
    calls = len(server.calls)
    again = touchstone(*arguments, env=_led(server, "gemini"))
    assert _results(requests)[0]["answer"]["skip_reason"] == reason
    assert (first.exit_code, again.exit_code, len(server.calls)) == (0, 0, calls)
    assert "This file is finished" in again.stderr
    told = [line for line in again.stderr.splitlines() if line.startswith("line 1")]
    assert told == [f"line 1 ({_results(requests)[0]['id']}): {_results(requests)[0]['answer']['verify_error']}"]


def test_five_seconds_bind_nobody_who_does_not_wait(touchstone: Command, server: ProviderServer) -> None:
    server.reply(VERDICT, schema="VerifyReply", seconds=5.5)
    begun = time.monotonic()
    arguments = ("verify", "--local", "--no-cache", "--problem", "Name island-0.", "--answer", "x")
    assert touchstone(*arguments, env=_led(server, "compatible")).exit_code == 0
    assert time.monotonic() - begun > 5  # a file's lines, in made-up time: tests.integration.faults.test_matrix


def test_a_request_may_bring_its_own_seconds(touchstone: Command, tmp_path: Path, server: ProviderServer) -> None:
    server.reply(VERDICT, schema="VerifyReply", seconds=60.0)
    requests = _file(tmp_path, 1, verify_seconds=1.0)
    result = touchstone("batch", "run", str(requests), "--local", env=_led(server, "compatible"))
    assert result.exit_code == 3
    assert "It had 1 s; TOUCHSTONE_VERIFY_SECONDS" in result.stderr
    arguments = ("verify", "--local", "--seconds", "1", "--problem", "Name island-1.", "--answer", "x")
    assert touchstone(*arguments, env=_led(server, "compatible")).exit_code == 3


def test_a_setting_that_is_wrong_is_told_before_anything_is_sent(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    env = {**_led(server, "gemini"), "TOUCHSTONE_VERIFY_SECONDS": "a minute"}
    result = touchstone("batch", "run", str(requests), "--local", env=env)
    assert result.exit_code == 2
    assert "TOUCHSTONE_VERIFY_SECONDS is 'a minute'; set it to a number of seconds from 1 to 300." in result.stderr
    assert server.calls == []


def test_what_a_line_cost_before_it_was_decided_stays_counted(
    touchstone: Command, tmp_path: Path, server: ProviderServer
) -> None:
    server.script(*[success("no JSON at all")] * 8)
    requests = _file(tmp_path, 1)
    arguments = ("batch", "run", str(requests), "--local", "--json")
    first = json.loads(touchstone(*arguments, env=_led(server, "gemini")).stdout)
    assert (first["undecided"], len(server.calls)) == (1, 8)
    then = json.loads(touchstone(*arguments, env=_led(server, "gemini")).stdout)
    assert (then["undecided"], then["verified"]) == (0, 1)
    assert len(_results(requests)[0]["answer"]["spends"]) == 9
    assert then["cost_usd"] > first["cost_usd"] > 0


SOLVED: Mapping[str, Any] = {
    "AnalyzeReply": replies.analyze(),
    "SolveReply": replies.solve(answer="x"),
    "VerifyReply": VERDICT,
    "EnrichReply": replies.enrich(),
    "EvaluateReply": replies.evaluate(),
}


@pytest.mark.parametrize("missing", ["SolveReply", "EvaluateReply"])
def test_a_problem_that_nobody_solved_or_evaluated_is_asked_again(
    touchstone: Command, tmp_path: Path, server: ProviderServer, missing: str
) -> None:
    for schema, value in SOLVED.items():
        server.reply(value, schema=schema)
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"kind": "solve", "problem": "Name island-0.", "deep_evaluation": True}))
    server.rule(error("day_quota", limit=1), schema=missing)
    arguments = ("batch", "run", str(path), "--local", "--json")
    result = touchstone(*arguments, env=_led(server, "gemini"))
    assert result.exit_code == 3, result.stderr
    assert json.loads(result.stdout)["undecided"] == 1
    server.reply(SOLVED[missing], schema=missing)
    result = touchstone(*arguments, env=_led(server, "gemini"))
    assert result.exit_code == 0, result.stderr
    assert _results(path)[0]["answer"]["deep_evaluation"] is not None
    paid_once = {schema for schema in SOLVED if schema != missing}
    asked = Counter(call.title for call in server.calls)
    assert {asked[schema] for schema in paid_once} == {1}


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_marks_that_some_take_for_line_ends_are_text_like_any_other(
    touchstone: Command, tmp_path: Path, server: ProviderServer, mark: str
) -> None:
    path = tmp_path / f"an{mark}swers.jsonl"
    texts = [f"Name{mark}island-{n}." for n in range(3)]
    path.write_bytes(
        b"".join(
            json.dumps(
                {"kind": "verify", "id": f"a{n}", "problem": text, "answer": "x"}, ensure_ascii=mark < " "
            ).encode()
            + b"\n"
            for n, text in enumerate(texts)
        )
    )
    for words in ("Batch: 3 of 3", "This file is finished: all 3 results"):
        result = touchstone("batch", "run", str(path), "--local", env=_led(server, "gemini"))
        assert result.exit_code == 0, result.stderr
        assert words in result.stderr
    lines = (tmp_path / f"an{mark}swers.results.jsonl").read_bytes().split(b"\n")[:-1]
    assert [json.loads(line)["answer"]["problem"] for line in lines] == texts
    assert len(server.calls) == 3


@pytest.mark.parametrize("waits", [(), ("--wait",)])
def test_a_solution_of_no_use_is_paid_for_a_few_times_a_run_however_long_it_waits(
    touchstone: Command, tmp_path: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, waits: tuple[str, ...]
) -> None:
    monkeypatch.setattr("touchstone.cli.batches.local_rounds.LOOK_SECONDS", DAY)
    server.reply(replies.solve(answer=" "), schema="SolveReply")
    server.reply(replies.analyze(subject="math"), schema="AnalyzeReply")
    path = _problems(tmp_path)
    for run in (1, 2):
        result = touchstone("batch", "run", str(path), "--local", *waits, env=_led(server, "openai"))
        assert result.exit_code == 3
        assert "1 × unreadable" in result.stderr
        assert "wait until" not in result.stderr
        assert [call.title for call in server.calls].count("SolveReply") == run * TRIES


def test_a_solution_of_no_use_is_asked_for_anew_in_the_next_round(
    touchstone: Command, tmp_path: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply(replies.solve(answer=" "), schema="SolveReply")
    server.reply(replies.analyze(subject="math"), schema="AnalyzeReply")
    rest = waiting.rest

    async def has_thought(seconds: float) -> None:
        server.reply(replies.solve(answer="11/12"), schema="SolveReply")
        await rest(seconds)

    monkeypatch.setattr(waiting, "rest", has_thought)
    result = touchstone("batch", "run", str(_problems(tmp_path)), "--local", env=_led(server, "openai"))
    assert [call.title for call in server.calls].count("SolveReply") == 2
    assert "unreadable" not in result.stderr


@pytest.mark.parametrize("waits", [(), ("--wait",)])
def test_a_solution_of_no_use_is_paid_for_once_a_run_in_which_its_line_waits_for_another_provider(
    touchstone: Command, tmp_path: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, waits: tuple[str, ...]
) -> None:
    monkeypatch.setattr("touchstone.cli.batches.local_rounds.LOOK_SECONDS", DAY)
    server.rule(error("overloaded"), schema="SolveReply", provider="openai")
    server.rule(success(replies.solve(answer=" ")), schema="SolveReply", provider="gemini")
    server.reply(replies.analyze(subject="math"), schema="AnalyzeReply")
    both = _led(server, "gemini") | _led(server, "openai")
    result = touchstone("batch", "run", str(_problems(tmp_path)), "--local", *waits, env=both)
    assert result.exit_code == 3
    assert "1 × overloaded" in result.stderr
    assert [call.provider for call in server.calls if call.title == "SolveReply"].count("gemini") == 1


def _problems(folder: Path) -> Path:
    path = folder / "problems.jsonl"
    path.write_text('{"kind": "solve", "problem": "Compute 3/4 + 1/6.", "deep_evaluation": false}')
    return path


@pytest.mark.parametrize("waits", [(), ("--wait",)])
def test_replies_that_nobody_can_read_are_paid_for_a_few_times_a_run_however_long_it_waits(
    touchstone: Command, tmp_path: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, waits: tuple[str, ...]
) -> None:
    monkeypatch.setattr("touchstone.cli.batches.local_rounds.LOOK_SECONDS", DAY)
    server.reply({"no": "verdict"}, schema="VerifyReply")
    path = tmp_path / "answers.jsonl"
    path.write_text('{"kind": "verify", "problem": "Name the largest island.", "answer": "Greenland"}')
    result = touchstone("batch", "run", str(path), "--local", *waits, env=_led(server, "openai"))
    assert result.exit_code == 3
    assert "1 × unreadable" in result.stderr
    assert "wait until" not in result.stderr
    assert len(server.calls) <= 2 * TRIES  # each try repairs an unreadable reply once
