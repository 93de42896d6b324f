"""`touchstone mcp`: the tools as a model's client has them, by the protocol's own SDK."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from pydantic import BaseModel

from tests.support.exchange import Control
from tests.support.providers import ProviderServer, error
from tests.support.wheels import make_wheels
from touchstone.cli.local.mcp_tools import TOOLS, server

PASSED = {"independent_answer": "Canberra", "is_correct": True, "confidence": 0.9, "error_description": None}
CAPITAL: dict[str, Any] = {"problem": "Name the capital of Australia.", "answer": "Canberra"}
QUIZ = {"questions": [{"id": "q1", "kind": "true_false", "question_text": "Is 学习 a verb?", "answers": ["true"]}]}
GUIDE = Path(__file__).parents[3] / "docs/how-to/mcp.md"
COMMAND = (sys.executable, "-c", "from touchstone.cli import main; main()", "mcp")


class Inner(BaseModel):
    """A model of something within a tool."""

    secret_field: Literal["known"]


async def called(tool: str, *, by: Client | None = None, **given: Any) -> Any:
    """What a tool returns to a client; where it refuses, the sentence that says so."""
    if by is None:
        async with Client(server()) as client:
            return await called(tool, by=client, **given)
    result = await by.call_tool(tool, given)
    return result.content[0].text if result.is_error else result.structured_content  # type: ignore[union-attr]


async def test_a_client_starts_the_command_and_calls_its_tools() -> None:
    program, *arguments = COMMAND
    async with Client(StdioServerParameters(command=program, args=arguments)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        found = await called("equivalent", by=client, given="5 km", expected="5000 m")
    assert set(tools) == {
        *("equivalent", "prove", "first_arithmetic_error", "check_quiz"),
        *("verify", "evaluate_summary", "prove_claim"),
    }
    assert all(tool.description and tool.output_schema for tool in tools.values())
    assert found["answer"] is True


@pytest.mark.parametrize(("given", "answer"), [("1/2", True), ("0.6", False), ("blue", None)])
async def test_two_answers_are_compared(given: str, answer: bool | None) -> None:
    found = await called("equivalent", given=given, expected="0.5")
    assert found["answer"] is answer
    assert found["because"]


async def test_the_question_says_which_form_was_asked_for() -> None:
    found = await called("equivalent", given="6/8", expected="3/4", question="Simplify 6/8.")
    assert found["answer"] is None
    assert "may ask for another order or another form" in found["because"]


@pytest.mark.parametrize("text", ["[1, 2]", "[[1, 2], [3, 4]]", '{"a": 1}', "null"])
async def test_a_text_that_is_json_too_is_a_text(text: str) -> None:
    found = await called("verify", problem="Give it.", answer=text, steps=text, expected=[text])
    assert (found["answer"], found["verification_status"]) == (text, "verified")
    assert (await called("equivalent", given=text, expected=text))["answer"] is not False


@pytest.mark.parametrize(("answer", "outcome"), [("11/12", "proved"), ("1/2", "refuted"), ("blue", "unknown")])
async def test_an_answer_is_proved_or_refuted(answer: str, outcome: str) -> None:
    assert (await called("prove", problem="Compute 3/4 + 1/6.", answer=answer))["outcome"] == outcome


async def test_the_first_false_calculation_is_found() -> None:
    found = await called("first_arithmetic_error", solution="6 × 7 = 43, so 43 + 1 = 44.")
    assert found["found"]["suggestion"] == "42"
    assert await called("first_arithmetic_error", solution="6 × 7 = 42.") == {"found": None}
    assert await called("first_arithmetic_error", solution="3 + 4 = 2.", problem="Add modulo 5.") == {"found": None}


async def test_the_guide_says_what_each_tool_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.*)\|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(tool.__name__ for tool in TOOLS)
    monkeypatch.setitem(sys.modules, "sympy", None)
    asked: dict[str, dict[str, Any]] = {
        "equivalent": {"given": "1", "expected": "1"},
        "prove": {"problem": "Compute 1 + 1.", "answer": "2"},
        "first_arithmetic_error": {"solution": "6 × 7 = 43."},
    }
    told = {name: "needs the package's checks" in str(await called(name, **given)) for name, given in asked.items()}
    assert told == {name: "`checks`" in needs for name, needs in rows if name in asked}


async def test_a_crash_of_a_tool_is_not_told_as_a_fault_of_its_arguments() -> None:
    broken = server()

    def crash() -> str:
        return Inner.model_validate({"secret_field": "?"}).secret_field

    broken.tool()(crash)
    async with Client(broken) as client:
        told = await called("crash", by=client)
    assert "secret_field" not in told


async def test_a_quiz_is_checked_by_rules_and_told_which_were_applied() -> None:
    found = await called("check_quiz", quiz=QUIZ)
    assert [(one["rule"], one["suggestion"]) for one in found["violations"]] == [("traditional_chinese", "學習")]
    assert "question_language" not in found["checks_run"]
    assert "question_language" in (await called("check_quiz", quiz=QUIZ, ui_language="en"))["checks_run"]


async def test_computation_verifies_without_a_key() -> None:
    found = await called("verify", problem="Compute 3/4 + 1/6.", answer="1/2")
    assert (found["verification_status"], found["cost_usd"]) == ("caution", 0)


async def test_an_answer_key_decides_first() -> None:
    found = await called("verify", **CAPITAL, expected=["Canberra", "Canberra, ACT"])
    assert found["verification_status"] == "verified"


@pytest.mark.parametrize(
    ("behaviour", "status"), [(None, "verified"), (error("refused"), "unverified"), ("no key", "unverified")]
)
async def test_a_judge_decides_or_nobody_does(monkeypatch: pytest.MonkeyPatch, behaviour: Any, status: str) -> None:
    with ProviderServer() as judges:
        judges.reply(PASSED if behaviour is None else behaviour, schema="VerifyReply")
        for name, value in ({} if behaviour == "no key" else judges.environment()).items():
            monkeypatch.setenv(name, value)
        found = await called("verify", **CAPITAL)
    assert found["verification_status"] == status


async def test_several_judges_decide_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer() as judges:
        judges.reply(PASSED, schema="VerifyReply")
        for name, value in judges.environment().items():
            monkeypatch.setenv(name, value)
        found = await called("verify", **CAPITAL, judges=2)
    assert (found["verification_status"], len(found["attempts"][0]["verification"]["votes"])) == ("verified", 2)


async def test_a_summary_is_measured_against_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer() as judges:
        for name, value in judges.environment().items():
            monkeypatch.setenv(name, value)
        found = await called("evaluate_summary", summary="Water moves.", source="# Osmosis\n\nWater moves.")
    assert set(found["results"]) == {
        *("summary_faithfulness", "summary_coverage", "summary_coherence", "summary_information_density")
    }
    assert judges.calls


async def test_without_a_key_a_summary_is_not_measured_and_the_remedy_is_told() -> None:
    said = await called("evaluate_summary", summary="Water moves.", source="Water moves.")
    assert "GEMINI_API_KEY" in said


async def test_a_claim_is_proved_in_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(make_wheels(tmp_path)))
    script = "import tinylib\ntinylib.Box(1, lid=2)\n"
    found = await called("prove_claim", script=script, target="tinylib==1.0")
    assert (found["outcome"], found["version"]) == ("holds", "1.0")
    refuted = await called("prove_claim", script=script.replace("lid", "hinge"), target="tinylib==1.0")
    assert (refuted["outcome"], refuted["trusted"]) == ("refuted", False)


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("verify", {"problem": " ", "answer": "1"}, "The problem is blank."),
        ("prove_claim", {"script": "1", "target": "not a requirement!"}, "requirement"),
        ("check_quiz", {"quiz": {"questions": []}}, "questions"),
        ("equivalent", {"given": "1" * 20_001, "expected": "1"}, "given may have at most 20,000 characters, and has"),
        ("equivalent", {"given": 5, "expected": "1"}, "given must be a text."),
        (
            "first_arithmetic_error",
            {"solution": "1 + 1 = 2", "problem": "1" * 20_001},
            "problem may have at most 20,000 characters, and has",
        ),
        ("equivalent", {"given": "1"}, "expected is missing and must be given."),
        (
            "equivalent",
            {"given": "1", "expected": "1.01", "tolerance": {"relative": 0.1}},
            "equivalent has no argument tolerance, but given, expected, question.",
        ),
        ("verify", {**CAPITAL, "tolerance": "relative=0.1"}, "verify has no argument tolerance, but problem, answer, "),
    ],
)
async def test_bad_input_is_told_in_a_sentence(tool: str, given: dict[str, Any], told: str) -> None:
    said = await called(tool, **given)
    assert told in said
    for riddle in ("pydantic", "validation error", "type=", "Traceback"):
        assert riddle not in said


async def test_of_a_thousand_faults_a_few_are_told() -> None:
    wrong = {"questions": [{"kind": "x" * 9_000, "question_text": 1} for _ in range(500)]}
    said = await called("check_quiz", quiz=wrong)
    assert said.startswith("quiz.questions.0.id is missing and must be given.")
    assert said.endswith(" more.")
    assert len(said) < 6_000


async def test_a_call_that_was_given_up_keeps_no_other_one_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer() as judges:
        judges.reply(PASSED, schema="VerifyReply", latch="given up")
        for name, value in judges.environment().items():
            monkeypatch.setenv(name, value)
        async with Client(server()) as client:
            call = asyncio.create_task(called("verify", by=client, **CAPITAL))
            while not judges.calls:  # noqa: ASYNC110 - a server of another thread is asked
                await asyncio.sleep(0.01)
            call.cancel()
            found = await called("equivalent", by=client, given="1/2", expected="0.5")
            judges.exchange.arrange(Control(opened=("given up",)))
    assert (found["answer"], call.cancelled()) == (True, True)


async def test_nothing_that_a_tool_is_given_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    await called("verify", problem=" ", answer="my secret answer")
    await called("check_quiz", quiz={"questions": ["my secret question"]})
    assert "secret" not in caplog.text
