"""What all of Gemini's `generateContent` share."""

from typing import Any, Self

from touchstone.judges.adapters import failures, replies
from touchstone.usage import Usage

NAME = "Gemini"
"""The provider, as failures name it."""
_DECLINED = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"}
)
"""Reasons to finish that are refusals."""


class Uncopied(dict[str, Any]):
    """A part of a body that nobody changes: the SDK deep-copies its configuration at every call, and all in it."""

    def __deepcopy__(self, memo: object) -> Self:
        return self


def candidate_parts(model: str, limit: int, body: dict[str, Any]) -> list[Any]:
    """What the reply consists of. Raises the failure that it is instead."""
    match body:
        case {"promptFeedback": {"blockReason": reason}}:
            raise failures.refused(NAME, model, failures.word(reason))
        case {"candidates": [{"finishReason": "MAX_TOKENS"}, *_]}:
            raise replies.cut_off(NAME, model, limit)
        case {"candidates": [{"finishReason": str(reason)}, *_]} if reason in _DECLINED:
            raise failures.refused(NAME, model, reason)
        case {"candidates": [{"finishReason": "STOP", "content": {"parts": [*parts]}}, *_]}:
            return parts
        case {"candidates": [{"finishReason": reason}, *_]}:
            raise failures.unreadable(NAME, model, f"it stopped for {failures.word(reason) or 'no known reason'}")
        case _:
            raise failures.unreadable(NAME, model, "it holds no candidate")


def usage_of(counts: Any) -> Usage:
    """What was counted. Thinking is billed as output, and counted beside it."""
    known = counts if isinstance(counts, dict) else {}
    return replies.usage(
        counts,
        sent=replies.count(known.get("promptTokenCount")),
        made=replies.made(
            known.get("candidatesTokenCount"),
            known.get("thoughtsTokenCount"),
            of=known.get("totalTokenCount"),
            sent=known.get("promptTokenCount"),
        ),
        cached=replies.count(known.get("cachedContentTokenCount")),
    )
