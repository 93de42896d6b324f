"""What all chat completions share, OpenAI's and those of compatible servers."""

from typing import Any

from touchstone.judges.adapters import replies
from touchstone.usage import Usage


def usage_of(counts: Any) -> Usage:
    """What was counted. Cached input is part of the prompt's tokens already.

    OpenAI's completion tokens hold the reasoning; some compatible services count it beside them and in the total alone.
    """
    known = counts if isinstance(counts, dict) else {}
    details = known.get("prompt_tokens_details")
    return replies.usage(
        counts,
        sent=replies.count(known.get("prompt_tokens")),
        made=replies.made(
            known.get("completion_tokens"), of=known.get("total_tokens"), sent=known.get("prompt_tokens")
        ),
        cached=replies.count(details.get("cached_tokens") if isinstance(details, dict) else None),
    )
