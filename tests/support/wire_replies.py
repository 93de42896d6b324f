"""The providers' replies of status 200: an answer, a refusal, or an answer cut off."""

from typing import Any

from tests.support.wire import Answer, Asked, Behaviour, counted_answer, reply_text


def reply(asked: Asked, behaviour: Behaviour) -> Answer:
    """A reply of status 200 in the provider's form."""
    behaviour, thought_out = _thought(asked, behaviour)
    text = "" if thought_out else reply_text(asked, behaviour)
    model = behaviour.model or asked.model
    match asked.provider:
        case "gemini":
            body = _gemini(text, model, behaviour)
        case "anthropic":
            body = _anthropic(text, model, behaviour)
        case provider:
            body = _openai(text, model, behaviour, beside=provider != "openai")
    return counted_answer(body, behaviour)


def _thought(asked: Asked, behaviour: Behaviour) -> tuple[Behaviour, bool]:
    """The behaviour of a model that thinks first, and whether that used up all it was allowed."""
    room = asked.max_output_tokens
    if room is None or not behaviour.thinking_tokens or behaviour.thinking_tokens + behaviour.output_tokens <= room:
        return behaviour, False
    cut = {"kind": "max_tokens", "thinking_tokens": min(behaviour.thinking_tokens, room), "output_tokens": 0}
    return behaviour.model_copy(update=cut), True


def _gemini(text: str, model: str, behaviour: Behaviour) -> dict[str, Any]:
    body: dict[str, Any] = {
        "usageMetadata": {
            "promptTokenCount": behaviour.input_tokens,
            "candidatesTokenCount": behaviour.output_tokens,
            "totalTokenCount": behaviour.input_tokens + behaviour.output_tokens + behaviour.thinking_tokens,
            "cachedContentTokenCount": behaviour.cached_tokens,
            "thoughtsTokenCount": behaviour.thinking_tokens,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": behaviour.input_tokens}],
        },
        "modelVersion": model,
        "responseId": "mGMHac-1Gpvu1PIPq7OXoQc",
    }
    content: dict[str, Any] = {"role": "model"} | ({"parts": [{"text": text}]} if text else {})
    match behaviour.kind:
        case "blocked":
            return body | {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
        case "empty":
            return body | {"candidates": []}
        case "refused":
            return body | {"candidates": [{"finishReason": "SAFETY", "index": 0, "safetyRatings": []}]}
        case "max_tokens":
            return body | {"candidates": [{"content": content, "finishReason": "MAX_TOKENS", "index": 0}]}
        case _:
            return body | {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


def _openai(text: str, model: str, behaviour: Behaviour, *, beside: bool) -> dict[str, Any]:
    """`beside`: thinking is counted beside the completion, as some compatible services do, and not as a part of it."""
    finish = {"max_tokens": "length", "blocked": "content_filter"}.get(behaviour.kind, "stop")
    declined = behaviour.kind == "refused"
    choice = {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": None if declined else text,
            "refusal": "I'm sorry, I can't assist with that request." if declined else None,
            "annotations": [],
        },
        "logprobs": None,
        "finish_reason": finish,
    }
    return {
        "id": "chatcmpl-CJ7bqQhVY1qkVQbU4lAUyYQzU5tzC",
        "object": "chat.completion",
        "created": 1795219200,
        "model": model,
        "choices": [] if behaviour.kind == "empty" else [choice],
        "usage": {
            "prompt_tokens": behaviour.input_tokens,
            "completion_tokens": behaviour.output_tokens + (0 if beside else behaviour.thinking_tokens),
            "total_tokens": behaviour.input_tokens + behaviour.output_tokens + behaviour.thinking_tokens,
            "prompt_tokens_details": {"cached_tokens": behaviour.cached_tokens, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": behaviour.thinking_tokens, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_cbf1785567",
    }


def _anthropic(text: str, model: str, behaviour: Behaviour) -> dict[str, Any]:
    stop = {"max_tokens": "max_tokens", "refused": "refusal", "blocked": "refusal"}.get(behaviour.kind, "end_turn")
    silent = behaviour.kind in {"empty", "refused", "blocked"}
    thought = [{"type": "thinking", "thinking": "", "signature": "EqQB"}] if behaviour.thinking_tokens else []
    return {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [] if silent else [*thought, *([{"type": "text", "text": text}] if text else [])],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": behaviour.input_tokens - behaviour.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": behaviour.cached_tokens,
            "output_tokens": behaviour.output_tokens + behaviour.thinking_tokens,
            "service_tier": "standard",
        },
    }
