"""The tokens that a provider counted for a call, as each wire format writes them."""

import json
from typing import Any

from touchstone.usage import CLAIM_CHARS, Usage


def of_message(counts: Any) -> Usage:
    """The usage that Anthropic counted.

    Input that was read from or written to the cache is counted beside `input_tokens`, so it is added. Thinking is
    already part of `output_tokens`.
    """
    known = counts if isinstance(counts, dict) else {}
    cached, written = known.get("cache_read_input_tokens"), known.get("cache_creation_input_tokens")
    return _usage(
        counts,
        sent=_added(known.get("input_tokens"), cached, written),
        made=_count(known.get("output_tokens")),
        cached=_count(cached),
    )


def of_completion(counts: Any) -> Usage:
    """The usage that was counted for a chat completion, by OpenAI or by a compatible server.

    Cached input is already part of the prompt's tokens. OpenAI's completion tokens include the reasoning. Some
    compatible services count the reasoning apart from the completion tokens, and only in the total.
    """
    known = counts if isinstance(counts, dict) else {}
    details = known.get("prompt_tokens_details")
    return _usage(
        counts,
        sent=_count(known.get("prompt_tokens")),
        made=_made(known.get("completion_tokens"), of=known.get("total_tokens"), sent=known.get("prompt_tokens")),
        cached=_count(details.get("cached_tokens") if isinstance(details, dict) else None),
    )


def of_response(counts: Any) -> Usage:
    """The usage that OpenAI counted for a response. Cached input is part of the input, and reasoning of the output."""
    known = counts if isinstance(counts, dict) else {}
    details = known.get("input_tokens_details")
    return _usage(
        counts,
        sent=_count(known.get("input_tokens")),
        made=_count(known.get("output_tokens")),
        cached=_count(details.get("cached_tokens") if isinstance(details, dict) else None),
    )


def of_content(counts: Any) -> Usage:
    """The usage that Gemini counted. Thinking is billed as output, but counted beside it."""
    known = counts if isinstance(counts, dict) else {}
    return _usage(
        counts,
        sent=_count(known.get("promptTokenCount")),
        made=_made(
            known.get("candidatesTokenCount"),
            known.get("thoughtsTokenCount"),
            of=known.get("totalTokenCount"),
            sent=known.get("promptTokenCount"),
        ),
        cached=_count(known.get("cachedContentTokenCount")),
    )


def _usage(counts: Any, *, sent: int | None, made: int | None, cached: int | None = None) -> Usage:
    """The usage from the counts of input and output.

    `counts` is the object that the counts were read from. It is kept as a claim if there is no count of input or
    output.
    """
    if not sent or made is None:
        return Usage(claimed="nothing" if counts is None else json.dumps(counts)[:CLAIM_CHARS])
    return Usage(input_tokens=sent, output_tokens=made, cached_input_tokens=min(cached or 0, sent))


def _count(value: Any) -> int | None:
    """A token count as providers write it. None if it is missing, or is no whole number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def _added(*values: Any) -> int | None:
    """The sum of token counts, a missing one taken as 0. None if a value is no count, or if all are missing."""
    there = [_count(value) for value in values if value is not None]
    return None if None in there or not there else sum(one for one in there if one is not None)


def _made(*values: Any, of: Any, sent: Any) -> int | None:
    """The output's tokens: the sum of its counts, or the total `of` less the input `sent`, whichever is more.

    None if neither is known.
    """
    total, before = _count(of), _count(sent)
    rest = None if total is None or before is None else total - before
    return max((one for one in (_added(*values), rest) if one is not None and one >= 0), default=None)
