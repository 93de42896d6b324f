"""Anthropic's own ways."""

import json
from typing import Any

import pytest

from tests.support.questions import KEY, PICTURE, question, response
from touchstone.errors import JudgeError, RefusedError, UnreadableError
from touchstone.judges.anthropic import AnthropicAdapter, request_body
from touchstone.judges.base import Prompt

_ADAPTER = AnthropicAdapter(api_key=KEY)
_PASSED = {"type": "text", "text": json.dumps({"passed": True, "confidence": 0.9})}


def test_cached_input_is_part_of_the_input() -> None:
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 3000,
        "output_tokens": 40,
    }
    body = {"stop_reason": "end_turn", "content": [{"type": "thinking", "thinking": "…"}, _PASSED], "usage": usage}
    answered = _ADAPTER.read("claude-x", question(), response(body))
    assert answered.value.passed
    assert (answered.usage.input_tokens, answered.usage.cached_input_tokens) == (3210, 3000)
    assert answered.usage.output_tokens == 40


@pytest.mark.parametrize(
    ("body", "expected", "why"),
    [
        ({"stop_reason": "refusal", "content": []}, RefusedError, "declined"),
        (
            {"stop_reason": "max_tokens", "content": [_PASSED]},
            UnreadableError,
            "cut off at its limit of output tokens, 2048 or",
        ),
        ({"stop_reason": "model_context_window_exceeded", "content": [_PASSED]}, UnreadableError, "cut off"),
        ({"stop_reason": "end_turn", "content": []}, UnreadableError, "no text"),
        ({"stop_reason": "tool_use", "content": [_PASSED]}, UnreadableError, "tool_use"),
        ({"content": [_PASSED]}, UnreadableError, "no known reason"),
    ],
)
def test_what_is_no_answer_says_why(body: dict[str, Any], expected: type[JudgeError], why: str) -> None:
    with pytest.raises(expected, match=why):
        _ADAPTER.read("claude-x", question(), response(body))


def test_usage_may_be_missing() -> None:
    assert (
        _ADAPTER.read(
            "claude-x", question(), response({"stop_reason": "end_turn", "content": [_PASSED]})
        ).usage.input_tokens
        == 0
    )


def test_the_body_is_what_the_api_documents() -> None:
    body = request_body("claude-x", question(images=(PICTURE,), temperature=0.0))
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert body["max_tokens"] == 2048
    assert body["temperature"] == 0.0
    picture, _ = body["messages"][0]["content"]
    assert picture["source"] == {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}


def test_a_prompt_without_system_text_sends_none() -> None:
    bare = Prompt(name="n", version="0" * 16, system="", user="hi")
    assert "system" not in request_body("claude-x", question(prompt=bare))
