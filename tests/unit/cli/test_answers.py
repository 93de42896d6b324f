"""Verifying and solving at the command line, through the API and in this process."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import replies
from tests.support.answer_views import EVALUATING, FAILED, SKIPPED, summary, view
from tests.support.commands import Command
from tests.support.loopback import Asked, Loopback, Reply, problem
from tests.support.providers import ProviderServer, success

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
ID = "01JD7Z00000000000000000000"


@pytest.mark.parametrize(
    ("found", "code", "words"),
    [(view(), 0, "Verified ✓"), (view(FAILED), 1, "Check this ⚠"), (view(SKIPPED), 3, "unverified")],
)
def test_an_answer_is_verified_through_the_api(
    online: Command, api: Loopback, found: dict[str, Any], code: int, words: str
) -> None:
    api.answer = lambda _: Reply(status=201, value=found)
    arguments = ("verify", "--problem", "p", "--answer", "a", "--subject", "math", "--no-cache")
    result = online(*arguments)
    assert (result.exit_code, result.stderr) == (code, "")
    assert words in result.stdout
    body = api.asked[0].document
    assert (body["problem"], body["answer"], body["subject"], body["use_cache"]) == ("p", "a", "math", False)
    assert json.loads(online(*arguments, "--json").stdout) == found


@pytest.mark.parametrize(("told", "sent"), [("2", 2), ("3", 3), ("until_sure", "until_sure"), ("1", 1)])
def test_several_judges_are_asked_for_by_both_commands(
    online: Command, api: Loopback, told: str, sent: int | str
) -> None:
    api.answer = lambda _: Reply(status=201, value=view())
    assert online("verify", "--problem", "p", "--answer", "a", "--judges", told).exit_code == 0
    assert online("solve", "--problem", "p", "--judges", told, "--no-wait").exit_code == 0
    assert [asked.document["judges"] for asked in api.asked] == [sent, sent]
    assert online("verify", "--problem", "p", "--answer", "a", "--judges", "4").exit_code == 2


def test_several_judges_vote_here_and_each_vote_is_shown(touchstone: Command) -> None:
    with ProviderServer() as server:
        server.reply(replies.verify(), schema="VerifyReply")
        wrong = replies.failed(independent_answer="Sydney")
        server.rule(success(wrong), schema="VerifyReply", provider="anthropic")
        arguments = ("verify", "--local", "--problem", "Name the capital of Australia.", "--answer", "Canberra")
        result = touchstone(*arguments, "--judges", "2", env=server.environment())
        assert result.exit_code == 3
        for shown in ("gemini", "claude", "right, sure to 95%", "wrong, sure to 90%", "(split)"):
            assert shown in result.stdout
        assert len(server.calls) == 2


def test_a_request_may_come_from_a_pipe(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(status=201, value=view())
    request = {"problem": "值", "answer": "a", "model": "m"}
    assert online("verify", "-", stdin=json.dumps(request)).exit_code == 0
    assert api.asked[0].document["problem"] == "值"


def test_what_the_api_refuses_is_said_in_its_words(online: Command, api: Loopback) -> None:
    api.script = [problem(400, "It is blank.", where="problem")]
    result = online("verify", "--problem", " ", "--answer", "a")
    assert (result.exit_code, result.stderr) == (2, "Error: problem: It is blank.\n")


def test_checks_decide_here_without_a_key(touchstone: Command) -> None:
    result = touchstone("verify", "--local", "--problem", "Compute 3/4 + 1/6.", "--answer", "11/12", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["verification_status"], found["method"]) == (0, "verified", "proof")
    result = touchstone("verify", "--local", "--problem", "Compute 3/4 + 1/6.", "--answer", "1/2")
    assert result.exit_code == 1
    assert "11/12" in result.stdout


def test_what_no_check_decides_is_unverified_and_says_which_key_is_missing(touchstone: Command) -> None:
    result = touchstone("verify", "--local", "--problem", "Name the capital of Australia.", "--answer", "Canberra")
    assert result.exit_code == 3
    assert "GEMINI_API_KEY" in result.stdout


def test_a_judge_decides_here_with_a_key_and_is_paid_once(touchstone: Command) -> None:
    with ProviderServer() as server:
        verdict = {"independent_answer": "Canberra", "is_correct": True, "confidence": 0.9, "error_description": None}
        server.reply(verdict, schema="VerifyReply")
        arguments = ("verify", "--local", "--problem", "Name the capital of Australia.", "--answer", "Canberra")
        for _ in range(2):
            result = touchstone(*arguments, env=server.environment())
            assert result.exit_code == 0
            assert "gemini" in result.stdout
        assert len(server.calls) == 1
        assert "loopback-gemini-key" not in result.output


@pytest.mark.parametrize(
    ("told", "shown"),
    [({"claim": "1000000000"}, "1000000000 tokens of input"), ({"counted": False}, "reported nothing: no count")],
)
def test_r29_a_usage_that_cannot_be_is_shown_beside_the_cost(
    touchstone: Command, told: dict[str, Any], shown: str
) -> None:
    verdict = {"independent_answer": "Canberra", "is_correct": True, "confidence": 0.9, "error_description": None}
    with ProviderServer() as server:
        server.reply(verdict, schema="VerifyReply", **told)
        arguments = ("verify", "--local", "--problem", "Name the capital of Australia.", "--answer", "Canberra")
        result = touchstone(*arguments, env=server.environment())
    assert result.exit_code == 0
    assert shown in " ".join(result.stdout.split())


def test_a_deep_evaluation_that_fails_here_leaves_the_verdict(touchstone: Command) -> None:
    arguments = ("verify", "--local", "--problem", "Compute 3/4 + 1/6.", "--answer", "11/12", "--deep-evaluation")
    result = touchstone(*arguments, "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["evaluation"]["state"]) == (0, "failed")
    with ProviderServer() as server:
        found = json.loads(touchstone(*arguments, "--json", env=server.environment()).stdout)
    assert found["evaluation"]["state"] == "done"


def test_a_model_that_ends_soon_is_mentioned_once(touchstone: Command) -> None:
    overrides = {
        "gemini": {"tiers": {"verify": "old"}, "models": {"old": {"retires": "2020-01-01", "successor": "new"}}}
    }
    with ProviderServer() as server:
        env = {**server.environment(), "TOUCHSTONE_REGISTRY_OVERRIDES": json.dumps(overrides)}
        result = touchstone("verify", "--local", "--problem", "Name a sea.", "--answer", "Aral", env=env)
    assert result.stderr == "Note: gemini's model old ended on 2020-01-01; its successor is new.\n"


def test_a_problem_is_solved_here_or_nobody_can(touchstone: Command) -> None:
    result = touchstone("solve", "--local", "--problem", "Compute 3/4 + 1/6.")
    assert result.exit_code == 3
    assert "GEMINI_API_KEY" in result.stdout
    with ProviderServer() as server:
        server.reply(replies.solve(answer="11/12"), schema="SolveReply")
        server.reply(replies.analyze(subject="math"), schema="AnalyzeReply")
        server.reply(replies.enrich(), schema="EnrichReply")
        result = touchstone("solve", "--local", "--problem", "Compute 3/4 + 1/6.", "--json", env=server.environment())
    found = json.loads(result.stdout)
    assert (result.exit_code, found["answer"], found["method"]) == (0, "11/12", "proof")
    assert found["deep_evaluation"] is None


def test_solving_waits_until_the_answer_is_there(online: Command, api: Loopback, pauses: list[float]) -> None:
    begun = {**view(), "stage": "received", "verification_status": None}
    api.script = [Reply(status=202, value=begun), Reply(value={**begun, "stage": "solving"}), Reply(value=view())]
    result = online("solve", "--problem", "p", "--no-retrieved")
    assert result.exit_code == 0
    assert "Verified ✓" in result.stdout
    assert [asked.path for asked in api.asked] == ["/v1/solutions", f"/v1/answers/{ID}", f"/v1/answers/{ID}"]
    assert api.asked[0].document["use_retrieved"] is False
    assert len(pauses) == 2


def test_solving_need_not_be_waited_for(online: Command, api: Loopback) -> None:
    begun = {**view(), "stage": "received", "verification_status": None}
    api.answer = lambda _: Reply(status=202, value=begun)
    assert online("solve", "--problem", "p", "--no-wait").exit_code == 0
    assert len(api.asked) == 1
    assert online("solve", "--problem", "p", "--timeout", "1").exit_code == 0
    assert len(api.asked) == 4


def test_whoever_stops_waiting_is_told_where_the_answer_will_be(
    online: Command, api: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("touchstone.cli.terminal.waiting.pause", interrupted)
    api.script = [Reply(status=202, value={**view(), "stage": "received"})]
    result = online("solve", "--problem", "p")
    assert result.exit_code == 130
    assert result.stderr == f"It goes on without you; see it with: touchstone answers show {ID}\n"


def test_a_small_picture_travels_inside_and_a_large_one_is_uploaded_first(
    online: Command, api: Loopback, tmp_path: Path
) -> None:
    def answer(asked: Asked) -> Reply:
        if asked.path == "/v1/images":
            return Reply(value={"s3_key": "acme/images/1", "upload_url": f"{api.url}/put"})
        return Reply(value=view())

    api.answer = answer
    for name, size in (("small.png", 0), ("large.png", 2_000_000)):
        (tmp_path / name).write_bytes(PNG + bytes(size))
        assert online("solve", "--image", str(tmp_path / name)).exit_code == 0
    assert [asked.path for asked in api.asked] == ["/v1/solutions", "/v1/images", "/put", "/v1/solutions"]
    assert base64.b64decode(api.asked[0].document["image"]["data_base64"]) == PNG
    assert len(api.asked[2].body) == 2_000_000 + len(PNG)
    assert api.asked[3].document["image"] == {"s3_key": "acme/images/1"}
    assert len({asked.headers.get("idempotency-key") for asked in api.asked if asked.path != "/put"}) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "exactly one of problem and image"),
        (["--problem", "p", "--image", "IMAGE"], "exactly one of problem and image"),
        (["--image", "IMAGE"], "send a PNG, JPEG, WebP or GIF"),
        (["--image", "none.png"], "none.png cannot be read"),
    ],
)
def test_what_cannot_be_solved_is_refused_before_anything_is_sent(
    online: Command, api: Loopback, tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "x.png").write_bytes(b"%PDF-1.7 and so on")
    for where in ([], ["--local"]):
        result = online("solve", *where, *[str(tmp_path / "x.png") if part == "IMAGE" else part for part in arguments])
        assert result.exit_code == 2
        assert words in result.stderr
    assert api.asked == []


def test_answers_are_listed_newest_first_as_the_api_says(online: Command, api: Loopback) -> None:
    undecided = summary(verification_status="unverified", verification_confidence=0.0)
    items = [summary(problem="A long\nproblem " * 9), summary(verification_status=None), undecided]
    page = {"items": items, "cursor": "next"}
    api.answer = lambda _: Reply(value=page)
    result = online("answers", "list", "--status", "verified", "--limit", "2")
    assert (result.exit_code, result.stderr) == (0, "There are more: --cursor next\n")
    assert "A long problem A long" in result.stdout
    assert "0%" not in result.stdout
    assert "…" in result.stdout
    assert api.asked[0].query == {"limit": "2", "status": "verified"}
    assert json.loads(online("answers", "list", "--json").stdout) == page
    api.answer = lambda _: Reply(value={"items": [], "cursor": None})
    assert online("answers", "list").stderr == "There are no answers yet. The first comes by: touchstone verify\n"


def test_answers_are_found_by_filters_and_it_is_said_how_far_was_looked(online: Command, api: Loopback) -> None:
    page = {"items": [], "cursor": "next", "looked_at": 2000, "looked_to": "2026-11-20T06:30:00.5Z"}
    api.answer = lambda _: Reply(value=page)
    asked = ("--search", "blue whale", "--from", "2026-11-01", "--to", "2026-11-20", "--subject", "Maths, I")
    result = online("answers", "list", *asked, "--decided-by", "proof", "--cost-from", "0.5", "--sort", "oldest")
    assert result.exit_code == 0
    for said in (
        "There are no such answers here.",
        "There are more: --cursor next",
        "Looked at 2,000 answers, as far as 2026-11-20 06:30:00 (UTC).",
    ):
        assert said in result.stderr
    assert api.asked[0].query == {
        "limit": "20",
        "search": "blue whale",
        "from": "2026-11-01",
        "to": "2026-11-20",
        "subject": "Maths, I",
        "decided_by": "proof",
        "cost_from": "0.5",
        "sort": "oldest",
    }
    assert online("answers", "list", "--verdict", "wonderful").exit_code == 2


def test_an_answer_is_shown_and_its_verdict_is_the_exit_code(online: Command, api: Loopback) -> None:
    api.script = [Reply(value=view(FAILED)), problem(404, "There is no answer with this id.")]
    assert online("answers", "show", ID).exit_code == 1
    result = online("answers", "show", ID)
    assert (result.exit_code, result.stderr) == (2, "Error: There is no answer with this id.\n")


def test_an_evaluation_is_asked_for_and_awaited_where_wanted(online: Command, api: Loopback) -> None:
    waiting = view(FAILED, evaluation=EVALUATING)
    done = {**waiting, "evaluation": {**waiting["evaluation"], "state": "done"}}
    api.script = [Reply(status=202, value=waiting)]
    assert online("answers", "evaluate", ID).exit_code == 0
    assert api.asked[0].path == f"/v1/answers/{ID}/deep-evaluation"
    api.script = [Reply(status=202, value=waiting), Reply(value=waiting), Reply(value=done)]
    assert json.loads(online("answers", "evaluate", ID, "--wait", "--json").stdout) == done


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "--problem", "Compute 1 + 1.", "--answer", "2"),
        ("solve", "--problem", "Compute 1 + 1."),
        ("batch", "run", "events/answers.jsonl"),
    ],
)
def test_who_has_no_deployment_is_told_that_the_command_can_do_without(
    touchstone: Command, arguments: tuple[str, ...]
) -> None:
    result = touchstone(*arguments)
    assert result.exit_code == 2
    assert "run `touchstone login URL`. With --local the command needs none." in result.stderr


def test_what_only_a_deployment_has_is_not_said_to_be_here(touchstone: Command) -> None:
    result = touchstone("answers", "list")
    assert (result.exit_code, "--local" in result.stderr) == (2, False)
