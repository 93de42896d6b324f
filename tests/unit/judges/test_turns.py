"""Conversations with tools through the real SDKs, with servers that refuse what the services refuse."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel, Field

from tests.support.agents import called as turn
from tests.support.providers import ProviderServer, error, hang
from tests.support.questions import KEY, response
from tests.support.scripted_adapters import LoggedAdmission
from tests.support.wire_turns import signature
from touchstone.clock import Deadline
from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    MisconfiguredError,
    OverloadedError,
    RefusedError,
    TimedOutError,
    UnreadableError,
)
from touchstone.judges import EnvironmentKeys, Judges, Prompt, anthropic, gemini, load_registry
from touchstone.judges.anthropic import AnthropicAdapter
from touchstone.judges.conversing import Conversation, Conversing, Tool, ToolCall, ToolResult, Turn, TurnRequest
from touchstone.judges.gemini import GeminiAdapter
from touchstone.judges.openai import OpenAIAdapter
from touchstone.judges.turns import chat, responses

PROVIDERS = ["claude", "openai", "gemini", "compatible"]
ON = datetime(2026, 11, 21, tzinfo=UTC)
ANTHROPIC, GEMINI, OPENAI = AnthropicAdapter(api_key=KEY), GeminiAdapter(api_key=KEY), OpenAIAdapter(api_key=KEY)
QWEN = OpenAIAdapter(api_key="", provider="qwen", compatible=True)
PROMPT = Prompt(name="solve", version="v", system="You look things up.", user="What is a box?")


class Search(BaseModel):
    query: str = Field(description="What to look for.", max_length=50)
    most: int | None


class Read(BaseModel):
    path: str


TOOLS: tuple[Tool[BaseModel], ...] = (
    Tool(name="search", description="Searches.", parameters=Search),
    Tool(name="read", description="Reads.", parameters=Read),
)


async def _no_wait(_seconds: float) -> None:
    """Back-offs take no time here; how long they are is tested elsewhere."""


@dataclass(frozen=True)
class Scene:
    judges: Judges
    server: ProviderServer
    admission: LoggedAdmission

    def model(self, provider: str) -> Conversing:
        judge = self.judges.conversing("strong", provider=provider)
        assert judge is not None
        return judge


@pytest.fixture
async def scene(server: ProviderServer) -> AsyncIterator[Scene]:
    environ = server.environment() | {
        "TOUCHSTONE_COMPATIBLE_BASE_URL": server.compatible_url,
        "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3",
    }
    registry = load_registry(environ)
    admission = LoggedAdmission()
    keys = EnvironmentKeys(registry, environ)
    judges = Judges(registry, keys, admission=admission, clock=lambda: ON, sleep=_no_wait)
    yield Scene(judges, server, admission)
    await judges.aclose()


def soon(seconds: float = 20.0) -> Deadline:
    return Deadline.after(seconds)


def request(conversation: Conversation) -> TurnRequest:
    return TurnRequest(conversation=conversation, tools=TOOLS)


def results(of: Turn, **failed: bool) -> tuple[ToolResult, ...]:
    return tuple(
        ToolResult(call_id=call.id, name=call.name, text=f"result of {call.name}", failed=failed.get(call.name, False))
        for call in of.calls
    )


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_conversation_goes_on_turn_by_turn_each_in_a_process_of_its_own(provider: str, scene: Scene) -> None:
    search, read = ("search", {"query": "box", "most": None}), ("read", {"path": "box.py"})
    scene.server.script(turn(search, text="Let me see."), turn(read, search), turn(text="A box.", cached_tokens=100))
    stored = Conversation.opened(PROMPT).model_dump_json()
    turns: list[Turn] = []
    for _ in range(3):
        conversation = Conversation.model_validate_json(stored)
        reply = await scene.model(provider).converse(request(conversation), deadline=soon())
        turns.append(reply.value)
        conversation = conversation.with_turn(reply.value)
        if reply.value.calls:
            conversation = conversation.with_results(results(reply.value, search=True))
        stored = conversation.model_dump_json()
    assert [each.text for each in turns] == ["Let me see.", None, "A box."]
    assert [[call.name for call in each.calls] for each in turns] == [["search"], ["read", "search"], []]
    assert json.loads(turns[0].calls[0].arguments) == {"query": "box", "most": None}
    assert (turns[2].usage.input_tokens, turns[2].usage.output_tokens) == (120, 40)
    assert turns[2].usage.cached_input_tokens == 100
    calls = scene.server.calls
    assert [call.turn for call in calls] == [0, 1, 2]
    assert [call.status for call in calls] == [200, 200, 200]
    assert calls[2].results == ("result of read", "result of search")
    assert calls[0].tools == ("search", "read")
    assert calls[0].system == "You look things up."
    assert [permit.endings for permit in scene.admission.given] == [["settle"]] * 3


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_arguments_of_any_kind_come_back_as_they_were_written_and_do_not_end_the_conversation(
    provider: str, scene: Scene
) -> None:
    scene.server.script(turn(("search", '{"query": '), ("no_such_tool", {"a": [1]})), turn(text="Well."))
    opened = Conversation.opened(PROMPT)
    reply = await scene.model(provider).converse(request(opened), deadline=soon())
    first, second = reply.value.calls
    assert (first.name, second.name) == ("search", "no_such_tool")
    assert json.loads(second.arguments) == {"a": [1]}
    with pytest.raises(Exception, match="arguments of search"):
        TOOLS[0].read(first)
    answered = opened.with_turn(reply.value).with_results(results(reply.value, search=True, no_such_tool=True))
    assert (await scene.model(provider).converse(request(answered), deadline=soon())).value.text == "Well."


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("kind", "expected", "calls"),
    [
        ("max_tokens", UnreadableError, 2),
        ("empty", UnreadableError, 2),
        ("refused", RefusedError, 1),
        ("blocked", RefusedError, 1),
        ("server_error", OverloadedError, 3),
        ("html", UnreadableError, 2),
        ("bad_request", MisconfiguredError, 1),
        ("credit", DayQuotaError, 1),
    ],
)
async def test_a_failed_turn_is_a_failure_of_the_same_kinds_as_a_failed_answer(
    provider: str, kind: Any, expected: type[JudgeError], calls: int, scene: Scene
) -> None:
    if kind == "credit" and provider == "gemini":
        kind = "day_quota"
    scene.server.script(*[error(kind)] * calls)
    with pytest.raises(expected) as caught:
        await scene.model(provider).converse(request(Conversation.opened(PROMPT)), deadline=soon())
    assert len(scene.server.calls) == calls
    assert [permit.endings for permit in scene.admission.given] == [["settle"]] * calls
    assert "loopback" not in repr(caught.value)
    counted = kind in {"max_tokens", "empty", "refused", "blocked"}
    assert [failed.usage.input_tokens for failed in caught.value.failed_calls] == [120] * (calls if counted else 0)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_turn_that_hangs_ends_at_the_deadline(provider: str, scene: Scene) -> None:
    scene.server.script(hang(60))
    model = scene.model(provider)
    with pytest.raises(TimedOutError):
        await model.converse(request(Conversation.opened(PROMPT)), deadline=Deadline.after(0.3))


def test_a_call_that_gemini_could_not_write_is_unreadable_so_that_it_is_asked_for_once_more() -> None:
    body = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}
    with pytest.raises(UnreadableError, match="MALFORMED_FUNCTION_CALL"):
        GEMINI.read_turn("m", request(Conversation.opened(PROMPT)), response(body))


def _of(calls: int, wire: Any, opaque: Any) -> Conversation:
    given = tuple(ToolCall(id=f"unnumbered-{at}", name="search", arguments="{}") for at in range(calls))
    said = Turn(text=None, calls=given, model="m", wire=wire, opaque=opaque)
    return Conversation.opened(PROMPT).with_turn(said).with_results(results(said))


def test_thoughts_alone_are_no_turn() -> None:
    parts = [{"text": "Let me see.", "thought": True}, {"text": "", "thoughtSignature": "c2ln"}]
    body = {"candidates": [{"finishReason": "STOP", "content": {"parts": parts}}]}
    with pytest.raises(UnreadableError, match="neither words nor a call"):
        GEMINI.read_turn("m", request(Conversation.opened(PROMPT)), response(body))


def test_a_conversation_needs_no_system_prompt() -> None:
    asked = request(Conversation.opened(Prompt(name="solve", version="v", system="", user="What is a box?")))
    assert "systemInstruction" not in gemini.turn_body(asked)
    assert "system" not in anthropic.turn_body("m", asked)
    assert "instructions" not in responses.request_body("m", asked)


def test_gemini_gets_no_ids_that_it_did_not_give() -> None:
    body = gemini.turn_body(request(_of(1, "gemini", {"role": "model", "parts": []})))
    assert body["contents"][2]["parts"] == [
        {"functionResponse": {"name": "search", "response": {"result": "result of search"}}}
    ]
    schema = body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"]
    assert schema["required"] == ["query", "most"]
    assert "maxLength" in schema["properties"]["query"]["description"]


def test_a_temperature_is_sent_where_one_is_asked_for() -> None:
    asked = TurnRequest(conversation=Conversation.opened(PROMPT), tools=(), temperature=0.0)
    assert gemini.turn_body(asked)["generationConfig"]["temperature"] == 0.0
    for body in (form("m", asked) for form in (anthropic.turn_body, chat.request_body, responses.request_body)):
        assert body["temperature"] == 0.0
        assert "tools" not in body


def test_nothing_of_a_conversation_is_stored_at_openai() -> None:
    body = responses.request_body("m", request(_of(1, "responses", [{"type": "reasoning", "id": "rs"}])))
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert {"type": "reasoning", "id": "rs"} in body["input"]


@pytest.mark.parametrize("opaque", [None, "text", 3])
def test_a_transcript_that_is_none_of_the_providers_is_a_fault(opaque: Any) -> None:
    for form, wire in (
        (gemini.turn_body, "gemini"),
        (lambda asked: responses.request_body("m", asked), "responses"),
    ):
        with pytest.raises(TypeError):
            form(request(_of(1, wire, opaque)))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"status": "failed", "error": {"code": "server_error", "message": "canary"}}, OverloadedError),
        ({"status": "failed", "error": {"code": "rate_limit_exceeded"}}, JudgeError),
        ({"status": "cancelled"}, UnreadableError),
        ({}, UnreadableError),
        ({"status": "completed", "output": ["nonsense", {"type": "message", "content": "nonsense"}]}, UnreadableError),
    ],
)
def test_a_response_that_is_no_turn_says_why(body: Any, expected: type[JudgeError]) -> None:
    with pytest.raises(expected) as caught:
        OPENAI.read_turn("m", request(Conversation.opened(PROMPT)), response(body))
    assert "canary" not in str(caught.value)


def _chat(body: Any) -> Turn:
    return QWEN.read_turn("m", request(Conversation.opened(PROMPT)), response(body)).value


def test_a_compatible_servers_calls_are_read_however_it_writes_them() -> None:
    calls = [{"function": {"name": "search", "arguments": {"query": "x"}}}, "nonsense", {"function": None}]
    said = _chat({"choices": [{"message": {"content": None, "tool_calls": calls}, "finish_reason": "stop"}]})
    assert [(call.name, call.arguments) for call in said.calls] == [("search", '{"query": "x"}'), ("", "null")]
    assert isinstance(said.opaque, dict)
    back = said.opaque["tool_calls"]
    assert [entry["id"] for entry in back] == [call.id for call in said.calls]  # type: ignore[call-overload, index, union-attr]
    assert [entry["function"]["arguments"] for entry in back] == ['{"query": "x"}', "{}"]  # type: ignore[call-overload, index, union-attr]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"code": 502, "message": "canary"}}, OverloadedError),
        ({"choices": []}, UnreadableError),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}, UnreadableError),
    ],
)
def test_a_completion_that_is_no_turn_says_why(body: Any, expected: type[JudgeError]) -> None:
    with pytest.raises(expected):
        _chat(body)


def test_what_anthropic_gives_and_does_not_take_is_left_out() -> None:
    blocks = [{"type": "thinking", "thinking": "", "signature": signature(0)}, {"type": "text", "text": ""}]
    called = {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "x"}}
    body = {"stop_reason": "tool_use", "content": [*blocks, called]}
    said = ANTHROPIC.read_turn("m", request(Conversation.opened(PROMPT)), response(body)).value
    assert said.opaque == [blocks[0], called]
    paused = response(body | {"stop_reason": "pause_turn"})
    with pytest.raises(UnreadableError, match="pause_turn"):
        ANTHROPIC.read_turn("m", request(Conversation.opened(PROMPT)), paused)
