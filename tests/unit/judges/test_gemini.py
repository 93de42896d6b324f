"""Gemini's own ways."""

import json
from typing import Any

import pytest

from tests.support.providers import ProviderServer
from tests.support.questions import KEY, PICTURE, question, response
from touchstone.errors import JudgeError, RefusedError, UnreadableError
from touchstone.judges.gemini import GeminiAdapter, request_body

_ADAPTER = GeminiAdapter(api_key=KEY)
_PASSED = json.dumps({"passed": True, "confidence": 0.9})


def _candidate(reason: str | None, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"finishReason": reason, "content": {"parts": list(parts)}}]}


def test_a_reply_may_come_in_parts_and_with_thoughts() -> None:
    body = _candidate("STOP", {"text": "Let me see …", "thought": True}, {"text": _PASSED[:9]}, {"text": _PASSED[9:]})
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 300}
    answered = _ADAPTER.read("gemini-x", question(), response(body | {"usageMetadata": usage}))
    assert answered.value.passed
    assert answered.model == "gemini-x"
    assert (answered.usage.input_tokens, answered.usage.output_tokens) == (100, 320)


@pytest.mark.parametrize(
    ("body", "expected", "why"),
    [
        ({"promptFeedback": {"blockReason": "OTHER"}}, RefusedError, "OTHER"),
        (_candidate("RECITATION"), RefusedError, "RECITATION"),
        (_candidate("MALFORMED_FUNCTION_CALL"), UnreadableError, "MALFORMED_FUNCTION_CALL"),
        (_candidate(None), UnreadableError, "no known reason"),
        ({"candidates": [{"finishReason": "STOP"}]}, UnreadableError, "STOP"),
        ({}, UnreadableError, "no candidate"),
    ],
)
def test_what_is_no_answer_says_why(body: dict[str, Any], expected: type[JudgeError], why: str) -> None:
    with pytest.raises(expected, match=why):
        _ADAPTER.read("gemini-x", question(), response(body))


def test_usage_may_be_missing_or_nonsense() -> None:
    body = _candidate("STOP", {"text": _PASSED})
    assert _ADAPTER.read("gemini-x", question(), response(body)).usage.input_tokens == 0
    body["usageMetadata"] = {"promptTokenCount": "many", "candidatesTokenCount": -3}
    assert _ADAPTER.read("gemini-x", question(), response(body)).usage.output_tokens == 0


def test_the_body_is_what_the_api_documents() -> None:
    body = request_body(question(images=(PICTURE,), temperature=0.0))
    assert set(body) == {"contents", "generationConfig", "systemInstruction"}
    picture, text = body["contents"][0]["parts"]
    assert picture == {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    assert set(text) == {"text"}
    assert body["generationConfig"]["temperature"] == 0.0
    assert body["generationConfig"]["responseMimeType"] == "application/json"


async def test_the_servers_deadline_is_never_under_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    from touchstone.judges.adapters import connections

    told: list[str] = []
    send = connections.Connections.handle_async_request

    async def listen(self: Any, request: Any) -> Any:
        told.append(request.headers["x-server-timeout"])
        return await send(self, request)

    monkeypatch.setattr(connections.Connections, "handle_async_request", listen)
    with ProviderServer() as server:
        judge = GeminiAdapter(api_key=KEY, base_url=server.base_url)
        await judge.ask("gemini-x", question(), timeout=2)
        await judge.ask("gemini-x", question(), timeout=31.5)
        await judge.aclose()
    assert told == ["10", "32"]
