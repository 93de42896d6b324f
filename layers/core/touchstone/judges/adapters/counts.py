"""What a provider counted of a call, as it stands in each wire format."""

import json
from typing import Any

from touchstone.usage import CLAIM_CHARS, Usage


def of_message(counts: Any) -> Usage:
    """What Anthropic counted.

    Input that was read from or written to the cache is counted beside `input_tokens`, so it is added. Thinking is part
    of `output_tokens` already.
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
    """What was counted for a chat completion, OpenAI's or that of a compatible server.

    Cached input is part of the prompt's tokens already.
    OpenAI's completion tokens hold the reasoning; some compatible services count it beside them and in the total alone.
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
    """What OpenAI counted for a response. Cached input is part of the input, reasoning of the output."""
    known = counts if isinstance(counts, dict) else {}
    details = known.get("input_tokens_details")
    return _usage(
        counts,
        sent=_count(known.get("input_tokens")),
        made=_count(known.get("output_tokens")),
        cached=_count(details.get("cached_tokens") if isinstance(details, dict) else None),
    )


def of_content(counts: Any) -> Usage:
    """What Gemini counted. Thinking is billed as output, and counted beside it."""
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


def _usage(told: Any, *, sent: int | None, made: int | None, cached: int | None = None) -> Usage:
    """What was counted of input and output. `told` is where it was read, kept where input or output is no count."""
    if not sent or made is None:
        return Usage(claimed="nothing" if told is None else json.dumps(told)[:CLAIM_CHARS])
    return Usage(input_tokens=sent, output_tokens=made, cached_input_tokens=min(cached or 0, sent))


def _count(value: Any) -> int | None:
    """A token count as providers write it; None where it is missing, or is no whole number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def _added(*values: Any) -> int | None:
    """Token counts added up, where one that is missing is 0; None where one is no count, or all are missing."""
    there = [_count(value) for value in values if value is not None]
    return None if None in there or not there else sum(one for one in there if one is not None)


def _made(*values: Any, of: Any, sent: Any) -> int | None:
    """The output by its counts, or where the total `of` it and of what was `sent` says more, by that."""
    total, before = _count(of), _count(sent)
    rest = None if total is None or before is None else total - before
    return max((one for one in (_added(*values), rest) if one is not None and one >= 0), default=None)
