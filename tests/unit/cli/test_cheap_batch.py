"""A file by the providers' batches: submitted, left, found again, collected, and each line stored and paid once."""

import json
from collections.abc import Iterator
from datetime import timedelta
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support import replies
from tests.support.balance import balance_local
from tests.support.commands import Command
from tests.support.providers import ProviderServer, error, success
from tests.support.wire_batches import Plan, Refusal
from touchstone.cli.batches import batch_journal, cheap_batch, cheap_submitting
from touchstone.cli.batches.batch_journal import BatchJournal, Intent, LinePlace, journal_path
from touchstone.cli.batches.cheap_batch import CheapRun
from touchstone.cli.batches.cheap_submitting import BatchSubmitter
from touchstone.cli.terminal import waiting
from touchstone.clock import OFFSET_VARIABLE, system_clock
from touchstone.errors import StoreError
from touchstone.judges.batches import BatchLimits
from touchstone.judges.batches.gemini import GeminiBatches
from touchstone.operations.provider_batches.following import SHOWN_WITHIN

COUNT = 4
LINES = [
    json.dumps({"kind": "verify", "id": f"island-{number}", "problem": f"Name island-{number}.", "answer": "x"})
    for number in range(COUNT)
]
PROOF = json.dumps({"kind": "verify", "problem": "Compute 3/4 + 1/6.", "answer": "11/12"})
VERDICT = replies.verify(independent_answer="x")
HALF = 0.5


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as started:
        started.reply(VERDICT, schema="VerifyReply")
        started.reply(replies.evaluate(), schema="EvaluateReply")
        yield started


@pytest.fixture
def requests(tmp_path: Path, server: ProviderServer) -> Iterator[Path]:
    """A file of requests, whose results hold the invariants in the end, however far they have come."""
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join([*LINES, PROOF]) + "\n")
    yield path
    balance_local(server, path, path.with_name("answers.results.jsonl"))


@pytest.fixture(autouse=True)
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    rested: list[float] = []

    async def rest(seconds: float) -> None:
        rested.append(seconds)
        monkeypatch.setenv(OFFSET_VARIABLE, str(sum(rested)))

    monkeypatch.setattr(waiting, "rest", rest)
    return rested


def _leave_at_once(monkeypatch: pytest.MonkeyPatch, place: object, name: str) -> None:
    def leave(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, name, leave)


def _forget_at_the_first_rest(monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
    """Let a month pass at the first rest: the provider does not keep what its batches brought."""
    rest, months = waiting.rest, iter([True])

    async def a_month(seconds: float) -> None:
        await rest(seconds)
        if next(months, False):
            server.batches.forget()

    monkeypatch.setattr(waiting, "rest", a_month)


def _left(touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Result:
    """The command stopped by its user at its first rest."""
    with monkeypatch.context() as patched:
        _leave_at_once(patched, waiting, "rest")
        return touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())


def _results(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.with_name("answers.results.jsonl").read_text().splitlines()]


def _cost(path: Path) -> float:
    return sum((float(result["answer"]["cost_usd"]) for result in _results(path)), 0.0)


def _bare(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what a batch changes: moments, and what calls cost, took and are called."""
    answer = {name: value for name, value in result["answer"].items() if not name.endswith("_at")}
    answer["spends"] = [
        {name: value for name, value in spend.items() if name not in {"cost_usd", "latency_ms", "line_id", "saved_usd"}}
        for spend in answer["spends"]
    ]
    for told in ("cost_usd", "saved_usd"):
        del answer[told]
    return {**result, "answer": answer, "finished_at": None}


def _without_cache(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**line, "use_cache": False}) + "\n" for line in lines))


@pytest.mark.parametrize("key", ["GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"])
def test_results_are_those_of_single_calls_at_half_the_price(
    touchstone: Command, requests: Path, server: ProviderServer, key: str
) -> None:
    _without_cache(requests)
    everything = server.environment()
    env = {name: value for name, value in everything.items() if name == key or not name.endswith("KEY")}
    single = touchstone("batch", "run", str(requests), "--local", env=env)
    assert single.exit_code == 0, single.stderr
    at_once, price = _results(requests), _cost(requests)
    assert price > 0
    before = len(server.calls)
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", "--again", env=env)
    assert result.exit_code == 0, result.stderr
    assert [_bare(one) for one in _results(requests)] == [_bare(one) for one in at_once]
    assert _cost(requests) == pytest.approx(HALF * price)
    spends = [spend for one in _results(requests) for spend in one["answer"]["spends"]]
    assert sum(spend["saved_usd"] for spend in spends) == pytest.approx(HALF * price)
    assert len({spend["line_id"] for spend in spends}) == len(spends) == COUNT
    assert all(call.by_batch for call in server.calls[before:])
    assert len(server.calls) - before == COUNT, "the proof needs no judge"
    assert len(server.batches.stored) == 1
    assert not journal_path(requests.with_name("answers.results.jsonl")).exists(), "all is done, nothing is left over"
    assert "4 questions wait in" in result.stderr
    assert "at the latest" in result.stderr


def test_left_and_called_again_it_collects(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.batches.plan(Plan(looks=1))
    result = _left(touchstone, requests, server, monkeypatch)
    assert result.exit_code == 130
    assert "1 of 5 lines are decided" in result.stderr
    refused = touchstone("batch", "run", str(requests), "--local", env=server.environment())
    assert refused.exit_code == 2
    assert "--cheap collects them" in refused.stderr
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert len(server.batches.stored) == 1
    assert len(server.calls) == COUNT


def test_a_deep_evaluation_goes_in_the_same_batch_or_the_next(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    requests.write_text(LINES[0][:-1] + ', "deep_evaluation": true}\n')
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    answer = _results(requests)[0]["answer"]
    assert answer["evaluation"]["state"] == "done"
    assert {spend["purpose"] for spend in answer["spends"]} == {"verify", "evaluate"}
    assert len({call.model for call in server.calls}) == len(server.batches.stored) == 2, "one model a batch"
    assert all(spend["line_id"] for spend in answer["spends"])


def test_the_second_judge_is_asked_by_a_batch_too(touchstone: Command, requests: Path, server: ProviderServer) -> None:
    requests.write_text(LINES[0])
    server.rule(success(replies.verify(independent_answer="quite another")), provider="gemini")
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    spends = _results(requests)[0]["answer"]["spends"]
    assert [spend["provider"] for spend in spends] == ["gemini", "claude"]
    assert all(call.by_batch for call in server.calls)


def test_several_judges_vote_by_batches_of_their_own(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    line = json.loads(LINES[0])
    requests.write_text("".join(json.dumps(line | {"judges": wanted}) + "\n" for wanted in (2, 3)))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    two, three = (one["answer"] for one in _results(requests))
    assert [len(one["attempts"][0]["verification"]["votes"]) for one in (two, three)] == [2, 3]
    assert (two["verification_status"], three["verification_status"]) == ("verified", "verified")
    assert all(call.by_batch for call in server.calls)
    assert len(server.calls) == 3, "the same question is asked of each once"


def test_replies_under_each_others_ids_are_asked_again(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    for number in range(COUNT):
        server.reply(replies.verify(independent_answer="x", confidence=number / 10), prompt=f"island-{number}")
    server.batches.plan(Plan(swapped=((1, 2),), twice=(0,)))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    answers = [one["answer"] for one in _results(requests)][:COUNT]
    assert [answer["verify_confidence"] for answer in answers] == [0.0, 0.1, 0.2, 0.3]
    assert [len(answer["spends"]) for answer in answers] == [1, 2, 2, 1], "what was mixed up is paid for, and told"
    assert [len(each.line_ids) for each in server.batches.stored.values()] == [4, 2]


def test_what_a_batch_did_not_come_to_is_asked_at_once(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    server.batches.plan(Plan(end="expired", late=(1, 3)))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert [call.by_batch for call in server.calls] == [True, True, False, False]
    assert "2 lines are asked at once" in result.stderr
    spends = [one["answer"]["spends"] for one in _results(requests)][:COUNT]
    assert [bool(one[0]["line_id"]) for one in spends] == [True, False, True, False]


def test_a_line_that_is_missing_is_submitted_again(touchstone: Command, requests: Path, server: ProviderServer) -> None:
    server.batches.plan(Plan(missing=(2,)))
    assert touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment()).exit_code == 0
    assert [len(each.line_ids) for each in server.batches.stored.values()] == [4, 1]


def test_results_that_are_gone_are_asked_for_again(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _forget_at_the_first_rest(monkeypatch, server)
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert "does not find the results" in result.stderr
    assert "not in the costs of the results: 1 batch whose replies could not be had; $" in " ".join(
        result.stderr.split()
    )
    assert [len(each.line_ids) for each in server.batches.stored.values()] == [COUNT, COUNT]


@pytest.mark.parametrize("key", ["GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"])
def test_a_batch_or_results_that_a_provider_does_not_find_for_a_while_are_not_paid_twice(
    touchstone: Command, requests: Path, server: ProviderServer, key: str
) -> None:
    env = {name: value for name, value in server.environment().items() if name == key or not name.endswith("KEY")}
    server.batches.unknown, server.batches.results_late = 2, 2
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert [len(each.line_ids) for each in server.batches.stored.values()] == [COUNT]
    assert [call.by_batch for call in server.calls] == [True] * COUNT


def test_a_batch_that_was_late_to_be_found_has_its_own_hour_for_its_results(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float]
) -> None:
    server.batches.plan(Plan(looks=200))
    server.batches.unknown, server.batches.results_late = 1, 1
    everything = server.environment()
    env = {name: value for name, value in everything.items() if name == "OPENAI_API_KEY" or not name.endswith("KEY")}
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert sum(rests) > 2 * timedelta(hours=1).total_seconds()
    assert [len(each.line_ids) for each in server.batches.stored.values()] == [COUNT]


def test_what_was_lost_is_paid_for_and_counts_for_the_ceiling(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _forget_at_the_first_rest(monkeypatch, server)
    monkeypatch.setattr(cheap_submitting, "highest_cost_usd", lambda *_, **__: 1.0)
    arguments = ("batch", "run", str(requests), "--local", "--cheap", "--max-cost", "6")
    touchstone(*arguments, env=server.environment())
    lost, again, *_ = [len(each.line_ids) for each in server.batches.stored.values()]
    assert (lost, again) == (COUNT, 2), "of six dollars four are spent"


def test_a_batch_that_a_provider_never_takes_is_asked_at_once(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    server.batches.refuse(Refusal(status=400, body={"error": {"status": "X"}}))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert server.batches.stored == {}
    assert [call.by_batch for call in server.calls] == [False] * COUNT
    assert "They are asked at once." in result.stderr


def test_a_quota_of_batches_is_waited_for_as_long_as_its_provider_says(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float]
) -> None:
    spent = {"error": {"code": "rate_limit_exceeded", "message": "Too many requests"}}
    server.batches.refuse(Refusal(status=429, body=spent, retry_after=1800))
    everything = server.environment()
    env = {name: value for name, value in everything.items() if name == "OPENAI_API_KEY" or not name.endswith("KEY")}
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert 1800 <= sum(rests) < 2400
    assert [call.by_batch for call in server.calls] == [True] * COUNT


def test_a_quota_of_batches_is_waited_for_and_then_one_is_under_way_at_a_time(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GeminiBatches, "limits", BatchLimits(lines=2, bytes=1_000_000))
    server.batches.plan(Plan(looks=2))
    server.batches.refuse(*(Refusal(status=429, body={"error": {"status": "X"}}) for _ in range(4)))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert [call.by_batch for call in server.calls] == [True] * COUNT
    assert sum(rests) > 60 + 120 + 240 + 480
    first, second = server.batches.stored.values()
    assert second.created - first.created >= timedelta(seconds=10), "the second waits for the end of the first"
    assert "UTC for that quota" in " ".join(result.stderr.split())


def test_a_quota_of_batches_that_is_not_there_for_a_day_is_not_waited_for_longer(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cheap_batch, "LONGEST_REST", 1800.0)
    server.batches.refuse(*(Refusal(status=429, body={"error": {"status": "X"}}) for _ in range(60)))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert [call.by_batch for call in server.calls] == [False] * COUNT
    assert timedelta(days=1) <= timedelta(seconds=sum(rests)) < timedelta(days=1, hours=3)


def test_a_batch_beyond_the_tokens_that_may_wait_is_submitted_again_in_smaller_ones(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    everything = server.environment()
    env = {name: value for name, value in everything.items() if name == "OPENAI_API_KEY" or not name.endswith("KEY")}
    server.batches.plan(Plan(end="failed"), Plan(end="failed"))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert [call.by_batch for call in server.calls] == [True] * COUNT
    assert [len(batch.line_ids) for batch in server.batches.stored.values()] == [4, 2, 1, 1, 1, 1]


def test_a_look_at_batches_that_are_under_way_does_no_line_again_of_which_nothing_new_is_known(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = server.environment()
    env = {name: value for name, value in everything.items() if name == "OPENAI_API_KEY" or not name.endswith("KEY")}
    done: list[int] = []
    again = CheapRun._done_again

    async def counted(run: CheapRun, number: int, text: bytes) -> Any:
        done.append(number)
        return await again(run, number, text)

    monkeypatch.setattr(CheapRun, "_done_again", counted)
    server.batches.refuse(*(Refusal(status=429, body={"error": {"code": "x"}}) for _ in range(4)))
    server.batches.plan(Plan(looks=5))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert [call.by_batch for call in server.calls] == [True] * COUNT
    assert done.count(1) == 2, "before its batch, and after"


def test_a_batch_that_never_ends_is_cancelled_after_its_time(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float]
) -> None:
    server.batches.plan(Plan(looks=10**9))
    everything = server.environment()
    env = {name: value for name, value in everything.items() if name == "OPENAI_API_KEY" or not name.endswith("KEY")}
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert server.batches.cancelled == ["batch_0"]
    assert [call.by_batch for call in server.calls] == [True] * COUNT, "what it had done by then is taken"
    assert timedelta(hours=25) <= timedelta(seconds=sum(rests)) < timedelta(hours=26)


def test_a_batch_that_does_not_end_when_it_is_cancelled_is_given_up(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float]
) -> None:
    server.batches.plan(Plan(looks=10**9, lingers=10**9))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert "is past its time, was cancelled and has not ended" in " ".join(result.stderr.split())
    assert [call.by_batch for call in server.calls] == [True] * COUNT + [False] * COUNT
    # Two days of Gemini's, an hour that clocks may differ, and an hour for it to end.
    assert timedelta(hours=50) <= timedelta(seconds=sum(rests)) < timedelta(hours=51)


def test_a_server_without_batches_is_asked_at_once(touchstone: Command, requests: Path, server: ProviderServer) -> None:
    env = {"TOUCHSTONE_COMPATIBLE_BASE_URL": server.compatible_url, "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3"}
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert "compatible has no batches" in result.stderr
    assert [call.provider for call in server.calls] == ["compatible"] * COUNT


def test_a_line_whose_second_judge_has_no_batches_keeps_what_the_first_cost(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    requests.write_text(LINES[0])
    server.rule(success(replies.verify(independent_answer="quite another")), provider="gemini")
    env = {"TOUCHSTONE_COMPATIBLE_BASE_URL": server.compatible_url, "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3"}
    everything = server.environment()
    env |= {name: everything[name] for name in ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL")}
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    spends = _results(requests)[0]["answer"]["spends"]
    assert [(spend["provider"], bool(spend["line_id"]), spend["cached"]) for spend in spends] == [
        ("gemini", True, False),
        ("gemini", False, True),
        ("compatible", False, False),
    ]


def test_the_same_question_of_two_lines_is_asked_once(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    requests.write_text("\n".join([LINES[0], LINES[0], LINES[1]]))
    assert touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment()).exit_code == 0
    assert len(server.calls) == 2
    assert [one["answer"]["spends"][0]["cached"] for one in _results(requests)] == [False, True, False]


def test_begun_anew_it_cancels_what_is_under_way(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.batches.plan(Plan(looks=1000))
    _left(touchstone, requests, server, monkeypatch)
    first = next(iter(server.batches.stored))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", "--again", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert server.batches.cancelled == [first]
    assert len(server.batches.stored) == 2


def test_an_estimate_sends_nothing_and_keeps_nothing(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    requests.write_text("\n".join([*LINES, PROOF, '{"kind": "solve", "problem": "Why?"}']))
    arguments = ("batch", "run", str(requests), "--local", "--cheap", "--estimate")
    found = json.loads(touchstone(*arguments, "--json", env=server.environment()).stdout)
    assert (found["lines"], found["calls"], found["checked"], found["at_once"]) == (6, COUNT, 1, 1)
    assert found["batch_usd"] == pytest.approx(HALF * found["at_once_usd"])
    assert found["at_once_usd"] > 0
    assert "by batches, at most" in touchstone(*arguments, env=server.environment()).stdout
    assert server.calls == []
    assert [path.name for path in requests.parent.iterdir()] == ["answers.jsonl"]


def test_an_estimate_counts_the_lines_that_a_run_would_do_again(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    lost = {"line": 2, "error": {"reason": "unexpected", "detail": "it ended without a result"}}
    arguments = ("batch", "run", str(requests), "--local", "--cheap")
    assert touchstone(*arguments, env=server.environment()).exit_code == 0
    path = requests.with_suffix(".results.jsonl")
    kept = path.read_text().splitlines()
    path.write_text("\n".join([kept[0], json.dumps(lost), *kept[2:], ""]))
    found = json.loads(touchstone(*arguments, "--estimate", "--json", env=server.environment()).stdout)
    assert (found["lines"], found["calls"]) == (1, 0), "its reply is in the cache"
    assert "Lines left: 1 of 5" in touchstone(*arguments, env=server.environment()).stderr


def test_a_ceiling_submits_nothing_more_and_cancels_nothing_and_a_higher_one_goes_on(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_cache(requests)
    arguments = ("batch", "run", str(requests), "--local", "--cheap")
    most = json.loads(touchstone(*arguments, "--estimate", "--json", env=server.environment()).stdout)["batch_usd"]
    nothing = touchstone(*arguments, "--max-cost", "0", env=server.environment())
    assert (nothing.exit_code, server.calls) == (3, [])
    assert f"{COUNT} lines were not asked" in nothing.stderr
    with monkeypatch.context() as patched:
        _leave_at_once(patched, waiting, "rest")
        touchstone(*arguments, "--max-cost", str(most / 2), env=server.environment())
    paid = len(server.calls)
    assert 0 < paid < COUNT
    some = touchstone(*arguments, "--max-cost", "0", "--json", env=server.environment())
    assert some.exit_code == 3, some.stderr
    assert (len(server.calls), server.batches.cancelled) == (paid, [])
    found = json.loads(some.stdout)
    assert (found["lines"], found["undecided"]) == (1 + paid, COUNT - paid)
    rest = touchstone(*arguments, "--max-cost", "5", env=server.environment())
    assert rest.exit_code == 0, rest.stderr
    assert len(server.calls) == COUNT
    assert all(call.by_batch for call in server.calls)


def test_what_an_estimate_calls_the_most_is_enough_for_every_line(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    _without_cache(requests)
    arguments = ("batch", "run", str(requests), "--local", "--cheap")
    most = json.loads(touchstone(*arguments, "--estimate", "--json", env=server.environment()).stdout)["batch_usd"]
    result = touchstone(*arguments, "--max-cost", str(most), env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert (len(server.calls), len(server.batches.stored)) == (COUNT, 1), "no line waits until others are paid"


def test_a_ceiling_submits_nothing_beside_a_batch_that_may_cost_nobody_knows_what(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GeminiBatches, "limits", BatchLimits(lines=2, bytes=1_000_000))
    server.batches.plan(Plan(looks=3))
    arguments = ("batch", "run", str(requests), "--local", "--cheap")
    create, created = BatchSubmitter._created, count()

    async def once(run: BatchSubmitter, *given: Any) -> bool:
        if next(created):
            raise KeyboardInterrupt
        return await create(run, *given)

    with monkeypatch.context() as patched:
        patched.setattr(BatchSubmitter, "_created", once)
        # Nobody knows the price, and no ceiling is set.
        patched.setattr(cheap_submitting, "highest_cost_usd", lambda *_, **__: None)
        touchstone(*arguments, env=server.environment())
    with monkeypatch.context() as patched:
        _leave_at_once(patched, waiting, "rest")
        left = touchstone(*arguments, "--max-cost", "5", env=server.environment())
    assert len(server.batches.stored) == 1
    assert "1 batch under way may cost an amount that is not known" in " ".join(left.stderr.split())
    whole = touchstone(*arguments, "--max-cost", "5", env=server.environment())
    assert whole.exit_code == 0, whole.stderr
    assert len(server.batches.stored) == 2
    assert len(server.calls) == COUNT


def test_a_ceiling_asks_nothing_at_once(touchstone: Command, requests: Path, server: ProviderServer) -> None:
    server.batches.plan(Plan(looks=1, end="expired", late=(0,)))
    arguments = ("batch", "run", str(requests), "--local", "--cheap")
    result = touchstone(*arguments, "--max-cost", "5", "--json", env=server.environment())
    assert result.exit_code == 3, result.stderr
    assert all(call.by_batch for call in server.calls)
    left = json.loads(result.stdout)["undecided"]
    assert left > 0
    whole = touchstone(*arguments, env=server.environment())
    assert whole.exit_code == 0, whole.stderr
    assert sum(not call.by_batch for call in server.calls) == left


@pytest.mark.parametrize("options", [("--cheap",), ("--local", "--estimate"), ("--local", "--max-cost", "1")])
def test_options_that_need_others_say_which(touchstone: Command, requests: Path, options: tuple[str, ...]) -> None:
    result = touchstone("batch", "run", str(requests), *options)
    assert result.exit_code == 2
    assert "Add --local" in result.stderr


def test_a_fault_of_one_line_is_that_lines(touchstone: Command, requests: Path, server: ProviderServer) -> None:
    server.rule(error("refused"), prompt="island-2")
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    reasons = [one["answer"]["skip_reason"] for one in _results(requests)]
    assert reasons == [None, None, "refused", None, None]


def test_a_journal_that_lacks_an_entry_is_damaged_and_begun_anew_if_that_is_wanted(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.batches.plan(Plan(looks=1))
    _left(touchstone, requests, server, monkeypatch)
    journal = journal_path(requests.with_name("answers.results.jsonl"))
    entries = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(entry for entry in entries if '"kind":"intent"' not in entry))
    arguments = ("batch", "run", str(requests), "--local", "--cheap")
    result = touchstone(*arguments, env=server.environment())
    assert result.exit_code == 2, result.stderr
    assert "is damaged" in result.stderr
    assert touchstone(*arguments, "--again", env=server.environment()).exit_code == 0
    assert len(_results(requests)) == COUNT + 1


def test_a_journal_that_was_cut_short_goes_on_from_its_last_whole_entry(tmp_path: Path) -> None:
    path = tmp_path / "j.batches"
    journal = BatchJournal(path, "digest")
    lines = {"a-0": LinePlace(answer="x", question="y")}
    journal.add(Intent(intent="a", provider="gemini", model="m", at=system_clock() - timedelta(days=1), lines=lines))
    journal.close()
    whole = path.read_bytes()
    entry = whole.split(b"\n")[-2]
    for cut in range(1, len(entry)):
        path.write_bytes(whole + entry[:cut])
        assert list(BatchJournal(path, "digest").submissions) == ["a"]
        assert path.read_bytes() == whole


def test_a_line_of_which_one_question_is_refused_waits_for_the_other(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    """What a batch answers is paid for, so it is in the record although the line had to be asked at once."""
    requests.write_text(LINES[0][:-1] + ', "deep_evaluation": true}\n')
    server.batches.refuse(Refusal(status=400, body={"error": {"status": "X"}}))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert sorted(call.by_batch for call in server.calls) == [False, True]
    spends = _results(requests)[0]["answer"]["spends"]
    assert [spend["line_id"] is not None for spend in spends if not spend["cached"]].count(True) == 1
    assert not journal_path(requests.with_name("answers.results.jsonl")).exists()


def test_a_provider_that_is_down_for_batches_is_asked_at_once_in_the_end(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    server.batches.refuse(*(Refusal(status=503) for _ in range(20)))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert [call.by_batch for call in server.calls] == [False] * COUNT
    assert server.batches.stored == {}


def test_a_file_is_split_by_what_a_batch_holds(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GeminiBatches, "limits", BatchLimits(lines=3, bytes=1_000_000))
    assert touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment()).exit_code == 0
    assert [len(each.line_ids) for each in server.batches.stored.values()] == [3, 1]
    monkeypatch.setattr(GeminiBatches, "limits", BatchLimits(lines=3, bytes=1))
    _without_cache(requests)
    again = touchstone("batch", "run", str(requests), "--local", "--cheap", "--again", env=server.environment())
    assert again.exit_code == 0, again.stderr
    assert [len(each.line_ids) for each in server.batches.stored.values()] == [3, 1, 1, 1, 1, 1]


def test_another_key_is_told_where_the_batch_waits(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that is not shown any more is not paid for a second time without a word."""
    server.batches.plan(Plan(looks=9))
    _left(touchstone, requests, server, monkeypatch)
    server.batches.stored.clear()
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 4
    assert "A batch of 4 questions waits there" in result.stderr
    assert len(server.calls) == COUNT


@pytest.mark.parametrize("key", ["GEMINI_API_KEY", "OPENAI_API_KEY"])
def test_a_batch_that_is_shown_late_is_not_created_twice(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float], key: str
) -> None:
    """A create without an answer, whose batch the provider's list shows some looks later."""
    everything = server.environment()
    env = {name: value for name, value in everything.items() if name == key or not name.endswith("KEY")}
    server.batches.plan(Plan(hidden=4))
    server.batches.refuse(Refusal(lost=True))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert len(server.batches.stored) == 1
    assert len(server.calls) == COUNT
    assert "it may be shown late" in result.stderr
    assert sum(rests) < SHOWN_WITHIN.total_seconds()


def test_a_batch_that_was_never_created_is_submitted_again_after_its_time(
    touchstone: Command, requests: Path, server: ProviderServer, rests: list[float]
) -> None:
    server.batches.refuse(Refusal(status=503))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert len(server.batches.stored) == 1
    assert len(server.calls) == COUNT
    assert sum(rests) > SHOWN_WITHIN.total_seconds()


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch, touchstone: Command, requests: Path, server: ProviderServer) -> None:
    """A file that was left when a batch, if any, was under way."""
    _left(touchstone, requests, server, monkeypatch)


@pytest.mark.usefixtures("left")
def test_batches_of_another_file_are_not_taken_for_those_of_this_one(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    requests.write_text("\n".join([*LINES[1:], PROOF]) + "\n")
    requests.with_name("answers.results.jsonl").unlink()
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 2
    assert "does not hold batches of this file as it is now" in " ".join(result.stderr.split())
    assert len(server.batches.stored) == 1
    again = touchstone("batch", "run", str(requests), "--local", "--cheap", "--again", env=server.environment())
    assert again.exit_code == 0, again.stderr


def test_an_entry_that_the_disk_took_in_part_is_not_acted_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = BatchJournal(tmp_path / "j.batches", "digest")

    class Full(FileIO):
        def write(self, data: Any) -> int:
            return super().write(data[:-1])

    monkeypatch.setattr(batch_journal, "FileIO", Full)
    lines = {"a-0": LinePlace(answer="x", question="y")}
    with pytest.raises(StoreError, match="took only part"):
        journal.add(Intent(intent="a", provider="gemini", model="m", at=system_clock(), lines=lines))
    assert journal.submissions == {}
    journal.close()


def test_begun_anew_it_cancels_a_batch_whose_creation_was_not_answered(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.batches.plan(Plan(looks=1000))
    server.batches.refuse(Refusal(lost=True))
    _left(touchstone, requests, server, monkeypatch)
    first = next(iter(server.batches.stored))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", "--again", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert server.batches.cancelled == [first]


@pytest.mark.usefixtures("left")
def test_begun_anew_it_tells_of_a_batch_whose_provider_is_not_in_the_registry_any_more(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    journal = journal_path(requests.with_name("answers.results.jsonl"))
    journal.write_text(journal.read_text().replace('"provider":"gemini"', '"provider":"nobody"'))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", "--again", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert "of nobody with 4 questions was not cancelled and may be paid for" in " ".join(result.stderr.split())


def test_replies_that_came_and_are_in_no_result_yet_are_not_asked_for_again(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests.write_text("\n".join(LINES))
    with monkeypatch.context() as patched:
        _leave_at_once(patched, CheapRun, "_keep")
        touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    result = touchstone("batch", "run", str(requests), "--local", env=server.environment())
    assert result.exit_code == 2
    assert "--cheap puts them there" in " ".join(result.stderr.split())
    assert touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment()).exit_code == 0
    assert len(server.calls) == COUNT


def test_another_files_batch_whose_results_are_gone_does_not_hide_a_lost_one(
    touchstone: Command, requests: Path, server: ProviderServer
) -> None:
    everything = server.environment()
    env = {name: value for name, value in everything.items() if name == "ANTHROPIC_API_KEY" or not name.endswith("KEY")}
    other = requests.with_name("other.jsonl")
    other.write_text(LINES[0])
    assert touchstone("batch", "run", str(other), "--local", "--cheap", env=env).exit_code == 0
    server.batches.stored["batch_0"].unkept = True
    _without_cache(requests)
    server.batches.plan(Plan(hidden=1))
    server.batches.refuse(Refusal(lost=True))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=env)
    assert result.exit_code == 0, result.stderr
    assert "does not keep the results of the batch batch_0" not in " ".join(result.stderr.split())
    assert len(server.batches.stored) == 2


def test_replies_to_questions_that_are_not_asked_any_more_are_told(
    touchstone: Command, requests: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        _leave_at_once(patched, waiting, "rest")
        touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    journal = journal_path(requests.with_name("answers.results.jsonl"))
    journal.write_text(journal.read_text().replace('"question":"', '"question":"of-another-prompt-'))
    result = touchstone("batch", "run", str(requests), "--local", "--cheap", env=server.environment())
    assert result.exit_code == 0, result.stderr
    assert "not in the costs of the results: 4 replies to questions that are not asked any more" in " ".join(
        result.stderr.split()
    )
