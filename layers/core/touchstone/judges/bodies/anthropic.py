"""What all of Anthropic's messages share."""

from typing import Any

from touchstone.judges.adapters import replies
from touchstone.usage import Usage

NAME = "Anthropic"
"""The provider, as failures name it."""


def usage_of(counts: Any) -> Usage:
    """What was counted.

    Input that was read from or written to the cache is counted beside `input_tokens`, so it is added. Thinking is part
    of `output_tokens` already.
    """
    known = counts if isinstance(counts, dict) else {}
    cached, written = known.get("cache_read_input_tokens"), known.get("cache_creation_input_tokens")
    return replies.usage(
        counts,
        sent=replies.added(known.get("input_tokens"), cached, written),
        made=replies.count(known.get("output_tokens")),
        cached=replies.count(cached),
    )
