"""The message in a chat completion, as OpenAI and every server that speaks its wire format give it."""

from dataclasses import replace
from typing import Any

from touchstone.judges.adapters import failures
from touchstone.judges.adapters.received import Received


def message_in(received: Received, *, in_words: bool) -> dict[str, Any]:
    """The model's message, whose `content` is text if it must be `in_words`.

    Raises a `JudgeError` if the reply was refused or cut off, or holds no such message.
    """
    match received.body:
        case {"choices": [{"message": {"refusal": str(refusal)}}, *_]} if refusal:
            raise received.refused(None)
        case {"choices": [{"finish_reason": "content_filter"}, *_]}:
            raise received.refused("content_filter")
        case {"choices": [{"finish_reason": "length"}, *_]}:
            raise received.truncated()
        case {"choices": [{"message": dict(message)}, *_]} if not in_words or isinstance(message.get("content"), str):
            return message
        case {"error": {"code": int(status)}}:
            # Gateways report the failure of the provider behind them in a response of status 200.
            raise failures.openai(received.name, received.model, replace(received.response, status=status))
        case _:
            raise received.unreadable("it holds no message")
