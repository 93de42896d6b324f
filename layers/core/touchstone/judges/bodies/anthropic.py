"""What all of Anthropic's messages share."""

from typing import Any

from touchstone.judges.adapters import replies
from touchstone.usage import Usage

NAME = "Anthropic"
"""The provider, as failures name it."""


def usage_of(counts: Any) -> Usage | None:
    """What was counted, None where nothing is told.

    Input that was read from or written to the cache is counted beside `input_tokens`, so it is added. Thinking is part
    of `output_tokens` already.
    """
    match counts:
        case {**known}:
            cached = replies.count(known.get("cache_read_input_tokens"))
            written = replies.count(known.get("cache_creation_input_tokens"))
            return Usage(
                input_tokens=replies.count(known.get("input_tokens")) + cached + written,
                output_tokens=replies.count(known.get("output_tokens")),
                cached_input_tokens=cached,
            )
        case _:
            return None
