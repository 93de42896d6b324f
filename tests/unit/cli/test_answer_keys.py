"""An answer key at the command line: with a deployment, in this process, and in files of thousands."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support import replies
from tests.support.answer_views import view
from tests.support.commands import Command
from tests.support.loopback import Loopback, Reply
from tests.support.providers import ProviderServer

EGGS = ("--problem", "How many eggs are in the basket of the story?")
VERIFY = ("verify", "--local", *EGGS, "--answer", "12")


@pytest.mark.parametrize(
    ("key", "code", "words"),
    [
        (("--expected", "12"), 0, ("Verified ✓", "decided by  the answer key", "key         12")),
        (("--expected", "11", "--expected", "a dozen", "--expected", "12"), 0, ("11 | a dozen | 12",)),
        (("--expected", "13"), 1, ("Check this ⚠", "The answer differs from the answer key: 13")),
        (("--expected", "12.1", "--tolerance", "relative=0.01"), 0, ("tolerance   relative 0.01",)),
        (("--expected", "12.5", "--tolerance", "absolute=0.5"), 0, ("tolerance   absolute 0.5",)),
        (("--expected", "12.4", "--tolerance", "significant_digits=2"), 0, ("tolerance   significant_digits 2",)),
        (("--expected", "12.4", "--tolerance", "significant_digits=3"), 1, ("and is not within its tolerance: 12.4",)),
        (("--expected", "as many as there are"), 3, ("unverified", "GEMINI_API_KEY")),
    ],
)
def test_a_key_decides_here_without_a_judge(
    touchstone: Command, key: tuple[str, ...], code: int, words: tuple[str, ...]
) -> None:
    result = touchstone(*VERIFY, *key)
    assert (result.exit_code, result.stderr) == (code, "")
    for said in words:
        assert said in result.stdout
    found = json.loads(touchstone(*VERIFY, *key, "--json").stdout)
    assert found["spends"] == []
    assert found["expected"] == [text for name, text in pairwise(key) if name == "--expected"]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (("--tolerance", "relative=0.01"), "a tolerance needs the expected answer that it is for."),
        (("--expected", "12", "--tolerance", "0.01"), "A tolerance is its kind and a number: relative="),
        (("--expected", "12", "--tolerance", "relative=little"), "A tolerance is its kind and a number"),
        (("--expected", "12", "--tolerance", "significant_digits=2.5"), "A tolerance is its kind and"),
        (("--expected", "12", "--tolerance", "percent=1"), "tolerance.percent is no field here"),
        (("--expected", "12", "--tolerance", "relative=nan"), "tolerance.relative must be"),
        (("--expected", "Answer:"), "expected: the expected answer says nothing that an answer could equal."),
    ],
)
@pytest.mark.parametrize("command", [VERIFY, ("solve", "--local", *EGGS)])
def test_a_key_that_means_nothing_is_an_error_of_the_command_line(
    touchstone: Command, command: tuple[str, ...], key: tuple[str, ...], said: str
) -> None:
    result = touchstone(*command, *key)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_key_goes_to_the_deployment_as_it_was_given(online: Command, api: Loopback) -> None:
    found = view() | {"expected": ["12", "a dozen"], "tolerance": {"relative": 0.01}, "method": "expected"}
    api.answer = lambda _: Reply(status=201, value=found)
    key = ("--expected", "12", "--expected", "a dozen", "--tolerance", "relative=0.01")
    shown = online("verify", *EGGS, "--answer", "12", *key)
    assert "12 | a dozen" in shown.stdout
    assert "the answer key" in shown.stdout
    online("solve", *EGGS, *key, "--no-wait")
    for asked in api.asked:
        tolerance = {name: value for name, value in asked.document["tolerance"].items() if value is not None}
        assert (asked.document["expected"], tolerance) == (["12", "a dozen"], {"relative": 0.01})


def test_a_request_in_a_file_has_its_key_unless_another_is_given(touchstone: Command, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"problem": EGGS[1], "answer": "12", "expected": ["11", "13"]}))
    assert touchstone("verify", str(path), "--local").exit_code == 1
    assert touchstone("verify", str(path), "--local", "--expected", "12").exit_code == 0


def test_what_is_solved_here_is_held_against_the_key(touchstone: Command) -> None:
    with ProviderServer() as server:
        server.reply(replies.analyze(), schema="AnalyzeReply")
        server.reply(replies.enrich(), schema="EnrichReply")
        server.reply(replies.solve(answer="12"), schema="SolveReply")
        for expected, code in (("12", 0), ("13", 1)):
            arguments = ("solve", "--local", *EGGS, "--expected", expected, "--no-cache", "--json")
            result = touchstone(*arguments, env=server.environment())
            assert (result.exit_code, json.loads(result.stdout)["method"]) == (code, "expected")
        assert not any("The teacher's answer key" in call.prompt for call in server.calls)
        assert "VerifyReply" not in {call.title for call in server.calls}


def test_a_file_with_keys_is_done_here_without_any_judge(touchstone: Command, tmp_path: Path) -> None:
    path = tmp_path / "graded.jsonl"
    lines: list[dict[str, Any]] = [
        {"kind": "verify", "problem": f"{EGGS[1]} ({number})", "answer": str(number), "expected": str(number % 50)}
        for number in range(100)
    ]
    lines.append({"kind": "verify", "problem": EGGS[1], "answer": "9.8", "expected": ["9.81"]})
    lines[-1]["tolerance"] = {"significant_digits": 2}
    path.write_text("\n".join(json.dumps(line) for line in lines))
    result = touchstone("batch", "run", str(path), "--local", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["lines"], found["verified"], found["caution"]) == (0, 101, 51, 50)
    assert len(found["cautions"]) == 50
    assert "line 51: check the answer 50: The answer differs from the answer key: 0\n" in result.stderr
    assert "… and 30 more answers to check; see" in result.stderr
    written = [json.loads(line)["answer"] for line in (tmp_path / "graded.results.jsonl").read_text().splitlines()]
    assert {(each["method"], len(each["spends"]), each["verify_confidence"]) for each in written} == {
        ("expected", 0, 1.0)
    }
    path.write_text(path.read_text().replace('"expected": "7"', '"expected": "8"'))
    again = touchstone("batch", "run", str(path), "--local", "--again", "--json")
    assert json.loads(again.stdout)["verified"] == 50


@pytest.mark.parametrize(
    ("bar", "code", "says"),
    [
        ("50", 0, ""),
        ("60", 0, ""),
        ("75", 3, "2 of 4 answers are verified (50.0 %); whether 75 % are hangs on 1 that nobody decided."),
        ("75.1", 1, "2 of 4 answers are verified (50.0 %), fewer than 75.1 %."),
    ],
)
def test_a_build_fails_where_too_few_answers_are_verified(
    touchstone: Command, tmp_path: Path, bar: str, code: int, says: str
) -> None:
    lines: list[dict[str, Any]] = [
        {"kind": "verify", "problem": EGGS[1], "answer": answer, "expected": "12"} for answer in ("12", "12.0", "13")
    ]
    if code:
        lines.append({"kind": "verify", "problem": "Why does ice float?", "answer": "It is lighter than water."})
    path = tmp_path / "graded.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    result = touchstone("batch", "run", str(path), "--local", "--fail-under", bar)
    assert result.exit_code == code
    assert says in result.stderr
