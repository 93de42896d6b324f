"""OpenAI's own ways, and those of servers that are compatible with it."""

import json
from typing import Any

import pytest

from tests.support.providers import ProviderServer, success
from tests.support.questions import KEY, PICTURE, Verdict, adapter, question
from touchstone.errors import DayQuotaError, JudgeError, MinuteQuotaError, UnreadableError
from touchstone.judges.openai import OpenAIAdapter, request_body

_PASSED = json.dumps({"passed": True, "confidence": 0.9})


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{_PASSED}\n```",
        f"<think>The sum is right.</think>\n{_PASSED}",
        f"Here is my verdict: {_PASSED} I hope it helps.",
    ],
)
async def test_a_compatible_server_may_wrap_the_reply(text: str) -> None:
    with ProviderServer() as server:
        compatible, official = adapter("compatible", server), adapter("openai", server)
        server.script(success(text), success(text))
        assert (await compatible.ask("llama", question(), timeout=5)).value == Verdict(passed=True, confidence=0.9)
        with pytest.raises(UnreadableError):
            await official.ask("gpt", question(), timeout=5)
        assert len(server.calls) == 2
        await compatible.aclose()
        await official.aclose()


async def test_a_compatible_server_needs_no_key() -> None:
    with ProviderServer() as server:
        judge = OpenAIAdapter(api_key="", base_url=server.compatible_url, provider="ollama", compatible=True)
        assert (await judge.ask("llama", question(), timeout=5)).value.passed
        assert judge.provider == "ollama"
        await judge.aclose()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": 429, "message": "…"}, MinuteQuotaError),
        ({"code": 402, "message": "…"}, DayQuotaError),
        ({"message": "…"}, UnreadableError),
    ],
)
async def test_a_gateway_may_report_a_failure_with_status_200(
    error: dict[str, Any], expected: type[JudgeError]
) -> None:
    from touchstone.judges.adapters.replies import Response

    judge = OpenAIAdapter(api_key=KEY, provider="gateway", compatible=True)
    response = Response(status=200, headers={}, body=json.dumps({"error": error}))
    with pytest.raises(expected):
        judge.read("m", question(), response)


def test_the_body_is_what_the_api_documents() -> None:
    body = request_body("gpt", question(images=(PICTURE,)), compatible=False)
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["response_format"]["json_schema"]["name"] == "Verdict"
    assert body["max_completion_tokens"] == 2048
    text, picture = body["messages"][1]["content"]
    assert text["type"] == "text"
    assert picture["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="
    assert "max_tokens" in request_body("llama", question(), compatible=True)


async def test_usage_may_be_missing() -> None:
    from touchstone.judges.adapters.replies import Response

    message = {"choices": [{"message": {"content": _PASSED}, "finish_reason": "stop"}]}
    answered = OpenAIAdapter(api_key=KEY).read(
        "gpt", question(), Response(status=200, headers={}, body=json.dumps(message))
    )
    assert answered.usage.input_tokens == 0
    assert answered.model == "gpt"
